// Package peer finds out who is at the other end of a connection on this machine, from the operating system and never
// from what the other end claims. The server asks about its callers ([Accepted]), the client about its server
// ([ServerUser]), and both whether the processes that wait for an answer still run ([Table]).
package peer

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"nod/api"
)

// ErrUnknown means that this platform cannot tell who is at the other end of such a connection.
var ErrUnknown = errors.New("unknown on this platform")

// maxParents limits the ancestors of a process that are read.
const maxParents = 16

// The states of TCP sockets in the kernel's table.
const (
	established = "01"
	listening   = "0A"
)

type credentials struct {
	pid   int32 // 0 when unknown
	uid   int
	inode uint64 // of a TCP connection's socket, on Linux: it leads to the process
}

// Peer is the other end of a connection that a server has accepted. What the operating system says about it is looked
// up only once, when it is first needed: on a kept-alive connection the first answer stays.
type Peer struct {
	// Socket says that the connection came through a Unix socket. Its user is known from the start, at no cost.
	Socket bool

	accepted      time.Time      // a process that started later did not open this connection
	local, remote netip.AddrPort // of a TCP connection
	credentials   func() (credentials, error)
	process       func() api.Process
}

// Accepted returns the other end of a connection that was just accepted. It fails if the operating system should know
// the owner of the other end of a Unix socket but does not; it does not fail if the system cannot know.
func Accepted(c net.Conn) (*Peer, error) {
	p := &Peer{accepted: time.Now()}
	p.process = sync.OnceValue(p.readProcess)
	sock, ok := c.(*net.UnixConn)
	if !ok {
		// Its owner has to be searched for, which takes milliseconds, so only when it is needed.
		p.local, p.remote = addrPort(c.LocalAddr()), addrPort(c.RemoteAddr())
		p.credentials = sync.OnceValues(func() (credentials, error) { return findTCP(p.remote, p.local, established) })
		return p, nil
	}
	who, err := socketOwner(sock)
	p.Socket, p.credentials = true, func() (credentials, error) { return who, err }
	if err != nil && !errors.Is(err, ErrUnknown) {
		return nil, err
	}
	return p, nil
}

// Unknown returns a peer about which nothing is known.
func Unknown() *Peer {
	p := &Peer{Socket: true, credentials: func() (credentials, error) { return credentials{}, ErrUnknown }}
	p.process = sync.OnceValue(p.readProcess)
	return p
}

// User returns the user at the other end. known is false if the operating system does not say.
func (p *Peer) User() (uid int, known bool) {
	who, err := p.credentials()
	return who.uid, err == nil
}

// Process returns what is known about the process that opened the connection. If it cannot be found, that is only its
// user, so that a process that took over its id is never mistaken for it.
func (p *Peer) Process() api.Process { return p.process() }

func (p *Peer) readProcess() api.Process {
	who, _ := p.credentials() // zero if unknown
	if who.pid == 0 && !p.Socket {
		who.pid = tcpProcess(p.remote, p.local, who)
	}
	var process api.Process
	if who.pid != 0 {
		process, _ = readProcess(who.pid, p.accepted, nil) // nothing, when it is another one by now
	}
	process.UID = who.uid
	return process
}

// Self returns what is known about the current process, which is the one that asks. It reads ancestors as long as more
// returns true for the last one read, or all if more is nil.
func Self(more func(api.Parent) bool) api.Process {
	p, _ := readProcess(int32(os.Getpid()), time.Now(), more)           // what is not known is empty
	if len(p.Parents) == 0 || p.Parents[0].PID != int32(os.Getppid()) { // the parent ended meanwhile: another has us now
		p, _ = readProcess(int32(os.Getpid()), time.Now(), more)
	}
	return p
}

// ServerUser returns the user whose server a client is connected to. The error is [ErrUnknown] if the operating system
// does not say.
func ServerUser(c net.Conn) (uid int, err error) {
	var who credentials
	switch c := c.(type) {
	case *net.UnixConn:
		who, err = socketOwner(c)
	case *net.TCPConn:
		// The listener, not the accepted connection: that one has no owner until the server accepts it.
		who, err = findTCP(addrPort(c.RemoteAddr()), netip.AddrPortFrom(netip.IPv4Unspecified(), 0), listening)
	default:
		err = ErrUnknown
	}
	return who.uid, err
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
}

// errRecycled means that the process id now belongs to another process.
var errRecycled = errors.New("the process is gone and another has its id")

// nameOf returns the name of a process: that of its executable, which is verified, else what it calls itself.
func nameOf(exe, comm string) string {
	if exe == "" {
		return comm
	}
	return filepath.Base(exe)
}
