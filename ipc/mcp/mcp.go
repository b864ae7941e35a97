// Package mcp offers nod's requests as tools of the Model Context Protocol, to any client that speaks it:
// over streamable HTTP, mounted beside nod's other routes, and over standard input and output.
//
// Many clients cut a tool call off after 60 seconds, and people take longer. So every tool that asks waits
// for at most its "hold" and then returns {"status": "pending", "id": …} while the question stays on the
// screen; interact_wait fetches the answer, however late it comes. To ask the same again re-attaches to the
// question that is open.
//
// The names, parameters, results and codes of interact_ask, interact_confirm and interact_notify are those
// of the agentool crate, so that nod can stand in for it.
package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/interact"
)

// Hold is how long a tool waits for the human when its caller says nothing: below the 60 seconds after which
// many clients give up.
const Hold = 50 * time.Second

// progressEvery is how often a waiting tool says that it still waits, to clients that want to know.
const progressEvery = 15 * time.Second

// Backend puts requests before the human: the broker itself, or a client of it in another process.
type Backend interface {
	// Ask waits at most hold for the answer, after which the request stays open. When ctx ends first, the
	// request is withdrawn.
	Ask(ctx context.Context, r interact.Request, hold time.Duration) (State, error)
	// Wait waits at most hold for the answer of a request that is open, and withdraws nothing.
	Wait(ctx context.Context, who interact.Requester, id interact.ID, hold time.Duration) (State, error)
}

// State is how a request stands. Its Answer has no Outcome while nobody has answered.
type State struct {
	ID     interact.ID
	Body   interact.Body
	Answer interact.Answer
}

// NewServer returns an MCP server whose tools ask through b, for the process that who describes.
func NewServer(b Backend, who interact.Requester, version string, log *slog.Logger) *mcp.Server {
	return newServer(context.Background(), b, who, version, log)
}

// newServer returns a server whose calls end with life at the latest.
func newServer(life context.Context, b Backend, who interact.Requester, version string, log *slog.Logger) *mcp.Server {
	s := mcp.NewServer(
		&mcp.Implementation{Name: "nod", Title: "nod", Version: version},
		&mcp.ServerOptions{Instructions: instructions, Logger: log},
	)
	for _, t := range tools {
		s.AddTool(t.describe(), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(life, cancel)()
			c := call{backend: b, who: caller(who, req), req: req, args: parseArguments(req.Params.Arguments)}
			stop := c.reportProgress(ctx)
			defer stop()
			return result(t.run(ctx, c)), nil
		})
	}
	return s
}

const instructions = `nod puts questions and approvals before the human at this desktop, in a window.
When a result says that it is pending, call interact_wait with its id: the question is still on the screen, so do not ask it again.
A time-out means that the human is away, not that the human refused.`

// Handler serves the tools over streamable HTTP. describe says who is on the other end of a request.
func Handler(b Backend, describe func(*http.Request) interact.Requester, version string, log *slog.Logger) http.Handler {
	// One server for each request, with the requester that this very connection proves (a session would lend
	// the first caller's name to all who learn its id), and gone with it: a caller that hangs up has
	// withdrawn what it asked.
	server := func(r *http.Request) *mcp.Server { return newServer(r.Context(), b, describe(r), version, log) }
	return mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Stateless: true, Logger: log, MaxRequestBodyBytes: 1 << 20,
	})
}

// caller completes who with what the client calls itself: at the start of its session or, where a request
// stands alone, in its User-Agent.
func caller(who interact.Requester, req *mcp.CallToolRequest) interact.Requester {
	if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil && who.Agent == "" {
		who.Agent = agentName(p.ClientInfo.Name)
	}
	if req.Extra != nil && who.Agent == "" {
		name, _, _ := strings.Cut(req.Extra.Header.Get("User-Agent"), "/")
		who.Agent = agentName(name)
	}
	if who.Session == "" {
		who.Session = req.Session.ID()
	}
	return who
}

// agentName is the name under which the rules know an MCP client.
func agentName(client string) string {
	for prefix, agent := range map[string]string{"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini-cli", "opencode": "opencode"} {
		if strings.HasPrefix(client, prefix) {
			return agent
		}
	}
	if r := []rune(client); len(r) > interact.MaxName {
		return string(r[:interact.MaxName])
	}
	return client
}

// call is one call of a tool.
type call struct {
	backend Backend
	who     interact.Requester
	req     *mcp.CallToolRequest
	args    *arguments
}

// ask puts body before the human, for as long as the arguments say.
func (c call) ask(ctx context.Context, body interact.Body) (State, error) {
	r := interact.Request{Requester: c.who, Body: body, Timeout: c.args.seconds("timeout", 0)}
	hold := c.args.seconds("hold", Hold)
	if c.args.err != nil {
		return State{}, c.args.err
	}
	return c.backend.Ask(ctx, r, hold)
}

// reportProgress tells a client that asked for it that the human still thinks, so that it does not give up.
func (c call) reportProgress(ctx context.Context) (stop func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			p := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: "waiting for the human"}
			if c.req.Session.NotifyProgress(ctx, p) != nil {
				return // the client is gone; the call itself will notice
			}
		}
	}()
	return func() { cancel(); <-done }
}

// Broker is the [Backend] in the process that has the windows.
type Broker struct{ *interact.Broker }

// Ask implements [Backend].
func (b Broker) Ask(ctx context.Context, r interact.Request, hold time.Duration) (State, error) {
	t, err := b.Begin(ctx, r)
	if err != nil {
		return State{}, err
	}
	defer t.Release()
	s, err := wait(ctx, t, hold)
	if err == nil && s.Answer.Outcome == "" {
		t.Detach()
	}
	return s, err
}

// Wait implements [Backend].
func (b Broker) Wait(ctx context.Context, who interact.Requester, id interact.ID, hold time.Duration) (State, error) {
	t, err := b.Lookup(who, id)
	if err != nil {
		return State{}, err
	}
	return wait(ctx, t, hold)
}

func wait(ctx context.Context, t *interact.Ticket, hold time.Duration) (State, error) {
	held, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	s := State{ID: t.ID(), Body: t.Request().Body}
	a, err := t.Wait(held)
	switch {
	case err == nil:
		s.Answer = a
	case ctx.Err() != nil:
		return State{}, ctx.Err()
	}
	return s, nil
}

// Error is a refusal or a failure with a stable code, as the model reads it.
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// The codes of [Error].
const (
	codeArgument     = "INVALID_PATH" // a string argument is missing or is no string
	codeParam        = "INTERACT_INVALID_PARAM"
	codeUnsupported  = "INTERACT_NOT_SUPPORTED"
	codeTimeout      = "INTERACT_TIMEOUT"
	codeCancelled    = "INTERACT_CANCELLED"
	codeBusy         = "RATE_LIMITED"
	codeNotFound     = "NOT_FOUND"
	codeInternal     = "INTERNAL"
	messageCancelled = "the call was cancelled"
)

// coded puts a code on an error.
func coded(err error) *Error {
	var known *Error
	var param *interact.ParamError
	var busy *interact.BusyError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &param) && param.Missing:
		return &Error{codeArgument, param.Error()}
	case errors.As(err, &param):
		return &Error{codeParam, param.Error()}
	case errors.As(err, &busy):
		return &Error{codeBusy, busy.Error()}
	case errors.Is(err, interact.ErrNotFound):
		return &Error{codeNotFound, "no request of yours has this id"}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{codeCancelled, messageCancelled}
	}
	return &Error{codeInternal, err.Error()}
}
