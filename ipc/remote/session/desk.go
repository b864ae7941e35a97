package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/handler"

	"nod/api"
	"nod/interact"
	"nod/ipc/remote"
)

// desk is the relay's end of a connection with a desk.
type desk struct {
	link   *Link
	wire   *wire
	key    remote.Key // which the desk has proved
	server *jrpc2.Server
	life   context.Context // ends with the connection
	end    context.CancelCauseFunc
	shows  sync.WaitGroup // one for each request that it is shown
	alive  *time.Timer    // ends life when the desk is silent

	mu sync.Mutex // serializes admit
}

// newDesk returns a connection whose keys are not proven yet.
func newDesk(l *Link) *desk {
	d := &desk{link: l}
	d.life, d.end = context.WithCancelCause(context.Background())
	return d
}

func (d *desk) connect(key remote.Key, w *wire) {
	d.key, d.wire = key, w
	d.server = jrpc2.NewServer(handler.Map{
		methodGreet: d.served(with(func(_ context.Context, g greeting) (any, error) {
			d.greeted(g)
			return d.link.relay.Hello(d.key), nil
		})),
		methodAnswer: d.served(with(func(ctx context.Context, a remote.Answer) (any, error) {
			return d.link.commit(ctx, d, a)
		})),
		methodPolicy: d.served(with(func(_ context.Context, p remote.Policy) (any, error) {
			return nil, d.link.relay.Apply(d.key, p)
		})),
		methodForget: d.served(func(context.Context, *jrpc2.Request) (any, error) {
			d.link.relay.Forget()
			return nil, nil
		}),
	}, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: maxCalls,
		NewContext: func() context.Context { return d.life },
		Logger:     func(text string) { d.link.log.Debug("link", "text", text) },
	})
}

// served wraps a handler: it admits the desk first, gives errors a code, and frees the call's place on the wire.
func (d *desk) served(h jrpc2.Handler) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (any, error) {
		defer d.wire.done()
		d.alive.Reset(silence)
		var result any
		err := d.admit()
		if err == nil {
			result, err = h(ctx, r)
		}
		if err != nil {
			d.link.log.Warn("a desk's message was refused", "err", err)
		}
		return result, withCode(err)
	}
}

func (d *desk) serve(ctx context.Context) error {
	d.alive = time.AfterFunc(silence, func() {
		d.end(fmt.Errorf("the desk was silent for %v", silence))
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

// admit admits the desk if the relay accepts its answers.
func (d *desk) admit() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wire.isIn.Load() {
		return nil
	}
	if err := d.link.relay.Admit(d.key); err != nil {
		return err
	}
	d.wire.isIn.Store(true)
	d.link.isKnown(d)
	return nil
}

func (d *desk) greeted(g greeting) {
	if !g.Paired {
		d.link.leave(d)
		return
	}
	d.link.relay.Vouch(d.key, g.Desks)
	d.link.enter(d)
	d.shows.Go(func() { d.sendEnds(g.Open) })
}

func (d *desk) sendEnds(open []interact.ID) {
	for _, id := range open {
		answer, isOver := d.link.howEnded(id)
		if isOver && d.call(methodEnd, remote.Answer{ID: id, Answer: answer}) != nil {
			return // it says again what it has open
		}
	}
}

// howEnded returns how a request ended, if it has.
func (l *Link) howEnded(id interact.ID) (answer interact.Answer, isOver bool) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	answer, err := l.relay.Settled(now, id)
	switch {
	case err == nil:
		return answer, true
	case errors.Is(err, interact.ErrNotFound):
		return interact.Answer{Outcome: api.Cancelled, Reason: "the relay was started anew and does not know it"}, true
	}
	return interact.Answer{}, false
}

// call calls the desk, and ends the connection if the desk does not answer in time.
func (d *desk) call(method string, body any) error {
	err := invoke(d.life, d.wire, d.server.Callback, method, body, nil)
	if errors.Is(err, errSilent) {
		d.end(err)
	}
	return err
}

// show sends a to the desk, and later how a ended. It never blocks. The caller holds the link's mu.
func (d *desk) show(a *openRequest) {
	sent := a.sent
	d.link.showing++
	d.shows.Go(func() {
		defer d.link.shown()
		if !d.take(a, sent) {
			return
		}
		select {
		case <-a.over:
			d.sendEnd(a)
		case <-d.life.Done():
		}
	})
}

// shown notes that a desk need not be told more of a request.
func (l *Link) shown() {
	l.mu.Lock()
	l.showing--
	l.mu.Unlock()
	l.told.Send()
}

func (d *desk) take(a *openRequest, sent remote.Request) bool {
	for {
		sent.Times = interact.TimesOf(sent.Request, time.Now())
		err := d.call(methodRequest, sent)
		switch {
		case err == nil:
			return true
		case errors.Is(err, errRefused), errors.Is(err, errTooLarge), errors.Is(err, errAway):
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

// sendEnd sends how a ended, unless its own answer ended it.
func (d *desk) sendEnd(a *openRequest) {
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
		err = d.call(methodEnd, remote.Answer{ID: a.id, Digest: a.digest, Answer: settled})
	}
	if err != nil && err != interact.ErrClosing && d.life.Err() == nil {
		d.link.log.Warn("a desk does not know how a request ended", "id", a.id, "err", err)
	}
}

const maxRecords = 64

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

// reportSome sends records, split into halves if they are too long for one message.
func (d *desk) reportSome(some []interact.Record) error {
	err := d.call(methodRecords, some)
	if !errors.Is(err, errTooLarge) || len(some) == 1 {
		return err
	}
	half := len(some) / 2
	if err := d.reportSome(some[:half]); err != nil {
		return err
	}
	return d.reportSome(some[half:])
}
