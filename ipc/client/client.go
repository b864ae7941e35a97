// Package client asks the running nod-desktop: one method per route of its HTTP server.
//
// Calls return an answer or an error; anything doubtful is an error, never an allow: a connection that drops, a reply
// that is cut short, is not JSON, lacks a field or contradicts itself, an unknown status or decision. An error means
// that there is no decision. Distinguish two with [errors.As]: [*Problem], a refusal in nod-desktop's words, and
// [*Pending], no answer yet. [ErrNotRunning] means that nod-desktop is not running.
//
// Cancelling the context of a call withdraws its request, unless it was detached.
//
// nod-desktop may end while a call waits for the user. A client that knows the folder of endpoints ([Discover] returns
// one) waits for the next nod-desktop to publish its endpoint there, as long as the context lasts. It sends the request
// again with the same idempotency key: nod-desktop delivers an existing answer, joins a pending request, and otherwise
// asks again. A call that never reached nod-desktop fails immediately. If nod-desktop quit before it answered, the call
// waits ten seconds for a restart.
//
// The client sends the token only to a server of the same user: if nod-desktop has published a Unix socket the client
// dials nothing else (another program could listen on a dead nod's port), and it asks the operating system who is at
// the other end.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/url"
	"os"
	"sync"
	"time"

	"nod/api"
	"nod/ipc/endpoint"
	"nod/ipc/peer"
)

// maxReply limits the bytes of a reply. The longest are lists of requests.
const maxReply = 8 << 20

// dialTimeout limits connecting. Both ends are on one machine: a longer wait means that nod-desktop hangs.
const dialTimeout = 5 * time.Second

// ErrNotRunning means that no nod-desktop answers.
var ErrNotRunning = errors.New("nod-desktop isn't running")

// Client talks to one nod-desktop and its successors. Set its fields before the first call; it is then safe for
// concurrent use.
type Client struct {
	// Endpoint is where nod-desktop listens, and the token. Required. It follows nod-desktop: see [Client.Current].
	Endpoint endpoint.Endpoint

	// Dir is where the next nod-desktop publishes its endpoint. If it is empty, the client does not look for one.
	Dir string

	// Lost is called when a call has lost its nod-desktop and waits for the next; may be nil.
	Lost func()

	mu sync.Mutex // guards Endpoint from the first call on
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

// Current returns the endpoint of the client's current nod-desktop.
func (c *Client) Current() endpoint.Endpoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Endpoint
}

// request is what is sent for one call.
type request struct {
	method, path string
	body         any    // nil: none; a [json.RawMessage] goes as it is
	key          string // idempotency key, when the body has none
	isWaiting    bool   // for a user, maybe: it comes back
	again        func() // is called before it is sent once more; may be nil
}

// exchange sends one request to the nod-desktop at an endpoint, and returns the body of its reply if the status is 200,
// else an error: a [*Pending] for 202, a [*Problem] for a refusal.
func exchange(ctx context.Context, at endpoint.Endpoint, r request) ([]byte, error) {
	resp, err := sendTo(ctx, at, r)
	if err != nil {
		return nil, err
	}
	return resp.read(ctx)
}

// read reads the rest of a reply and closes it. The result is that of [exchange].
func (r *response) read(ctx context.Context) ([]byte, error) {
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r.body, maxReply+1))
	if err != nil {
		return nil, reasonOf(ctx, &LostError{Err: fmt.Errorf("read the reply: %w", err)})
	}
	if len(text) > maxReply {
		return nil, badReply("longer than %d bytes", maxReply)
	}
	return text, answered(r, text)
}

// sendTo sends one request and returns the reply, whose body is still to be read.
func sendTo(ctx context.Context, at endpoint.Endpoint, r request) (*response, error) {
	begun := time.Now()
	resp, err := open(ctx, at, r)
	if err != nil {
		slog.Debug("no reply", "method", r.method, "path", r.path, "took", time.Since(begun), "err", err)
		return nil, reasonOf(ctx, err)
	}
	slog.Debug("reply", "method", r.method, "path", r.path, "status", resp.status, "took", time.Since(begun))
	return resp, nil
}

// reasonOf returns the caller's own reason for the end of an exchange, if there is one, else err.
func reasonOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// answered returns nil for an answer, and the corresponding error for any other reply.
func answered(resp *response, body []byte) error {
	media, _, err := mime.ParseMediaType(resp.header.Get("Content-Type"))
	if err != nil {
		media = "nothing"
	}
	switch {
	case resp.status == statusOK && media == "application/json" && len(body) > 0:
		return nil
	case resp.status == statusNoContent && len(body) == 0: // a hook's "no decision"
		return nil
	case resp.status == statusAccepted && media == "application/json":
		p, err := parse[api.PendingReply](body)
		if err != nil {
			return err
		}
		return &Pending{p}
	case resp.status >= 400 && media == "application/problem+json":
		return parseProblem(resp, body)
	case resp.status < 400:
		return badReply("status %d with %d bytes of %s, want 200 with application/json", resp.status, len(body), media)
	}
	return badReply("status %d with %s, want application/problem+json", resp.status, media)
}

// DialAt connects to the published socket or, where none was published, to the published port, and only to a server of
// this user or root. It does not try the port if a published socket is dead, because a program listening there now is
// not the nod that published it. It is for protocols other than the routes that this package knows: see
// [Client.Reattach].
func DialAt(ctx context.Context, e endpoint.Endpoint) (net.Conn, error) {
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

// checkOwner returns [ErrForeign] unless the server at the other end runs as this user or as root. Some platforms do
// not say; there, the only protection is that only the user can write where the endpoint is published.
func checkOwner(conn net.Conn) error {
	uid, err := peer.ServerUser(conn)
	switch {
	case errors.Is(err, peer.ErrUnknown):
		return nil
	case err != nil:
		return fmt.Errorf("%w: nod can't tell who owns it: %w", ErrForeign, err)
	case uid != 0 && uid != os.Geteuid():
		return fmt.Errorf("%w: it runs as user %d", ErrForeign, uid)
	}
	return nil
}
