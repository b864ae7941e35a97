package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"nod/interact"
	"nod/ipc/remote"
)

// soon is how long a test waits for what must happen before it fails.
const soon = 20 * time.Second

// startServer starts a NATS server with JetStream.
func startServer(t testing.TB, change ...func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
		JetStreamMaxStore: 4 << 30,
	}
	for _, c := range change {
		c(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(soon) {
		t.Fatal("the server does not start")
	}
	return s
}

func newIdentity(t testing.TB) *remote.Identity {
	t.Helper()
	i, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// logger writes to the test.
func logger(t testing.TB, who string) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo})).With("who", who)
}

// relay is the relay's side of a link. It notes what it is told.
type relay struct {
	name     string
	policies chan remote.Policy
	forgets  chan struct{}
}

func newRelay(name string) *relay {
	return &relay{name: name, policies: make(chan remote.Policy, 100), forgets: make(chan struct{}, 100)}
}

func (r *relay) Hello(remote.Key) remote.Hello { return remote.Hello{Name: r.name, Clock: time.Now()} }

func (r *relay) Apply(_ remote.Key, p remote.Policy) error {
	r.policies <- p
	return nil
}

func (r *relay) Desks() []remote.Key { return nil }

func (r *relay) Meet(remote.Key) error { return remote.ErrNotPaired }

func (r *relay) Forget() { r.forgets <- struct{}{} }

// desk is the desk's side of a line. It notes what it is told.
type desk struct {
	joins, leaves chan remote.Key
	takes         chan remote.Request
	ends          chan remote.Answer
	records       chan []interact.Record

	mu       sync.Mutex
	strange  map[remote.Key]bool // machines that are not paired
	takeFail error
}

func newDesk() *desk {
	return &desk{
		joins: make(chan remote.Key, 1000), leaves: make(chan remote.Key, 1000),
		takes: make(chan remote.Request, 1000), ends: make(chan remote.Answer, 1000),
		records: make(chan []interact.Record, 1000), strange: map[remote.Key]bool{},
	}
}

func (d *desk) set(machine remote.Key, isStrange bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strange[machine] = isStrange
}

func (d *desk) Join(machine remote.Key, h remote.Hello) (remote.Peer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.joins <- machine
	if d.strange[machine] {
		return remote.Peer{}, remote.ErrNotPaired
	}
	return remote.Peer{Name: h.Name, Role: remote.RoleMachine, Key: machine}, nil
}

func (d *desk) Leave(machine remote.Key) { d.leaves <- machine }

func (d *desk) Take(_ remote.Peer, r remote.Request) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.takeFail; err != nil {
		d.takeFail = nil
		return err
	}
	d.takes <- r
	return nil
}

func (d *desk) Open(remote.Peer) []interact.ID { return nil }

func (d *desk) End(_ remote.Peer, a remote.Answer) { d.ends <- a }

func (d *desk) Keep(_ remote.Peer, records []interact.Record) error {
	d.records <- records
	return nil
}

// next is what comes out of c.
func next[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(soon):
		t.Fatalf("no %T came", *new(T))
		panic("unreachable")
	}
}

// none fails when something is in c.
func none[T any](t testing.TB, c <-chan T) {
	t.Helper()
	select {
	case v := <-c:
		t.Fatalf("%+v came", v)
	default:
	}
}

// until waits for what another goroutine brings about and no channel tells.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// start runs one end until the test, or whoever calls stop, ends it.
func start(t testing.TB, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = func() {
		cancel()
		done.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// place is a server with a machine and a desk.
type place struct {
	cfg            Config
	machine, keys  *remote.Identity // of the machine and of the desk
	relay          *relay
	desk           *desk
	link           *Link
	line           *Line
	stopLink, stop func() // of the link and of the line
}

func newPlace(t testing.TB, url string) *place {
	p := &place{
		cfg: Config{URL: url, Prefix: "nod"}, machine: newIdentity(t), keys: newIdentity(t), relay: newRelay("build"),
		desk: newDesk(),
	}
	p.link = NewLink(p.cfg, p.machine, []remote.Key{p.keys.Key()}, p.relay, logger(t, "relay"))
	p.line = NewLine(p.cfg, p.keys, p.desk, logger(t, "desk"))
	return p
}

func (p *place) start(t testing.TB) *place {
	p.stop = start(t, p.line.Run)
	p.stopLink = start(t, p.link.Run)
	return p
}

// question is a request that a relay's broker could have.
func newQuestion() interact.Request {
	now := time.Now()
	return interact.Request{
		ID: interact.ID(uuid.Must(uuid.NewV7()).String()), Requester: interact.Requester{Agent: "claude"},
		Created: now, Deadline: now.Add(time.Hour), Until: now.Add(time.Hour), Timeout: time.Hour,
		Body: interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"command":"a <b> && c"}`)},
	}
}

// asking is an Ask under way.
type asking struct {
	answer chan interact.Answer
	err    chan error
}

func ask(ctx context.Context, l *Link, r interact.Request) asking {
	a := asking{make(chan interact.Answer, 1), make(chan error, 1)}
	go func() {
		answer, err := l.Ask(ctx, r)
		if err != nil {
			a.err <- err
			return
		}
		a.answer <- answer
	}()
	return a
}

func allow(r remote.Request) remote.Answer {
	digest, err := r.Digest()
	if err != nil {
		panic(err)
	}
	return remote.Answer{ID: r.Request.ID, Digest: digest, Answer: interact.Answer{
		Outcome: interact.Allowed, Device: "desk",
	}}
}

func commit(t testing.TB, l *Line, machine remote.Key, a remote.Answer) interact.Answer {
	t.Helper()
	got, err := l.Commit(t.Context(), machine, a)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAnswerComesBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	r := newQuestion()
	a := ask(t.Context(), p.link, r)
	taken := next(t, p.desk.takes)
	if taken.Request.ID != r.ID || taken.Times.Left > time.Hour || taken.Times.Left < time.Minute {
		t.Errorf("%+v", taken)
	}
	if got := commit(t, p.line, p.machine.Key(), allow(taken)); got.Outcome != interact.Allowed {
		t.Errorf("%+v counts", got)
	}
	if got := next(t, a.answer); got.Outcome != interact.Allowed || got.Device != "desk" {
		t.Errorf("%+v", got)
	}
	again := allow(taken)
	again.Answer.Outcome = interact.Denied
	if got := commit(t, p.line, p.machine.Key(), again); got.Outcome != interact.Allowed {
		t.Errorf("a second answer: %+v counts", got)
	}
	until(t, "the stream is empty", func() bool { return stored(t, p.cfg.URL).Msgs == 0 })
	none(t, p.desk.ends)
	until(t, "the link is up", func() bool { return p.link.State().Up && p.link.State().Problem == "" })
	if s := p.line.State(p.machine.Key()); !s.Up || s.Problem != "" || s.Skew.Abs() > time.Minute {
		t.Errorf("line: %+v", s)
	}
}

// stored is what the stream of requests has.
func stored(t testing.TB, url string) js.StreamState {
	t.Helper()
	s, err := bus(t, url).Stream(t.Context(), "nod_requests")
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().State
}

// bus is the cluster as whoever runs it sees it.
func bus(t testing.TB, url string) js.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	b, err := js.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFirstDeskWins(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	otherKeys, other := newIdentity(t), newDesk()
	otherLine := NewLine(p.cfg, otherKeys, other, logger(t, "other desk"))
	p.link = NewLink(p.cfg, p.machine, []remote.Key{p.keys.Key(), otherKeys.Key()}, p.relay, logger(t, "relay"))
	p.start(t)
	start(t, otherLine.Run)
	for range 20 {
		a := ask(t.Context(), p.link, newQuestion())
		first, second := allow(next(t, p.desk.takes)), allow(next(t, other.takes))
		first.Answer.Device, second.Answer.Device, second.Answer.Outcome = "first", "second", interact.Denied
		var counts [2]interact.Answer
		var both sync.WaitGroup
		both.Go(func() { counts[0] = commit(t, p.line, p.machine.Key(), first) })
		both.Go(func() { counts[1] = commit(t, otherLine, p.machine.Key(), second) })
		both.Wait()
		got := next(t, a.answer)
		if counts[0].Device != got.Device || counts[1].Device != got.Device || counts[0].Outcome != got.Outcome {
			t.Fatalf("the desks have %+v, the relay has %+v", counts, got)
		}
	}
	a := ask(t.Context(), p.link, newQuestion())
	mine := allow(next(t, p.desk.takes))
	next(t, other.takes)
	commit(t, p.line, p.machine.Key(), mine)
	next(t, a.answer)
	until(t, "the other desk's prompt closes", func() bool {
		ended := next(t, other.ends)
		return ended.ID == mine.ID && ended.Answer.Outcome == interact.Allowed
	})
}

func TestFinal(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	r := newQuestion()
	ctx, cancel := context.WithCancelCause(t.Context())
	ask(ctx, p.link, r)
	next(t, p.desk.takes)
	cancel(interact.ErrTimedOut)
	if got := p.link.Final(r, interact.Answer{Outcome: interact.TimedOut}); got.Outcome != interact.TimedOut {
		t.Errorf("%+v", got)
	}
	if got := next(t, p.desk.ends); got.ID != r.ID || got.Answer.Outcome != interact.TimedOut {
		t.Errorf("%+v", got)
	}

	r = newQuestion()
	ctx, cancel = context.WithCancelCause(t.Context())
	a := ask(ctx, p.link, r)
	commit(t, p.line, p.machine.Key(), allow(next(t, p.desk.takes)))
	next(t, a.answer)
	cancel(interact.ErrTimedOut)
	if got := p.link.Final(r, interact.Answer{Outcome: interact.TimedOut}); got.Outcome != interact.Allowed {
		t.Errorf("%+v", got)
	}
}

func TestWhatThePolicySettledEndsAtTheDesk(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	ctx, cancel := context.WithCancel(t.Context())
	ask(ctx, p.link, newQuestion())
	next(t, p.desk.takes)
	cancel()
	if got := next(t, p.desk.ends); got.Answer.Outcome != interact.Withdrawn {
		t.Errorf("%+v", got)
	}
}

func TestFinalWithoutTheCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startServer(t, func(o *server.Options) { o.StoreDir = dir })
	at := s.Addr().(*net.TCPAddr)
	p := newPlace(t, s.ClientURL()).start(t)
	r := newQuestion()
	ctx, cancel := context.WithCancelCause(t.Context())
	ask(ctx, p.link, r)
	next(t, p.desk.takes)
	s.Shutdown()
	s.WaitForShutdown()
	cancel(interact.ErrTimedOut)
	begun := time.Now()
	if got := p.link.Final(r, interact.Answer{Outcome: interact.TimedOut}); got.Outcome != interact.TimedOut {
		t.Errorf("%+v", got)
	}
	if took := time.Since(begun); took > finalTime+time.Second {
		t.Errorf("it took %v", took)
	}
	_, err := p.line.Commit(t.Context(), p.machine.Key(), remote.Answer{ID: r.ID})
	if err == nil {
		t.Error("an answer counts without the cluster")
	}
	startServer(t, func(o *server.Options) { o.StoreDir, o.Port = dir, at.Port })
	if got := next(t, p.desk.ends); got.ID != r.ID || got.Answer.Outcome != interact.TimedOut {
		t.Errorf("%+v", got)
	}
}

func TestDeskThatComesLater(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	start(t, p.link.Run)
	open, ended := newQuestion(), newQuestion()
	a := ask(t.Context(), p.link, open)
	ctx, cancel := context.WithCancelCause(t.Context())
	ask(ctx, p.link, ended)
	until(t, "both requests are stored", func() bool {
		if ok, _, _ := p.link.isWorking(); !ok {
			return false
		}
		return stored(t, p.cfg.URL).Msgs == 2
	})
	cancel(interact.ErrTimedOut)
	p.link.Final(ended, interact.Answer{Outcome: interact.TimedOut})
	if s := p.link.State(); s.Up || s.Problem == "" {
		t.Errorf("without a desk: %+v", s)
	}
	stop := start(t, p.line.Run)
	taken := next(t, p.desk.takes)
	if taken.Request.ID != open.ID {
		t.Errorf("%+v", taken)
	}
	if got := next(t, p.desk.ends); got.ID != ended.ID || got.Answer.Outcome != interact.TimedOut {
		t.Errorf("%+v", got)
	}
	stop() // as when it is killed: what is open comes again
	line := NewLine(p.cfg, p.keys, p.desk, logger(t, "desk"))
	start(t, line.Run)
	again := next(t, p.desk.takes)
	commit(t, line, p.machine.Key(), allow(again))
	next(t, a.answer)
	none(t, p.desk.takes)
}

func TestDeskKilledAfterItsAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	stop := start(t, p.line.Run)
	start(t, p.link.Run)
	a := ask(t.Context(), p.link, newQuestion())
	taken := next(t, p.desk.takes)
	m := matter{p.machine.Key(), taken.Request.ID, allow(taken).Digest, []remote.Key{p.keys.Key()}}
	stop()
	p.line = NewLine(p.cfg, p.keys, p.desk, logger(t, "desk"))
	// The answer got there, but the desk was gone before it heard so, and before the request was removed.
	killed := NewLine(p.cfg, p.keys, newDesk(), logger(t, "killed desk"))
	if err := killed.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := killed.setUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := killed.settle(t.Context(), m, allow(taken).Answer); err != nil {
		t.Fatal(err)
	}
	killed.nc.Close()
	if got := next(t, a.answer); got.Outcome != interact.Allowed {
		t.Errorf("%+v", got)
	}
	start(t, p.line.Run)
	if got := next(t, p.desk.ends); got.ID != m.id || got.Answer.Outcome != interact.Allowed {
		t.Errorf("%+v", got)
	}
	none(t, p.desk.takes)
}

func TestRelayThatComesBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	r := newQuestion()
	ctx, cancel := context.WithCancelCause(t.Context())
	ask(ctx, p.link, r)
	taken := next(t, p.desk.takes)
	cancel(interact.ErrClosing)
	p.stopLink()
	commit(t, p.line, p.machine.Key(), allow(taken))
	r.Created = r.Created.Add(-time.Minute)
	back := NewLink(p.cfg, p.machine, []remote.Key{p.keys.Key()}, p.relay, logger(t, "relay"))
	start(t, back.Run)
	if got := next(t, ask(t.Context(), back, r).answer); got.Outcome != interact.Allowed {
		t.Errorf("%+v", got)
	}
}

func TestStrangersAreNotHeard(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	p.desk.set(p.machine.Key(), true)
	p.start(t)
	a := ask(t.Context(), p.link, newQuestion())
	until(t, "the machine asks to join", func() bool { return next(t, p.desk.joins) == p.machine.Key() })
	until(t, "the link says what to do", func() bool { return p.link.State().Problem != "" && !p.link.State().Up })
	if err := p.link.Report(t.Context(), []interact.Record{{Request: newQuestion()}}); err == nil {
		t.Error("a stranger's records are kept")
	}
	none(t, p.desk.takes)
	p.desk.set(p.machine.Key(), false)
	p.line.look() // as every so often
	commit(t, p.line, p.machine.Key(), allow(next(t, p.desk.takes)))
	next(t, a.answer)

	p.desk.set(p.machine.Key(), true)
	p.line.Drop(p.machine.Key())
	if _, err := p.line.Commit(t.Context(), p.machine.Key(), remote.Answer{}); err == nil {
		t.Error("an answer to a machine that was revoked counts")
	}
}

func TestBusyDeskTakesLater(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	p.desk.takeFail = &interact.BusyError{}
	p.start(t)
	a := ask(t.Context(), p.link, newQuestion())
	commit(t, p.line, p.machine.Key(), allow(next(t, p.desk.takes)))
	next(t, a.answer)
}

func TestPolicyReachesTheRelay(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	stop := start(t, p.line.Run)
	p.line.Apply(p.machine.Key(), remote.Policy{Serial: 7})
	until(t, "the policy is kept", func() bool {
		p.line.mu.Lock()
		defer p.line.mu.Unlock()
		return len(p.line.owed) == 0
	})
	stop()
	start(t, p.link.Run) // while no desk is there
	if got := next(t, p.relay.policies); got.Serial != 7 {
		t.Errorf("%+v", got)
	}
	p.line = NewLine(p.cfg, p.keys, p.desk, logger(t, "desk"))
	start(t, p.line.Run)
	p.line.Apply(p.machine.Key(), remote.Policy{Serial: 8})
	until(t, "the new policy is applied", func() bool { return next(t, p.relay.policies).Serial == 8 })
}

func TestForgetAndReport(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	until(t, "the desk is there", func() bool { return p.link.State().Up })
	if err := p.line.Forget(t.Context(), p.machine.Key()); err != nil {
		t.Error(err)
	}
	next(t, p.relay.forgets)
	if err := p.line.Forget(t.Context(), newIdentity(t).Key()); err == nil {
		t.Error("a machine that is not there has forgotten")
	}
	var decided []interact.Record
	for i := range 20 { // more than one message takes
		r := newQuestion()
		r.Body = interact.Approve{Tool: "Write", Input: json.RawMessage(fmt.Sprintf(`{"n":%d,"text":"%0100000d"}`, i, i))}
		decided = append(decided, interact.Record{Request: r})
	}
	if err := p.link.Report(t.Context(), decided); err != nil {
		t.Fatal(err)
	}
	var kept []interact.ID
	for len(kept) < len(decided) {
		for _, r := range next(t, p.desk.records) {
			kept = append(kept, r.Request.ID)
		}
	}
	for i, r := range decided {
		if kept[i] != r.Request.ID {
			t.Fatalf("record %d of %d is another", i, len(kept))
		}
	}
	large := interact.Record{Request: newQuestion(), Answer: interact.Answer{ShownSHA256: "digest"}}
	large.Request.Body = interact.Approve{Tool: "Write", Input: json.RawMessage(fmt.Sprintf(`{"text":"%01000000d"}`, 1))}
	if err := p.link.Report(t.Context(), []interact.Record{large, decided[0]}); err != nil {
		t.Fatal(err)
	}
	got := next(t, p.desk.records)[0]
	if a := got.Request.Body.(interact.Approve); got.Request.ID != large.Request.ID || len(a.Input) != 0 ||
		a.Tool != "Write" || got.Answer.ShownSHA256 != "digest" {
		t.Errorf("%+v", got)
	}
	p.stopLink()
	if got := next(t, p.desk.leaves); got != p.machine.Key() {
		t.Errorf("%v left", got)
	}
}

func TestFullStream(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	start(t, p.link.Run)
	for range maxWaiting {
		ask(t.Context(), p.link, newQuestion())
	}
	until(t, "all are stored", func() bool {
		ok, _, _ := p.link.isWorking()
		return ok && stored(t, p.cfg.URL).Msgs == maxWaiting
	})
	a := ask(t.Context(), p.link, newQuestion())
	if err := next(t, a.err); !errors.Is(err, interact.ErrUnavailable) {
		t.Error(err)
	}
	large := newQuestion()
	large.Body = interact.Approve{Tool: "Write", Input: json.RawMessage(fmt.Sprintf(`{"text":"%01000000d"}`, 1))}
	if err := next(t, ask(t.Context(), p.link, large).err); !errors.Is(err, interact.ErrUnavailable) {
		t.Error(err)
	}
	start(t, p.line.Run)
	next(t, p.desk.takes) // a full stream stops nobody who reads it
}

func TestStreamThatWasLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	a := ask(t.Context(), p.link, newQuestion())
	commit(t, p.line, p.machine.Key(), allow(next(t, p.desk.takes)))
	next(t, a.answer)
	until(t, "the stream is empty", func() bool { return stored(t, p.cfg.URL).Msgs == 0 })
	if err := bus(t, p.cfg.URL).DeleteStream(t.Context(), p.cfg.requests()); err != nil {
		t.Fatal(err)
	}
	a = ask(t.Context(), p.link, newQuestion())
	until(t, "it is there again", func() bool {
		_, err := bus(t, p.cfg.URL).Stream(t.Context(), p.cfg.requests())
		return err == nil && stored(t, p.cfg.URL).Msgs == 1
	})
	p.line.look() // as every so often
	commit(t, p.line, p.machine.Key(), allow(next(t, p.desk.takes)))
	next(t, a.answer)
}

func TestBucketThatWasLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	a := ask(t.Context(), p.link, newQuestion())
	given := allow(next(t, p.desk.takes))
	for _, bucket := range []string{p.cfg.outcomes(), p.cfg.policies()} {
		if err := bus(t, p.cfg.URL).DeleteKeyValue(t.Context(), bucket); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the answer counts", func() bool {
		_, err := p.line.Commit(t.Context(), p.machine.Key(), given)
		return err == nil
	})
	next(t, a.answer)
	p.line.Apply(p.machine.Key(), remote.Policy{Serial: 5})
	until(t, "the policy is applied", func() bool { return next(t, p.relay.policies).Serial == 5 })
}

func TestDeskThatIsAddedLater(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	until(t, "the desk is there", func() bool { return p.link.State().Up })
	otherKeys, other := newIdentity(t), newDesk()
	otherLine := NewLine(p.cfg, otherKeys, other, logger(t, "other desk"))
	start(t, otherLine.Run)
	r := newQuestion()
	ctx, cancel := context.WithCancelCause(t.Context())
	ask(ctx, p.link, r)
	first := allow(next(t, p.desk.takes))
	cancel(interact.ErrClosing)
	p.stopLink()
	link := NewLink(p.cfg, p.machine, []remote.Key{p.keys.Key(), otherKeys.Key()}, p.relay, logger(t, "relay"))
	start(t, link.Run)
	a := ask(t.Context(), link, r)
	second := allow(next(t, other.takes))
	second.Answer.Outcome = interact.Denied
	until(t, "the first desk knows of the second", func() bool {
		p.line.mu.Lock()
		defer p.line.mu.Unlock()
		open := p.line.machines[p.machine.Key().Sign].open[r.ID]
		return open != nil && len(open.desks) == 2
	})
	commit(t, otherLine, p.machine.Key(), second)
	if got := commit(t, p.line, p.machine.Key(), first); got.Outcome != interact.Denied {
		t.Errorf("%+v counts", got)
	}
	if got := next(t, a.answer); got.Outcome != interact.Denied {
		t.Errorf("%+v", got)
	}
}
