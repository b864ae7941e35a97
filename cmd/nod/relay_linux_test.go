package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"

	"nod/api"
	"nod/interact"
	"nod/ipc/endpoint"
	"nod/ipc/remote"
	"nod/ipc/remote/cluster"
	"nod/ipc/remote/session"
	"nod/ownfile/owndata"
	"nod/policy"
	"nod/policy/config"
)

// headless is a machine without a desktop, with folders of its own.
type headless struct {
	t    *testing.T
	nod  string
	env  []string
	dir  string // where the relay publishes what it is reached by
	home string
}

func newHeadless(t *testing.T) *headless {
	t.Helper()
	run, err := os.MkdirTemp("", "nod") // t.TempDir is too long for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	m := &headless{t: t, nod: filepath.Join(underTest(t, "nod"), "nod"), dir: filepath.Join(run, "nod"), home: t.TempDir()}
	m.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "XDG_RUNTIME_DIR=" + run, "USER=ann", hurries}
	t.Cleanup(func() {
		if out, err := m.command("stop").CombinedOutput(); err != nil {
			t.Errorf("stop: %v\n%s", err, out)
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(m.home, ".local/state/nod/nod.log"))
			t.Logf("the relay's log:\n%s", log)
		}
		os.RemoveAll(run)
	})
	return m
}

func (m *headless) command(args ...string) *exec.Cmd {
	cmd := exec.Command(m.nod, args...)
	cmd.Env, cmd.Dir = m.env, m.home
	return cmd
}

// approve starts a program that asks leave for a command, as an agent does.
func (m *headless) approve(command string, flags ...string) *asking {
	m.t.Helper()
	args := append([]string{"approve", "--tool", "Bash", "--input", fmt.Sprintf(`{"command":%q}`, command)}, flags...)
	a := &asking{t: m.t, cmd: m.command(args...)}
	a.cmd.Stdout, a.cmd.Stderr = &a.out, &a.out
	if err := a.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	return a
}

// kill kills the relay, as nothing may that wants it to say good-bye, and returns the id that its process had.
func (m *headless) kill() (pid int) {
	m.t.Helper()
	e, err := endpoint.Read(m.dir)
	if err == nil {
		err = syscall.Kill(e.PID, syscall.SIGKILL)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	for syscall.Kill(e.PID, 0) == nil {
		if out, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.PID)); bytes.Contains(out, []byte(") Z ")) {
			break // nobody waits for it
		}
	}
	return e.PID
}

// asking is a program that waits for an answer.
type asking struct {
	t   *testing.T
	cmd *exec.Cmd
	out bytes.Buffer
}

// ends waits for the program's end, which must be with that status.
func (a *asking) ends(want status) {
	a.t.Helper()
	err := a.cmd.Wait()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		a.t.Fatal(err)
	} else if got := a.cmd.ProcessState.ExitCode(); got != int(want) {
		a.t.Fatalf("exit status %d, want %d: %v\n%s", got, want, failed, a.out.String())
	}
}

// desk is one with a user who is played by the test.
type desk struct {
	t        *testing.T
	identity *remote.Identity
	line     remote.Line
	machine  chan remote.Key // that joined
	took     chan remote.Request
	ended    chan remote.Answer

	mu     sync.Mutex
	policy remote.Policy
	others []remote.Key // that its user has paired
	kept   []interact.Record
	seen   map[interact.ID]bool // requests that came: whether they are open
}

// newDesk is a desk whose line the machine's own nod relay --stdio carries.
func newDesk(t *testing.T, m *headless, flags ...string) *desk {
	t.Helper()
	d := newDeskWithout(t)
	d.connectTo(m, flags...)
	return d
}

// relayArgs are those of nod with which a desk reaches the relay of a machine.
func relayArgs(desk remote.Key) []string {
	return []string{"relay", "--stdio", "--desk", desk.String()}
}

// connectTo keeps up the line to a machine as a desk does.
func (d *desk) connectTo(m *headless, flags ...string) {
	args := append(relayArgs(d.identity.Key()), flags...)
	run := slices.Concat([]string{"env", "-i"}, m.env, []string{m.nod}, args)
	d.connect(session.NewCommandCarrier(run, slog.New(slog.DiscardHandler), func() {}))
}

// newDeskWithout is a desk that has no line yet.
func newDeskWithout(t *testing.T) *desk {
	t.Helper()
	identity, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return &desk{
		t: t, identity: identity, machine: make(chan remote.Key, 100), took: make(chan remote.Request, 1000),
		ended: make(chan remote.Answer, 1000), seen: map[interact.ID]bool{},
	}
}

// connect keeps up a line.
func (d *desk) connect(carrier session.Carrier) {
	d.line = session.NewLine(d.identity, d, carrier, slog.New(slog.DiscardHandler), func() {})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := d.line.Run(ctx); err != nil {
			d.t.Error(err)
		}
	})
	d.t.Cleanup(func() { stop(); running.Wait() })
}

func (d *desk) Join(machine remote.Key, h remote.Hello) (remote.Peer, error) {
	if u, err := user.Current(); err != nil || h.User != u.Username {
		d.t.Errorf("it says %+v", h)
	}
	d.machine <- machine
	return remote.Peer{Name: "build", Role: remote.RoleMachine, Key: machine}, nil
}

func (d *desk) Leave(remote.Key) {}

func (d *desk) Take(_ remote.Peer, r remote.Request) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, isKnown := d.seen[r.Request.ID]; !isKnown { // what has ended may come again
		d.took <- r
		d.seen[r.Request.ID] = true
	}
	return nil
}

func (d *desk) Open(remote.Peer) (ids []interact.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, isOpen := range d.seen {
		if isOpen {
			ids = append(ids, id)
		}
	}
	return ids
}

func (d *desk) Policy() (remote.Policy, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.policy, nil
}

// apply has machines apply another policy.
func (d *desk) apply(p remote.Policy) {
	d.mu.Lock()
	d.policy = p
	d.mu.Unlock()
	d.line.Greet()
}

func (d *desk) Desks() []remote.Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.others
}

func (d *desk) End(_ remote.Peer, a remote.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[a.ID] { // the same may be told again
		d.seen[a.ID] = false
		d.ended <- a
	}
}

func (d *desk) Keep(_ remote.Peer, decided []interact.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = append(d.kept, decided...)
	return nil
}

// records are those that the machine's policy decided, each once.
func (d *desk) records() map[interact.ID]interact.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	once := map[interact.ID]interact.Record{}
	for _, r := range d.kept {
		once[r.Request.ID] = r
	}
	return once
}

// answer commits an answer to a request, and returns what counts.
func (d *desk) answer(machine remote.Key, r remote.Request, a interact.Answer) (interact.Answer, error) {
	d.t.Helper()
	digest := r.Digest()
	if approve, ok := r.Request.Body.(interact.Approve); ok {
		a.ShownSHA256 = interact.Digest(approve.Input)
	}
	return d.commit(machine, remote.Answer{ID: r.Request.ID, Digest: digest, Answer: a})
}

// commit tries again while the machine cannot be reached, as a desk does.
func (d *desk) commit(machine remote.Key, a remote.Answer) (came interact.Answer, err error) {
	d.t.Helper()
	until(d.t, "the line comes back", func() bool {
		came, err = d.line.Commit(d.t.Context(), machine, a)
		return !errors.Is(err, remote.ErrDown)
	})
	return came, err
}

func (d *desk) mustAnswer(machine remote.Key, r remote.Request, a interact.Answer) {
	d.t.Helper()
	if came, err := d.answer(machine, r, a); err != nil || came.Outcome != a.Outcome {
		d.t.Fatalf("answered %s, and %+v, %v counts", a.Outcome, came, err)
	}
}

// until waits until something is so.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-t.Context().Done():
			t.Fatalf("never: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// testsPass has one command pass, and asks about all others.
func testsPass(serial uint64) remote.Policy {
	return remote.Policy{Serial: serial, Timeout: time.Minute, Policy: policy.Policy{Rules: []policy.Rule{
		{ID: "test", Effect: policy.Allow, Run: []string{"make test"}},
		{ID: "no-push", Effect: policy.Deny, Run: []string{"git push"}},
	}}}
}

// A relay that may open no more files goes on with the desk that it has, and takes others once it may again.
func TestRelayOutOfFiles(t *testing.T) {
	m := newHeadless(t)
	d := newDesk(t, m)
	key := <-d.machine
	e, err := endpoint.Read(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	limit := func(now *unix.Rlimit) (before unix.Rlimit) {
		if err := unix.Prlimit(e.PID, unix.RLIMIT_NOFILE, now, &before); err != nil {
			t.Fatal(err)
		}
		return before
	}
	before := limit(nil)
	limit(&unix.Rlimit{Max: before.Max})
	conn, err := net.Dial("unix", endpoint.ControlPath(m.dir))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	until(t, "the relay notices", func() bool {
		log, _ := os.ReadFile(filepath.Join(m.home, ".local/state/nod/nod.log"))
		return bytes.Contains(log, []byte("too many open files"))
	})
	limit(&before)
	asked := m.approve("make deploy")
	d.mustAnswer(key, <-d.took, interact.Answer{Outcome: api.Allowed})
	asked.ends(exitYes)
	if now, err := endpoint.Read(m.dir); err != nil || now != e {
		t.Errorf("another relay runs: %v, %v", now, err)
	}
}

// A desk starts the relay, gives it a policy, is asked about the rest, and has in its journal what passed.
func TestRelayAsksItsDesk(t *testing.T) {
	m := newHeadless(t)
	d := newDesk(t, m)
	key := <-d.machine
	d.apply(testsPass(1))
	until(t, "the policy is applied", func() bool {
		out, err := m.command("evaluate", "--tool", "Bash", "--input", `{"command":"git push"}`).Output()
		return err != nil && bytes.Contains(out, []byte("deny"))
	})
	m.approve("make test").ends(exitYes)
	m.approve("git push").ends(exitNo)

	asked := m.approve("make deploy", "--session", "s1", "--agent", "claude-code")
	r := <-d.took
	if why := r.Request.Reported; why == nil || why.Why.Effect != policy.Ask ||
		why.Offers.Grant(policy.ThisSession, policy.CoverInput).Text == "" ||
		why.Offers.Grant(policy.Always, policy.CoverInput).Text != "" {
		t.Errorf("reported: %+v", why)
	}
	d.mustAnswer(key, r, interact.Answer{Outcome: api.Allowed, Scope: policy.ThisSession, Covers: policy.CoverInput})
	asked.ends(exitYes)
	m.approve("make deploy", "--session", "s1", "--agent", "claude-code").ends(exitYes) // by the grant
	if err := d.line.Forget(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	asked = m.approve("make deploy", "--session", "s1", "--agent", "claude-code")
	d.mustAnswer(key, <-d.took, interact.Answer{Outcome: api.Denied, Reason: "not today"})
	asked.ends(exitNo)
	if !strings.Contains(asked.out.String(), "not today") {
		t.Errorf("the agent reads %q", asked.out.String())
	}
	until(t, "three decisions are in the journal", func() bool { return len(d.records()) == 3 })
}

// What waits when the relay is killed is the same request afterwards: an answer given meanwhile counts, and once.
func TestRelayIsKilled(t *testing.T) {
	m := newHeadless(t)
	d := newDesk(t, m)
	key := <-d.machine
	d.apply(testsPass(1))
	until(t, "the policy is applied", func() bool {
		out, err := m.command("evaluate", "--tool", "Bash", "--input", `{"command":"git push"}`).Output()
		return err != nil && bytes.Contains(out, []byte("deny"))
	})
	for i := range 5 {
		asked := m.approve(fmt.Sprint("make ", i))
		r := <-d.took
		passed := len(d.records())
		m.approve("make test").ends(exitYes)
		m.kill()
		d.mustAnswer(key, r, interact.Answer{Outcome: api.Allowed, Scope: policy.Once})
		asked.ends(exitYes)
		until(t, "what passed before is in the journal", func() bool { return len(d.records()) > passed })
	}
	m.approve("make test").ends(exitYes) // by the policy that was kept
	select {
	case r := <-d.took:
		t.Errorf("asked another time: %+v", r.Request)
	default:
	}
	if n := len(d.records()); n < 5 || n > 6 {
		t.Errorf("%d decisions are in the journal", n)
	}
}

// Who connects to the control socket without the key of a desk that the relay knows learns nothing and decides nothing,
// whatever they send, and keeps no desk away.
func TestRelayTakesNoOtherDesk(t *testing.T) {
	m := newHeadless(t)
	d := newDesk(t, m)
	key := <-d.machine
	secret := m.approve("echo secret")
	r := <-d.took

	other := newDesk(t, m)
	until(t, "the other desk is told why", func() bool { return other.line.State(key).Problem != "" })
	if problem := other.line.State(key).Problem; !strings.Contains(problem, "belongs to another desk") {
		t.Errorf("it is told %q", problem)
	}
	digest := r.Digest()
	yes := remote.Answer{ID: r.Request.ID, Digest: digest, Answer: interact.Answer{
		Outcome: api.Allowed, ShownSHA256: interact.Digest(r.Request.Body.(interact.Approve).Input)}}
	if _, err := other.line.Commit(t.Context(), key, yes); err == nil {
		t.Error("its answer counts")
	}
	if err := other.line.Forget(t.Context(), key); err == nil {
		t.Error("it can end approvals")
	}

	socket := endpoint.ControlPath(m.dir)
	for _, text := range []string{"", "\n", "{}\n", "null\n", "[]\n", strings.Repeat("[", 1<<20), "\x00\xff\n",
		`{"jsonrpc":"2.0","id":1,"method":"greet","params":{"body":{}}}` + "\n",
		strings.Repeat("x", 20<<20)} {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte(text)) // it may hang up meanwhile
		c.Close()
	}
	for range 500 { // who holds connections open keeps no desk away
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	again := newDesk(t, m)
	until(t, "another desk comes through", func() bool { return again.line.State(key).Problem != "" })
	if problem := again.line.State(key).Problem; !strings.Contains(problem, "belongs to another desk") {
		t.Errorf("it is told %q", problem)
	}
	if d.answered(r) || other.asked() {
		t.Error("somebody was answered, or asked, who should not be")
	}
	d.mustAnswer(key, r, interact.Answer{Outcome: api.Denied})
	secret.ends(exitNo)
	if other.asked() {
		t.Error("the other desk learned of a request")
	}
}

// A relay that a desk starts knows that desk before anybody can come first, and no other desk that starts it later is
// another of its desks.
func TestRelayKnowsWhoStartsIt(t *testing.T) {
	m := newHeadless(t)
	d := newDeskWithout(t)
	if out, err := m.command(relayArgs(d.identity.Key())...).CombinedOutput(); err != nil { // it hangs up at once
		t.Fatalf("%v: %s", err, out)
	}
	stranger := newDesk(t, m)
	isTold := func() bool {
		return strings.Contains(stranger.line.State(remote.Key{}).Problem, "belongs to another desk")
	}
	until(t, "the stranger is told why", isTold)
	d.connectTo(m)
	key := <-d.machine
	killed := m.kill()
	until(t, "somebody starts it anew", func() bool {
		e, err := endpoint.Read(m.dir)
		return err == nil && e.PID != killed // which has left its own behind
	})
	asked := m.approve("make")
	d.mustAnswer(key, <-d.took, interact.Answer{Outcome: api.Denied})
	asked.ends(exitNo)
	until(t, "the stranger is told once more", isTold)
	if stranger.asked() {
		t.Error("the stranger learned of a request")
	}
	for _, flags := range [][]string{{"--desk", "x"}, {"--desk", stranger.identity.Key().String()}} {
		if out, err := m.command(append(relayArgs(d.identity.Key()), flags...)...).CombinedOutput(); err == nil {
			t.Errorf("%q: %s", flags, out)
		}
	}
}

// A relay that has a desk takes another one once the first desk's user has paired that, and not before.
func TestAnotherDeskNeedsTheFirst(t *testing.T) {
	m := newHeadless(t)
	d := newDesk(t, m)
	key := <-d.machine
	other := newDesk(t, m)
	until(t, "the other desk is told why", func() bool {
		return strings.Contains(other.line.State(remote.Key{}).Problem, "belongs to another desk")
	})
	asked := m.approve("make")
	<-d.took
	if other.asked() {
		t.Error("the other desk is asked")
	}
	d.mu.Lock()
	d.others = []remote.Key{other.identity.Key()}
	d.mu.Unlock()
	d.line.Greet()
	other.mustAnswer(key, <-other.took, interact.Answer{Outcome: api.Denied})
	asked.ends(exitNo)
	if a := <-d.ended; a.Answer.Outcome != api.Denied {
		t.Errorf("the first desk is told %+v", a)
	}
}

// answered reports whether a request has ended for the desk.
func (d *desk) answered(r remote.Request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.seen[r.Request.ID]
}

// asked reports whether anything was put before the desk.
func (d *desk) asked() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.seen) > 0 || len(d.kept) > 0
}

// One nod takes the requests of a user's agents. What a relay knows it forgets when its user says so, and not before.
func TestRelayIsAlone(t *testing.T) {
	m := newHeadless(t)
	d := newDesk(t, m)
	<-d.machine
	for _, args := range [][]string{{"relay"}, {"relay", "--forget-desks"}} {
		out, err := m.command(args...).CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("a relay is already running (pid ")) {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	m.approve("make all", "--timeout", "1ms").ends(exitUnanswered)
	for _, folder := range []string{m.dir, m.home + "/.local/share/nod", m.home + "/.local/state/nod"} {
		files, err := os.ReadDir(folder)
		if err != nil || len(files) == 0 {
			t.Errorf("%d files, %v", len(files), err)
		}
		for _, file := range files {
			if !owndata.Is(file) {
				t.Errorf("nod doesn't know its own %s/%s", folder, file.Name())
			}
		}
	}
}

// Over NATS it is as over a stream: asked, killed, and answered once.
func TestRelayOverNATS(t *testing.T) {
	s, err := server.NewServer(&server.Options{Port: -1, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	m, d := newHeadless(t), newDeskWithout(t)
	relay := func() {
		t.Helper()
		cmd := m.command("relay", "--nats", s.ClientURL(), "--desk", d.identity.Key().String())
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { go cmd.Wait() }() // it is stopped by name
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "nod ready ") {
				return
			}
		}
		t.Fatal("the relay did not get ready")
	}
	until(t, "the server is ready", func() bool { return s.ReadyForConnections(time.Second) })
	none := func() []remote.Key { return nil }
	cfg := config.NATS{URL: s.ClientURL()}
	d.connect(cluster.NewDesk(cfg, d.identity.Key(), none, slog.New(slog.DiscardHandler)))
	relay()
	key := <-d.machine
	d.apply(testsPass(1))
	until(t, "the policy is applied", func() bool {
		out, err := m.command("evaluate", "--tool", "Bash", "--input", `{"command":"git push"}`).Output()
		return err != nil && bytes.Contains(out, []byte("deny"))
	})
	asked := m.approve("make deploy")
	r := <-d.took
	m.approve("make test").ends(exitYes)
	m.kill()
	relay()
	d.mustAnswer(key, r, interact.Answer{Outcome: api.Allowed, Scope: policy.Once})
	asked.ends(exitYes)
	until(t, "what passed before is in the journal", func() bool { return len(d.records()) == 1 })
	select {
	case r := <-d.took:
		t.Errorf("asked another time: %+v", r.Request)
	default:
	}
}

// What ends at the machine ends at the desk: by a new policy, with its caller, and with the relay.
func TestRelayTellsHowRequestsEnd(t *testing.T) {
	m := newHeadless(t)
	d := newDesk(t, m)
	key := <-d.machine
	d.apply(testsPass(1))
	ends := func(r remote.Request, want api.Outcome, by api.By) {
		t.Helper()
		if a := <-d.ended; a.ID != r.Request.ID || a.Answer.Outcome != want || a.Answer.By != by {
			t.Errorf("the desk is told %+v, want %s by %q", a, want, by)
		}
	}
	lint := m.approve("make lint")
	r := <-d.took
	more := testsPass(2)
	more.Policy.Rules[0].Run = []string{"make lint"}
	d.apply(more)
	lint.ends(exitYes)
	ends(r, api.Allowed, api.ByPolicy)

	gone := m.approve("make install")
	r = <-d.took
	if err := gone.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = gone.cmd.Wait() // it was killed
	ends(r, api.Cancelled, "")

	waits := m.approve("make clean")
	r = <-d.took
	if out, err := m.command("stop").CombinedOutput(); err != nil {
		t.Fatalf("stop: %v: %s", err, out)
	}
	waits.ends(exitUnanswered)
	// The relay that the line has started knows how it ended.
	if came, err := d.answer(key, r, interact.Answer{Outcome: api.Allowed}); err != nil ||
		came.Outcome != api.Unavailable {
		t.Errorf("an answer after that: %+v, %v", came, err)
	}
	m.approve("make lint").ends(exitYes) // by the policy that it has kept
}
