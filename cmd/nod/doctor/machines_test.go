package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ownfile"
)

// publish writes what nod-desktop says of its peers.
func (f *fake) publish(pid int, peers operator.Peers) {
	f.t.Helper()
	text, err := json.Marshal(operator.Published{PID: pid, Peers: peers})
	f.must(err)
	f.must(ownfile.Write(operator.PublishedPath(f.Runtime), text, 0o600))
}

func TestLinesOfARunningDesk(t *testing.T) {
	up := func(skew time.Duration, version string) operator.Peers {
		return operator.Peers{Peers: []operator.Peer{{
			Peer:  remote.Peer{Name: "build", Role: remote.RoleMachine},
			State: remote.State{Up: true, Trip: 12 * time.Millisecond, Skew: skew}, Hello: remote.Hello{Version: version},
		}}}
	}
	down := operator.Peers{Lines: []operator.Line{{
		Name: "ssh build", State: remote.State{Problem: "the host does not answer"},
	}}}
	tests := map[string]struct {
		peers operator.Peers
		want  Status
		says  string
	}{
		"connected":       {up(time.Second, "1.2.3"), OK, "12ms away"},
		"clock":           {up(-time.Hour, "1.2.3"), Warning, "by 1h0m0s"},
		"another version": {up(0, "1.0.0"), Warning, "version 1.0.0"},
		"down":            {down, Warning, "the host does not answer"},
		"asks to join":    {operator.Peers{Joining: []operator.Joining{{Fingerprint: "a b c"}}}, Warning, `"a b c"`},
		"tampered":        {operator.Peers{Problem: "another program changed the list"}, Error, "another program"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.publish(f.at.PID, tt.peers)
			found := checkMachines(t.Context(), begin(t.Context(), f.host))
			if len(found) != 1 || found[0].Status != tt.want || !strings.Contains(found[0].Detail, tt.says) {
				t.Errorf("found %+v", found)
			}
			f.publish(f.at.PID+1, tt.peers)
			if found := checkMachines(t.Context(), begin(t.Context(), f.host)); len(found) != 0 {
				t.Errorf("what another nod-desktop left: %+v", found)
			}
		})
	}
}

func TestMachinesAreProbedWithoutADesk(t *testing.T) {
	tests := map[string]struct {
		out  string
		err  error
		want Status
		says string
	}{
		"reached":         {"nod 1.2.3 (abc, 2026-11-22)\n", nil, OK, "nod 1.2.3"},
		"another version": {"nod 1.0.0\n", nil, Warning, "version 1.0.0"},
		"not let in":      {"", errors.New("me@b: Permission denied (publickey)."), Warning, "ssh was refused"},
		"no nod":          {"", errors.New("bash: line 1: nod: command not found"), Warning, "nod is not installed there"},
		"hostile words":   {"", errors.New("\x1b[2J all is well"), Warning, "the connection command failed"},
		"slow":            {"", context.DeadlineExceeded, Warning, "no answer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.write(f.configPath(), "remote:\n  machines: [{kind: ssh, host: build-1}]\n"+
				"  nats: {url: 'nats://a:1,nats://secret@b'}\n")
			f.must(os.RemoveAll(f.Runtime))
			var ran []string
			f.Run = func(_ context.Context, _ []string, argv ...string) (string, error) {
				ran = argv
				return tt.out, tt.err
			}
			var dialed []string
			f.Dial = func(_ context.Context, address string) error {
				dialed = append(dialed, address)
				if address == "a:1" {
					return errors.New("refused")
				}
				return nil
			}
			found := checkMachines(t.Context(), begin(t.Context(), f.host))
			if len(found) != 2 || found[0].Status != tt.want || !strings.Contains(found[0].Detail, tt.says) {
				t.Fatalf("found %+v", found)
			}
			if strings.Contains(found[0].Detail, "\x1b") {
				t.Errorf("a machine's words: %q", found[0].Detail)
			}
			if got := strings.Join(ran, " "); !strings.HasSuffix(got, "-- build-1 nod --version") {
				t.Errorf("ran %q", got)
			}
			if strings.Contains(found[1].Detail, "secret") {
				t.Errorf("a token: %q", found[1].Detail)
			}
			if found[1].Status != OK || strings.Join(dialed, " ") != "a:1 b:4222" {
				t.Errorf("found %+v, dialed %q", found[1], dialed)
			}
		})
	}
}
