package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"nod/changes"
	"nod/ipc/remote"
	"nod/ipc/remote/session"
)

type kind byte

const (
	kindOpen   kind = 'o' // a relay wants a connection
	kindAccept kind = 'a' // it has one
	kindData   kind = 'd' // the number of the message, counted from 0, and bytes
	kindCredit kind = 'k' // how many messages the other end may have sent in all
	kindClose  kind = 'c' // the connection has ended
	kindWake   kind = 'u' // a desk is up and has no connection
)

const (
	window   = 64       // messages that may be under way, one way
	maxBytes = 32 << 10 // of one message, without its head: more than a record of TLS
	headSize = 1 + 8    // bytes: kind and number
)

var (
	errNobody   = errors.New("nobody is there")
	errLost     = errors.New("a message was lost on the way")
	errProtocol = errors.New("the other end violates the protocol")
	errOther    = errors.New("the other end's key differs from its subject")
	errNoRoom   = errors.New("there are too many connections of that kind")
	errCluster  = errors.New("the connection with NATS was lost")
)

type address struct{ peer, id string }

// conn is a connection with a peer. It implements [net.Conn], for one reader and one writer at a time.
type conn struct {
	net.Conn // [session.Bare]
	hub      *hub
	address
	accepted chan struct{} // closed once the other end has accepted it
	over     chan struct{} // closed when it ends
	readable changes.Signal
	writable changes.Signal
	isProven atomic.Bool // the other end has proved its key

	mu       sync.Mutex // guards all below
	in       [][]byte   // what was received and not read
	received uint64     // messages
	taken    uint64     // … that were read
	granted  uint64     // messages that the other end may send in all
	sent     uint64
	credit   uint64 // messages that may be sent in all
	err      error  // why it ended
}

func newConn(h *hub, at address) *conn {
	return &conn{
		Conn: session.Bare, hub: h, address: at, accepted: make(chan struct{}), over: make(chan struct{}),
		readable: changes.NewSignal(), writable: changes.NewSignal(), granted: window, credit: window,
	}
}

// Claims returns the key that the other end claims, for package session.
func (c *conn) Claims() remote.Key { return remote.Key{Sign: c.peer} }

// Proven ends the connection of a peer that proved a key other than the one in its subject. Package session calls it.
func (c *conn) Proven(key remote.Key) {
	if key.Sign != c.peer {
		c.end(errOther)
		return
	}
	c.isProven.Store(true)
}

// Read implements [net.Conn].
func (c *conn) Read(b []byte) (int, error) {
	for {
		c.mu.Lock()
		if len(c.in) > 0 {
			n := copy(b, c.in[0])
			if c.in[0] = c.in[0][n:]; len(c.in[0]) == 0 {
				c.in = c.in[1:]
				c.taken++
			}
			grant := uint64(0)
			if c.taken+window-c.granted >= window/2 {
				c.granted = c.taken + window
				grant = c.granted
			}
			c.mu.Unlock()
			if grant > 0 {
				c.send(kindCredit, grant, nil)
			}
			return n, nil
		}
		err := c.err
		c.mu.Unlock()
		if err != nil {
			return 0, err
		}
		select {
		case <-c.readable:
		case <-c.over:
		}
	}
}

// Write implements [net.Conn]. It waits while the other end does not read.
func (c *conn) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		number, err := c.next()
		if err != nil {
			return n, err
		}
		some := b[:min(len(b), c.hub.chunk())]
		if !c.send(kindData, number, some) {
			return n, c.ended()
		}
		n, b = n+len(some), b[len(some):]
	}
	return n, nil
}

// next waits until a message may be sent, and returns its number.
func (c *conn) next() (uint64, error) {
	for {
		c.mu.Lock()
		number, err := c.sent, c.err
		if err == nil && number < c.credit {
			c.sent++
			c.mu.Unlock()
			return number, nil
		}
		c.mu.Unlock()
		if err != nil {
			return 0, err
		}
		select {
		case <-c.writable:
		case <-c.over:
		}
	}
}

// send publishes a message and reports whether that succeeded. If not, it ends the connection.
func (c *conn) send(k kind, number uint64, text []byte) bool {
	message := make([]byte, headSize, headSize+len(text))
	message[0] = byte(k)
	binary.BigEndian.PutUint64(message[1:], number)
	if err := c.hub.publish(c.address, append(message, text...), k != kindClose); err != nil {
		c.end(fmt.Errorf("%w: %w", errCluster, err))
		return false
	}
	return true
}

func (c *conn) handle(message []byte) {
	if len(message) < headSize || len(message) > headSize+maxBytes {
		c.end(errProtocol)
		return
	}
	number := binary.BigEndian.Uint64(message[1:])
	switch kind(message[0]) {
	case kindAccept:
		c.mu.Lock()
		defer c.mu.Unlock()
		select {
		case <-c.accepted:
		default:
			close(c.accepted)
		}
	case kindData:
		c.end(c.receive(number, message[headSize:]))
	case kindCredit:
		c.mu.Lock()
		c.credit = max(c.credit, number)
		c.mu.Unlock()
		c.writable.Send()
	case kindClose:
		c.end(errNobody)
	default:
		c.end(errProtocol)
	}
}

// receive queues received bytes. It ignores messages that it has received before.
func (c *conn) receive(number uint64, text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case number < c.received || c.err != nil:
		return nil
	case number > c.received:
		return errLost
	case number >= c.granted || len(text) == 0:
		return errProtocol
	}
	c.received++
	c.in = append(c.in, text)
	c.readable.Send()
	return nil
}

// end ends the connection, unless err is nil or it has ended.
func (c *conn) end(err error) {
	c.mu.Lock()
	if err == nil || c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	close(c.over)
	c.mu.Unlock()
	c.hub.drop(c)
	if !errors.Is(err, errNobody) && !errors.Is(err, errCluster) {
		c.send(kindClose, 0, nil)
	}
}

func (c *conn) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.end(net.ErrClosed)
	return nil
}
