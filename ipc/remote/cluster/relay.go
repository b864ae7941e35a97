package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"nod/changes"
	"nod/ipc/remote"
	"nod/ipc/remote/session"
	"nod/policy/config"
)

// relayEnd opens connections with the desks of a relay. It implements [session.Carrier].
type relayEnd struct {
	*hub
	desks func() []remote.Key
	fresh changes.Signal // there may be a desk that is not looked for yet

	mu    sync.Mutex
	looks map[string]changes.Signal // by key: look for the desk now
}

// NewRelay returns the carrier of the relay with this key. desks lists the desks whose answers it accepts.
func NewRelay(cfg config.NATS, relay remote.Key, desks func() []remote.Key, log *slog.Logger) session.Carrier {
	r := &relayEnd{
		hub: newHub(cfg, relay, "relay", log), desks: desks,
		fresh: changes.NewSignal(), looks: map[string]changes.Signal{},
	}
	r.woke, r.isUp = r.deskIsThere, func() { r.Wake(remote.Key{}) }
	return r
}

// Run implements [session.Carrier].
func (r *relayEnd) Run(ctx context.Context, serve func(context.Context, net.Conn) error) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			for _, desk := range r.desks() {
				if look, isNew := r.look(desk.Sign); isNew {
					running.Go(func() { r.keep(ctx, desk.Sign, look, serve) })
				}
			}
			select {
			case <-r.fresh:
			case <-ctx.Done():
			}
		}
	})
	err := r.run(ctx)
	stop()
	running.Wait()
	return err
}

// look returns the signal that starts another attempt to reach a desk, and whether it is new.
func (r *relayEnd) look(desk string) (look changes.Signal, isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	look, known := r.looks[desk]
	if !known {
		look = changes.NewSignal()
		r.looks[desk] = look
	}
	return look, !known
}

// Wake implements [session.Carrier]. Without a key it tries all desks.
func (r *relayEnd) Wake(desk remote.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, look := range r.looks {
		if desk == (remote.Key{}) || key == desk.Sign {
			look.Send()
		}
	}
	r.fresh.Send()
}

// deskIsThere reconnects with a desk that says that it has no connection.
func (r *relayEnd) deskIsThere(desk string) {
	for _, c := range r.all(desk) {
		c.end(errNobody)
	}
	r.Wake(remote.Key{Sign: desk})
}

func (r *relayEnd) keep(
	ctx context.Context, desk string, look changes.Signal, serve func(context.Context, net.Conn) error,
) {
	for tries := 0; ctx.Err() == nil; tries++ {
		c, err := r.open(ctx, desk)
		if err == nil {
			began := time.Now()
			err = serve(ctx, c)
			_ = c.Close() // it has ended
			if time.Since(began) > longest {
				tries = 0
			}
		}
		r.log.Debug("no connection to a desk", "desk", desk, "err", err)
		select {
		case <-ctx.Done():
		case <-look:
			tries = 0
		case <-time.After(delay(tries)):
		}
	}
}

func (r *relayEnd) open(ctx context.Context, desk string) (*conn, error) {
	c := r.add(address{desk, rand.Text()})
	if !c.send(kindOpen, 0, nil) {
		return nil, c.ended()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-c.accepted:
		return c, nil
	case <-c.over:
		return nil, c.ended()
	case <-ctx.Done():
		c.end(errNobody)
		return nil, fmt.Errorf("%w: no answer", errNobody)
	}
}
