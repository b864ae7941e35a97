package clustertest

import (
	"errors"
	"net"
	"sync"
	"testing"
)

// Path is the network between one client and the cluster. It can be cut.
type Path struct {
	cluster   *Cluster
	listeners []net.Listener
	running   sync.WaitGroup

	mu    sync.Mutex            // guards all below
	whole chan struct{}         // closed while the network is
	conns map[net.Conn]struct{} // both ends of each connection
	ended bool
}

// Path is a way to the cluster for the length of a test.
func (c *Cluster) Path(t testing.TB) *Path {
	t.Helper()
	p := &Path{cluster: c, conns: map[net.Conn]struct{}{}, whole: make(chan struct{})}
	close(p.whole)
	t.Cleanup(p.close)
	for _, n := range c.nodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p.listeners = append(p.listeners, l)
		p.running.Go(func() { p.serve(l, n.address) })
	}
	return p
}

// URL lists the addresses of all nodes by this path, as clients take them.
func (p *Path) URL() string {
	var addresses []string
	for _, l := range p.listeners {
		addresses = append(addresses, l.Addr().String())
	}
	return p.cluster.join(addresses)
}

// Cut has nothing come through any more. Nobody is told: connections stay, as with a cable that was pulled, and what
// was sent arrives when the path heals.
func (p *Path) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isWhole() && !p.ended {
		p.whole = make(chan struct{})
	}
}

// Heal ends what Cut began.
func (p *Path) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isWhole() {
		close(p.whole)
	}
}

// Drop ends all connections, and with them what is under way. New ones are taken, unless the path is cut.
func (p *Path) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // at once, and without what was not sent yet
		}
		_ = conn.Close()
	}
}

// isWhole needs mu.
func (p *Path) isWhole() bool {
	select {
	case <-p.whole:
		return true
	default:
		return false
	}
}

func (p *Path) close() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.Heal()
	for _, l := range p.listeners {
		_ = l.Close()
	}
	p.Drop()
	p.running.Wait()
}

// serve passes on what comes in.
func (p *Path) serve(l net.Listener, address string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.pass(client, address) })
	}
}

// pass connects a client with a node, and returns when both have hung up.
func (p *Path) pass(client net.Conn, address string) {
	defer client.Close()
	if p.wait(); !p.keep(client) {
		return
	}
	defer p.leave(client)
	node, err := net.Dial("tcp", address)
	if err != nil || !p.keep(node) {
		return // it was killed
	}
	defer p.leave(node)
	var both sync.WaitGroup
	both.Go(func() { p.copy(node, client) })
	both.Go(func() { p.copy(client, node) })
	both.Wait()
}

// copy passes on one direction, while the path is whole.
func (p *Path) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if p.wait(); n > 0 {
			_, failed := to.Write(buffer[:n])
			err = errors.Join(err, failed)
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}

// wait returns as soon as the path is whole.
func (p *Path) wait() {
	p.mu.Lock()
	whole := p.whole
	p.mu.Unlock()
	<-whole
}

// keep remembers a connection, for Drop. It reports whether there may be one still.
func (p *Path) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = struct{}{}
	return true
}

func (p *Path) leave(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = conn.Close()
	delete(p.conns, conn)
}
