package stream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/handler"

	"nod/interact"
	"nod/ipc/remote"
	"nod/version"
)

// desk is a connection with a desk, at the relay.
type desk struct {
	link   *Link
	wire   *wire
	server *jrpc2.Server
	nonce  string          // that only who has the desk's key can greet with
	life   context.Context // ends with the connection
	end    context.CancelCauseFunc
	shows  sync.WaitGroup // one for each request that it is shown
	alive  *time.Timer    // ends life when the desk is silent

	mu  sync.Mutex // guards all below
	met bool
	key remote.Key // proved only by an envelope; see open
	in  bool       // admitted
}

func newDesk(l *Link, conn io.ReadWriteCloser) *desk {
	d := &desk{link: l, wire: newWire(conn), nonce: rand.Text()}
	d.life, d.end = context.WithCancelCause(context.Background())
	d.server = jrpc2.NewServer(handler.Map{
		methodMeet: d.served(handler.New(d.meet)),
		methodPut:  d.served(d.put),
	}, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: maxCalls,
		NewContext: func() context.Context { return d.life },
		Logger:     func(text string) { l.log.Debug("link", "text", text) },
	})
	return d
}

// served gives back the room that the wire has made for a call, and its error a code.
func (d *desk) served(h jrpc2.Handler) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (any, error) {
		defer d.wire.done()
		d.alive.Reset(silence)
		result, err := h(ctx, r)
		if err != nil {
			d.link.log.Warn("a desk's message was refused", "err", err)
		}
		return result, withCode(err)
	}
}

// serve serves the desk until it is gone or ctx ends.
func (d *desk) serve(ctx context.Context) error {
	d.alive = time.AfterFunc(silence, func() {
		d.end(fmt.Errorf("the desk gave no sign of life within %v", silence))
	})
	defer d.alive.Stop()
	stop := context.AfterFunc(ctx, func() { d.end(context.Cause(ctx)) })
	defer stop()
	closed := context.AfterFunc(d.life, func() { _ = d.wire.Close() })
	defer closed()
	d.server.Start(d.wire)
	_ = d.server.Wait() // life knows better why it ended
	d.end(d.wire.ended())
	_ = d.wire.Close()
	d.link.leave(d)
	d.shows.Wait()
	if cause := context.Cause(d.life); !errors.Is(cause, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("serve a desk: %w", cause)
	}
	return nil
}

// meet exchanges keys.
func (d *desk) meet(_ context.Context, m meeting) (meeting, error) {
	if m.Protocol != protocol {
		return meeting{}, errProtocol
	}
	if err := m.Key.Check(); err != nil {
		return meeting{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.met {
		return meeting{}, errors.New("a connection has one desk")
	}
	d.met, d.key = true, m.Key
	return meeting{protocol, version.Number(), d.link.identity.Key(), d.nonce}, nil
}

// put takes in a message.
func (d *desk) put(ctx context.Context, r *jrpc2.Request) (any, error) {
	d.mu.Lock()
	met, key, in := d.met, d.key, d.in
	d.mu.Unlock()
	if !met {
		return nil, errors.New("a desk says first who it is")
	}
	e, err := d.link.identity.Open([]byte(r.ParamString()), key)
	if err != nil {
		return nil, err
	}
	if !in {
		if err := d.admit(e); err != nil {
			return nil, err
		}
	}
	kind, reply, err := d.handle(ctx, e)
	if err != nil || kind == "" {
		return nil, err
	}
	sealed, err := d.link.identity.Seal(key, kind, reply)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(sealed), nil
}

// admit lets in the desk, which proves its key by a greeting for this very connection: one that was heard on another
// does not count.
func (d *desk) admit(e remote.Envelope) error {
	var g greeting
	if e.Kind != kindGreet {
		return fmt.Errorf("%w: a desk greets first", remote.ErrForged)
	}
	if err := e.Decode(&g); err != nil {
		return err
	}
	if g.Nonce != d.nonce {
		return fmt.Errorf("%w: the greeting is for another connection", remote.ErrForged)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.in {
		return nil
	}
	if err := d.link.relay.Meet(d.key); err != nil {
		return err
	}
	d.in = true
	d.link.isKnown(d)
	return nil
}

// handle does what a message says, and returns what to say in return.
func (d *desk) handle(ctx context.Context, e remote.Envelope) (remote.Kind, any, error) {
	switch e.Kind {
	case kindGreet:
		var g greeting
		if err := e.Decode(&g); err != nil {
			return "", nil, err
		}
		d.greeted(g)
		return remote.KindHello, d.link.relay.Hello(d.key), nil
	case remote.KindAnswer:
		var given remote.Answer
		if err := e.Decode(&given); err != nil {
			return "", nil, err
		}
		settled, err := d.link.commit(ctx, d, given)
		return remote.KindEnd, settled, err
	case remote.KindPolicy:
		var p remote.Policy
		if err := e.Decode(&p); err != nil {
			return "", nil, err
		}
		return "", nil, d.link.relay.Apply(e.From, p)
	case remote.KindForget:
		d.link.relay.Forget()
		return "", nil, nil
	}
	return "", nil, fmt.Errorf("a desk says nothing of kind %q", e.Kind)
}

// greeted takes in a sign of life.
func (d *desk) greeted(g greeting) {
	if !g.Paired {
		d.link.leave(d)
		return
	}
	d.link.enter(d)
	d.shows.Go(func() { d.tellEnded(g.Open) })
}

// tellEnded tells how those requests ended that the desk takes for open and that are not.
func (d *desk) tellEnded(open []interact.ID) {
	for _, id := range open {
		answer, isOver := d.link.howEnded(id)
		if isOver && d.call(remote.KindEnd, remote.Answer{ID: id, Answer: answer}) != nil {
			return // it says again what it has open
		}
	}
}

// howEnded is how a request ended, if it has.
func (l *Link) howEnded(id interact.ID) (answer interact.Answer, isOver bool) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	answer, err := l.relay.Settled(now, id)
	switch {
	case err == nil:
		return answer, true
	case errors.Is(err, interact.ErrNotFound):
		return interact.Answer{Outcome: interact.Cancelled, Reason: "the relay was started anew and does not know it"}, true
	}
	return interact.Answer{}, false
}

// call sends the desk a message. A desk that does not answer in time is gone.
func (d *desk) call(kind remote.Kind, body any) error {
	_, err := put(d.life, d.link.identity, d.key, d.wire, message{kind, body}, d.server.Callback)
	if errors.Is(err, errSilent) {
		d.end(err)
	}
	return err
}

// show puts a before the desk, and tells it of the end. It never blocks. The caller holds the link's mu.
func (d *desk) show(a *asked) {
	request := a.request
	d.shows.Go(func() {
		if !d.take(a, request) {
			return
		}
		select {
		case <-a.over:
			d.tellEnd(a)
		case <-d.life.Done():
		}
	})
}

// take has the desk take in a, and reports whether it has.
func (d *desk) take(a *asked, r interact.Request) bool {
	for {
		err := d.call(remote.KindRequest, remote.Request{Request: r, Times: interact.TimesOf(r, time.Now())})
		switch {
		case err == nil:
			return true
		case errors.Is(err, errRefused), errors.Is(err, errTooLarge):
			d.link.log.Warn("a desk refuses a request", "id", a.id, "desk", d.key.Fingerprint())
			d.link.refuse(d, a, err)
			return false
		case !errors.Is(err, errBusy):
			return false // gone, or not paired any more
		}
		select {
		case <-time.After(busyRetry):
		case <-a.over:
			return false
		case <-d.life.Done():
			return false
		}
	}
}

// tellEnd tells the desk how a ended, unless it said so itself.
func (d *desk) tellEnd(a *asked) {
	d.link.mu.Lock()
	from := a.from
	d.link.mu.Unlock()
	if from == d {
		return
	}
	ctx, cancel := context.WithTimeout(d.life, settlingTime)
	defer cancel()
	settled, err := d.link.relay.Settled(ctx, a.id)
	if err == nil {
		err = d.call(remote.KindEnd, remote.Answer{ID: a.id, Digest: a.digest, Answer: settled})
	}
	if err != nil && d.life.Err() == nil {
		d.link.log.Warn("a desk was not told how a request ended", "id", a.id, "err", err)
	}
}

// maxRecords is how many records one message holds.
const maxRecords = 64

// report has the desk keep records.
func (d *desk) report(ctx context.Context, decided []interact.Record) error {
	for some := range slices.Chunk(decided, maxRecords) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.reportSome(some); err != nil {
			return err
		}
	}
	return nil
}

// reportSome sends records, in halves when they are too long for one message.
func (d *desk) reportSome(some []interact.Record) error {
	err := d.call(remote.KindRecords, some)
	if !errors.Is(err, errTooLarge) || len(some) == 1 {
		return err
	}
	half := len(some) / 2
	if err := d.reportSome(some[:half]); err != nil {
		return err
	}
	return d.reportSome(some[half:])
}
