package doctor

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ownfile"
)

// publish writes what nod-desktop says of its peers and its session.
func (f *fake) publish(p operator.Published) {
	f.t.Helper()
	text, err := json.Marshal(p)
	f.must(err)
	f.must(ownfile.Write(filepath.Join(f.Runtime, "machines.json"), text, 0o600))
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
		want  status
		says  string
	}{
		"connected":       {up(time.Second, "1.2.3"), fine, "12ms away"},
		"clock":           {up(-time.Hour, "1.2.3"), warned, "by 1h0m0s"},
		"another version": {up(0, "1.0.0"), warned, "version 1.0.0"},
		"down":            {down, warned, "the host does not answer"},
		"asks to join":    {operator.Peers{Joining: []operator.Joining{{Fingerprint: "a b c"}}}, warned, `"a b c"`},
		"phone":           {operator.Peers{Phone: operator.Phone{Problem: "no address"}}, warned, "phones cannot reach"},
		"tampered":        {operator.Peers{Problem: "another program changed the list"}, failed, "another program"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.publish(operator.Published{PID: f.at.PID, Peers: tt.peers})
			found := checkMachines(t.Context(), begin(t.Context(), f.host))
			if len(found) != 1 || found[0].Status != tt.want || !strings.Contains(found[0].Detail, tt.says) {
				t.Errorf("found %+v", found)
			}
			f.publish(operator.Published{PID: f.at.PID + 1, Peers: tt.peers})
			if found := checkMachines(t.Context(), begin(t.Context(), f.host)); len(found) != 0 {
				t.Errorf("what another nod-desktop left: %+v", found)
			}
		})
	}
}
