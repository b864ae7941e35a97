// Package ipc is nod's HTTP server, through which agents on this machine can ask and do nothing else.
//
// The same handler listens on a loopback port and, on Unix, on a socket. A request is refused before it is routed
// unless it can only come from a program that may ask: it names one of the listener's own addresses as Host, no browser
// sent it, it carries the token, and the operating system does not say that it comes from another user. Then the server
// translates: JSON to an [interact.Request], the [interact.Answer] back to JSON. It knows neither policy nor windows.
//
// The wire can only ask. The server reaches the broker through an interface without a method that answers a request,
// adds a rule or changes a setting, and the table of routes says what each route can do.
package ipc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/endpoint"
	"nod/ipc/hooks"
	"nod/ipc/mcp"
	"nod/policy"
)

// Limits on the server.
const (
	maxBody        = 1 << 20          // bytes of a request's body
	maxHeader      = 16 << 10         // bytes of a request's headers
	maxControl     = 64               // connections of desks, and of what else may try
	maxConnections = 2048             // on the port, and again on the socket: all who may wait, polled for, and others
	headerTimeout  = 5 * time.Second  // for the headers to arrive
	bodyTimeout    = 10 * time.Second // for the body to arrive
	writeTimeout   = 10 * time.Second // for a reply to be taken
	idleTimeout    = time.Minute      // between two requests on a connection
	stopTimeout    = 3 * time.Second  // for replies under way when the server stops
)

// Config configures a [Server]. All fields but the functions are required.
type Config struct {
	Address string           // loopback address and port to listen on; port 0 picks a free one
	AnyPort bool             // take a free port if another program has that one
	Dir     string           // where the endpoint is published
	Broker  *interact.Broker //
	Hooks   *hooks.Hooks     // of coding agents; nil: none are served
	Version string           // of nod, for the endpoint and for health
	Log     *slog.Logger     //
	Control bool             // a second socket is bound, for desks: see [Server.Control]

	// Runs provides the sandboxes of commands. It is nil if there are none.
	Runs runs
	// Raise shows nod or its settings, and returns once they are on screen. May be nil.
	Raise func(ctx context.Context, settings bool) error
	// Called is called before each request that may lead to a prompt. May be nil.
	Called func()
	// Health adds the state that only the program knows to a health reply. May be nil.
	Health func(*api.HealthReply)
}

// asker is the part of the broker that the server uses. No method decides anything, which a test checks.
type asker interface {
	Begin(interact.Request) (*interact.Ticket, error)
	Find(context.Context, interact.Requester, interact.ID) (*interact.Ticket, error)
	Withdraw(interact.Requester, interact.ID) error
	Own(interact.Requester) []interact.Record
	Evaluate(interact.Requester, interact.Approve) (policy.Decision, error)
	Pending() []interact.Request
}

// Server is an HTTP server, bound and published. Use [Listen] to make one and Serve to run it.
type Server struct {
	broker    asker
	hooks     *hooks.Hooks
	mcp       http.Handler
	log       *slog.Logger
	raise     func(ctx context.Context, settings bool) error
	endpoint  endpoint.Endpoint
	published publication
	token     [sha256.Size]byte // digest, for a comparison in constant time
	hosts     map[string]bool   // the values of Host that name this server
	uid       int               // whose callers are let in, besides root's
	listeners []net.Listener
	control   net.Listener // nil: there is none
	http      *http.Server
	conns     sync.WaitGroup // one for each connection
	long      longBodies
	stopping  context.Context // ends when the server stops
	called    func()          // of the configuration, as the next two; may be nil
	health    func(*api.HealthReply)
	runs      runs
}

// Listen binds the port and the socket, and then publishes where they are. Nothing answers until Serve runs; a caller
// that does not call Serve must Close the server. Errors say which part of the configuration to change.
func Listen(cfg Config) (*Server, error) {
	if err := endpoint.Ensure(cfg.Dir); err != nil {
		return nil, err
	}
	path := endpoint.SocketPath(cfg.Dir)
	tcp, err := listenTCP(cfg.Address, cfg.AnyPort)
	if err != nil {
		return nil, err
	}
	if at := tcp.Addr().String(); cfg.AnyPort && at != cfg.Address {
		cfg.Log.Warn("another program uses nod's port: nod takes a free one", "want", cfg.Address, "have", at)
	}
	sock, err := listenSocket(path)
	if errors.Is(err, errNoSocket) {
		cfg.Log.Warn("no socket, the port only", "err", err)
		sock, path = nil, ""
	} else if err != nil {
		return nil, errors.Join(err, tcp.Close())
	}
	s := newServer(cfg, endpoint.Endpoint{
		URL: "http://" + tcp.Addr().String(), Socket: path, Token: endpoint.NewToken(),
		PID: os.Getpid(), Version: cfg.Version,
	})
	s.published.dir, s.published.own = cfg.Dir, s.endpoint
	s.listeners = append(s.listeners, s.gate(tcp, maxConnections))
	if sock != nil {
		s.published.sockets = append(s.published.sockets, sock)
		s.listeners = append(s.listeners, s.gate(sock, maxConnections))
	}
	if err := s.listenControl(cfg.Control); err != nil {
		return nil, errors.Join(err, s.closeListeners())
	}
	if err := endpoint.Write(cfg.Dir, s.endpoint); err != nil {
		return nil, errors.Join(err, s.closeListeners())
	}
	return s, nil
}

// listenControl binds the socket for desks, if it is wanted.
func (s *Server) listenControl(wanted bool) error {
	if !wanted {
		return nil
	}
	sock, err := listenSocket(endpoint.ControlPath(s.published.dir))
	if err != nil {
		return err
	}
	s.published.sockets = append(s.published.sockets, sock)
	s.control = s.gate(sock, maxControl)
	return nil
}

// Control returns the socket for desks. Its connections come from this user or root, and are not served here. It closes
// when the server has stopped, and then its caller must stop accepting connections.
func (s *Server) Control() net.Listener { return s.control }

func newServer(cfg Config, e endpoint.Endpoint) *Server {
	s := &Server{
		broker: cfg.Broker, hooks: cfg.Hooks, log: cfg.Log, endpoint: e, called: cfg.Called, raise: cfg.Raise, runs: cfg.Runs,
		health: cfg.Health, token: sha256.Sum256([]byte(e.Token)), hosts: hostsOf(e.URL), uid: os.Geteuid(),
	}
	s.mcp = mcp.Handler(cfg.Broker, mcpCaller, cfg.Version, cfg.Log)
	s.http = &http.Server{
		Handler:                      s.handler(),
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is refused like every OPTIONS
		ErrorLog:                     slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
		ConnContext:                  withPeer,
		ConnState:                    s.count,
	}
	var stop context.CancelFunc
	s.stopping, stop = context.WithCancel(context.Background())
	s.http.RegisterOnShutdown(stop)
	return s
}

// Endpoint returns where the server listens, and the token.
func (s *Server) Endpoint() endpoint.Endpoint { return s.endpoint }

// Serve answers requests until ctx ends. Then it withdraws the endpoint, stops listening and waits for the replies
// under way. It hangs up on requests that are unanswered three seconds later, so close the broker to let their callers
// know. A Server serves once.
func (s *Server) Serve(ctx context.Context) error {
	failed := make(chan error, len(s.listeners))
	for _, l := range s.listeners {
		go func() { failed <- s.http.Serve(l) }()
	}
	var err error
	running := len(s.listeners)
	select {
	case <-ctx.Done():
	case err = <-failed:
		running--
		err = fmt.Errorf("serve: %w", err)
	}
	err = errors.Join(err, s.stop())
	for range running {
		<-failed // http.ErrServerClosed
	}
	s.conns.Wait()
	return err
}

func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed:
		s.conns.Done()
	}
}

func (s *Server) stop() error {
	err := errors.Join(s.published.withdraw(), s.closeControl())
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		return errors.Join(err, s.http.Close())
	}
	return err
}

func (s *Server) closeControl() error {
	if s.control == nil {
		return nil
	}
	return s.control.Close()
}

func (s *Server) closeListeners() error {
	errs := []error{s.closeControl()}
	for _, l := range s.listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
