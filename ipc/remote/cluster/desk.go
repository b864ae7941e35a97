package cluster

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"

	"nod/ipc/remote"
	"nod/ipc/remote/session"
	"nod/policy/config"
)

// Limits on the connections that a desk accepts.
const (
	maxUnpaired = 32 // of unpaired machines, in all
	maxUnproven = 2  // of one machine that has not proved its key
)

// deskEnd carries the connections that relays open with a desk. It implements [session.Carrier].
type deskEnd struct {
	*hub
	paired func() []remote.Key

	opened chan *conn

	mu       sync.Mutex
	unpaired []*conn // of machines that were not paired when they came, the oldest first
}

// NewDesk returns the carrier of the desk with this key. paired lists the machines that its user has paired.
func NewDesk(cfg config.NATS, desk remote.Key, paired func() []remote.Key, log *slog.Logger) session.Carrier {
	d := &deskEnd{hub: newHub(cfg, desk, "desk", log), paired: paired, opened: make(chan *conn, maxUnpaired)}
	d.dialed, d.isUp = d.accept, func() {
		for _, machine := range d.paired() {
			d.Wake(machine)
		}
	}
	return d
}

// Run implements [session.Carrier].
func (d *deskEnd) Run(ctx context.Context, serve func(context.Context, net.Conn) error) error {
	ctx, stop := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			select {
			case c := <-d.opened:
				serving.Go(func() { d.serve(ctx, c, serve) })
			case <-ctx.Done():
				return
			}
		}
	})
	err := d.run(ctx)
	stop()
	serving.Wait()
	return err
}

func (d *deskEnd) serve(ctx context.Context, c *conn, serve func(context.Context, net.Conn) error) {
	if c.send(kindAccept, 0, nil) {
		_ = serve(ctx, c) // it says in the log why it ends
	}
	_ = c.Close() // it has ended
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unpaired = slices.DeleteFunc(d.unpaired, func(other *conn) bool { return other == c })
}

// accept accepts a connection. Unpaired machines can displace each other, but never a paired one.
func (d *deskEnd) accept(at address) {
	unproven := slices.DeleteFunc(d.all(at.peer), func(c *conn) bool { return c.isProven.Load() })
	if len(unproven) >= maxUnproven {
		unproven[0].end(errNoRoom)
	}
	c := d.add(at)
	if !d.isPaired(at.peer) {
		d.mu.Lock()
		d.unpaired = slices.DeleteFunc(d.unpaired, func(c *conn) bool { return d.isPaired(c.peer) }) // since it came
		d.unpaired = append(d.unpaired, c)
		var oldest *conn
		if len(d.unpaired) > maxUnpaired {
			oldest = d.unpaired[0]
			d.unpaired = d.unpaired[1:]
		}
		d.mu.Unlock()
		if oldest != nil {
			oldest.end(errNoRoom)
		}
	}
	select {
	case d.opened <- c:
	default:
		c.end(errNoRoom) // too many at a time; it will try again
	}
}

func (d *deskEnd) isPaired(sign string) bool {
	return slices.Contains(d.paired(), remote.Key{Sign: sign})
}

// Wake implements [session.Carrier]. It asks the relay to open a connection, unless one exists or is being opened,
// which the relay would end first.
func (d *deskEnd) Wake(machine remote.Key) {
	if len(d.all(machine.Sign)) > 0 {
		return
	}
	_ = d.publish(address{machine.Sign, "wake"}, []byte{byte(kindWake)}, false) // it also tries on its own
}
