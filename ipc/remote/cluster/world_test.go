//go:build unix

package cluster_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nod/api"
	"nod/e2e/clustertest"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/remote"
	"nod/ipc/remote/cluster"
	"nod/ipc/remote/session"
	"nod/policy"
	"nod/policy/config"
)

func TestMain(m *testing.M) {
	clustertest.Main()
	deskMain()
	os.Exit(m.Run())
}

// patience is how long a request of a machine waits. All of them end before, whatever breaks.
const patience = time.Minute

// world is one machine and some desks that meet on a cluster, and all that people there have decided. Each desk is a
// process, so that it can sleep and be killed.
type world struct {
	*testing.T
	ctx     context.Context
	cluster *clustertest.Cluster
	random  *rand.Rand
	prefix  string
	machine *machine
	dir     string
	asking  sync.WaitGroup

	mu       sync.Mutex // guards all below
	desks    []*deskProcess
	events   []event
	changed  chan struct{} // closed with each event
	outcomes map[interact.ID]interact.Answer
}

// machine is a relay as far as a link knows it, with agents that ask.
type machine struct {
	identity *remote.Identity
	path     *clustertest.Path
	user     string
	url      string // in place of the path; empty: that
	link     *session.Link
	broker   *interact.Broker
	journal  interacttest.Journal
	desks    []remote.Key

	mu      sync.Mutex // guards applied
	applied []remote.Policy
}

// Hello implements what a [session.Link] needs.
func (m *machine) Hello(remote.Key) remote.Hello {
	return remote.Hello{Name: "machine", System: "test", Clock: time.Now()}
}

// Admit implements what a [session.Link] needs.
func (m *machine) Admit(desk remote.Key) error {
	if !slices.Contains(m.desks, desk) {
		return remote.ErrNotPaired
	}
	return nil
}

// Vouch implements what a [session.Link] needs.
func (m *machine) Vouch(remote.Key, []remote.Key) {}

// Settled implements what a [session.Link] needs.
func (m *machine) Settled(ctx context.Context, id interact.ID) (interact.Answer, error) {
	return m.broker.Settled(ctx, id)
}

// Apply implements what a [session.Link] needs.
func (m *machine) Apply(_ remote.Key, p remote.Policy) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applied = append(m.applied, p)
	return nil
}

// Forget implements what a [session.Link] needs.
func (m *machine) Forget() {}

// Prompt implements [interact.Prompter].
func (m *machine) Prompt(ctx context.Context, r interact.Request, _ policy.Decision) (interact.Answer, error) {
	return m.link.Ask(ctx, r)
}

// deskProcess is a desk's process, as seen from here.
type deskProcess struct {
	setup
	identity *remote.Identity
	path     *clustertest.Path
	process  *exec.Cmd
	stdin    io.Closer
	read     sync.WaitGroup // what it says
	pending  int            // as it said last; guarded by the world's mu
}

// newWorld is a world with that many desks, which all machines know, but of which none runs yet.
func newWorld(t *testing.T, c *clustertest.Cluster, random *rand.Rand, desks int) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	w := &world{
		T: t, ctx: ctx, cluster: c, random: random, dir: t.TempDir(),
		prefix:  fmt.Sprintf("nod%x", random.Uint32()),
		changed: make(chan struct{}), outcomes: map[interact.ID]interact.Answer{},
	}
	for i := range desks {
		d := &deskProcess{path: c.Path(t)}
		d.Name = fmt.Sprintf("desk%d", i)
		d.setup.Identity = filepath.Join(w.dir, d.Name+".key")
		var err error
		if d.identity, err = remote.LoadIdentity(d.setup.Identity); err != nil {
			t.Fatal(err)
		}
		d.Config = w.config(d.path, d.Name)
		w.desks = append(w.desks, d)
	}
	w.machine = &machine{path: c.Path(t), user: "machine-" + w.prefix}
	var err error
	if w.machine.identity, err = remote.NewIdentity(); err != nil {
		t.Fatal(err)
	}
	return w
}

// config is how a client of that name reaches the cluster.
func (w *world) config(path *clustertest.Path, name string) config.NATS {
	credentials, err := w.cluster.Account.User(name)
	if err != nil {
		w.Fatal(err)
	}
	return config.NATS{URL: path.URL(), Credentials: credentials, CA: w.cluster.CA(), Prefix: w.prefix}
}

// log is where links say what they do.
func (w *world) log() *slog.Logger {
	if os.Getenv("NOD_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("desk", "-")
}

// startMachine starts the machine, for as long as the test runs.
func (w *world) startMachine() {
	m := w.machine
	for _, d := range w.desks {
		m.desks = append(m.desks, d.identity.Key())
	}
	cfg := w.config(m.path, m.user)
	cfg.URL = cmp.Or(m.url, cfg.URL)
	carrier := cluster.NewRelay(cfg, m.identity.Key(), func() []remote.Key { return m.desks }, w.log())
	m.link = session.NewLink(m.identity, m, carrier, w.log())
	m.broker = interacttest.Broker(m, &interacttest.Policy{}, func(c *interact.BrokerConfig) {
		c.Journal = &m.journal
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.link.Run(ctx) }()
	w.Cleanup(func() {
		m.broker.Close()
		cancel()
		if err := <-ended; err != nil {
			w.Errorf("the link: %v", err)
		}
	})
}

// startDesk starts a desk's process, which ends with the test.
func (w *world) startDesk(i int) *deskProcess {
	w.Helper()
	d := w.desks[i]
	d.Machine, d.Seed = w.machine.identity.Key(), w.random.Uint64()
	text, err := json.Marshal(d.setup)
	if err != nil {
		w.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	d.process = exec.Command(program)
	d.process.Env = append(os.Environ(), deskVariable+"="+string(text))
	var complaints strings.Builder
	d.process.Stderr = io.MultiWriter(os.Stderr, &complaints)
	if d.stdin, err = d.process.StdinPipe(); err != nil {
		w.Fatal(err)
	}
	out, err := d.process.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := d.process.Start(); err != nil {
		w.Fatal(err)
	}
	d.read.Go(func() { w.read(d, out) })
	w.Cleanup(func() {
		d.kill()
		if strings.Contains(complaints.String(), "DATA RACE") || strings.Contains(complaints.String(), "panic:") {
			w.Error("a desk broke: see above")
		}
	})
	return d
}

// read takes in what a desk says, until it ends.
func (w *world) read(d *deskProcess, out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // a line that it was killed amidst
		}
		w.mu.Lock()
		if e.Kind == isPending {
			d.pending = e.Pending
		}
		w.events = append(w.events, e)
		w.wake()
		w.mu.Unlock()
	}
}

// wake tells who waits that something has happened. It needs mu.
func (w *world) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// kill ends the desk's process on the spot.
func (d *deskProcess) kill() {
	if d.process == nil || d.process.ProcessState != nil {
		return
	}
	_ = d.process.Process.Kill()
	d.read.Wait()
	_ = d.process.Wait()
}

// sleep has a desk's process stand still, as its computer does while the lid is closed.
func (d *deskProcess) sleep() error { return d.process.Process.Signal(syscall.SIGSTOP) }

func (d *deskProcess) wakeUp() error { return d.process.Process.Signal(syscall.SIGCONT) }

// ask has n agents ask at about the same time, within the given one.
func (w *world) ask(n int, within time.Duration) {
	for range n {
		after := w.upTo(within)
		command := fmt.Sprintf("echo %x", w.random.Uint64())
		w.asking.Go(func() {
			w.pause(after)
			w.one(command)
		})
	}
}

// one asks about a command and returns how long the answer took.
func (w *world) one(command string) time.Duration {
	input, _ := json.Marshal(map[string]string{"command": command})
	began := time.Now()
	ticket, err := w.machine.broker.Begin(interact.Request{
		Requester: interact.Requester{Agent: "test"}, Timeout: patience,
		Body: interact.Approve{Tool: "Bash", Input: input},
	})
	if err != nil {
		w.Errorf("ask about %s: %v", command, err)
		return 0
	}
	defer ticket.Release()
	a, err := ticket.Wait(w.ctx)
	if err != nil {
		w.Errorf("nothing came of %s (%s): %v; the link: %+v", command, ticket.ID(), err, w.machine.link.State())
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcomes[ticket.ID()] = a
	return time.Since(began)
}

// probe asks one thing more, and returns how long that took since a moment: what broke has recovered when it is
// answered.
func (w *world) probe(since time.Time) time.Duration {
	w.one(fmt.Sprintf("probe %x", w.random.Uint64()))
	return time.Since(since)
}

func (w *world) upTo(d time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(d) + 1))
}

// pause lets time go by, so that things fall together as they may.
func (w *world) pause(d time.Duration) {
	select {
	case <-w.ctx.Done():
	case <-time.After(d):
	}
}

// await returns when the events meet a condition. It is called with mu held.
func (w *world) await(what string, met func() bool) {
	w.Helper()
	for {
		w.mu.Lock()
		isMet, changed := met(), w.changed
		w.mu.Unlock()
		if isMet {
			return
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			w.Fatalf("in vain waited until %s", what)
		}
	}
}

// settle waits for all agents, and sees that each request had exactly one outcome, which a user had decided.
func (w *world) settle(running ...int) {
	w.Helper()
	w.asking.Wait()
	for id, a := range w.outcomes {
		if a.Outcome != api.Allowed && a.Outcome != api.Denied {
			w.Errorf("%s: the agent heard %q (%s): nobody decided", id, a.Outcome, a.Reason)
			continue
		}
		// The agent may hear it before what its desk has told of it is read.
		w.await(fmt.Sprintf("%s says %s to %s, which the agent has heard", a.Device, a.Outcome, id), func() bool {
			return slices.ContainsFunc(w.events, func(e event) bool {
				return e.Kind == isDecided && e.ID == id && e.Desk == a.Device && e.Outcome == a.Outcome
			})
		})
	}
	w.await("all prompts have left all screens", func() bool {
		return !slices.ContainsFunc(running, func(i int) bool { return w.desks[i].pending > 0 })
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.machine.journal.Err(); err != nil {
		w.Error(err)
	}
	for id, a := range w.outcomes {
		if err := w.verify(id, a); err != nil {
			w.Errorf("%s: %v", id, err)
		}
	}
	for _, e := range w.events {
		if _, wasAsked := w.outcomes[e.ID]; e.ID != "" && !wasAsked {
			w.Errorf("%s had %s, which nobody asked: %+v", e.Desk, e.ID, e)
		}
	}
}

// verify says what is wrong with what came of a request. It needs mu.
func (w *world) verify(id interact.ID, a interact.Answer) error {
	for _, e := range w.events {
		if e.ID == id && e.Kind == isCounted && (e.Outcome != a.Outcome || e.Device != a.Device) {
			return fmt.Errorf("the agent heard %s of %s, and %s %s of %s", a.Outcome, a.Device, e.Desk, e.Outcome, e.Device)
		}
	}
	return nil
}
