package device

import (
	"context"
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
	"time"

	"nod/interact"
	"nod/ipc/remote"
)

// Limits of the server.
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

// relisten is how long after an address could not be had it is tried again: a network that is encrypted itself comes up
// when the person is on their way.
const relisten = 5 * time.Second

// Config is what a [Server] works with. All fields are required.
type Config struct {
	Address     netip.AddrPort  // of this machine
	Certificate tls.Certificate // for the address
	Page        fs.FS           // with the files of the page
	Desk        Desk
	ArmAfter    func() time.Duration // how long a view is there before a yes counts
	Log         *slog.Logger
}

// Desk is what the server needs of nod-desktop. Errors that the device is to read are [*Problem].
type Desk interface {
	About() About
	// Find returns the device with a key, which the person has paired and not revoked.
	Find(key string) (remote.Peer, bool)
	// Asked tells that a device that was invited asks to be paired: see [Server.Asking].
	Asked()
	// Prompts are those that are pending for a device, oldest first.
	Prompts(d remote.Peer) []Headline
	// View is a prompt as it is now, for a device. The error is [Gone]'s when it is not pending.
	View(ctx context.Context, d remote.Peer, id interact.ID) (View, error)
	// Answer ends a prompt, and returns once the journal has it.
	Answer(ctx context.Context, d remote.Peer, id interact.ID, a interact.Answer) error
	// Changes signals whenever there is something else to see, or a device may see less, until stop is called.
	Changes() (changes <-chan struct{}, stop func())
	// PushKey is the key that browsers subscribe with; empty: there is no Web Push.
	PushKey() string
	// Subscribe has a device be told that something waits; an empty subscription ends that.
	Subscribe(d remote.Peer, s Subscription) error
}

// Server is the HTTPS server for devices. It is safe for concurrent use.
type Server struct {
	Config
	host        string // which a request must name
	handler     http.Handler
	nonces      *nonces
	invitations invitations
	sent        sent
	rates       *rates

	mu      sync.Mutex
	problem error // why nothing is served now
	waiting map[string]int
}

// New returns a server that does not listen yet.
func New(c Config) *Server {
	s := &Server{
		Config: c, host: c.Address.String(), nonces: newNonces(), rates: newRates(),
		sent: sent{views: map[string]map[interact.ID]shown{}}, waiting: map[string]int{},
		problem: errors.New("it is not served yet"),
	}
	if c.Address.Port() == 443 {
		s.host = hostOf(c.Address.Addr())
	}
	s.handler = s.routes()
	return s
}

// hostOf is an address as a URL has it.
func hostOf(ip netip.Addr) string {
	if ip.Is6() {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}

// URL is where the page is.
func (s *Server) URL() string { return "https://" + s.host + "/" }

// Invite has the one device that shows what the address says ask to be paired, under a name. An invitation before it
// ends.
func (s *Server) Invite(name string, may remote.May) (url string, until time.Time) {
	secret, until := s.invitations.invite(name, may)
	return s.URL() + "#pair=" + secret + "&fp=" + strings.ReplaceAll(Fingerprint(s.Certificate), ":", ""), until
}

// Withdraw has the invitation that was made last count no more, nor the device that asks by it.
func (s *Server) Withdraw() { s.invitations.withdraw() }

// Asking is the device that asks to be paired, and since when: its name and rights are those of the invitation.
func (s *Server) Asking() (peer remote.Peer, came time.Time, ok bool) { return s.invitations.asking() }

// Admit has pair take in the device that asks, if it is the one with that key.
func (s *Server) Admit(key string, pair func(remote.Peer) error) error {
	return s.invitations.admit(key, pair)
}

// Problem says why nothing is served now; nil when it is.
func (s *Server) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

func (s *Server) setProblem(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = err
}

// Run serves devices until ctx ends. While this machine does not have the address it waits for it.
func (s *Server) Run(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.listenAndServe(ctx)
		if ctx.Err() != nil {
			return
		}
		if before := s.Problem(); before == nil || before.Error() != err.Error() {
			s.Log.Warn("devices cannot reach nod", "err", err)
		}
		s.setProblem(err)
		select {
		case <-ctx.Done():
		case <-time.After(relisten):
		}
	}
}

func (s *Server) listenAndServe(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Address.String())
	if err != nil {
		return fmt.Errorf("remote.phone.address: %w", err)
	}
	return s.Serve(ctx, l)
}

// Serve serves devices at l, which it closes, until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	serving, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := &http.Server{ // it logs nothing of connections that are no good: anybody can open one
		Handler: s, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return serving },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c.(*tls.Conn).NetConn())
		},
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{s.Certificate},
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
	s.Log.Info("devices can reach nod", "url", s.URL())
	s.setProblem(nil)
	return server.ServeTLS(&fairListener{Listener: l, rates: s.rates}, "", "")
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if p := s.guard(r); p != nil {
		writeProblem(w, p)
		return
	}
	s.handler.ServeHTTP(w, r)
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	if p.Code == codeBusy {
		w.Header().Set("Retry-After", "2")
	}
	writeJSON(w, p.status(), p)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	writeText(w, status, text)
}

func writeText(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever hung up reads nothing
}
