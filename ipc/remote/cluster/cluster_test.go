package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"nod/api"
	"nod/interact"
	"nod/ipc/remote"
	"nod/ipc/remote/session"
	"nod/policy/config"
)

// soon is how long a test waits for what must happen before it fails.
const soon = time.Minute

// startServer starts a NATS server.
func startServer(t testing.TB, change ...func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true}
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

func nobody() []remote.Key { return nil }

// logger writes to the test.
func logger(t testing.TB, who string) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo})).With("who", who)
}

// relay is the relay's side of a link. It notes what it is told.
type relay struct {
	name     string
	policies chan remote.Policy
	settled  chan interact.Answer

	mu    sync.Mutex
	desks []remote.Key
}

func (r *relay) Hello(remote.Key) remote.Hello { return remote.Hello{Name: r.name, Clock: time.Now()} }

func (r *relay) Apply(_ remote.Key, p remote.Policy) error {
	r.policies <- p
	return nil
}

func (r *relay) keys() []remote.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.desks
}

func (r *relay) Admit(remote.Key) error { return nil }

func (r *relay) Vouch(remote.Key, []remote.Key) {}

func (r *relay) Forget() {}

func (r *relay) Settled(ctx context.Context, _ interact.ID) (interact.Answer, error) {
	select {
	case a := <-r.settled:
		r.settled <- a
		return a, nil
	case <-ctx.Done():
		return interact.Answer{}, ctx.Err()
	}
}

// desk is the desk's side of a line. It notes what it is told.
type desk struct {
	takes chan remote.Request

	mu     sync.Mutex
	paired map[remote.Key]bool
	joins  map[remote.Key]int
	serial uint64 // of the policy
}

func (d *desk) keys() (keys []remote.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key := range d.paired {
		keys = append(keys, key)
	}
	return keys
}

func (d *desk) Join(machine remote.Key, h remote.Hello) (remote.Peer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.joins[machine]++
	if !d.paired[machine] {
		return remote.Peer{}, remote.ErrNotPaired
	}
	return remote.Peer{Name: h.Name, Role: remote.RoleMachine, Key: machine}, nil
}

func (d *desk) Leave(remote.Key) {}

func (d *desk) Take(_ remote.Peer, r remote.Request) error {
	d.takes <- r
	return nil
}

func (d *desk) Open(remote.Peer) []interact.ID { return nil }

func (d *desk) Desks() []remote.Key { return nil }

func (d *desk) Policy() (remote.Policy, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return remote.Policy{Serial: d.serial}, nil
}

func (d *desk) End(remote.Peer, remote.Answer) {}

func (d *desk) Keep(remote.Peer, []interact.Record) error { return nil }

// hasSeen is how many machines have asked to join, or have joined.
func (d *desk) hasSeen() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.joins)
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

// until waits for what another goroutine brings about and no channel tells.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// start runs one end until the test ends, or whoever calls stop.
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
	machine, keys *remote.Identity // of the machine and of the desk
	relay         *relay
	desk          *desk
	relayCarrier  *relayEnd
	deskCarrier   *deskEnd
	link          *session.Link
	line          remote.Line
}

func newPlace(t testing.TB, url string) *place {
	p := &place{machine: newIdentity(t), keys: newIdentity(t)}
	p.relay = &relay{
		name: "build", policies: make(chan remote.Policy, 100), settled: make(chan interact.Answer, 2),
		desks: []remote.Key{p.keys.Key()},
	}
	p.desk = &desk{
		takes: make(chan remote.Request, 1000), joins: map[remote.Key]int{},
		paired: map[remote.Key]bool{p.machine.Key(): true},
	}
	return p.connect(t, config.NATS{URL: url}, config.NATS{URL: url})
}

// connect has the machine and the desk reach the server like that.
func (p *place) connect(t testing.TB, relay, desk config.NATS) *place {
	p.relayCarrier = NewRelay(relay, p.machine.Key(), p.relay.keys, logger(t, "relay")).(*relayEnd)
	p.deskCarrier = NewDesk(desk, p.keys.Key(), p.desk.keys, logger(t, "desk")).(*deskEnd)
	p.link = session.NewLink(p.machine, p.relay, p.relayCarrier, logger(t, "relay"))
	p.line = session.NewLine(p.keys, p.desk, p.deskCarrier, logger(t, "desk"), func() {})
	return p
}

func (p *place) start(t testing.TB) *place {
	start(t, p.line.Run)
	start(t, p.link.Run)
	return p
}

// newQuestion is a request that a relay's broker could have.
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

func ask(ctx context.Context, l *session.Link, r interact.Request) asking {
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
	digest := r.Digest()
	return remote.Answer{ID: r.Request.ID, Digest: digest, Answer: interact.Answer{
		Outcome: api.Allowed, Device: "desk", ShownSHA256: interact.Digest(r.Request.Body.(interact.Approve).Input),
	}}
}

// commit gives an answer, which the relay settles. A desk that has just come up may have the relay connect once more,
// and so gives the answer again, as nod-desktop does.
func (p *place) commit(t testing.TB, a remote.Answer) (got interact.Answer) {
	t.Helper()
	p.relay.settled <- a.Answer
	until(t, "the answer has arrived", func() bool {
		var err error
		if got, err = p.line.Commit(t.Context(), p.machine.Key(), a); err != nil && !errors.Is(err, remote.ErrDown) {
			t.Fatal(err)
		}
		return err == nil
	})
	<-p.relay.settled
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
	if got := p.commit(t, allow(taken)); got.Outcome != api.Allowed {
		t.Errorf("%+v counts", got)
	}
	if got := next(t, a.answer); got.Outcome != api.Allowed || got.Device != "desk" {
		t.Errorf("%+v", got)
	}
	until(t, "the line is up", func() bool {
		s := p.line.State(p.machine.Key())
		return s.Up && s.Problem == "" && s.Skew.Abs() <= time.Minute
	})
	until(t, "the link is up", func() bool {
		s := p.link.State()
		return s.Up && s.Problem == ""
	})
}

// A request is as large as nod takes one, whatever the server lets one message have.
func TestALargeRequestPasses(t *testing.T) {
	t.Parallel()
	for _, payload := range []int32{1 << 20, 4 << 10} {
		s := startServer(t, func(o *server.Options) { o.MaxPayload = payload })
		p := newPlace(t, s.ClientURL()).start(t)
		r := newQuestion()
		r.Body = interact.Approve{Tool: "Write", Input: fmt.Appendf(nil, `{"content":%q}`, strings.Repeat("<\n>", 330_000))}
		a := ask(t.Context(), p.link, r)
		p.commit(t, allow(next(t, p.desk.takes)))
		next(t, a.answer)
	}
}

// Machines that nobody has paired take one another's places only.
func TestStrangersKeepNoPairedMachineOut(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	p := newPlace(t, url)
	start(t, p.line.Run)
	for range maxUnpaired + 8 {
		stranger := newIdentity(t)
		r := &relay{name: "stranger", desks: []remote.Key{p.keys.Key()}}
		carrier := NewRelay(config.NATS{URL: url}, stranger.Key(), r.keys, slog.New(slog.DiscardHandler)).(*relayEnd)
		start(t, session.NewLink(stranger, r, carrier, slog.New(slog.DiscardHandler)).Run)
	}
	until(t, "all have asked to join", func() bool { return p.desk.hasSeen() >= maxUnpaired+8 })
	start(t, p.link.Run)
	a := ask(t.Context(), p.link, newQuestion())
	p.commit(t, allow(next(t, p.desk.takes)))
	next(t, a.answer)
	p.deskCarrier.mu.Lock()
	defer p.deskCarrier.mu.Unlock()
	if n := len(p.deskCarrier.unpaired); n > maxUnpaired {
		t.Errorf("%d strangers are connected", n)
	}
}

// A machine that was paired while it was connected is no stranger any more.
func TestAMachinePairedWhileConnectedStays(t *testing.T) {
	var paired []remote.Key
	key := func() remote.Key { return newIdentity(t).Key() }
	d := NewDesk(config.NATS{}, key(), func() []remote.Key { return paired }, slog.New(slog.DiscardHandler)).(*deskEnd)
	come := func(key remote.Key) *conn {
		d.accept(address{key.Sign, "id"})
		return <-d.opened
	}
	machine, other := key(), key()
	stays, goes := come(machine), come(other)
	paired = []remote.Key{machine}
	for range maxUnpaired {
		come(key())
	}
	if stays.ended() != nil || goes.ended() == nil {
		t.Errorf("the paired machine: %v, the oldest stranger: %v", stays.ended(), goes.ended())
	}
}

// A subscription that was overrun ends the connections that have lost a message, and no others.
func TestAnOverrunSubscriptionEndsOnlyWhatLostSomething(t *testing.T) {
	near, far := pair(t)
	near.hub.failed(nil, nil, nats.ErrSlowConsumer)
	if near.ended() != nil || far.ended() != nil {
		t.Errorf("ended: %v, %v", near.ended(), far.ended())
	}
	near.end(near.receive(7, []byte("x")))
	if !errors.Is(near.ended(), errLost) {
		t.Errorf("after a message was lost: %v", near.ended())
	}
}

// Who publishes in the name of a machine, where the server lets them, is not taken for it.
func TestAnotherKeyIsNotBelieved(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	p := newPlace(t, url)
	start(t, p.line.Run)
	thief := newIdentity(t)
	carrier := NewRelay(config.NATS{URL: url}, p.machine.Key(), p.relay.keys, logger(t, "thief")).(*relayEnd)
	refused := make(chan error, 100)
	start(t, func(ctx context.Context) error {
		return carrier.run2(ctx, thief, refused)
	})
	next(t, refused)
	if p.desk.hasSeen() != 0 || p.line.State(p.machine.Key()).Up {
		t.Error("it has joined")
	}
}

// run2 runs r with another identity than its key, and tells why connections end.
func (r *relayEnd) run2(ctx context.Context, identity *remote.Identity, ended chan<- error) error {
	l := session.NewLink(identity, &relay{}, r, slog.New(slog.DiscardHandler))
	return r.Run(ctx, func(ctx context.Context, c net.Conn) error {
		err := l.Serve(ctx, c)
		ended <- err
		return err
	})
}

// A machine whose desk comes up later is connected with it at once, and again after the desk was started anew.
func TestADeskThatComesUpIsFound(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	start(t, p.link.Run)
	until(t, "the relay is connected with the server", func() bool { return p.relayCarrier.State().Up })
	for range 2 {
		stop := start(t, p.line.Run)
		until(t, "the desk is there", func() bool { return p.line.State(p.machine.Key()).Up && p.link.State().Up })
		stop()
		until(t, "the desk is gone", func() bool { return !p.link.State().Up })
		p.deskCarrier = NewDesk(p.deskCarrier.cfg, p.keys.Key(), p.desk.keys, logger(t, "desk")).(*deskEnd)
		p.line = session.NewLine(p.keys, p.desk, p.deskCarrier, logger(t, "desk"), func() {})
	}
}

// A desk that a relay takes while it runs is looked for.
func TestAnotherDeskIsLookedFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	p.relay.desks = nil
	p.start(t)
	until(t, "the relay is connected with the server", func() bool { return p.relayCarrier.State().Up })
	p.relay.mu.Lock()
	p.relay.desks = []remote.Key{p.keys.Key()}
	p.relay.mu.Unlock()
	p.relayCarrier.Wake(remote.Key{})
	until(t, "the desk is there", func() bool { return p.link.State().Up })
}

// pair is both ends of a connection.
func pair(t *testing.T) (near, far *conn) {
	t.Helper()
	url := startServer(t).ClientURL()
	p := newPlace(t, url)
	p.desk.paired = nil // else it has the relay connect once more when it is up
	ends := make(chan *conn, 2)
	hold := func(ctx context.Context, c net.Conn) error {
		ends <- c.(*conn)
		<-ctx.Done()
		return nil
	}
	start(t, func(ctx context.Context) error { return p.deskCarrier.Run(ctx, hold) })
	start(t, func(ctx context.Context) error { return p.relayCarrier.Run(ctx, hold) })
	near, far = next(t, ends), next(t, ends)
	return near, far
}

// Who waits for a machine does not end the connection with it that is just coming up.
func TestAConnectionThatComesUpIsLeftAlone(t *testing.T) {
	t.Parallel()
	desk, relay := pair(t)
	if desk.hub.role == "relay" {
		desk, relay = relay, desk
	}
	(&deskEnd{hub: desk.hub}).Wake(relay.hub.me)
	if _, err := desk.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := relay.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
}

func TestAnEndThatDoesNotReadHoldsUpItsWriterOnly(t *testing.T) {
	t.Parallel()
	near, far := pair(t)
	wrote := make(chan int, 1000)
	go func() {
		for i := 1; ; i++ {
			if _, err := near.Write([]byte("x")); err != nil {
				close(wrote)
				return
			}
			wrote <- i
		}
	}()
	for last := 0; last < window; {
		last = next(t, wrote)
	}
	until(t, "the other end has all of it", func() bool {
		far.mu.Lock()
		defer far.mu.Unlock()
		return len(far.in) == window
	})
	if len(wrote) > 0 {
		t.Errorf("more than %d messages are under way", window)
	}
	b := make([]byte, 1)
	for range 3 * window {
		if _, err := far.Read(b); err != nil {
			t.Fatal(err)
		}
	}
	for last := 0; last < 3*window; {
		last = next(t, wrote)
	}
	_ = far.Close()
	until(t, "its other end is told", func() bool { return near.ended() != nil })
}

func TestWhatIsLostOrRepeated(t *testing.T) {
	t.Parallel()
	data := func(number byte, text string) []byte {
		return append([]byte{byte(kindData), 0, 0, 0, 0, 0, 0, 0, number}, text...)
	}
	tests := map[string]struct {
		messages [][]byte
		want     string
		err      error
	}{
		"in order":        {[][]byte{data(0, "a"), data(1, "b")}, "ab", nil},
		"repeated":        {[][]byte{data(0, "a"), data(0, "a"), data(1, "b"), data(0, "a")}, "ab", nil},
		"lost":            {[][]byte{data(0, "a"), data(2, "c")}, "a", errLost},
		"too many":        {[][]byte{data(window, "a")}, "", errLost},
		"cut short":       {[][]byte{data(0, "a")[:5]}, "", errProtocol},
		"empty":           {[][]byte{data(0, "")}, "", errProtocol},
		"too long":        {[][]byte{data(0, strings.Repeat("x", maxBytes+1))}, "", errProtocol},
		"of another kind": {[][]byte{append([]byte{'?'}, data(0, "a")[1:]...)}, "", errProtocol},
		"closed":          {[][]byte{data(0, "a"), append([]byte{byte(kindClose)}, data(0, "")[1:]...)}, "a", errNobody},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHub(config.NATS{}, newIdentity(t).Key(), "desk", logger(t, "desk"))
			c := h.add(address{newIdentity(t).Key().Sign, "id"})
			for _, m := range tt.messages {
				c.handle(m)
			}
			got := make([]byte, 0, 10)
			for range len(tt.want) {
				b := make([]byte, 1)
				if _, err := c.Read(b); err != nil {
					t.Fatal(err)
				}
				got = append(got, b...)
			}
			if string(got) != tt.want || !errors.Is(c.ended(), tt.err) {
				t.Errorf("%q, %v; want %q, %v", got, c.ended(), tt.want, tt.err)
			}
			if tt.err != nil && len(h.all("")) > 0 {
				t.Error("a connection that has ended is kept")
			}
		})
	}
}
