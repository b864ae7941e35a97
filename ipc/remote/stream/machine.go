package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"nod/interact"
	"nod/ipc/remote"
	"nod/version"
)

// machine is a connection with a machine, at the desk.
type machine struct {
	line   *Line
	wire   *wire
	client *jrpc2.Client
	life   context.Context // ends with the connection
	end    context.CancelCauseFunc
	wake   chan struct{} // cap 1: greet now
	key    remote.Key    // set when they met, before anything else
	nonce  string        // of this connection; set with key
	hello  remote.Hello  // of which the desk was told last
	serial uint64        // of the policy that it was given last
	joined bool          // the desk was told of it

	mu   sync.Mutex   // guards peer
	peer *remote.Peer // nil: not paired
}

func newMachine(l *Line, conn transport) *machine {
	m := &machine{line: l, wire: newWire(conn), wake: make(chan struct{}, 1)}
	m.life, m.end = context.WithCancelCause(context.Background())
	m.client = jrpc2.NewClient(m.wire, &jrpc2.ClientOptions{
		Logger:     func(text string) { l.log.Debug("line", "text", text) },
		OnCallback: m.served,
		OnStop:     func(*jrpc2.Client, error) { m.end(m.wire.ended()) },
	})
	return m
}

// serve keeps the connection until it ends or ctx does, and returns why it ended.
func (m *machine) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { m.end(context.Cause(ctx)) })
	defer stop()
	m.end(m.stay())
	_ = m.client.Close() // waits for what it still serves
	if m.joined {
		m.line.desk.Leave(m.key)
	}
	return context.Cause(m.life)
}

// stay meets the machine, and greets it again and again. It returns why it goes.
func (m *machine) stay() error {
	if err := m.meet(); err != nil {
		return err
	}
	for {
		if err := m.greet(); err != nil {
			return err
		}
		select {
		case <-m.wake:
		case <-time.After(greetEvery):
		case <-m.life.Done():
			return context.Cause(m.life)
		}
	}
}

// wakeUp has the machine greeted now.
func (m *machine) wakeUp() {
	select {
	case m.wake <- struct{}{}:
	default: // it is about to be
	}
}

// meet exchanges keys.
func (m *machine) meet() error {
	ctx, cancel := context.WithTimeoutCause(m.life, patience, errSilent)
	defer cancel()
	var there meeting
	here := meeting{Protocol: protocol, Version: version.Number(), Key: m.line.identity.Key()}
	if err := m.client.CallResult(ctx, methodMeet, here, &there); err != nil {
		return fmt.Errorf("meet the relay: %w", received(ctx, m.wire, err))
	}
	if there.Protocol != protocol {
		return errProtocol
	}
	if err := there.Key.Check(); err != nil {
		return fmt.Errorf("meet the relay: %w", err)
	}
	m.key, m.nonce = there.Key, there.Nonce
	return nil
}

// greet gives the machine a sign of life, and takes in what it says of itself.
func (m *machine) greet() error {
	for {
		g := greeting{Nonce: m.nonce, Open: []interact.ID{}}
		peer := m.paired()
		if peer != nil {
			if err := m.apply(); err != nil {
				return err
			}
			g.Paired, g.Open = true, m.line.desk.Open(*peer)
		}
		sent := time.Now()
		e, err := m.call(m.life, kindGreet, g)
		if err != nil {
			return fmt.Errorf("greet the relay: %w", err)
		}
		var hello remote.Hello
		if err := decodeReply(e, remote.KindHello, &hello); err != nil {
			return fmt.Errorf("greet the relay: %w", err)
		}
		trip := time.Since(sent)
		m.line.heard(m, trip, hello.Clock.Sub(sent.Add(trip/2)))
		m.join(hello)
		if (m.paired() != nil) == g.Paired {
			return nil
		}
	}
}

// join tells the desk who is there, when that is news or it has yet to be paired.
func (m *machine) join(hello remote.Hello) {
	told := hello
	told.Clock = time.Time{}
	if m.paired() != nil && told == m.hello {
		return
	}
	m.hello, m.joined = told, true
	peer, err := m.line.desk.Join(m.key, hello)
	if err != nil {
		m.unpair()
		if !errors.Is(err, remote.ErrNotPaired) {
			m.line.log.Error("a machine cannot join", "key", m.key.Fingerprint(), "err", err)
		}
		return
	}
	m.mu.Lock()
	m.peer = &peer
	m.mu.Unlock()
}

// paired is who the machine is; nil while it is not paired.
func (m *machine) paired() *remote.Peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.peer
}

// unpair has nothing more of the machine taken in.
func (m *machine) unpair() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peer = nil
}

// apply gives the machine the desk's policy, once for each serial.
func (m *machine) apply() error {
	p := m.line.policy(m.key)
	if p == nil || p.Serial == m.serial {
		return nil
	}
	m.serial = p.Serial
	_, err := m.call(m.life, remote.KindPolicy, p)
	if errors.Is(err, errRefused) {
		m.line.log.Error("a relay refuses the policy: it goes on with the one that it has", "serial", p.Serial)
		return nil
	}
	return err
}

// commit gives the machine an answer and returns the one that counts.
func (m *machine) commit(ctx context.Context, a remote.Answer) (interact.Answer, error) {
	e, err := m.call(ctx, remote.KindAnswer, a)
	if err != nil {
		return interact.Answer{}, fmt.Errorf("answer request %s: %w", a.ID, err)
	}
	var settled remote.Answer
	if err := decodeReply(e, remote.KindEnd, &settled); err != nil {
		return interact.Answer{}, fmt.Errorf("answer request %s: %w", a.ID, err)
	}
	if settled.ID != a.ID || settled.Answer.Outcome == "" {
		return interact.Answer{}, fmt.Errorf("answer request %s: %w: the reply is about %s", a.ID, remote.ErrForged,
			settled.ID)
	}
	return settled.Answer, nil
}

// decodeReply reads a reply, which must be of that kind.
func decodeReply(e *remote.Envelope, want remote.Kind, into any) error {
	if e == nil || e.Kind != want {
		return fmt.Errorf("%w: it is no %q", remote.ErrForged, want)
	}
	return e.Decode(into)
}

// call sends the machine a message. A machine that does not answer in time is gone.
func (m *machine) call(ctx context.Context, kind remote.Kind, body any) (*remote.Envelope, error) {
	e, err := put(ctx, m.line.identity, m.key, m.wire, message{kind, body}, m.client.Call)
	if errors.Is(err, errSilent) {
		m.end(errSilent)
	}
	return e, err
}

// served takes in what the relay calls.
func (m *machine) served(ctx context.Context, r *jrpc2.Request) (any, error) {
	defer m.wire.done()
	err := m.take(r)
	if err != nil && m.life.Err() == nil {
		m.line.log.Warn("a machine's message was refused", "err", err)
	}
	return nil, withCode(err)
}

// take takes in a message of the relay's. Before the person has paired the machine it takes in none.
func (m *machine) take(r *jrpc2.Request) error {
	peer := m.paired()
	if peer == nil { // it was not told that it is paired, so a relay of nod's calls only when that has just changed
		m.end(errEarly)
		return remote.ErrNotPaired
	}
	if r.Method() != methodPut {
		return fmt.Errorf("a relay does not call %q", r.Method())
	}
	e, err := m.line.identity.Open([]byte(r.ParamString()), m.key)
	if err != nil {
		return err
	}
	switch e.Kind {
	case remote.KindRequest:
		var request remote.Request
		if err := e.Decode(&request); err != nil {
			return err
		}
		err := m.line.desk.Take(*peer, request)
		if _, isBusy := errors.AsType[*interact.BusyError](err); isBusy {
			return errBusy
		}
		return err
	case remote.KindEnd:
		var end remote.Answer
		if err := e.Decode(&end); err != nil {
			return err
		}
		m.line.desk.End(*peer, end)
		return nil
	case remote.KindRecords:
		var decided []interact.Record
		if err := e.Decode(&decided); err != nil {
			return err
		}
		return m.line.desk.Keep(*peer, decided)
	}
	return fmt.Errorf("a relay says nothing of kind %q", e.Kind)
}
