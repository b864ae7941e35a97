// Package boundary is the way out of the sandbox: a proxy through which a contained command reaches the network.
// It asks about every host that is not allowed yet.
//
// It runs outside, on a listener that lives in the sandbox's network namespace, and speaks HTTP and SOCKS5 on one
// port. Names are resolved outside, and only after the answer: a query to a name server is a way out as well. For what
// leads to this machine or its networks it asks about the address, whatever the name. The name in a TLS handshake, and
// in every request in the clear, must be the one that was asked for.
package boundary

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/things-go/go-socks5"
)

// Limits of one run. A command that reaches one waits, or is refused.
const (
	maxConnections = 1024
	maxHeader      = 64 << 10
	maxAddresses   = 8 // tried for one name

	greetingTimeout = 30 * time.Second
	lookupTimeout   = 10 * time.Second
	dialTimeout     = 10 * time.Second
	idleTimeout     = 15 * time.Minute
)

// A Config says where a command may connect to.
type Config struct {
	// Allowed are the hosts that it reaches unasked at the ports of the web, as in rules: example.com, *.example.com.
	Allowed []string
	// Ask asks about any other host. It returns nil if the user allows it, or why not in one sentence. Each target is
	// asked about once; the context ends when no connection waits for the answer. Without it nothing else is reached.
	Ask func(context.Context, Target) error
	// Refused, if set, is called with the reason for each refused connection, from many goroutines.
	Refused func(error)
}

// Serve serves the connections of one run until the context ends, and then closes all of them and the listener.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	return newProxy(c).serve(ctx, l)
}

type proxy struct {
	Config
	run     context.Context
	answers answers
	lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)

	http    http.Server
	forward httputil.ReverseProxy
	socks   *socks5.Server
	handoff chan net.Conn // to the HTTP server
	slots   chan struct{}
	open    sync.WaitGroup // one for each connection
}

func newProxy(c Config) *proxy {
	p := &proxy{
		Config:  c,
		answers: answers{ask: c.Ask, turns: make(chan struct{}, maxOpen), list: map[Target]*answer{}},
		handoff: make(chan net.Conn),
		slots:   make(chan struct{}, maxConnections),
	}
	p.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	p.dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", to.String())
	}
	silent := log.New(io.Discard, "", 0)
	p.http = http.Server{
		Handler:           http.HandlerFunc(p.serveHTTP),
		ReadHeaderTimeout: greetingTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,

		DisableGeneralOptionsHandler: true,
		ErrorLog:                     silent,
		ConnContext:                  pin,
	}
	p.forward = p.newForward(silent)
	p.socks = p.newSOCKS()
	return p
}

func (p *proxy) serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer p.open.Wait()
	defer cancel()
	closeListener := sync.OnceFunc(func() { l.Close() })
	defer closeListener()
	defer context.AfterFunc(ctx, closeListener)()

	p.run, p.answers.run = ctx, ctx
	p.http.BaseContext = func(net.Listener) context.Context { return ctx }
	go p.http.Serve(&handedOff{ctx, p.handoff, l.Addr()})
	for {
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		c, err := l.Accept()
		switch {
		case err == nil:
			go p.greet(p.admit(c))
			continue
		case ctx.Err() != nil:
			return nil
		case !isPassing(err):
			return fmt.Errorf("serve the sandbox's proxy: %w", err)
		}
		<-p.slots
		time.Sleep(50 * time.Millisecond)
	}
}

// isPassing reports whether a connection may be accepted in a moment.
func isPassing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}

func (p *proxy) greet(c *conn) {
	c.SetDeadline(time.Now().Add(greetingTimeout))
	first, err := c.in.Peek(1)
	switch {
	case err != nil:
		c.Close()
	case first[0] == 5:
		p.socks.ServeConn(c) // closes it
	default:
		c.SetDeadline(time.Time{})
		p.passOn(c)
	}
}

func (p *proxy) passOn(c net.Conn) {
	select {
	case p.handoff <- c:
	case <-p.run.Done():
		c.Close()
	}
}

type conn struct {
	net.Conn
	in    *bufio.Reader
	once  sync.Once
	ended func()
}

func (p *proxy) admit(c net.Conn) *conn {
	p.open.Add(1)
	forget := context.AfterFunc(p.run, func() { c.Close() }) // whoever serves it then closes it, too
	return &conn{Conn: c, in: bufio.NewReader(c), ended: func() {
		forget()
		<-p.slots
		p.open.Done()
	}}
}

func (c *conn) Read(b []byte) (int, error) { return c.in.Read(b) }
func (c *conn) CloseWrite() error          { return closeWrite(c.Conn) }

func (c *conn) Close() (err error) {
	c.once.Do(func() {
		err = c.Conn.Close()
		c.ended()
	})
	return err
}

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// handedOff is the listener of the HTTP server: its connections are already accepted.
type handedOff struct {
	ctx     context.Context
	handoff <-chan net.Conn
	address net.Addr
}

func (l *handedOff) Accept() (net.Conn, error) {
	select {
	case c := <-l.handoff:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (l *handedOff) Close() error   { return nil }
func (l *handedOff) Addr() net.Addr { return l.address }
