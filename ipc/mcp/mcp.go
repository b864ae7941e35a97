// Package mcp offers nod's requests as tools of the Model Context Protocol, to any client that speaks it: over
// streamable HTTP, next to nod's other routes, and over standard input and output.
//
// Many clients end a tool call after 60 seconds, and users take longer. So every tool that asks waits for at most its
// "hold" and then returns {"status": "pending", "id": …} while the question stays on screen; interact_wait fetches the
// answer, however late it comes. Asking the same again re-attaches to the open question.
//
// The names, parameters, results and codes of interact_ask, interact_confirm and interact_notify are those of the
// agentool crate, so that nod can replace it.
package mcp

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/api"
	"nod/interact"
)

// defaultHold is how long a tool waits by default: below the 60 seconds after which many clients give up.
const defaultHold = 50 * time.Second

// progressEvery is how often a waiting tool reports that it still waits, to clients that want to know.
const progressEvery = 15 * time.Second

const instructions = `nod puts questions and approvals before the human at this desktop, in a window.
When a result says that it is pending, call interact_wait with its id: the question is still on the screen, ` +
	`so do not ask it again.
A time-out means that the human is away, not that the human refused.`

func newServer(b *interact.Broker, version string) *mcp.Server {
	return serve(version, func(t tool) mcp.ToolHandler {
		return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			from, _ := ctx.Value(callerKey{}).(caller)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			if from.gone != nil { // a caller that is gone has withdrawn what it asked; the SDK goes on
				defer context.AfterFunc(from.gone, cancel)()
			}
			c := call{broker: b, Caller: from.Caller, req: req}
			c.Requester = requester(from.Requester, req)
			return t.run(ctx, c, req.Params.Arguments), nil
		}
	})
}

func serve(version string, handle func(tool) mcp.ToolHandler) *mcp.Server {
	s := mcp.NewServer(
		&mcp.Implementation{Name: "nod", Title: "nod", Version: version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // no logging, and always the same tools
		},
	)
	for _, t := range tools() {
		s.AddTool(&t.Tool, handle(t))
	}
	return s
}

// requester completes who with the client's name: from the start of its session, or its User-Agent.
func requester(who interact.Requester, req *mcp.CallToolRequest) interact.Requester {
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

func agentName(client string) string {
	for _, agent := range []string{"claude-code", "codex", "gemini-cli", "opencode"} {
		if strings.HasPrefix(client, agent) {
			return agent
		}
	}
	if r := []rune(client); len(r) > interact.MaxName {
		return string(r[:interact.MaxName])
	}
	return client
}

type call struct {
	broker *interact.Broker
	Caller
	req *mcp.CallToolRequest
}

// ask asks the user, for as long as the caller says. After that the request stays open for as long as the program that
// asked runs. If ctx ends first, ask withdraws the request.
func (c call) ask(ctx context.Context, body interact.Body, t timing) (*interact.Ticket, error) {
	timeout, err := seconds("timeout", &t.Timeout, 0)
	if err != nil {
		return nil, err
	}
	hold, err := seconds("hold", t.Hold, defaultHold)
	if err != nil {
		return nil, err
	}
	if timeout > 0 {
		timeout = max(1, timeout-c.Waited)
	}
	ticket, err := c.broker.Begin(interact.Request{
		Requester: c.Requester, Body: body, Timeout: timeout, IdempotencyKey: c.IdempotencyKey,
	})
	if err != nil {
		return nil, err
	}
	defer ticket.Release()
	if err := c.wait(ctx, ticket, hold); err != nil {
		return nil, err
	}
	if _, answered := ticket.Answer(); !answered {
		ticket.Postpone()
	}
	return ticket, nil
}

// wait waits for the answer until the call has taken hold, and reports progress meanwhile. The error is ctx's.
func (c call) wait(ctx context.Context, t *interact.Ticket, hold time.Duration) error {
	hold -= c.Waited
	if hold > 0 && isForPerson(t) {
		stop := c.reportProgress(ctx)
		defer stop()
	}
	held, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	if _, err := t.Wait(held); err != nil {
		return ctx.Err() // none when only hold is over
	}
	return nil
}

// isForPerson reports whether a request waits for the user's answer, which a notice does not.
func isForPerson(t *interact.Ticket) bool {
	_, answered := t.Answer()
	_, isNotice := t.Request().Body.(api.Notify)
	return !answered && !isNotice
}

// reportProgress tells a client that asked for progress that nod waits for the user: immediately, because some clients
// want a first byte within a minute, and then repeatedly, so that the client does not give up.
func (c call) reportProgress(ctx context.Context) (stop func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var reports sync.WaitGroup
	reports.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			p := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: "waiting for the user"}
			if c.req.Session.NotifyProgress(ctx, p) != nil {
				return // the client is gone; the call itself will notice
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() { cancel(); reports.Wait() }
}
