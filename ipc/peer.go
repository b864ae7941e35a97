package ipc

import (
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"time"

	"nod/interact"
)

// maxParents is how many ancestors of a requester are looked at.
const maxParents = 16

// credentials say who opened a connection.
type credentials struct {
	pid   int32 // 0 when unknown
	uid   int
	known bool   // uid is what the operating system says
	inode uint64 // of a TCP connection's socket, on Linux: it leads to the process
}

// peer is the other end of one connection. What the operating system says of it is looked up when it is
// first needed, and once: on a kept-alive connection the first answer stays.
type peer struct {
	accepted     time.Time // a process that started later did not open this connection
	socket       bool      // it came through the Unix socket
	local        netip.AddrPort
	remote       netip.AddrPort
	credentials  func() credentials
	processFacts func() interact.Process
}

// newSocketPeer describes a connection through the Unix socket. Who opened it is settled by now: the kernel
// took it down when the client connected.
func newSocketPeer(who credentials) *peer {
	p := &peer{accepted: time.Now(), socket: true}
	p.credentials = func() credentials { return who }
	p.processFacts = sync.OnceValue(p.process)
	return p
}

// newTCPPeer describes a connection through the port. Its owner has to be searched for, which costs
// milliseconds, so that waits until the caller has shown the token.
func newTCPPeer(c net.Conn) *peer {
	p := &peer{accepted: time.Now(), local: addrPort(c.LocalAddr()), remote: addrPort(c.RemoteAddr())}
	p.credentials = sync.OnceValue(func() credentials { return tcpOwner(p.remote, p.local) })
	p.processFacts = sync.OnceValue(p.process)
	return p
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
}

// process reads the facts about the process that opened the connection. They are empty when it cannot be
// found: an unverified requester is one that no rule about programs matches.
func (p *peer) process() interact.Process {
	who := p.credentials()
	if who.pid == 0 && !p.socket {
		who.pid = tcpProcess(p.remote, p.local, who)
	}
	if who.pid == 0 {
		return interact.Process{UID: who.uid}
	}
	facts, err := readProcess(who.pid, p.accepted)
	if err != nil {
		return interact.Process{UID: who.uid}
	}
	facts.UID = who.uid
	return facts
}

// errRecycled means that the process id belongs to another process by now.
var errRecycled = errors.New("the process is gone and its id was given to another")

// nameOf is how a process is called: after its executable, which is verified, or else as it calls itself.
func nameOf(exe, comm string) string {
	if exe == "" {
		return comm
	}
	return filepath.Base(exe)
}
