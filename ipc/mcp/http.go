package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/interact"
)

const maxBody = 1 << 20 // bytes of a message

const sessionHeader = "Mcp-Session-Id"

// Handler serves the tools over streamable HTTP. describe says who is on the other end of a request.
//
// Each request stands for itself, with the requester that this very connection proves: a session that knew its client
// would lend the first caller's name to all who learn its id. A session is nothing but the name under which a client
// cancels calls of its own, so none is ever unknown, and a restart of nod ends none.
func Handler(
	b *interact.Broker, describe func(*http.Request) Caller, version string, log *slog.Logger,
) http.Handler {
	// Made when it is first needed, which in most runs is never.
	server := sync.OnceValue(func() *mcp.Server { return newServer(b, version) })
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server() },
		&mcp.StreamableHTTPOptions{Stateless: true, Logger: log})
	var underWay calls
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		m, session := messageOf(body), r.Header.Get(sessionHeader)
		if m.Method == "initialize" {
			w.Header().Set(sessionHeader, rand.Text())
		}
		underWay.cancel(session, m)
		gone, done := underWay.begin(r.Context(), session, m.ID)
		defer done()
		ctx := context.WithValue(r.Context(), callerKey{}, caller{Caller: describe(r), gone: gone})
		inner.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Caller is who sent an HTTP request, as far as that shows.
type Caller struct {
	interact.Requester
	IdempotencyKey string        // of the call in it; empty: it has none
	Waited         time.Duration // for the answer to this call already, at a nod-desktop that is gone
}

type callerKey struct{}

type caller struct {
	Caller
	gone context.Context // ends when the caller hangs up or cancels the call
}

// message is what of a JSON-RPC message says which call it is about.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		RequestID jsontext.Value `json:"requestId"`
	} `json:"params"`
}

func messageOf(body []byte) message {
	var m message
	if jsonv2.Unmarshal(body, &m) != nil {
		return message{}
	}
	return m
}

// calls are those under way, to be cancelled by a message that comes on another connection than the call did.
type calls struct{ cancels sync.Map } // callID to *context.CancelFunc

type callID struct{ session, id string }

// begin returns a context that ends with ctx or when the call is cancelled. What has no id, or comes outside a session,
// cannot be told from others, so nothing cancels it.
func (c *calls) begin(ctx context.Context, session string, id jsontext.Value) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if session == "" || id == nil {
		return ctx, cancel
	}
	key := callID{session, string(id)}
	c.cancels.Store(key, &cancel)
	return ctx, func() {
		c.cancels.CompareAndDelete(key, &cancel)
		cancel()
	}
}

// cancel ends the call that m cancels, if it does and the call is under way.
func (c *calls) cancel(session string, m message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	if cancel, ok := c.cancels.Load(callID{session, string(m.Params.RequestID)}); ok {
		(*cancel.(*context.CancelFunc))()
	}
}
