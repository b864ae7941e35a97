package ipc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
)

var (
	// ErrRunning says that another nod-desktop of this user listens already.
	ErrRunning = errors.New("another nod-desktop is running")
	// errNoSocket says that there can be no Unix socket here; the port is enough.
	errNoSocket = errors.New("no unix socket here")
)

// listenTCP binds a port that only this machine can reach.
func listenTCP(address string) (net.Listener, error) {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !ap.Addr().IsLoopback() || ap.Addr().Zone() != "" {
		return nil, fmt.Errorf("ipc.address: %q: want a loopback address with a port, like 127.0.0.1:7463 or [::1]:7463", address)
	}
	l, err := net.Listen("tcp", ap.String())
	if err != nil {
		return nil, fmt.Errorf("ipc.address: %w: stop the program that has the port, or set another port in config.yaml (0 picks a free one)", err)
	}
	return l, nil
}

// knock reports whether somebody answers on a socket: nil when so.
func knock(path string) error {
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	return c.Close()
}

// gate is a listener that lets in a limited number of connections, from this user and from root only, and
// knows of each who is at the other end.
type gate struct {
	net.Listener
	uid    int
	log    *slog.Logger
	places chan struct{} // one taken for each open connection
	closed chan struct{}
	close  func() error
}

func (s *Server) gate(l net.Listener) *gate {
	g := &gate{
		Listener: l, uid: s.uid, log: s.log,
		places: make(chan struct{}, maxConnections), closed: make(chan struct{}),
	}
	g.close = sync.OnceValue(func() error { close(g.closed); return l.Close() })
	return g
}

// Accept implements [net.Listener]. At the limit, callers wait in the kernel's queue.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case g.places <- struct{}{}:
	case <-g.closed:
		return nil, net.ErrClosed
	}
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			<-g.places
			return nil, err
		}
		who, err := g.identify(c)
		if err != nil {
			g.log.Warn("connection refused", "err", err)
			c.Close()
			continue
		}
		return &conn{Conn: c, peer: who, free: sync.OnceFunc(func() { <-g.places })}, nil
	}
}

// Close implements [net.Listener].
func (g *gate) Close() error { return g.close() }

// identify says who is at the other end, or why they cannot come in.
func (g *gate) identify(c net.Conn) (*peer, error) {
	sock, ok := c.(*net.UnixConn)
	if !ok {
		return newTCPPeer(c), nil
	}
	who, err := socketOwner(sock)
	if err != nil {
		return nil, fmt.Errorf("who connected to the socket: %w", err)
	}
	if !who.mayAsk(g.uid) {
		return nil, fmt.Errorf("process %d of user %d connected to the socket", who.pid, who.uid)
	}
	return newSocketPeer(who), nil
}

// mayAsk reports whether somebody may use the door of user uid: that user and root may, and whoever the
// operating system cannot identify may try with the token.
func (c credentials) mayAsk(uid int) bool { return !c.known || c.uid == uid || c.uid == 0 }

// conn is a connection with its other end.
type conn struct {
	net.Conn
	peer *peer
	free func()
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	defer c.free()
	return c.Conn.Close()
}

type peerKey struct{}

// withPeer hands a connection's other end to the handlers of its requests.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, peerKey{}, c.peer)
	}
	return ctx
}

// peerOf returns the other end of the connection that a request came on. A request that came on no
// connection of ours has an unknown peer.
func peerOf(ctx context.Context) *peer {
	if p, ok := ctx.Value(peerKey{}).(*peer); ok {
		return p
	}
	return newSocketPeer(credentials{})
}
