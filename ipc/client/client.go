// Package client asks the running nod-desktop: one method per route of its HTTP server.
//
// Calls return an answer or an error; anything doubtful is an error, never an allow: a connection that drops, a reply
// that is cut short, is not JSON, lacks a field or contradicts itself, an unknown status or decision. An error means
// that nobody decided. Distinguish two with [errors.As]: [*Problem], a refusal in nod-desktop's words, and [*Pending],
// no answer yet. [ErrNotRunning] means that nod-desktop is not running.
//
// [Approver] and [Asker] are for agent loops: they wait for the user, or interrupt the run until there is an answer.
//
// Cancelling the context of a call withdraws its request, unless it was detached.
//
// nod-desktop may end while a call waits for the user. A client that knows the folder of endpoints ([Discover] returns
// one) waits for the next nod-desktop to publish its endpoint there, as long as the context lasts. It sends the request
// again with the same idempotency key: nod-desktop delivers an existing answer, joins a pending request, and otherwise
// asks anew. A call that never reached nod-desktop fails at once. If nod-desktop quit before it answered, the call
// waits ten seconds for a restart.
//
// The token goes only to a server of the same user: if nod-desktop has published a Unix socket the client dials nothing
// else (another program could listen on a dead nod's port), and it asks the operating system who is on the other end.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"nod/api"
	"nod/ipc/endpoint"
	"nod/ipc/peer"
)

// maxReply limits the bytes of a reply. The longest are lists of requests.
const maxReply = 8 << 20

// dialTimeout limits connecting. Both ends are on one machine: a longer wait means that nod-desktop hangs.
const dialTimeout = 5 * time.Second

// ErrNotRunning means that no nod-desktop answers. [Hint] says what to do.
var ErrNotRunning = errors.New("nod-desktop isn't running")

// Hint says what to do about [ErrNotRunning].
const Hint = "start it with: nod start"

// Client talks to one nod-desktop and its successors. Set its fields before the first call; it is then safe for
// concurrent use.
type Client struct {
	// Endpoint is where nod-desktop listens, and the token. Required.
	Endpoint endpoint.Endpoint

	// Dir is where the next nod-desktop publishes its endpoint. Empty: the client does not look for one.
	Dir string

	// Dial connects to nod-desktop. nil: to the socket if there is one, else to the port, and only to a server of this
	// user or root.
	Dial func(ctx context.Context) (net.Conn, error)

	// Lost is called when a call has lost its nod-desktop and waits for the next; may be nil.
	Lost func()

	mu sync.Mutex // guards at
	at *server    // nil before the first call
}

// Discover returns a client of the running nod-desktop. The error wraps [ErrNotRunning] if there is no published
// endpoint; only the first call shows whether it still answers.
func Discover() (*Client, error) {
	dir, err := endpoint.Dir()
	if err != nil {
		return nil, err
	}
	e, err := endpoint.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, err
	}
	slog.Debug("found nod-desktop", "pid", e.PID, "url", e.URL, "socket", e.Socket)
	return &Client{Endpoint: e, Dir: dir}, nil
}

// Current is the endpoint of the client's current nod-desktop.
func (c *Client) Current() endpoint.Endpoint { return c.current().Endpoint }

// server is one nod-desktop, with the connections to it.
type server struct {
	endpoint.Endpoint
	http *http.Client
}

// current is the nod-desktop that the client talks to.
func (c *Client) current() *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = c.serverAt(c.Endpoint)
	}
	return c.at
}

// serverAt returns the nod-desktop at e. Its HTTP client follows no redirect.
func (c *Client) serverAt(e endpoint.Endpoint) *server {
	dial := c.Dial
	if dial == nil {
		dial = func(ctx context.Context) (net.Conn, error) { return dialAt(ctx, e) }
	}
	return &server{Endpoint: e, http: &http.Client{
		// The transport knows no proxy (whatever the environment says), and replies come as they are.
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
			DisableCompression: true,

			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// HTTPClient returns a client for protocols of their own beside the routes that this package knows: it
// dials like this one, and carries the token and these headers in every request. It is for the nod-desktop that the
// client talks to now: see [Client.Reattach].
func (c *Client) HTTPClient(headers map[string]string) *http.Client {
	at := c.current()
	inner := *at.http
	next := inner.Transport
	inner.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+at.Token)
		for name, value := range headers {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		return next.RoundTrip(r)
	})
	return &inner
}

// roundTrip makes a function a [http.RoundTripper].
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Close closes the connections that wait for a next call.
func (c *Client) Close() { c.current().http.CloseIdleConnections() }

// request is what goes over the wire for one call.
type request struct {
	method, path string
	body         any    // nil: none; a [json.RawMessage] goes as it is
	key          string // idempotency key, when the body has none
	accept       string // media type; empty: JSON
	lastEvent    string // id of the last event that was read
	isWaiting    bool   // for a person, maybe: it comes back
	again        func() // is called before it is sent once more; may be nil
}

// exchange sends one request and returns the body of its reply when the status is 200, else an error: a
// [*Pending] for 202, a [*Problem] for a refusal.
func (s *server) exchange(ctx context.Context, r request) ([]byte, error) {
	resp, err := s.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err != nil {
		return nil, hangUp(ctx, fmt.Errorf("read the reply: %w", err), true)
	}
	if len(text) > maxReply {
		return nil, badReply("longer than %d bytes", maxReply)
	}
	return text, answered(resp, text)
}

// send sends one request and returns the reply as it begins.
func (s *server) send(ctx context.Context, r request) (*http.Response, error) {
	// Where the connection was used before, package net/http may dial anew for what it sent already and, when that fails,
	// only say so.
	var wasSent atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { wasSent.Store(true) }}
	req, err := s.newRequest(httptrace.WithClientTrace(ctx, trace), r)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	resp, err := s.http.Do(req)
	if err != nil {
		slog.Debug("no reply", "method", r.method, "path", r.path, "took", time.Since(begun), "err", err)
		return nil, hangUp(ctx, err, wasSent.Load())
	}
	slog.Debug("reply", "method", r.method, "path", r.path, "status", resp.StatusCode, "took", time.Since(begun))
	return resp, nil
}

// newRequest makes the HTTP request. The Host header is the published one also on the socket: the server
// knows no other.
func (s *server) newRequest(ctx context.Context, r request) (*http.Request, error) {
	var content io.Reader
	if r.body != nil {
		text, isRaw := r.body.(json.RawMessage)
		if !isRaw {
			var err error
			if text, err = api.Encode(r.body); err != nil {
				return nil, fmt.Errorf("write the request: %w", err)
			}
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, s.URL+r.path, content)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + s.Token, "Accept": cmp.Or(r.accept, "application/json"), "User-Agent": "nod",
		"Idempotency-Key": r.key, "Last-Event-ID": r.lastEvent,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// hangUp cleans err, which ended an exchange: the caller's own reason when there is one, and otherwise that
// nod-desktop went away, without the method and address that net/http puts in front. wasSent says that nod-desktop may
// have the request.
func hangUp(ctx context.Context, err error, wasSent bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, ErrForeign) || errors.Is(err, ErrNotRunning) && !wasSent {
		return err
	}
	return &LostError{Err: err}
}

// answered returns nil for an answer and the error that any other reply amounts to.
func answered(resp *http.Response, body []byte) error {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		media = "nothing"
	}
	switch {
	case resp.StatusCode == http.StatusOK && media == "application/json":
		return nil
	case resp.StatusCode == http.StatusNoContent && len(body) == 0: // a hook's "no decision"
		return nil
	case resp.StatusCode == http.StatusAccepted && media == "application/json":
		p, err := parse[api.PendingReply](body)
		if err != nil {
			return err
		}
		return &Pending{p}
	case resp.StatusCode >= 400 && media == "application/problem+json":
		return parseProblem(resp, body)
	case resp.StatusCode < 400:
		return badReply("status %d with %s, want 200 with application/json", resp.StatusCode, media)
	}
	return badReply("status %d with %s, want application/problem+json", resp.StatusCode, media)
}

// dialAt connects to the published socket or, where none was published, to the published port. A published
// socket that is dead is not a reason to try the port: whoever listens there now is not the nod that
// published it.
func dialAt(ctx context.Context, e endpoint.Endpoint) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	network, address := "unix", e.Socket
	if address == "" {
		u, err := url.Parse(e.URL)
		if err != nil {
			return nil, fmt.Errorf("published address: %w", err)
		}
		network, address = "tcp", u.Host
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	if err := checkOwner(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// checkOwner returns [ErrForeign] unless the server at the other end runs as this user or as root. Where the
// platform does not say, what is left is that only the user can write where the endpoint is published.
func checkOwner(conn net.Conn) error {
	uid, err := peer.ServerUser(conn)
	switch {
	case errors.Is(err, peer.ErrUnknown):
		return nil
	case err != nil:
		return fmt.Errorf("%w: cannot tell whose it is: %w", ErrForeign, err)
	case uid != 0 && uid != os.Geteuid():
		return fmt.Errorf("%w: it runs as user %d", ErrForeign, uid)
	}
	return nil
}
