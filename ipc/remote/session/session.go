// Package session is the protocol between a desk and a relay over one connection, whatever carries it.
//
// [NewLine] makes the desk's end, [NewLink] the relay's. Each has a [Carrier] that makes connections: that of
// [NewCommandCarrier] runs a command such as ssh HOST nod relay --stdio, those of package cluster meet the other end at
// a NATS server. Each connection uses TLS 1.3, in which both ends prove their keys ([remote.Identity.Secure]); the desk
// is its client. So no one in between can read, change or replay anything, nor use it elsewhere, and recorded traffic
// stays secret even if a key is stolen later.
//
// They speak JSON-RPC 2.0, one message per line, with calls both ways. The desk greets the relay immediately and every
// few seconds, which detects dead peers, and says which requests it still shows: the relay sends again how those ended.
// Until its user has paired the machine the desk accepts nothing else. While there is no connection, requests wait at
// the relay. On the next connection it sends all pending ones to the desk again, and an answer counts once, however
// often it is given.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/creachadair/jrpc2"
	strict "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"nod/interact"
	"nod/ipc/remote"
)

// Carrier makes connections with the other ends, or accepts them.
type Carrier interface {
	// Run calls serve for each connection until ctx ends; serve closes the connection. The error says why there can never
	// be a connection.
	Run(ctx context.Context, serve func(context.Context, net.Conn) error) error
	// State returns whether connections can be made and, if not, why.
	State() remote.State
	// Wake tries to reach the other end with this key immediately, because a caller waits for it.
	Wake(key remote.Key)
}

// claimant is a connection whose other end claims a key before it proves one.
type claimant interface {
	Claims() remote.Key
	// Proven is called when the other end has proven a key, which may differ from the claimed one.
	Proven(key remote.Key)
}

// Bare is the rest of a [net.Conn] for a carrier's connection to embed: addresses, and deadlines, which are never set.
var Bare net.Conn = bare{}

type bare struct{ net.Conn } // nil

func (bare) Network() string                  { return "nod" }
func (bare) String() string                   { return "nod" }
func (b bare) LocalAddr() net.Addr            { return b }
func (b bare) RemoteAddr() net.Addr           { return b }
func (bare) SetDeadline(time.Time) error      { return errors.ErrUnsupported }
func (bare) SetReadDeadline(time.Time) error  { return errors.ErrUnsupported }
func (bare) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }

// The names of the methods on the wire.
const (
	methodGreet  = "greet"  // by a desk: [greeting] for [remote.Hello]
	methodAnswer = "answer" // by a desk: [remote.Answer] for the one that counts
	methodPolicy = "policy" // by a desk: [remote.Policy]
	methodForget = "forget" // by a desk: approvals that were kept end

	methodRequest = "request" // by a relay: [remote.Request]
	methodEnd     = "end"     // by a relay: [remote.Answer], how a request ended
	methodRecords = "records" // by a relay: a list of [interact.Record]
)

// Times of a connection.
const (
	greetEvery   = 15 * time.Second
	patience     = 20 * time.Second      // how long the other end may take over a message
	silence      = greetEvery + patience // after which a relay takes its desk to be gone
	busyRetry    = 5 * time.Second       // after which a desk that had too much to show is asked again
	settlingTime = 5 * time.Second       // how long a relay may take to settle what was answered
)

type greeting struct {
	Paired bool          `json:"paired"` // its user has paired this machine, so that it may ask
	Open   []interact.ID `json:"open"`   // what of this machine waits for an answer there
	Desks  []remote.Key  `json:"desks"`  // other desks that its user has paired: the relay may take answers of those
}

var (
	errBusy    = errors.New("too many requests are pending there")
	errRefused = errors.New("the other end refuses this message")
	errUnknown = errors.New("no such request")
	errAway    = errors.New("nod is paused at the desk, or its user is away; nobody was asked")

	errRevoked  = errors.New("the machine was revoked")
	errReplaced = errors.New("there is a newer connection with the same key")
	errEarly    = errors.New("the machine asks although it is not paired")
	errSilent   = errors.New("the other end does not answer")
	errTooLarge = errors.New("the message is too large to send")
)

// coded are the errors with the same meaning at both ends, by their code on the wire.
var coded = map[jrpc2.Code]error{
	1: remote.ErrNotPaired, 4: errBusy, 5: errUnknown, 6: errRefused, 7: remote.ErrDown, 8: errAway,
}

// withCode returns err as it is sent to the other end: a code without text, so that a peer learns no more than it must.
func withCode(err error) error {
	if err == nil {
		return nil
	}
	for code, known := range coded {
		if errors.Is(err, known) {
			return jrpc2.Errorf(code, "%v", known)
		}
	}
	return jrpc2.Errorf(6, "%v", errRefused)
}

// received returns the error that the other end sent, or one that wraps [remote.ErrDown] if it sent none.
func received(ctx context.Context, w *wire, err error) error {
	sent, isSent := errors.AsType[*jrpc2.Error](err)
	switch {
	case context.Cause(ctx) == errSilent:
		return fmt.Errorf("%w: %w", remote.ErrDown, errSilent)
	case w.ended() != nil:
		return fmt.Errorf("%w: %w", remote.ErrDown, w.ended())
	case !isSent:
		return fmt.Errorf("%w: %w", remote.ErrDown, err)
	case coded[sent.Code] != nil:
		return coded[sent.Code]
	}
	return errRefused
}

// caller is how one end calls the other: [jrpc2.Client.Call], or [jrpc2.Server.Callback].
type caller func(ctx context.Context, method string, params any) (*jrpc2.Response, error)

// invoke calls the other end and reads its reply into reply, which may be nil.
func invoke(ctx context.Context, w *wire, call caller, method string, body, reply any) error {
	text, err := json.Marshal(map[string]any{"body": body})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if len(text) > maxBody {
		return fmt.Errorf("%w: %q has %d bytes", errTooLarge, method, len(text))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	response, err := call(ctx, method, json.RawMessage(text))
	if err != nil {
		return received(ctx, w, err)
	}
	if reply == nil {
		return nil
	}
	return decode([]byte(response.ResultString()), reply)
}

// read reads the parameter of a call. It refuses members that the type does not know, because the message may depend on
// them.
func read[T any](r *jrpc2.Request) (body T, err error) {
	var params struct {
		Body T `json:"body"`
	}
	err = decode([]byte(r.ParamString()), &params)
	return params.Body, err
}

// with returns a handler of calls whose parameter is a T.
func with[T any](do func(context.Context, T) (any, error)) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (any, error) {
		body, err := read[T](r)
		if err != nil {
			return nil, err
		}
		return do(ctx, body)
	}
}

func decode(text []byte, into any) error {
	if err := strict.Unmarshal(text, into, jsonv1.DefaultOptionsV1(), strict.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return nil
}

// secure proves both keys to each other before anything else is sent.
func secure(ctx context.Context, identity *remote.Identity, conn net.Conn, isDesk bool) (net.Conn, remote.Key, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	secured, key, err := identity.Secure(ctx, conn, isDesk)
	if err != nil {
		_ = conn.Close() // it may be closed already
		return nil, key, err
	}
	if c, ok := conn.(claimant); ok {
		c.Proven(key)
	}
	return secured, key, nil
}
