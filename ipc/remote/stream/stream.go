// Package stream connects a desk with one machine over the standard input and output of a command, such as ssh HOST nod
// relay --stdio.
//
// [Line] is the desk's end: it runs the command, as the person, with the person's own ssh and keys, and runs it again
// when it has ended. [Link] is the relay's end: it serves the connections that arrive at the relay's control socket,
// one for each desk. They speak JSON-RPC 2.0, one message a line, with calls both ways. There are two methods. The desk
// calls meet first, and the two exchange their public keys, in the open. All that follows is put: its parameter is an
// envelope of package remote, and so is its result, where there is one.
//
// The desk greets the relay at once and every few seconds, which proves its key, keeps dead peers from being waited
// for, and says which requests it still has open: how the others ended it is told again. Until its person has paired
// the machine the desk takes in nothing else. While a connection is down, requests wait at the relay. With the next one
// all that are open are put before the desk again, and an answer counts once, however often it is given.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/creachadair/jrpc2"

	"nod/interact"
	"nod/ipc/remote"
)

// protocol is the version of what the two ends say to each other. Ends of different protocols do not talk.
const protocol = 1

// The methods, as they are called on the wire.
const (
	methodMeet = "meet" // [meeting] for [meeting]: the only thing that is said in the open
	methodPut  = "put"  // an envelope for an envelope, or for nothing
)

// kindGreet is the message of a desk that asks for the relay's Hello. Its body is a [greeting].
const kindGreet remote.Kind = "greet"

// Times of a connection.
const (
	greetEvery   = 15 * time.Second
	patience     = 20 * time.Second      // how long the other end may take over a message
	silence      = greetEvery + patience // after which a relay takes its desk to be gone
	busyRetry    = 5 * time.Second       // after which a desk that had too much to show is asked again
	settlingTime = 5 * time.Second       // how long a relay may take to settle what was answered
)

// meeting is what two ends that know nothing of each other say first.
type meeting struct {
	Protocol int        `json:"protocol"`
	Version  string     `json:"version"`         // of nod
	Key      remote.Key `json:"key"`             // proved by the messages that follow
	Nonce    string     `json:"nonce,omitempty"` // of the relay's: for the desk to greet with
}

// greeting is a desk's sign of life.
type greeting struct {
	Nonce  string        `json:"nonce"`  // of this connection: no greeting that was heard elsewhere stands for this one
	Paired bool          `json:"paired"` // its person has paired this machine, so that it may ask
	Open   []interact.ID `json:"open"`   // what of this machine waits for an answer there
}

// errProtocol says that the nod at the other end speaks another protocol.
var errProtocol = errors.New("the nod there is of a version that this one cannot talk to: install the same one on both")

var (
	errBusy    = errors.New("too much waits for an answer there")
	errRefused = errors.New("the other end refuses this message")
	errUnknown = errors.New("no such request")

	errRevoked  = errors.New("the machine was revoked")
	errEarly    = errors.New("the machine asks although it is not paired")
	errSilent   = errors.New("the other end does not answer")
	errTooLarge = errors.New("the message is too large to send")
)

// coded are the errors that mean the same at both ends, by their code on the wire.
var coded = map[jrpc2.Code]error{
	1: remote.ErrNotPaired, 2: remote.ErrForged, 3: errProtocol, 4: errBusy, 5: errUnknown, 6: errRefused,
}

// withCode has the other end tell err apart. Its text stays here: a peer is told no more than it must know.
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

// received is the error that the other end gave, or wraps [remote.ErrDown] where it gave none.
func received(ctx context.Context, w *wire, err error) error {
	told, isTold := errors.AsType[*jrpc2.Error](err)
	switch {
	case context.Cause(ctx) == errSilent:
		return fmt.Errorf("%w: %w", remote.ErrDown, errSilent)
	case w.ended() != nil:
		return fmt.Errorf("%w: %w", remote.ErrDown, w.ended())
	case !isTold:
		return fmt.Errorf("%w: %w", remote.ErrDown, err)
	case coded[told.Code] != nil:
		return coded[told.Code]
	}
	return errRefused
}

// message is one on its way out.
type message struct {
	kind remote.Kind
	body any
}

// put seals a message, calls the other end with it and opens what comes back, which is nil when nothing does.
func put(
	ctx context.Context, own *remote.Identity, to remote.Key, w *wire, m message,
	call func(ctx context.Context, method string, params any) (*jrpc2.Response, error),
) (*remote.Envelope, error) {
	sealed, err := own.Seal(to, m.kind, m.body)
	if err != nil {
		return nil, err
	}
	if len(sealed) > maxEnvelope {
		return nil, fmt.Errorf("%w: %q has %d bytes", errTooLarge, m.kind, len(sealed))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	response, err := call(ctx, methodPut, json.RawMessage(sealed))
	if err != nil {
		return nil, received(ctx, w, err)
	}
	var reply json.RawMessage
	if err := response.UnmarshalResult(&reply); err != nil || len(reply) == 0 || string(reply) == "null" {
		return nil, err
	}
	envelope, err := own.Open(reply, to)
	return &envelope, err
}
