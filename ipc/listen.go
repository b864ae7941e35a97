package ipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/net/netutil"

	"nod/ipc/peer"
)

var errNoSocket = errors.New("no unix socket here")

const socketMode = 0o600

// listenTCP binds a port on loopback. With anyPort it binds a free one if another program has that port.
func listenTCP(address string, anyPort bool) (net.Listener, error) {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !ap.Addr().IsLoopback() || ap.Addr().Zone() != "" {
		return nil, fmt.Errorf("ipc.address: %q: want a loopback address with a port, "+
			"like 127.0.0.1:7463 or [::1]:7463", address)
	}
	l, err := net.Listen("tcp", ap.String())
	if err != nil && anyPort {
		l, err = net.Listen("tcp", netip.AddrPortFrom(ap.Addr(), 0).String())
	}
	if err != nil {
		return nil, fmt.Errorf("ipc.address: %w: stop the program that has the port; or start nod with "+
			"NOD_IPC_ADDRESS=127.0.0.1:0, which picks a free one, and accept another port in config.yaml", err)
	}
	return l, nil
}

// socket listens on a Unix socket. It can bind it again after another program removed its path.
type socket struct {
	path string

	mu    sync.Mutex
	bound *net.UnixListener
	file  fs.FileInfo // of the socket that is bound
	ended bool
}

// listenSocket binds the Unix socket. The error is errNoSocket if there can be none.
func listenSocket(path string) (*socket, error) {
	s := &socket{path: path}
	return s, s.bind()
}

// bind binds the socket. The caller holds s.mu, except for the first call.
func (s *socket) bind() error {
	l, err := bindSocket(s.path)
	if err != nil {
		return err
	}
	file, err := os.Lstat(s.path)
	if err != nil {
		return errors.Join(fmt.Errorf("look at the socket: %w", err), l.Close())
	}
	s.bound, s.file = l, file
	return nil
}

// restore binds the socket again unless it is in its place, and reports whether it had to. Accepted connections remain.
func (s *socket) restore() (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false, nil
	}
	now, err := os.Lstat(s.path)
	switch {
	case err != nil || !os.SameFile(now, s.file):
		lost := s.bound
		if err := s.bind(); err != nil {
			return true, err
		}
		return true, lost.Close() // Accept goes on with the new one
	case now.Mode() != s.file.Mode():
		return true, os.Chmod(s.path, socketMode)
	}
	return false, nil
}

func (s *socket) current() *net.UnixListener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound
}

func (s *socket) Accept() (net.Conn, error) {
	for {
		l := s.current()
		c, err := l.Accept()
		if err == nil || s.current() == l {
			return c, err
		}
	}
}

func (s *socket) Addr() net.Addr { return s.current().Addr() }

// Close implements [net.Listener]. It removes the socket, but not what has taken its place.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	err := s.bound.Close()
	if now, e := os.Lstat(s.path); e == nil && os.SameFile(now, s.file) {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}

// gate is a listener for this user and root only. Its connections know who is at the other end.
type gate struct {
	net.Listener
	uid int
	log *slog.Logger
}

// gate guards l, and limits its connections to most; further callers wait in the kernel's queue.
func (s *Server) gate(l net.Listener, most int) net.Listener {
	return netutil.LimitListener(&gate{Listener: l, uid: s.uid, log: s.log}, most)
}

func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who, err := g.identify(c)
		if err == nil {
			return conn{Conn: c, peer: who}, nil
		}
		g.log.Warn("connection refused", "err", err)
		c.Close()
	}
}

// identify returns who is at the other end, or why they may not connect.
func (g *gate) identify(c net.Conn) (*peer.Peer, error) {
	who, err := peer.Accepted(c)
	if err != nil {
		return nil, fmt.Errorf("who connected to the socket: %w", err)
	}
	if who.Socket && !mayAsk(who.User, g.uid) {
		uid, _ := who.User()
		return nil, fmt.Errorf("process %d of user %d connected to the socket", who.Process().PID, uid)
	}
	return who, nil
}

// mayAsk reports whether a caller may use the server of user uid: that user, root, and callers that the operating
// system cannot identify, who need the token anyway.
func mayAsk(user func() (uid int, known bool), uid int) bool {
	who, known := user()
	return !known || who == uid || who == 0
}

// conn is a connection with its peer in its remote address, which wrappers preserve.
type conn struct {
	net.Conn
	peer *peer.Peer
}

type peerAddr struct {
	net.Addr
	peer *peer.Peer
}

func (c conn) RemoteAddr() net.Addr { return peerAddr{c.Conn.RemoteAddr(), c.peer} }

type peerKey struct{}

// withPeer passes a connection's other end to the handlers of its requests.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if a, ok := c.RemoteAddr().(peerAddr); ok {
		return context.WithValue(ctx, peerKey{}, a.peer)
	}
	return ctx
}

// peerOf returns the other end of the connection that a request came on. It is unknown if that is not a connection of
// ours.
func peerOf(ctx context.Context) *peer.Peer {
	if p, ok := ctx.Value(peerKey{}).(*peer.Peer); ok {
		return p
	}
	return peer.Unknown()
}
