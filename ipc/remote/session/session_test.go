package session

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/remote"
	"nod/policy"
)

// asks is a policy that has everything asked.
type asks struct{}

func (asks) Decide(policy.Call) policy.Decision                  { return policy.Decision{Effect: policy.Ask} }
func (asks) Used(policy.Decision)                                {}
func (asks) Grant(policy.Call, policy.Scope, policy.Cover) error { return nil }

// testRelay is a relay with a broker, as the real one has.
type testRelay struct {
	*interact.Broker
	journal  *interacttest.Journal
	link     *Link
	identity *remote.Identity
	busy     chan struct{} // asks the desks once this is closed; nil: at once

	mu       sync.Mutex
	desks    []remote.Key // empty: any
	vouched  []remote.Key
	hello    remote.Hello
	policies []remote.Policy
	forgot   int
}

func newRelay(t *testing.T) *testRelay {
	t.Helper()
	r := &testRelay{journal: &interacttest.Journal{}, identity: newIdentity(t)}
	r.link = NewLink(r.identity, r, &cable{}, slog.New(slog.DiscardHandler))
	r.start(t)
	return r
}

func (r *testRelay) start(t *testing.T) {
	r.Broker = interact.NewBroker(interact.BrokerConfig{
		Policy: asks{}, Prompter: r, Journal: r.journal,
		Notify:  func(context.Context, interact.Request) bool { return true },
		Timeout: func() time.Duration { return time.Hour }, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(r.Broker.Close)
}

func (r *testRelay) Prompt(ctx context.Context, q interact.Request, _ policy.Decision) (interact.Answer, error) {
	if r.busy != nil {
		<-r.busy
	}
	return r.link.Ask(ctx, q)
}

func newIdentity(t *testing.T) *remote.Identity {
	t.Helper()
	i, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func (r *testRelay) Hello(remote.Key) remote.Hello {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hello
	h.Name, h.Clock = "build-1", time.Now().Add(time.Hour)
	return h
}

func (r *testRelay) Vouch(_ remote.Key, others []remote.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vouched = others
}

func (r *testRelay) Admit(desk remote.Key) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.desks) > 0 && !slices.Contains(r.desks, desk) {
		return remote.ErrNotPaired
	}
	return nil
}

func (r *testRelay) Apply(_ remote.Key, p remote.Policy) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.policies = append(r.policies, p)
	if p.Serial == 13 {
		return errors.New("a policy that the relay refuses")
	}
	return nil
}

func (r *testRelay) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgot++
}

// testDesk is a desk with a line to each relay.
type testDesk struct {
	identity *remote.Identity

	mu      sync.Mutex
	paired  bool
	others  []remote.Key
	serial  uint64 // of the policy
	joins   int
	leaves  int
	refuses error
	taken   map[interact.ID]remote.Request
	times   map[interact.ID]int // how often each came
	ends    []remote.Answer
	records []interact.Record
	stuck   chan struct{} // while it is there, Take waits for it
}

func newDeskOf(t *testing.T, paired bool) *testDesk {
	return &testDesk{
		identity: newIdentity(t), paired: paired,
		taken: map[interact.ID]remote.Request{}, times: map[interact.ID]int{},
	}
}

func (d *testDesk) Join(remote.Key, remote.Hello) (remote.Peer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.joins++
	if !d.paired {
		return remote.Peer{}, remote.ErrNotPaired
	}
	return remote.Peer{Name: "build"}, nil
}

func (d *testDesk) Leave(remote.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leaves++
}

func (d *testDesk) Take(_ remote.Peer, r remote.Request) error {
	d.mu.Lock()
	stuck := d.stuck
	d.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuses != nil {
		return d.refuses
	}
	d.taken[r.Request.ID] = r
	d.times[r.Request.ID]++
	return nil
}

func (d *testDesk) Desks() []remote.Key { return d.others }

func (d *testDesk) Policy() (remote.Policy, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return remote.Policy{Serial: d.serial}, nil
}

func (d *testDesk) Open(remote.Peer) (open []interact.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.taken {
		open = append(open, id)
	}
	return open
}

func (d *testDesk) End(_ remote.Peer, a remote.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ends = append(d.ends, a)
	delete(d.taken, a.ID)
}

func (d *testDesk) Keep(_ remote.Peer, decided []interact.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.records = append(d.records, decided...)
	return nil
}

func (d *testDesk) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// request is the one that the desk has taken in.
func (d *testDesk) request(t *testing.T) remote.Request {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.taken) != 1 {
		t.Fatalf("the desk has %d requests, want 1", len(d.taken))
	}
	for _, r := range d.taken {
		return r
	}
	panic("unreachable")
}

// cable carries lines to one relay. Cut, it ends the connections there are. It implements [Carrier].
type cable struct {
	mu     sync.Mutex
	link   *Link
	conns  []net.Conn
	broken bool
	stuck  bool // what the desk sends arrives nowhere
	ended  error
}

// redial is how often a cable tries to connect.
const redial = 29 * time.Second

func (c *cable) Run(ctx context.Context, serve func(context.Context, net.Conn) error) error {
	for ctx.Err() == nil {
		if near := c.dial(); near != nil {
			err := serve(ctx, near)
			c.mu.Lock()
			c.ended = err
			c.mu.Unlock()
		}
		select {
		case <-time.After(redial):
		case <-ctx.Done():
		}
	}
	return nil
}

func (c *cable) State() remote.State { return remote.State{} }

func (c *cable) Wake(remote.Key) {}

func (c *cable) dial() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return nil
	}
	near, far := net.Pipe()
	c.conns = append(c.conns, near, far)
	if !c.stuck {
		link := c.link
		go func() { _ = link.Serve(context.Background(), far) }()
	}
	return near
}

func (c *cable) cut(broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns, c.broken = nil, broken
}

// connected is a relay and a desk with a line between them.
type connected struct {
	relay *testRelay
	desk  *testDesk
	cable *cable
	line  remote.Line
}

func connect(t *testing.T, r *testRelay, paired bool) connected {
	t.Helper()
	c := connected{relay: r, desk: newDeskOf(t, paired), cable: &cable{link: r.link}}
	c.line = NewLine(c.desk.identity, c.desk, c.cable, slog.New(slog.DiscardHandler), func() {})
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := c.line.Run(ctx); err != nil {
			t.Errorf("run the line: %v", err)
		}
	}()
	t.Cleanup(func() { cancel(); <-over; c.cable.cut(true) })
	synctest.Wait()
	return c
}

func (c connected) key() remote.Key { return c.relay.identity.Key() }

// runs is an approval as an agent asks for it.
func runs(command string) interact.Request {
	input, _ := json.Marshal(map[string]string{"command": command})
	return interact.Request{
		Requester: interact.Requester{Agent: "claude", Session: "s", CWD: "/work"},
		Body:      interact.Approve{Tool: "Bash", Input: input},
	}
}

// ask has an agent on the relay's machine ask, and returns what will come of it.
func (r *testRelay) ask(t *testing.T, request interact.Request) <-chan interact.Answer {
	t.Helper()
	got := make(chan interact.Answer, 1)
	ticket, err := r.Begin(request)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer ticket.Release()
		a, err := ticket.Wait(context.Background())
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		got <- a
	}()
	synctest.Wait()
	return got
}

// answerTo is what a user at a desk says to r.
func answerTo(t *testing.T, r remote.Request, outcome api.Outcome) remote.Answer {
	t.Helper()
	digest := r.Digest()
	a := interact.Answer{Outcome: outcome, Device: "desk"}
	if approve, ok := r.Request.Body.(interact.Approve); ok {
		a.ShownSHA256 = interact.Digest(approve.Input)
	}
	return remote.Answer{ID: r.Request.ID, Digest: digest, Answer: a}
}

func outcome(t *testing.T, got <-chan interact.Answer, want api.Outcome) interact.Answer {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-got:
		if a.Outcome != want {
			t.Errorf("the agent has %q (%s), want %q", a.Outcome, a.Reason, want)
		}
		return a
	default:
		t.Fatalf("the agent has no answer, want %q", want)
		return interact.Answer{}
	}
}

func waits(t *testing.T, got <-chan interact.Answer) {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-got:
		t.Fatalf("the agent has %q (%s), want it to wait", a.Outcome, a.Reason)
	default:
	}
}

// commit gives an answer that is to count, and returns what did.
func (c connected) commit(t *testing.T, a remote.Answer) interact.Answer {
	t.Helper()
	settled, err := c.line.Commit(t.Context(), c.key(), a)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return settled
}

func TestAnAnswerAtTheDeskReachesTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		got := c.relay.ask(t, runs("make"))
		request := c.desk.request(t)
		if request.Times.Left <= 0 || request.Request.Requester.Machine != "" {
			t.Errorf("the desk has %+v", request)
		}
		a := answerTo(t, request, api.Allowed)
		settled := c.commit(t, a)
		if settled.Outcome != api.Allowed || settled.By != api.ByHuman || settled.Device != "desk" {
			t.Errorf("commit: %+v", settled)
		}
		outcome(t, got, api.Allowed)
		if again := c.commit(t, answerTo(t, request, api.Denied)); again.Outcome != api.Allowed {
			t.Errorf("a second answer counts: %+v", again)
		}
		if len(c.desk.ends) != 0 {
			t.Errorf("the desk is told of its own answer: %+v", c.desk.ends)
		}
		s := c.line.State(c.key())
		if !s.Up || s.Problem != "" || s.Skew < 59*time.Minute || s.Skew > 61*time.Minute {
			t.Errorf("state: %+v", s)
		}
	})
}

func TestNothingIsTakenInBeforePairing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), false)
		got := c.relay.ask(t, runs("make"))
		time.Sleep(time.Minute)
		waits(t, got)
		if len(c.desk.taken) != 0 || c.relay.link.State().Up {
			t.Fatalf("taken: %v", c.desk.taken)
		}
		if c.desk.joins < 4 || c.desk.leaves != 0 {
			t.Errorf("%d joins, %d leaves: want it to stay and be looked at again", c.desk.joins, c.desk.leaves)
		}
		c.desk.set(func() { c.desk.paired = true })
		c.line.Greet() // as pairing does
		synctest.Wait()
		c.commit(t, answerTo(t, c.desk.request(t), api.Denied))
		outcome(t, got, api.Denied)

		got = c.relay.ask(t, runs("make again"))
		c.desk.set(func() { c.desk.paired = false; clear(c.desk.taken) })
		c.line.Drop(c.key())
		time.Sleep(time.Minute)
		waits(t, got)
		if len(c.desk.taken) != 0 || c.desk.leaves != 1 || c.relay.link.State().Up {
			t.Errorf("after it was revoked: %d taken, %d leaves", len(c.desk.taken), c.desk.leaves)
		}
	})
}

func TestALineComesBackAndAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		got := c.relay.ask(t, runs("make"))
		request := c.desk.request(t)
		c.cable.cut(true)
		synctest.Wait()
		_, err := c.line.Commit(t.Context(), c.key(), answerTo(t, request, api.Allowed))
		if !errors.Is(err, remote.ErrDown) {
			t.Errorf("commit while it is down: %v", err)
		}
		meanwhile := c.relay.ask(t, runs("make test"))
		time.Sleep(5 * time.Minute)
		if s := c.line.State(c.key()); s.Up {
			t.Errorf("state: %+v", s)
		}
		waits(t, got)
		c.cable.cut(false)
		time.Sleep(redial)
		synctest.Wait()
		c.desk.mu.Lock()
		if len(c.desk.taken) != 2 || c.desk.times[request.Request.ID] != 2 {
			t.Errorf("the desk has %d requests, the first %d times", len(c.desk.taken), c.desk.times[request.Request.ID])
		}
		asked := c.desk.taken
		c.desk.mu.Unlock()
		for _, r := range asked {
			c.commit(t, answerTo(t, r, api.Allowed))
		}
		outcome(t, got, api.Allowed)
		outcome(t, meanwhile, api.Allowed)
	})
}

func TestTheRelaysOwnEndReachesTheDesk(t *testing.T) {
	for _, isDown := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := connect(t, newRelay(t), true)
			request := runs("make")
			request.Timeout = 10 * time.Minute
			got := c.relay.ask(t, request)
			asked := c.desk.request(t)
			c.cable.cut(isDown)
			time.Sleep(11 * time.Minute)
			outcome(t, got, api.TimedOut)
			c.cable.cut(false)
			time.Sleep(redial)
			synctest.Wait()
			c.desk.mu.Lock()
			defer c.desk.mu.Unlock()
			if len(c.desk.taken) != 0 || len(c.desk.ends) != 1 || c.desk.ends[0].Answer.Outcome != api.TimedOut {
				t.Errorf("down %v: the desk has %d open, ends %+v", isDown, len(c.desk.taken), c.desk.ends)
			}
			late, err := c.line.Commit(t.Context(), c.key(), answerTo(t, asked, api.Allowed))
			if err != nil || late.Outcome != api.TimedOut {
				t.Errorf("a late answer: %+v, %v", late, err)
			}
		})
	}
}

// A relay that ends takes its prompts off the desks' screens, but waits for no desk that does not answer.
func TestARelayThatEndsTellsItsDesks(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			r := newRelay(t)
			c, stuck := connect(t, r, true), connect(t, r, true)
			release := make(chan struct{})
			defer close(release)
			stuck.desk.set(func() { stuck.desk.stuck = release })
			got := r.ask(t, runs("make"))
			c.desk.request(t)
			began := time.Now()
			r.Broker.Close()
			r.link.Drain()
			c.cable.cut(true)
			if took := time.Since(began); took != drainTime {
				t.Errorf("it took %v", took)
			}
			outcome(t, got, api.Unavailable)
			if len(c.desk.taken) != 0 || len(c.desk.ends) != 1 {
				t.Errorf("the desk has %d open, ends %+v", len(c.desk.taken), c.desk.ends)
			}
		})
	}
}

func TestTheFirstOfTwoDesksCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t)
		one, other := connect(t, r, true), connect(t, r, true)
		got := r.ask(t, runs("make"))
		a, b := answerTo(t, one.desk.request(t), api.Denied), answerTo(t, other.desk.request(t), api.Allowed)
		one.commit(t, a)
		outcome(t, got, api.Denied)
		if len(other.desk.ends) != 1 || other.desk.ends[0].Answer.Outcome != api.Denied || len(one.desk.ends) != 0 {
			t.Errorf("ends: %+v, %+v", one.desk.ends, other.desk.ends)
		}
		if counts := other.commit(t, b); counts.Outcome != api.Denied {
			t.Errorf("the second answer counts: %+v", counts)
		}
	})
}

// TestADeskThatIsGoneRightAfterItsAnswer has a desk die with its answer on the way: the answer counts, and what the
// desk takes for open when it is back is told how it ended.
func TestADeskThatIsGoneRightAfterItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		got := c.relay.ask(t, runs("make"))
		answer := answerTo(t, c.desk.request(t), api.Allowed)
		c.cable.cut(true)
		time.Sleep(time.Second)
		p := pretend(t, c.relay.link, c.desk.identity)
		if reply := p.says(methodGreet, greeting{Paired: true}); reply.Error != nil {
			t.Fatalf("greet: %+v", reply.Error)
		}
		p.sends(methodAnswer, answer)
		_ = p.conn.Close() // it does not read what becomes of that
		outcome(t, got, api.Allowed)
		c.cable.cut(false)
		time.Sleep(redial)
		synctest.Wait()
		c.desk.mu.Lock()
		defer c.desk.mu.Unlock()
		if len(c.desk.ends) != 1 || c.desk.ends[0].Answer.Outcome != api.Allowed || len(c.desk.taken) != 0 {
			t.Errorf("ends: %+v", c.desk.ends)
		}
	})
}

func TestOnlyAnAnswerToThisVeryRequestCounts(t *testing.T) {
	tests := map[string]func(a *remote.Answer){
		"another request's digest": func(a *remote.Answer) { a.Digest = strings.Repeat("0", 64) },
		"no digest":                func(a *remote.Answer) { a.Digest = "" },
		"another input":            func(a *remote.Answer) { a.Answer.ShownSHA256 = interact.Digest([]byte(`{}`)) },
		"another kind of answer":   func(a *remote.Answer) { a.Answer.Outcome = api.Answered },
		"an end that desks do not": func(a *remote.Answer) { a.Answer.Outcome = api.TimedOut },
		"nothing":                  func(a *remote.Answer) { a.Answer = interact.Answer{} },
		"a request that is not":    func(a *remote.Answer) { a.ID = "no-such-request" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, newRelay(t), true)
				got := c.relay.ask(t, runs("make"))
				good := answerTo(t, c.desk.request(t), api.Allowed)
				bad := good
				change(&bad)
				if a, err := c.line.Commit(t.Context(), c.key(), bad); err == nil || errors.Is(err, remote.ErrDown) {
					t.Errorf("commit: %+v, %v", a, err)
				}
				waits(t, got)
				c.commit(t, good)
				outcome(t, got, api.Allowed)
			})
		})
	}
}

func TestARelayOfAnotherDeskIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t)
		r.desks = []remote.Key{newIdentity(t).Key()}
		c := connect(t, r, true)
		got := r.ask(t, runs("make"))
		waits(t, got)
		if s := c.line.State(c.key()); s.Up || s.Problem != problemOtherDesk || c.desk.joins != 0 {
			t.Errorf("state %+v, %d joins", s, c.desk.joins)
		}
	})
}

// pretender connects to a link with a key, and says what it likes.
type pretender struct {
	t    *testing.T
	conn net.Conn
	wire *wire
}

func pretend(t *testing.T, l *Link, identity *remote.Identity) *pretender {
	near, far := net.Pipe()
	over := make(chan struct{})
	go func() { _ = l.Serve(context.Background(), far); close(over) }()
	secured, _, err := identity.Secure(t.Context(), near, true)
	if err != nil {
		t.Fatal(err)
	}
	p := &pretender{t: t, conn: near, wire: newWire(secured, near)}
	t.Cleanup(func() { _ = p.wire.Close(); <-over })
	return p
}

// sends sends one call.
func (p *pretender) sends(method string, body any) {
	p.t.Helper()
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": method, "params": map[string]any{"body": body},
	})
	if err == nil {
		err = p.wire.Send(text)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	synctest.Wait()
}

// says sends one call and returns what comes back.
func (p *pretender) says(method string, body any) (reply struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}) {
	p.t.Helper()
	p.sends(method, body)
	line, err := p.wire.Recv()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		p.t.Fatal(err)
	}
	return reply
}

// Whoever has another key is answered nothing, whatever it asks first.
func TestALinkServesNoOtherKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t)
		c := connect(t, r, true)
		r.desks = []remote.Key{c.desk.identity.Key()}
		got := r.ask(t, runs("make"))
		answer := answerTo(t, c.desk.request(t), api.Allowed)
		p := pretend(t, r.link, newIdentity(t))
		for method, body := range map[string]any{
			methodGreet: greeting{Paired: true}, methodAnswer: answer, methodPolicy: remote.Policy{Serial: 99},
			methodForget: nil, methodRequest: nil,
		} {
			if reply := p.says(method, body); reply.Error == nil || len(reply.Result) > 0 {
				t.Errorf("%s: %s, %+v", method, reply.Result, reply.Error)
			}
		}
		waits(t, got)
		if r.forgot > 0 || len(r.policies) > 0 || len(r.link.desks) != 1 {
			t.Errorf("forgot %d times, policies %v, %d desks", r.forgot, r.policies, len(r.link.desks))
		}
	})
}

// recorder keeps what was sent on a connection.
type recorder struct {
	net.Conn
	mu   sync.Mutex
	sent [][]byte
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	r.sent = append(r.sent, slices.Clone(b))
	r.mu.Unlock()
	return r.Conn.Write(b)
}

// What a desk has said cannot be said again: neither on the same connection, nor on another one.
func TestWhatWasRecordedIsWorthNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := newRelay(t), newDeskOf(t, true)
		near, far := net.Pipe()
		tape := &recorder{Conn: near}
		l := NewLine(d.identity, d, &cable{}, slog.New(slog.DiscardHandler), func() {}).(*line)
		d.serial = 1
		ended := make(chan error, 2)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- l.serve(ctx, tape) }()
		go func() { _ = r.link.Serve(context.Background(), far) }()
		synctest.Wait()
		if err := l.Forget(t.Context(), r.identity.Key()); err != nil || r.forgot != 1 || len(r.policies) != 1 {
			t.Fatalf("forget: %v, %d times; %d policies", err, r.forgot, len(r.policies))
		}
		if all := slices.Concat(tape.sent...); strings.Contains(string(all), "jsonrpc") {
			t.Error("what is sent can be read")
		}
		last := tape.sent[len(tape.sent)-1]
		go func() { _, _ = near.Write(last) }()
		synctest.Wait()
		if r.link.State().Up {
			t.Error("a message came twice, and the connection goes on")
		}
		cancel()
		<-ended

		near, far = net.Pipe()
		over := make(chan error, 1)
		go func() { over <- r.link.Serve(t.Context(), far) }()
		go func() { _, _ = io.Copy(io.Discard, near) }()
		for _, b := range tape.sent {
			_, _ = near.Write(b) // it may have hung up
		}
		_ = near.Close()
		if err := <-over; err == nil || r.forgot != 1 || len(r.policies) != 1 || r.link.State().Up {
			t.Errorf("%v; forgot %d times, %d policies", err, r.forgot, len(r.policies))
		}
	})
}

// Two sessions of the same keys share no secret: who steals both keys later cannot read what was said.
func TestEverySessionHasItsOwnSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d := newRelay(t), newDeskOf(t, true)
		for range 2 {
			near, far := net.Pipe()
			go func() { _ = r.link.Serve(t.Context(), far) }()
			secured, _, err := d.identity.Secure(t.Context(), near, true)
			if err != nil {
				t.Fatal(err)
			}
			state := secured.(*tls.Conn).ConnectionState()
			if state.Version != tls.VersionTLS13 || state.DidResume {
				t.Errorf("TLS %x, resumed %v", state.Version, state.DidResume)
			}
			_ = near.Close()
		}
	})
}

func TestEndsOfDifferentProtocolsSaySo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeskOf(t, true)
		l := NewLine(d.identity, d, &cable{}, slog.New(slog.DiscardHandler), func() {}).(*line)
		near, far := net.Pipe()
		relay := tls.Server(far, &tls.Config{
			Certificates: []tls.Certificate{certificate(t)}, NextProtos: []string{"nod-session/99"},
		})
		go func() { _ = relay.HandshakeContext(t.Context()); _ = relay.NetConn().Close() }()
		if err := l.serve(t.Context(), near); !errors.Is(err, remote.ErrProtocol) || problemOf(err) == "" {
			t.Errorf("the desk: %v", err)
		}
		near, far = net.Pipe()
		go func() { _, _ = far.Write([]byte("Welcome to build-1, a machine of somebody's\n")) }()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		if err := l.serve(t.Context(), near); problemOf(err) != problemChatter {
			t.Errorf("the desk hears a greeting of a shell: %v", err)
		}
	})
}

// claimed is a connection whose other end claims a key.
type claimed struct {
	net.Conn
	key remote.Key
}

func (c claimed) Claims() remote.Key { return c.key }
func (claimed) Proven(remote.Key)    {}

// What goes wrong with a machine, or with a stranger, is no problem of the line or of other machines.
func TestAStrangersProblemIsItsOwn(t *testing.T) {
	desk := newDeskOf(t, true)
	line := NewLine(desk.identity, desk, &cable{}, slog.New(slog.DiscardHandler), func() {}).(*line)
	fails := func(key remote.Key) {
		near, far := net.Pipe()
		go func() { _, _ = io.WriteString(far, "Welcome to build-1!\n") }()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		_ = line.serve(t.Context(), claimed{near, key})
	}
	for i := range maxProblems + 1 {
		fails(remote.Key{Sign: fmt.Sprint("stranger ", i)})
	}
	paired := remote.Key{Sign: "paired"}
	got := line.State(remote.Key{}).Problem + line.State(paired).Problem
	if got != "" || len(line.problems) > maxProblems {
		t.Errorf("the line says %q, and remembers %d problems", got, len(line.problems))
	}
	if fails(paired); line.State(paired).Problem != problemChatter || line.State(remote.Key{}).Problem != "" {
		t.Errorf("%+v, the line %+v", line.State(paired), line.State(remote.Key{}))
	}
}

// certificate is one as for a server.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	blank := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, blank, blank, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

func TestADeskVouchesForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		other := newIdentity(t).Key()
		c.desk.set(func() { c.desk.others = []remote.Key{other} })
		c.line.Greet()
		synctest.Wait()
		if !slices.Equal(c.relay.vouched, []remote.Key{other}) {
			t.Errorf("vouched for %v", c.relay.vouched)
		}
	})
}

func TestAPeerThatIsSilentIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		c.cable.mu.Lock()
		c.cable.stuck = true
		c.cable.mu.Unlock()
		c.cable.cut(false)
		time.Sleep(patience + 2*time.Second) // the new connection leads nowhere
		c.cable.mu.Lock()
		c.cable.stuck = false
		c.cable.mu.Unlock()
		if s := c.line.State(c.key()); s.Up {
			t.Errorf("state: %+v", s)
		}
		time.Sleep(redial)
		synctest.Wait()
		if s := c.line.State(c.key()); !s.Up {
			t.Errorf("it has not come back: %+v", s)
		}

		p := pretend(t, c.relay.link, newIdentity(t))
		ended := make(chan error, 1)
		go func() { _, err := p.wire.Recv(); ended <- err }()
		time.Sleep(silence + time.Second)
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("the relay still waits for a desk that says nothing")
		}
	})
}

func TestADeskThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t)
		slow := connect(t, r, true)
		release := make(chan struct{})
		slow.desk.set(func() { slow.desk.stuck = release })
		quick := connect(t, r, true)
		for i := range 40 {
			got := r.ask(t, runs(strings.Repeat("x", 1000*i)))
			quick.commit(t, answerTo(t, quick.desk.request(t), api.Allowed))
			outcome(t, got, api.Allowed)
			quick.desk.set(func() { clear(quick.desk.taken) })
		}
		slow.desk.set(func() { slow.desk.stuck = nil })
		close(release)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		slow.desk.mu.Lock()
		defer slow.desk.mu.Unlock()
		if len(slow.desk.taken) != 0 {
			t.Errorf("the slow desk has %d open", len(slow.desk.taken))
		}
	})
}

func TestADeskThatIsBusyIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		c.desk.set(func() { c.desk.refuses = &interact.BusyError{Pending: 512} })
		got := c.relay.ask(t, runs("make"))
		time.Sleep(time.Minute)
		waits(t, got)
		c.desk.set(func() { c.desk.refuses = nil })
		time.Sleep(busyRetry)
		synctest.Wait()
		c.commit(t, answerTo(t, c.desk.request(t), api.Allowed))
		outcome(t, got, api.Allowed)

		c.desk.set(func() { c.desk.refuses = &interact.ParamError{Param: "input", Problem: "x"} })
		outcome(t, c.relay.ask(t, runs("make again")), api.Unavailable)

		c.desk.set(func() { c.desk.refuses = fmt.Errorf("paused: %w", interact.ErrUnavailable) })
		a := <-c.relay.ask(t, runs("make once more"))
		if a.Outcome != api.Unavailable || !strings.Contains(a.Reason, "paused at the desk") {
			t.Errorf("a desk that is paused: %+v", a)
		}
	})
}

func TestANoticeThatNobodyTakesIsNotShownLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		notice := interact.Request{ID: "n", Body: api.Notify{Message: "done"}}
		if a, err := r.link.Ask(ctx, notice); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ask: %+v, %v", a, err)
		}
		c := connect(t, r, true)
		if len(c.desk.taken) != 0 {
			t.Errorf("taken: %+v", c.desk.taken)
		}
	})
}

func TestAMachineThatAsksBeforeItIsPairedIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		d, relay := newDeskOf(t, false), newIdentity(t)
		l := NewLine(d.identity, d, &cable{}, slog.New(slog.DiscardHandler), func() {}).(*line)
		go func() {
			secured, _, err := relay.Secure(t.Context(), far, false)
			if err != nil {
				t.Error(err)
				return
			}
			w := newWire(secured, far)
			defer w.Close()
			_, _ = w.Recv()
			sent, _ := remote.NewRequest(runs("make"))
			request, _ := json.Marshal(sent)
			_ = w.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"request","params":{"body":%s}}`, request))
			_, _ = io.Copy(io.Discard, secured)
		}()
		if err := l.serve(t.Context(), near); !errors.Is(err, errEarly) || len(d.taken) != 0 {
			t.Errorf("%v, %d taken", err, len(d.taken))
		}
	})
}

func TestPoliciesArriveAndApprovalsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		c.desk.set(func() { c.desk.serial = 1 })
		c.line.Greet()
		synctest.Wait()
		c.cable.cut(true)
		c.desk.set(func() { c.desk.serial = 13 })
		c.cable.cut(false)
		time.Sleep(redial)
		synctest.Wait()
		var serials []uint64
		for _, p := range c.relay.policies {
			serials = append(serials, p.Serial)
		}
		if !slices.Equal(serials, []uint64{1, 13}) || !c.line.State(c.key()).Up {
			t.Errorf("policies %v", serials)
		}
		if err := c.line.Forget(t.Context(), c.key()); err != nil || c.relay.forgot != 1 {
			t.Errorf("forget: %v, %d times", err, c.relay.forgot)
		}
		if err := c.line.Forget(t.Context(), newIdentity(t).Key()); !errors.Is(err, remote.ErrDown) {
			t.Errorf("forget at another machine: %v", err)
		}
		if s := c.line.State(newIdentity(t).Key()); s.Up || s.Problem != problemOtherKey {
			t.Errorf("state of another machine: %+v", s)
		}
	})
}

func TestWhatThePolicyDecidedReachesADesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay(t)
		var decided []interact.Record
		for range 3*maxRecords + 1 {
			decided = append(decided, interact.Record{Request: runs("ls"), Answer: interact.Answer{Outcome: api.Allowed}})
		}
		big := runs(strings.Repeat("x", 1<<20))
		for range 4 {
			decided = append(decided, interact.Record{Request: big})
		}
		done := make(chan error, 1)
		go func() { done <- r.link.Report(t.Context(), decided) }()
		time.Sleep(time.Hour)
		c := connect(t, r, true)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := <-done; err != nil || len(c.desk.records) != len(decided) {
			t.Errorf("report: %v, %d of %d records", err, len(c.desk.records), len(decided))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c.cable.cut(true)
		synctest.Wait()
		if err := r.link.Report(ctx, decided); !errors.Is(err, context.Canceled) {
			t.Errorf("report to nobody: %v", err)
		}
	})
}

func TestARelayThatWasStartedAnewSaysWhatItDoesNotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		c.relay.ask(t, runs("make"))
		asked := c.desk.request(t)

		c.restart(t, &testRelay{journal: &interacttest.Journal{}})
		c.desk.mu.Lock()
		defer c.desk.mu.Unlock()
		if len(c.desk.ends) != 1 || c.desk.ends[0].ID != asked.Request.ID ||
			c.desk.ends[0].Answer.Outcome != api.Cancelled {
			t.Errorf("ends: %+v", c.desk.ends)
		}
	})
}

// TestAnAnswerCountsThoughARelayIsSlow has an answer arrive before the relay, which was started anew, has asked again.
func TestAnAnswerCountsThoughARelayIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newRelay(t), true)
		ticket, err := c.relay.Begin(runs("make"))
		if err != nil {
			t.Fatal(err)
		}
		ticket.Detach()
		synctest.Wait()
		answer := answerTo(t, c.desk.request(t), api.Allowed)

		open, last := c.relay.journal.Left()
		again := &testRelay{journal: interacttest.JournalOf(open, last), busy: make(chan struct{})}
		c.restart(t, again)
		again.Restore(open, last)
		if a, err := c.line.Commit(t.Context(), c.key(), answer); !errors.Is(err, remote.ErrDown) {
			t.Errorf("commit long before it is asked: %+v, %v", a, err)
		}
		began := time.Now()
		go func() {
			synctest.Wait()
			close(again.busy)
		}()
		a := c.commit(t, answer)
		if a.Outcome != api.Allowed || !again.journal.IsSettled(ticket.ID()) || time.Since(began) > 0 {
			t.Errorf("committed when it is asked: %+v after %v", a, time.Since(began))
		}
	})
}

// restart puts another relay with the same identity in the place of the one that c connects.
func (c *connected) restart(t *testing.T, again *testRelay) {
	t.Helper()
	again.identity = c.relay.identity
	again.link = NewLink(again.identity, again, &cable{}, slog.New(slog.DiscardHandler))
	again.start(t)
	c.cable.mu.Lock()
	c.cable.link = again.link
	c.cable.mu.Unlock()
	c.cable.cut(false)
	c.relay = again
	time.Sleep(redial)
	synctest.Wait()
}
