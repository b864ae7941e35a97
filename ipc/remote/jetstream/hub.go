package jetstream

import (
	"context"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"nod/ipc/remote"
)

// hub is the connection of one end with the cluster, and what it keeps there.
type hub struct {
	cfg      Config
	identity *remote.Identity
	log      *slog.Logger
	role     string        // for who looks at the cluster's connections
	ready    chan struct{} // closed once all below is there
	again    chan struct{} // takes a signal when something may have been missed

	nc *nats.Conn
	storage
	opening sync.Mutex // held by who makes the storage anew

	mu      sync.Mutex // guards all below
	since   time.Time  // when the connection came up or went down
	problem string     // why nothing works; "": it does, or comes
	refused bool       // the credentials were refused
	// isBroken says that the problem is of what the cluster keeps, not of the connection.
	isBroken bool
	denied   string // what the cluster refused last
	ahead    time.Duration
	trip     time.Duration
}

func newHub(cfg Config, identity *remote.Identity, role string, log *slog.Logger) *hub {
	return &hub{
		cfg: cfg, identity: identity, log: log, role: role,
		ready: make(chan struct{}), again: make(chan struct{}, 1), since: time.Now(),
	}
}

// me is the name of this end in subjects.
func (h *hub) me() string { return h.identity.Key().Sign }

// connect starts the connection, which from then on comes back by itself until ctx ends. The error says what of the
// configuration cannot work.
func (h *hub) connect(ctx context.Context) error {
	if err := h.cfg.check(); err != nil {
		return err
	}
	options := []nats.Option{
		nats.Name("nod " + h.role + " " + h.me()),
		nats.CustomInboxPrefix(h.cfg.subject(sayInbox, h.me())),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.CustomReconnectDelay(delay),
		nats.IgnoreAuthErrorAbort(), // credentials come back, too
		nats.ReconnectBufSize(-1),   // what cannot be sent now is sent again by who knows whether it still counts
		nats.SetCustomDialer(dialer{ctx}), nats.SkipHostLookup(),
		nats.FlusherTimeout(patience),
		nats.Timeout(patience), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(h.failed),
		nats.ConnectHandler(func(*nats.Conn) { h.isUp() }),
		nats.ReconnectHandler(func(*nats.Conn) { h.isUp() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { h.isDown(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { h.isDown(err) }),
	}
	if h.cfg.Credentials != "" {
		options = append(options, nats.UserCredentials(h.cfg.Credentials))
	}
	if h.cfg.CA != "" {
		options = append(options, nats.RootCAs(h.cfg.CA))
	}
	nc, err := nats.Connect(h.cfg.URL, options...)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", errConfig, h.cfg.where(), err)
	}
	h.nc = nc
	if err := nc.LastError(); err != nil && !nc.IsConnected() {
		h.isDown(err)
	}
	return nil
}

// dialer looks a server up and connects with it, unless ctx has ended: the client would go through all servers and all
// of their addresses first, and hold up who closes the connection meanwhile.
type dialer struct{ ctx context.Context }

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: patience}).DialContext(d.ctx, network, address)
}

// delay is how long to wait before all servers are tried once more: many clients that lost one must not come back as
// one.
func delay(attempts int) time.Duration {
	longest := min(time.Second<<min(attempts, 4), 10*time.Second)
	return longest/2 + rand.N(longest/2)
}

func (h *hub) isUp() {
	h.mu.Lock()
	h.since, h.problem, h.refused, h.isBroken = time.Now(), "", false, false
	h.mu.Unlock()
	h.look()
}

func (h *hub) isDown(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.problem == "" {
		h.since = time.Now()
	}
	if isRefused(err) {
		h.refused = true
	} else if errors.Is(err, io.EOF) && h.refused {
		return // a server may hang up before it has said why
	}
	if err != nil {
		h.problem, h.isBroken = h.explain(err), false
	}
}

// isRefused reports whether err says that the credentials do not do.
func isRefused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired) ||
		err != nil && strings.Contains(strings.ToLower(err.Error()), "authentication")
}

// look has the end see to what it may have missed.
func (h *hub) look() {
	select {
	case h.again <- struct{}{}:
	default:
	}
}

// failed takes what goes wrong aside of any call.
func (h *hub) failed(_ *nats.Conn, _ *nats.Subscription, err error) {
	switch {
	case errors.Is(err, nats.ErrSlowConsumer):
		h.log.Warn("NATS: messages came faster than they were read: looking for what was lost")
		h.look()
	case errors.Is(err, nats.ErrPermissionViolation):
		h.mu.Lock()
		h.denied = err.Error()
		h.mu.Unlock()
		h.log.Warn("NATS refuses", "err", err)
	case isRefused(err):
		h.isDown(err)
	default:
		h.log.Warn("NATS", "err", err)
	}
}

// explain says why the cluster cannot be used, and what to do.
func (h *hub) explain(err error) string {
	at, credentials := h.cfg.where(), h.cfg.Credentials
	if credentials == "" {
		credentials = "no credentials"
	}
	var authority x509.UnknownAuthorityError
	var certificate *tls.CertificateVerificationError
	switch {
	case isRefused(err):
		return fmt.Sprintf("NATS at %s refuses %s (%v): ask who runs it for new ones", at, credentials, err)
	case errors.As(err, &authority):
		return fmt.Sprintf("the certificate of %s is of an authority that is not trusted here: name its file in "+
			"remote.nats.ca", at)
	case errors.As(err, &certificate):
		return fmt.Sprintf("the certificate of %s does not do: %v", at, err)
	}
	return fmt.Sprintf("NATS at %s cannot be reached: %v", at, err)
}

// fail notes why the cluster cannot be used though it is connected.
func (h *hub) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problem, h.isBroken = err.Error(), true
	if h.denied != "" {
		h.problem += " (" + h.denied + ")"
	}
}

// mended notes that what had failed works, if it does.
func (h *hub) mended(works bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if works && h.isBroken {
		h.since, h.problem, h.isBroken = time.Now(), "", false
	}
}

// isWorking reports whether the cluster can be used now; else, since when and why it cannot.
func (h *hub) isWorking() (ok bool, since time.Time, problem string) {
	select {
	case <-h.ready:
		ok = h.nc.IsConnected()
	default:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return ok && h.problem == "", h.since, h.problem
}

// setUp waits until the stream and the buckets are there, and makes those that are missing. The error is ctx's.
func (h *hub) setUp(ctx context.Context) error {
	for attempts := 0; ; attempts++ {
		if h.nc.IsConnected() {
			var err error
			if h.storage, err = h.open(ctx); err == nil {
				_, err = h.readClock(ctx)
			}
			if err == nil {
				close(h.ready)
				h.isUp()
				return nil
			}
			if ctx.Err() == nil {
				h.fail(err)
				h.log.Warn("NATS", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.again:
		case <-time.After(delay(attempts)):
		}
	}
}

// reopen makes the stream and the buckets anew where they were lost, if this end may.
func (h *hub) reopen(ctx context.Context) {
	if !h.opening.TryLock() {
		return
	}
	defer h.opening.Unlock()
	if _, err := h.open(ctx); err != nil && ctx.Err() == nil {
		h.log.Warn("NATS", "err", err)
	}
}

// readied waits until the cluster can be used. The error is ctx's.
func (h *hub) readied(ctx context.Context) error {
	select {
	case <-h.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listen calls do for each message on subject, one after another.
func (h *hub) listen(subject string, do func(*nats.Msg)) (*nats.Subscription, error) {
	s, err := h.nc.Subscribe(subject, do)
	if err != nil {
		return nil, fmt.Errorf("listen to %s: %w", subject, err)
	}
	return s, nil
}

// ask sends a message to another end and returns its receipt.
func (h *hub) ask(ctx context.Context, subject string, to remote.Key, kind remote.Kind, nonce string, body any) (
	receipt, error,
) {
	message, err := h.identity.Seal(to, kind, body)
	if err != nil {
		return receipt{}, err
	}
	reply, err := h.nc.RequestWithContext(ctx, subject, message)
	if err != nil {
		return receipt{}, fmt.Errorf("%w: %w", remote.ErrDown, err)
	}
	envelope, err := h.identity.Open(reply.Data, to)
	if err != nil {
		return receipt{}, err
	}
	var r receipt
	if err := expect(envelope, kindReceipt, &r); err != nil {
		return receipt{}, err
	}
	if r.Nonce != nonce {
		return receipt{}, fmt.Errorf("%w: a receipt of something else", remote.ErrForged)
	}
	return r, nil
}

// answer sends the receipt of a message. It goes nowhere but to the sender's own inbox: what else a message names as
// the place for its answer, this end may write to and the sender may not.
func (h *hub) answer(m *nats.Msg, to remote.Key, r receipt) {
	if !strings.HasPrefix(m.Reply, h.cfg.subject(sayInbox, to.Sign)+".") {
		return
	}
	r.Clock = time.Now()
	message, err := h.identity.Seal(to, kindReceipt, r)
	if err == nil {
		err = m.Respond(message)
	}
	if err != nil {
		h.log.Warn("NATS: a receipt was not sent", "to", to.Sign, "err", err)
	}
}

// expect reads a message of one kind.
func expect(e remote.Envelope, kind remote.Kind, into any) error {
	if e.Kind != kind {
		return fmt.Errorf("%w: a %q in the place of a %q", remote.ErrForged, e.Kind, kind)
	}
	if err := e.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", remote.ErrForged, err)
	}
	return nil
}

// now is the cluster's time.
func (h *hub) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

// took notes how long a message and its receipt took.
func (h *hub) took(d time.Duration) {
	h.mu.Lock()
	h.trip = d
	h.mu.Unlock()
}

func nonce() string { return crand.Text() }
