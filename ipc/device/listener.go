package device

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// A fairListener gives every address its share of connections. If there are too many, it closes the oldest one of the
// address with the most. It keeps connections of paired devices.
type fairListener struct {
	net.Listener
	rates *rates

	mu   sync.Mutex
	open []*fairConn // the oldest first
}

func (l *fairListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		fair := &fairConn{Conn: c, listener: l, from: peerAddress(c.RemoteAddr().String())}
		if l.rates.allow(fair.from) && l.enter(fair) {
			return fair, nil
		}
		_ = c.Close()
	}
}

// enter reports whether there is room for a connection. It may close another to make room.
func (l *fairListener) enter(c *fairConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own, unknown := 0, map[netip.Addr]int{}
	for _, other := range l.open {
		if other.from == c.from {
			own++
		}
		if !other.isKnown.Load() {
			unknown[other.from]++
		}
	}
	if own < maxOfOne && len(l.open) < maxConnections {
		l.open = append(l.open, c)
		return true
	}
	fullest := c.from
	for _, other := range l.open {
		if own < maxOfOne && !other.isKnown.Load() && unknown[other.from] > unknown[fullest] {
			fullest = other.from
		}
	}
	i := slices.IndexFunc(l.open, func(o *fairConn) bool { return !o.isKnown.Load() && o.from == fullest })
	if i < 0 {
		return false
	}
	_ = l.open[i].Conn.Close()
	l.open = append(slices.Delete(l.open, i, i+1), c)
	return true
}

// fairConn is a connection that a [fairListener] counts.
type fairConn struct {
	net.Conn
	listener *fairListener
	from     netip.Addr
	isKnown  atomic.Bool // a paired device has signed a request on it
}

func (c *fairConn) Close() error {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.open = slices.DeleteFunc(c.listener.open, func(other *fairConn) bool { return other == c })
	return c.Conn.Close()
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// markKnown marks the connection of a request as a paired device's.
func markKnown(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*fairConn); ok {
		c.isKnown.Store(true)
	}
}
