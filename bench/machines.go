//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"nod/api"
	"nod/bench/report"
	"nod/bench/sample"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/interact/journal"
	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/ipc/remote"
	"nod/ipc/remote/session"
	"nod/policy"
)

const machinesHow = "An agent asks for approval, and the desk denies it: the time from the call until the desk has " +
	"the request, and from the desk's answer until the caller has it. The agent asks on this machine, through nod's own " +
	"broker, journal, server and client in this process; or a `nod relay` of its own, which the desk reaches through a " +
	"pipe, as into a container, or through ssh and a real sshd on this machine's loopback. Beside each stands the same " +
	"without a relay."

// way is how what an agent asks reaches a desk.
type way struct {
	name  string
	agent *client.Client
	asked chan asked
	close func()
}

// asked is a request that has reached the desk.
type asked struct {
	at   time.Time
	deny func(context.Context) error
}

// machines measures what it costs to ask from another machine.
func (b *bench) machines() (figures []report.Figure, err error) {
	var ways []*way
	defer func() {
		for _, w := range ways {
			w.close()
		}
	}()
	for _, open := range []func() (*way, error){b.localWay, b.pipeWay, b.sshWay} {
		w, err := open()
		if err != nil {
			return nil, err
		}
		ways = append(ways, w)
	}
	var arrivals, replies []report.Figure
	turns := make([][2]sample.Times, len(ways))
	for turn := range b.times(300) + 1 {
		for i := range ways {
			at := (turn + i) % len(ways)
			there, back, err := ways[at].measure(b.ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", ways[at].name, err)
			}
			if turn > 0 { // the first one does not count
				turns[at][0], turns[at][1] = append(turns[at][0], there), append(turns[at][1], back)
			}
		}
	}
	for i, w := range ways {
		arrivals = append(arrivals, besideFirst(arrivals, "call to desk, "+w.name, turns[i][0]))
		replies = append(replies, besideFirst(replies, "answer to caller, "+w.name, turns[i][1]))
	}
	return append(arrivals, replies...), nil
}

// besideFirst is a figure that stands beside the first one.
func besideFirst(figures []report.Figure, name string, t sample.Times) report.Figure {
	f := report.Figure{Name: name, Unit: report.Seconds, Value: t.Median(), P99: t.P99(), Samples: len(t)}
	if len(figures) > 0 {
		f = f.Beside("without a relay", figures[0].Value, figures[0].P99)
	}
	return f
}

// measure asks once.
func (w *way) measure(ctx context.Context) (there, back time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	type replied struct {
		at      time.Time
		allowed bool
		err     error
	}
	over := make(chan replied, 1)
	began := time.Now()
	go func() {
		reply, err := w.agent.Approve(ctx, api.ApproveRequest{Approve: api.Approve{
			Tool: "Answered", Input: fmt.Appendf(nil, `{"at":%d}`, began.UnixNano()),
		}})
		over <- replied{time.Now(), err == nil && reply.Allowed(), err}
	}()
	var a asked
	select {
	case a = <-w.asked:
	case r := <-over:
		return 0, 0, fmt.Errorf("the caller was answered before the desk was asked: %w", r.err)
	}
	answered := time.Now()
	if err := a.deny(ctx); err != nil {
		return 0, 0, err
	}
	r := <-over
	if r.err == nil && r.allowed {
		r.err = errors.New("a call is allowed that the desk denied")
	}
	return a.at.Sub(began), r.at.Sub(answered), r.err
}

// localWay asks at the desk itself.
func (b *bench) localWay() (*way, error) {
	dir, err := os.MkdirTemp("", "nod-journal-")
	if err != nil {
		return nil, err
	}
	j := journal.Open(filepath.Join(dir, "nod.db"), journal.Options{Log: slog.New(slog.DiscardHandler)})
	w := &way{name: "without a relay", asked: make(chan asked)}
	s, err := b.newService(j, askedHere(w.asked), &interacttest.Policy{})
	if err != nil {
		return nil, err
	}
	w.agent = s.Client
	w.close = func() {
		s.close()
		_ = j.Close()
		_ = os.RemoveAll(dir)
	}
	return w, nil
}

// askedHere is the person before a desk without machines.
type askedHere chan asked

// Prompt implements [interact.Prompter].
func (p askedHere) Prompt(ctx context.Context, _ interact.Request, _ policy.Decision) (interact.Answer, error) {
	said := make(chan struct{})
	p <- asked{time.Now(), func(context.Context) error { close(said); return nil }}
	select {
	case <-said:
		return interact.Answer{Outcome: api.Denied, By: api.ByHuman}, nil
	case <-ctx.Done():
		return interact.Answer{}, ctx.Err()
	}
}

// pairedDesk is a desk with one machine. It implements [remote.Desk].
type pairedDesk struct {
	asked chan asked
	line  remote.Line
}

// Join implements [remote.Desk].
func (d *pairedDesk) Join(machine remote.Key, _ remote.Hello) (remote.Peer, error) {
	return remote.Peer{Name: "machine", Role: remote.RoleMachine, Key: machine}, nil
}

// Leave implements [remote.Desk].
func (d *pairedDesk) Leave(remote.Key) {}

// Take implements [remote.Desk].
func (d *pairedDesk) Take(from remote.Peer, r remote.Request) error {
	at := time.Now()
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	go func() {
		d.asked <- asked{at, func(ctx context.Context) error {
			a := interact.Answer{Outcome: api.Denied, By: api.ByHuman}
			_, err := d.line.Commit(ctx, from.Key, remote.Answer{ID: r.Request.ID, Digest: digest, Answer: a})
			return err
		}}
	}()
	return nil
}

// Open implements [remote.Desk].
func (d *pairedDesk) Open(remote.Peer) []interact.ID { return nil }

// Desks implements [remote.Desk].
func (d *pairedDesk) Desks() []remote.Key { return nil }

// Policy implements [remote.Desk].
func (d *pairedDesk) Policy() (remote.Policy, error) { return remote.Policy{}, nil }

// End implements [remote.Desk].
func (d *pairedDesk) End(remote.Peer, remote.Answer) {}

// Keep implements [remote.Desk].
func (d *pairedDesk) Keep(remote.Peer, []interact.Record) error { return nil }

// place is a folder that is a machine of its own.
type place string

func (p place) path(name string) string { return filepath.Join(string(p), name) }

// env is what programs there have in their environment.
func (p place) env(bin string) []string {
	return []string{
		"HOME=" + p.path("home"), "PATH=" + bin + ":/usr/bin:/bin", "XDG_RUNTIME_DIR=" + p.path("run"),
		"XDG_DATA_HOME=" + p.path("data"), "XDG_STATE_HOME=" + p.path("state"), "XDG_CONFIG_HOME=" + p.path("config"),
	}
}

// throughRelay is the way through a relay that the command reaches.
func (b *bench) throughRelay(name string, at place, run []string) (*way, error) {
	identity, err := remote.NewIdentity()
	if err != nil {
		return nil, err
	}
	up := make(chan struct{}, 1)
	d := &pairedDesk{asked: make(chan asked)}
	log, changed := slog.New(slog.DiscardHandler), func() {
		select {
		case up <- struct{}{}:
		default: // it was told
		}
	}
	d.line = session.NewLine(identity, d, session.NewCommandCarrier(run, log, changed), log, changed)
	ctx, stop := context.WithCancel(b.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = d.line.Run(ctx) }()
	w := &way{name: name, asked: d.asked, close: func() {
		stop()
		<-ended
		end := exec.Command(b.program("nod"), "stop")
		end.Env = at.env(b.bin)
		_ = end.Run()
		_ = os.RemoveAll(string(at))
	}}
	for late := time.After(time.Minute); !d.line.State(remote.Key{}).Up; {
		select {
		case <-up:
		case <-late:
			w.close()
			return nil, fmt.Errorf("%s: the line does not come up: %s", name, d.line.State(remote.Key{}).Problem)
		}
	}
	e, err := endpoint.Read(filepath.Join(at.path("run"), "nod"))
	w.agent = &client.Client{Endpoint: e}
	return w, err
}

// newPlace makes the folder.
func newPlace() (place, error) {
	dir, err := os.MkdirTemp("", "nod-m-") // short, for the path of a socket
	if err != nil {
		return "", err
	}
	for _, name := range []string{"home", "run"} {
		if err := os.Mkdir(place(dir).path(name), 0o700); err != nil {
			return "", err
		}
	}
	return place(dir), nil
}

// pipeWay is through a pipe.
func (b *bench) pipeWay() (*way, error) {
	at, err := newPlace()
	if err != nil {
		return nil, err
	}
	command := append([]string{"env", "-i"}, at.env(b.bin)...)
	return b.throughRelay("through a pipe", at, append(command, b.program("nod"), "relay", "--stdio"))
}

// sshWay is through ssh.
func (b *bench) sshWay() (*way, error) {
	at, err := newPlace()
	if err != nil {
		return nil, err
	}
	stop, err := b.startSSHD(at)
	if err != nil {
		return nil, err
	}
	w, err := b.throughRelay("through ssh", at, []string{
		"ssh", "-F", at.path("ssh_config"), "-T", "-o", "BatchMode=yes", "--", "machine", "nod", "relay", "--stdio",
	})
	if err != nil {
		stop()
		return nil, err
	}
	end := w.close
	w.close = func() { end(); stop() }
	return w, nil
}

// startSSHD starts an sshd that lets this user in, and into that place.
func (b *bench) startSSHD(at place) (stop func(), err error) {
	for _, key := range []string{"host", "person"} {
		make := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at.path(key))
		if out, err := make.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("make a key: %w: %s", err, out)
		}
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	for name, text := range map[string]string{
		"sshd_config": fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\n"+
			"StrictModes no\nUsePAM no\nSetEnv %s\n",
			port, at.path("host"), at.path("person.pub"), strings.Join(at.env(b.bin), " ")),
		"ssh_config": fmt.Sprintf("Host machine\nHostName 127.0.0.1\nPort %d\nUser %s\nIdentityFile %s\nIdentitiesOnly yes\n"+
			"UserKnownHostsFile %s\nStrictHostKeyChecking accept-new\n", port, me.Username, at.path("person"), at.path("known")),
	} {
		if err := os.WriteFile(at.path(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where sshd locks itself in
			return nil, err
		}
	}
	sshd := exec.Command("/usr/sbin/sshd", "-D", "-f", at.path("sshd_config"))
	if err := sshd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = sshd.Process.Kill()
		_ = sshd.Wait()
	}, nil
}
