package device

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nod/interact"
	"nod/ipc/remote"
)

// Limits on the server.
const (
	maxBody        = 256 << 10 // bytes of an answer
	maxHeader      = 8 << 10
	maxConnections = 64
	maxOfOne       = 12 // connections from one address
	maxStreams     = 16 // requests at once on a connection
	maxWaiting     = 4  // requests of one device that wait for news
	headerTimeout  = 5 * time.Second
	bodyTimeout    = 10 * time.Second
	newsTimeout    = 25 * time.Second // how long a request waits for news
	writeTimeout   = newsTimeout + 30*time.Second
	idleTimeout    = 2 * time.Minute
	stopTimeout    = 2 * time.Second
)

// relisten is the delay before another attempt to listen: a VPN may come up late.
const relisten = 5 * time.Second

// Config configures a [Server]. All fields are required.
type Config struct {
	Address     netip.AddrPort  // of this machine
	Certificate tls.Certificate // for the address
	Page        fs.FS           // with the files of the page
	Desk        desk
	Log         *slog.Logger
}

// desk is the part of nod-desktop that the server uses. Errors for the device are from this package.
type desk interface {
	About() About
	// Find returns the paired device with a key.
	Find(key string) (remote.Peer, bool)
	// Asked is called when an invited device asks to be paired: see [Server.Asking].
	Asked()
	// Prompts returns the pending prompts that a device may see, oldest first.
	Prompts(d remote.Peer) []Headline
	// View returns the current view of a prompt, for a device. It fails with [ErrGone] if the prompt is not pending.
	View(ctx context.Context, d remote.Peer, id interact.ID) (View, error)
	// Answer answers a prompt. It returns after the journal has the answer.
	Answer(ctx context.Context, d remote.Peer, id interact.ID, a interact.Answer) error
	// Changes signals after any change of the prompts or of a device's rights, until stop is called.
	Changes() (changes <-chan struct{}, stop func())
	// PushKey returns the key for browsers to subscribe with, or "" without Web Push.
	PushKey() string
	// Subscribe sets where to push when a prompt waits; an empty subscription turns that off.
	Subscribe(d remote.Peer, s Subscription) error
}

// Server is the HTTPS server for devices. It is safe for concurrent use.
type Server struct {
	invitations
	config  Config
	host    string // the Host header of every valid request
	handler http.Handler
	nonces  *nonces
	sent    sent
	rates   rates

	problem atomic.Pointer[error] // why the server does not serve; of nil if it does

	mu      sync.Mutex
	waiting map[string]int // requests that wait for news, by the device's key
}

// New returns a server that does not listen yet.
func New(c Config) *Server {
	s := &Server{
		config: c, nonces: newNonces(),
		host: strings.TrimSuffix(c.Address.String(), ":443"), // which a browser leaves out
		sent: sent{views: map[string]map[interact.ID]shown{}}, waiting: map[string]int{},
	}
	s.setProblem(errors.New("it is not served yet"))
	s.handler = s.routes()
	return s
}

// URL returns the address of the page.
func (s *Server) URL() string { return "https://" + s.host + "/" }

// Fingerprint returns the SHA-256 of the certificate as browsers show it: AB:CD:…
func (s *Server) Fingerprint() string {
	sum := sha256.Sum256(s.config.Certificate.Leaf.Raw)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

// Invite lets one device ask to be paired, by opening url before until. It ends an earlier invitation.
func (s *Server) Invite(name string, may remote.May) (url string, until time.Time) {
	secret, until := s.invite(name, may)
	return s.URL() + "#pair=" + secret + "&fp=" + strings.ReplaceAll(s.Fingerprint(), ":", ""), until
}

// Problem returns why the server does not serve, or nil if it does.
func (s *Server) Problem() error { return *s.problem.Load() }

func (s *Server) setProblem(err error) { s.problem.Store(&err) }

// Run serves devices until ctx ends. It waits while this machine does not have the address.
func (s *Server) Run(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.listenAndServe(ctx)
		if ctx.Err() != nil {
			return
		}
		if before := s.Problem(); before == nil || before.Error() != err.Error() {
			s.config.Log.Warn("devices cannot reach nod", "err", err)
		}
		s.setProblem(err)
		select {
		case <-ctx.Done():
		case <-time.After(relisten):
		}
	}
}

func (s *Server) listenAndServe(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.config.Address.String())
	if err != nil {
		return fmt.Errorf("remote.phone.address: %w", err)
	}
	return s.Serve(ctx, l)
}

// Serve serves devices at l, which it closes, until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	serving, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := &http.Server{ // it does not log broken connections: any program can open one
		Handler: s, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return serving },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c.(*tls.Conn).NetConn())
		},
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{s.config.Certificate},
			NextProtos: []string{"h2", "http/1.1"},
		},
	}
	stopped := context.AfterFunc(ctx, func() {
		cancel()
		stopping, done := context.WithTimeout(context.Background(), stopTimeout)
		defer done()
		if server.Shutdown(stopping) != nil {
			_ = server.Close()
		}
	})
	defer stopped()
	s.config.Log.Info("devices can reach nod", "url", s.URL())
	s.setProblem(nil)
	return server.ServeTLS(&fairListener{Listener: l, rates: &s.rates}, "", "")
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if err := s.guard(r); err != nil {
		s.writeProblem(w, err)
		return
	}
	s.handler.ServeHTTP(w, r)
}

func (s *Server) writeProblem(w http.ResponseWriter, err error) {
	f, isForDevice := errors.AsType[*failure](err)
	if !isForDevice {
		s.config.Log.Error("a device's request failed", "err", err)
		f = &failure{Code: codeBroken, Message: "nod could not do this: its log says why."}
	}
	if f.Code == codeBusy {
		w.Header().Set("Retry-After", "2")
	}
	writeJSON(w, statuses[f.Code], f)
}

// writeJSON writes a value as JSON, or text that is already JSON.
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, isJSON := v.(json.RawMessage)
	if !isJSON {
		text, _ = json.Marshal(v) // numbers and strings
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have hung up
}
