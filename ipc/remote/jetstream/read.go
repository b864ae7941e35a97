package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// A desk has no consumer at the cluster: one that lay on a server that has died would be missed only after a minute.
// What has ended is taken out of the stream, so what is there is what is open; the desk reads on from where it was
// whenever somebody says that there is more, and now and then.

// hint hears that the stream has taken in a request. Anybody may have said so: it is read from the stream.
func (l *Line) hint(m *nats.Msg) {
	at, err := strconv.ParseUint(m.Header.Get(js.SequenceHeader), 10, 64)
	if err != nil {
		return
	}
	l.mu.Lock()
	l.hinted = max(l.hinted, at)
	l.mu.Unlock()
	signal(l.fresh)
}

// readRequests takes in what lies in the stream for this desk, from the oldest on, until ctx ends.
func (l *Line) readRequests(ctx context.Context) {
	for {
		l.readOn(ctx)
		select {
		case <-ctx.Done():
			return
		case <-l.fresh:
		}
	}
}

// readTries is how often a server is asked for what there is to be: it may not have heard of it yet.
const readTries = 8

// readOn takes in what was not read yet.
func (l *Line) readOn(ctx context.Context) {
	for try := 0; try < readTries && l.nc.IsConnected(); {
		l.mu.Lock()
		from, hinted := l.readTo, l.hinted
		l.mu.Unlock()
		m, err := l.next(ctx, from+1)
		l.mended(err == nil || errors.Is(err, js.ErrMsgNotFound))
		switch {
		case err == nil:
			l.advance(from, m.Sequence)
			l.asked(ctx, m)
			try = 0
			continue
		case !errors.Is(err, js.ErrMsgNotFound):
			if ctx.Err() == nil {
				l.fail(fmt.Errorf("the requests in %s cannot be read now: %w", l.cfg.requests(), err))
				time.AfterFunc(time.Second, func() { signal(l.fresh) })
			}
			return
		case hinted <= from:
			return
		}
		if pause(ctx, try) != nil {
			return
		}
		try++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hinted = l.readTo // it has ended meanwhile, or somebody lied
}

// next is the first message for this desk at a place in the stream or after it.
func (l *Line) next(ctx context.Context, from uint64) (*js.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.requests.GetMsg(ctx, from, js.WithGetMsgSubject(l.cfg.subject(sayRequest, l.me(), "*")))
}

// advance notes how far the stream was read, unless it is another by now.
func (l *Line) advance(from, to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readTo == from {
		l.readTo = to
	}
}

// asked takes in a request that lies in the stream.
func (l *Line) asked(ctx context.Context, m *js.RawStreamMsg) {
	_, sign := last(m.Subject)
	r, hello, err := l.readRequest(m.Data, sign)
	if err != nil {
		l.log.Warn("what lies among the requests is none", "machine", sign, "err", err)
		l.remove(m.Sequence)
		return
	}
	r.seq = m.Sequence
	waited := max(l.now().Sub(m.Time), 0)
	r.at = time.Now().Add(-waited)
	if !l.admit(r, hello) {
		return
	}
	if a, by, ok := l.ended(ctx, r.matter); ok {
		l.finish(r, a, by)
		return
	}
	l.take(r)
}
