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

// Handler serves the tools over streamable HTTP. describe returns who is at the other end of a request.
//
// Each request is independent, with the requester that its own connection proves: a session that knew its client would
// lend the first caller's name to every program that learns its id. A session is only a name under which a client
// cancels its own calls, so none is ever unknown, and a restart of nod ends none.
func Handler(
	b *interact.Broker, describe func(*http.Request) Caller, version string, log *slog.Logger,
) http.Handler {
	// Created when it is first needed, which is never in most runs.
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

// Caller is what is known about the sender of an HTTP request.
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

// message is the part of a JSON-RPC message that identifies a call.
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

// calls are the calls under way, which a message on another connection can cancel.
type calls struct{ cancels sync.Map } // callID to *context.CancelFunc

type callID struct{ session, id string }

// begin returns a context that ends with ctx or when the call is cancelled. A call without an id or outside a session
// cannot be distinguished from others, so nothing cancels it.
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

// cancel ends the call that m cancels, if m cancels one that is under way.
func (c *calls) cancel(session string, m message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	if cancel, ok := c.cancels.Load(callID{session, string(m.Params.RequestID)}); ok {
		(*cancel.(*context.CancelFunc))()
	}
}
