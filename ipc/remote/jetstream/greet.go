package jetstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"nod/ipc/remote"
)

// greetAll tells one desk again and again that this machine is there, and at once when the desk says that it is.
func (l *Link) greetAll(ctx context.Context, desk remote.Key, hint chan struct{}) {
	for {
		if l.nc.IsConnected() {
			l.greet(ctx, desk)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(beat - beat/8 + rand.N(beat/4)):
		case <-hint:
			select { // not all at once, and not as often as somebody might say it
			case <-ctx.Done():
				return
			case <-time.After(rand.N(time.Second / 4)):
			}
		}
	}
}

// greet tells one desk that this machine is there. Where the desk wants to hear another word, as at first, it does so
// again with that one.
func (l *Link) greet(ctx context.Context, desk remote.Key) {
	for range 2 {
		r, took, err := l.greetOnce(ctx, desk, false)
		if errors.Is(err, nats.ErrNoResponders) {
			l.miss(desk)
		}
		if err != nil {
			return
		}
		if l.meet(desk, r, took) {
			return
		}
	}
}

func (l *Link) greetOnce(ctx context.Context, desk remote.Key, bye bool) (receipt, time.Duration, error) {
	l.mu.Lock()
	word := l.met[desk.Sign].word
	l.mu.Unlock()
	g := greeting{Hello: l.relay.Hello(desk), Nonce: nonce(), Word: word, Bye: bye}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	sent := time.Now()
	r, err := l.ask(ctx, l.cfg.subject(sayHello, desk.Sign, l.me()), desk, kindGreeting, g.Nonce, g)
	return r, time.Since(sent), err
}

// meet takes in what a desk answers to a greeting. It reports whether the greeting was the right one.
func (l *Link) meet(desk remote.Key, r receipt, took time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.met[desk.Sign]
	d.word = r.Word
	if !r.Fresh {
		return false
	}
	if !d.isThere() && r.Paired || !r.Paired && !d.refused {
		l.log.Info("a desk is there", "desk", desk.Fingerprint(), "paired", r.Paired)
	}
	if !d.paired && r.Paired {
		d.pairings++ // what it may have thrown away comes once more
	}
	d.paired, d.refused = r.Paired, !r.Paired
	d.seen, d.trip, d.skew = time.Now(), took, r.Clock.Sub(time.Now().Add(-took/2)).Round(time.Millisecond)
	for _, q := range l.pending {
		signal(q.again)
	}
	return true
}

// miss notes that a desk is not there.
func (l *Link) miss(desk remote.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.met[desk.Sign]
	if d.isThere() {
		l.log.Info("a desk has gone", "desk", desk.Fingerprint())
	}
	d.seen = time.Time{}
}

// isThere reports whether the desk takes requests now.
func (d *acquaintance) isThere() bool { return d.paired && time.Since(d.seen) < away }

func (l *Link) isThere(desk remote.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.met[desk.Sign].isThere()
}

// bye tells the desks that this machine goes.
func (l *Link) bye() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, desk := range l.desks {
		if l.isThere(desk) && l.nc.IsConnected() {
			_, _, _ = l.greetOnce(ctx, desk, true) // else the desk sees it by itself
		}
	}
}
