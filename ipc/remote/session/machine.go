package session

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/creachadair/jrpc2"

	"nod/changes"
	"nod/interact"
	"nod/ipc/remote"
)

// machine is the desk's end of a connection with a machine.
type machine struct {
	line   *line
	wire   *wire
	client *jrpc2.Client
	life   context.Context // ends with the connection
	end    context.CancelCauseFunc
	wake   changes.Signal // greet now
	key    remote.Key     // which the machine has proved
	since  time.Time
	hello  remote.Hello // that the desk has
	serial uint64       // of the policy that was sent to it last
	joined bool         // the desk knows it

	trip, skew time.Duration // of the last greeting; guarded by the line's mu

	peer atomic.Pointer[remote.Peer] // nil: not paired
}

func newMachine(l *line, key remote.Key, w *wire) *machine {
	m := &machine{line: l, wire: w, key: key, wake: changes.NewSignal(), since: time.Now()}
	m.life, m.end = context.WithCancelCause(context.Background())
	m.client = jrpc2.NewClient(m.wire, &jrpc2.ClientOptions{
		Logger:     func(text string) { l.log.Debug("line", "text", text) },
		OnCallback: m.served,
		OnStop:     func(*jrpc2.Client, error) { m.end(m.wire.ended()) },
	})
	return m
}

// serve serves the connection until it or ctx ends, and returns why it ended.
func (m *machine) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { m.end(context.Cause(ctx)) })
	defer stop()
	m.end(m.stay())
	_ = m.client.Close() // waits for what it still serves
	if m.line.down(m) && m.joined {
		m.line.desk.Leave(m.key)
	}
	return context.Cause(m.life)
}

// stay greets the machine at intervals until the connection ends, and returns why it ended.
func (m *machine) stay() error {
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

// greet sends a greeting and handles the reply, in which the machine describes itself.
func (m *machine) greet() error {
	for {
		g := greeting{Open: []interact.ID{}, Desks: []remote.Key{}}
		peer := m.peer.Load()
		if peer != nil {
			if err := m.apply(); err != nil {
				return err
			}
			g.Paired, g.Open, g.Desks = true, m.line.desk.Open(*peer), m.line.desk.Desks()
		}
		sent := time.Now()
		var hello remote.Hello
		if err := m.call(m.life, methodGreet, g, &hello); err != nil {
			return fmt.Errorf("greet the relay: %w", err)
		}
		trip := time.Since(sent)
		m.line.mu.Lock()
		m.trip, m.skew = trip, hello.Clock.Sub(sent.Add(trip/2))
		m.line.mu.Unlock()
		m.line.up(m)
		m.join(hello)
		if (m.peer.Load() != nil) == g.Paired {
			return nil
		}
	}
}

// join tells the desk who is connected, if that has changed or the machine is not paired yet.
func (m *machine) join(hello remote.Hello) {
	said := hello
	said.Clock = time.Time{}
	if m.peer.Load() != nil && reflect.DeepEqual(said, m.hello) {
		return
	}
	m.hello, m.joined = said, true
	peer, err := m.line.desk.Join(m.key, hello)
	if err != nil {
		m.peer.Store(nil)
		if !errors.Is(err, remote.ErrNotPaired) {
			m.line.log.Error("a machine cannot join", "key", m.key.Fingerprint(), "err", err)
		}
		return
	}
	m.peer.Store(&peer)
	m.wire.isIn.Store(true)
}

// apply sends the desk's policy, once for each serial.
func (m *machine) apply() error {
	p, err := m.line.desk.Policy()
	if err != nil {
		m.line.log.Error("a machine does not get the policy", "key", m.key.Fingerprint(), "err", err)
		return nil
	}
	if p.Serial == m.serial {
		return nil
	}
	m.serial = p.Serial
	err = m.call(m.life, methodPolicy, p, nil)
	if errors.Is(err, errRefused) {
		m.line.log.Error("a relay refuses the policy and keeps the one it has", "serial", p.Serial)
		return nil
	}
	return err
}

func (m *machine) commit(ctx context.Context, a remote.Answer) (interact.Answer, error) {
	var settled remote.Answer
	err := m.call(ctx, methodAnswer, a, &settled)
	if err == nil && (settled.ID != a.ID || settled.Answer.Outcome == "") {
		err = fmt.Errorf("%w: the reply is for %s", errRefused, settled.ID)
	}
	if err != nil {
		return interact.Answer{}, fmt.Errorf("answer request %s: %w", a.ID, err)
	}
	return settled.Answer, nil
}

// call calls the machine, and ends the connection if the machine does not answer in time.
func (m *machine) call(ctx context.Context, method string, body, reply any) error {
	err := invoke(ctx, m.wire, m.client.Call, method, body, reply)
	if errors.Is(err, errSilent) {
		m.end(errSilent)
	}
	return err
}

func (m *machine) served(ctx context.Context, r *jrpc2.Request) (any, error) {
	defer m.wire.done()
	err := m.take(r)
	if err != nil && m.life.Err() == nil {
		m.line.log.Warn("a machine's message was refused", "err", err)
	}
	return nil, withCode(err)
}

// take handles a call of the relay. It refuses all calls until the user has paired the machine.
func (m *machine) take(r *jrpc2.Request) error {
	peer := m.peer.Load()
	if peer == nil { // nobody has said that it is paired, so a relay of nod's calls only when that has just changed
		m.end(errEarly)
		return remote.ErrNotPaired
	}
	switch r.Method() {
	case methodRequest:
		request, err := read[remote.Request](r)
		if err == nil {
			err = request.Read()
		}
		if err == nil {
			err = m.line.desk.Take(*peer, request)
		}
		_, isBusy := errors.AsType[*interact.BusyError](err)
		switch {
		case isBusy:
			return errBusy
		case errors.Is(err, interact.ErrUnavailable):
			return errAway
		}
		return err
	case methodEnd:
		end, err := read[remote.Answer](r)
		if err == nil {
			m.line.desk.End(*peer, end)
		}
		return err
	case methodRecords:
		decided, err := read[[]interact.Record](r)
		if err == nil {
			err = m.line.desk.Keep(*peer, decided)
		}
		return err
	}
	return fmt.Errorf("a relay does not call %q", r.Method())
}
