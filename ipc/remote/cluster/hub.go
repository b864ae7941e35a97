// Package cluster carries sessions between desks and relays over a NATS server or cluster. It uses only subjects and
// stores nothing there, so one user of the cluster can fill, change or delete nothing of another.
//
// Every message goes to the subject PREFIX.TO.FROM.ID, where TO and FROM are the public keys of the two ends and ID
// names their connection. So one rule says what a user of the cluster may do: publish what comes FROM it, and read what
// is sent TO it. A relay opens a connection with each of its desks and keeps trying as long as it runs; the cluster
// reports immediately if no one listens. A desk that comes up tells the machines that are paired with it.
//
// A connection carries bytes in numbered messages, and at most [window] of them that the other end has not read. It is
// not repaired: if a message is missing, or either end loses the cluster or falls behind, it ends, and the relay opens
// another one. TLS proves who is at the other end, and that nothing was read or changed on the way: see package
// session.
package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"nod/ipc/remote"
	"nod/policy/config"
)

// patience is how long one call may take.
const patience = 5 * time.Second

// hub is the connection of one end with the cluster, and all connections with peers that it carries.
type hub struct {
	cfg    config.NATS
	me     remote.Key
	role   string // for who looks at the cluster's connections
	log    *slog.Logger
	dialed func(at address)  // a relay wants a connection; it must not block
	woke   func(peer string) // a desk is up; it must not block
	isUp   func()            // the cluster can be used; it must not block

	nc *nats.Conn // set by run

	mu      sync.Mutex // guards all below
	conns   map[address]*conn
	up      bool
	since   time.Time // when the connection came up or went down
	problem string    // why nothing works; "": it does, or comes
	refused bool      // the credentials were refused
	denied  string    // what the cluster did not permit last
}

func newHub(cfg config.NATS, me remote.Key, role string, log *slog.Logger) *hub {
	return &hub{
		cfg: cfg, me: me, role: role, log: log, conns: map[address]*conn{}, since: time.Now(),
		dialed: func(address) {}, woke: func(string) {}, isUp: func() {},
	}
}

// State returns whether the cluster can be used.
func (h *hub) State() remote.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := remote.State{Up: h.up && h.denied == "", Since: h.since, Problem: h.problem}
	if h.up && h.denied != "" {
		s.Problem = fmt.Sprintf("NATS at %s does not permit what nod needs: %s", where(h.cfg), h.denied)
	}
	return s
}

// run keeps the connection with the cluster, which reconnects on its own, until ctx ends. The error says what is wrong
// with the configuration.
func (h *hub) run(ctx context.Context) error {
	ready := make(chan struct{})
	options := []nats.Option{
		nats.Name("nod " + h.role + " " + h.me.Sign),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.CustomReconnectDelay(delay),
		nats.IgnoreAuthErrorAbort(), // credentials come back, too
		nats.ReconnectBufSize(-1),   // connections do not outlast the loss of the cluster
		nats.SetCustomDialer(dialer{ctx}), nats.SkipHostLookup(), nats.NoEcho(),
		nats.FlusherTimeout(patience),
		nats.Timeout(patience), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(h.failed),
		nats.ConnectHandler(func(*nats.Conn) { <-ready; h.connected() }),
		nats.ReconnectHandler(func(*nats.Conn) { <-ready; h.connected() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { h.lost(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { h.lost(err) }),
	}
	if h.cfg.Credentials != "" {
		options = append(options, nats.UserCredentials(h.cfg.Credentials))
	}
	if h.cfg.CA != "" {
		options = append(options, nats.RootCAs(h.cfg.CA))
	}
	nc, err := nats.Connect(h.cfg.URL, options...)
	if err != nil {
		return fmt.Errorf("NATS: %s: %w", where(h.cfg), err)
	}
	h.nc = nc
	if _, err = nc.Subscribe(h.subject(h.me.Sign, "*", "*"), h.handle); err == nil && nc.IsConnected() {
		err = nc.FlushTimeout(patience) // so that peers that learn that this end is up reach it
	}
	if err != nil {
		h.lost(err)
	}
	if err := nc.LastError(); err != nil && !nc.IsConnected() {
		h.lost(err)
	}
	close(ready)
	<-ctx.Done()
	h.endAll(net.ErrClosed)
	_ = nc.FlushTimeout(time.Second) // the others learn of it anyway
	nc.Close()
	return nil
}

// dialer looks up a server and connects with it, unless ctx has ended. Without it the client would try all servers and
// all of their addresses first, and delay the caller that closes the connection.
type dialer struct{ ctx context.Context }

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: patience}).DialContext(d.ctx, network, address)
}

// longest is the longest wait before another attempt.
const longest = 15 * time.Second

// delay returns how long to wait after this many attempts. It is random, so that many clients that lost a server do not
// return at the same moment.
func delay(attempts int) time.Duration {
	d := min(time.Second<<min(attempts, 4), longest)
	return d/2 + rand.N(d/2)
}

func (h *hub) connected() {
	h.mu.Lock()
	h.up, h.since, h.problem, h.refused, h.denied = true, time.Now(), "", false, ""
	h.mu.Unlock()
	h.isUp()
}

// lost notes that the cluster cannot be used, and ends all connections.
func (h *hub) lost(err error) {
	h.endAll(errCluster)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.up {
		h.up, h.since = false, time.Now()
	}
	if isRefused(err) {
		h.refused = true
	} else if errors.Is(err, io.EOF) && h.refused {
		return // a server may hang up before it has said why
	}
	if err != nil {
		h.problem = h.explain(err)
	}
}

func (h *hub) failed(_ *nats.Conn, _ *nats.Subscription, err error) {
	switch {
	case errors.Is(err, nats.ErrSlowConsumer):
		h.log.Warn("NATS: messages came faster than they were read") // a connection that has lost some ends; see receive
	case errors.Is(err, nats.ErrPermissionViolation):
		h.mu.Lock()
		h.denied = err.Error()
		h.mu.Unlock()
		h.log.Warn("NATS refuses", "err", err)
	case isRefused(err):
		h.lost(err)
	default:
		h.log.Warn("NATS", "err", err)
	}
}

// isRefused reports whether the server refused the credentials.
func isRefused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired) ||
		err != nil && strings.Contains(strings.ToLower(err.Error()), "authentication")
}

// explain returns why the cluster cannot be used, and what to do.
func (h *hub) explain(err error) string {
	at, who := where(h.cfg), cmp.Or(h.cfg.Credentials, "this nod")
	var authority x509.UnknownAuthorityError
	var certificate *tls.CertificateVerificationError
	switch {
	case isRefused(err):
		return fmt.Sprintf("NATS at %s refuses %s (%v): ask who runs it for new credentials", at, who, err)
	case errors.As(err, &authority):
		return fmt.Sprintf("the certificate of %s is of an authority that is not trusted here: name its file in "+
			"remote.nats.ca, of a relay in --ca", at)
	case errors.As(err, &certificate):
		return fmt.Sprintf("the certificate of %s does not do: %v", at, err)
	}
	return fmt.Sprintf("NATS at %s cannot be reached: %v", at, err)
}

// chunk returns how many bytes one message carries.
func (h *hub) chunk() int {
	if most := int(h.nc.MaxPayload()) - headSize; most > 0 {
		return min(maxBytes, most)
	}
	return maxBytes
}

func (h *hub) subject(to, from, id string) string {
	return cmp.Or(h.cfg.Prefix, "nod") + "." + to + "." + from + "." + id
}

// publish sends a message to the other end of a connection. With isAsking the cluster reports if no one receives it.
func (h *hub) publish(to address, message []byte, isAsking bool) error {
	h.mu.Lock()
	up := h.up
	h.mu.Unlock()
	if !up {
		return errCluster
	}
	m := &nats.Msg{Subject: h.subject(to.peer, h.me.Sign, to.id), Data: message}
	if isAsking {
		m.Reply = h.subject(h.me.Sign, to.peer, to.id)
	}
	return h.nc.PublishMsg(m)
}

func (h *hub) handle(m *nats.Msg) {
	words := strings.Split(m.Subject, ".")
	at := address{words[len(words)-2], words[len(words)-1]}
	if (remote.Key{Sign: at.peer}).Check() != nil {
		return
	}
	h.mu.Lock()
	c := h.conns[at]
	h.mu.Unlock()
	switch {
	case len(m.Data) == 0: // from the cluster: no one receives there
		if c != nil {
			c.end(errNobody)
		}
	case kind(m.Data[0]) == kindWake:
		h.woke(at.peer)
	case c != nil:
		c.handle(m.Data)
	case kind(m.Data[0]) == kindOpen:
		h.dialed(at)
	case kind(m.Data[0]) != kindClose: // it belongs to a connection that has ended here
		_ = h.publish(at, append([]byte{byte(kindClose)}, make([]byte, headSize-1)...), false) // else it learns it later
	}
}

func (h *hub) add(at address) *conn {
	c := newConn(h, at)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns[at] = c
	return c
}

func (h *hub) drop(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conns[c.address] == c {
		delete(h.conns, c.address)
	}
}

// all lists the connections with a peer, or with all peers if it is empty.
func (h *hub) all(peer string) (conns []*conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for at, c := range h.conns {
		if peer == "" || at.peer == peer {
			conns = append(conns, c)
		}
	}
	return conns
}

func (h *hub) endAll(err error) {
	for _, c := range h.all("") {
		c.end(err)
	}
}

// where returns the address of cfg without passwords and tokens, for messages.
func where(cfg config.NATS) string {
	var all []string
	for part := range strings.SplitSeq(cfg.URL, ",") {
		if u, err := url.Parse(strings.TrimSpace(part)); err == nil {
			u.User = nil // may be a token
			all = append(all, u.String())
		}
	}
	return strings.Join(all, ", ")
}
