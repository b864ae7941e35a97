package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/api"
)

// Desktop is nod-desktop for one call: the one that runs now and, if that goes away, the next.
type Desktop interface {
	// Connect opens a session with its MCP endpoint. If nod-desktop cannot be asked, the model reads its error.
	Connect(ctx context.Context, o Session) (*mcp.ClientSession, error)
	// Reattach waits for the next nod-desktop after a session broke, until ctx ends. It fails if there will be none.
	Reattach(ctx context.Context, broke error) error
}

// Session configures a session with nod-desktop.
type Session struct {
	Client  string        // name of the client in whose name it is
	Key     string        // idempotency key of the one call in it
	Waited  time.Duration // that the client has waited for this call already
	Options *mcp.ClientOptions
}

// NewProxy returns an MCP server with nod's tools that passes every call on to nod-desktop, which may end and start
// again. It repeats a call that loses its nod-desktop at the next one that starts within a minute, with the same
// idempotency key: an existing answer is delivered, an open question is joined, and the user is not asked twice.
func NewProxy(discover func() (Desktop, error), version string) *mcp.Server {
	return serve(version, func(tool) mcp.ToolHandler {
		return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			there, err := discover()
			if err != nil {
				return absent(req, err), nil
			}
			p := passage{there: there, req: req, key: uuid.NewString()}
			r, err := p.pass(ctx)
			if err != nil {
				return absent(req, ended(ctx, err)), nil
			}
			return r, nil
		}
	})
}

type passage struct {
	there    Desktop
	req      *mcp.CallToolRequest
	key      string
	progress atomic.Int64 // reports, of whichever nod-desktop
}

func (p *passage) pass(ctx context.Context) (*mcp.CallToolResult, error) {
	began := time.Now()
	session, err := p.connect(ctx, 0)
	if err != nil {
		return nil, err
	}
	for {
		var r *mcp.CallToolResult
		if err == nil {
			r, err = p.call(ctx, session)
		}
		if err == nil {
			return r, nil
		}
		err = plain(err)
		if p.reattach(ctx, err) != nil {
			return nil, fmt.Errorf("nod-desktop gave no answer (%w): call again to ask again", err)
		}
		session, err = p.connect(ctx, time.Since(began))
	}
}

// restartPatience is how long a call waits for the next nod-desktop. A restart takes seconds.
const restartPatience = time.Minute

func (p *passage) reattach(ctx context.Context, broke error) error {
	ctx, stop := context.WithTimeout(ctx, restartPatience)
	defer stop()
	return p.there.Reattach(ctx, broke)
}

func (p *passage) connect(ctx context.Context, waited time.Duration) (*mcp.ClientSession, error) {
	name := ""
	if i := p.req.Session.InitializeParams(); i != nil && i.ClientInfo != nil {
		name = i.ClientInfo.Name
	}
	return p.there.Connect(ctx, Session{
		Client: name, Key: p.key, Waited: waited, Options: &mcp.ClientOptions{
			ProgressNotificationHandler: func(ctx context.Context, r *mcp.ProgressNotificationClientRequest) {
				report := *r.Params
				report.ProgressToken, report.Progress = p.req.Params.GetProgressToken(), float64(p.progress.Add(1))
				_ = p.req.Session.NotifyProgress(ctx, &report) // a client that is gone needs no progress
			},
		},
	})
}

func (p *passage) call(ctx context.Context, session *mcp.ClientSession) (*mcp.CallToolResult, error) {
	defer session.Close()
	params := &mcp.CallToolParams{Name: p.req.Params.Name}
	if len(p.req.Params.Arguments) > 0 {
		params.Arguments = p.req.Params.Arguments
	}
	if p.req.Params.GetProgressToken() != nil {
		params.SetProgressToken("nod")
	}
	return session.CallTool(ctx, params)
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func absent(req *mcp.CallToolRequest, err error) *mcp.CallToolResult {
	switch req.Params.Name {
	case "interact_notify":
		return result(reply{Sent: new(bool)}, nil)
	case "approval_prompt":
		return result(verdict{Behavior: "deny", Message: "nobody decided: " + err.Error()}, nil)
	}
	if errors.Is(err, context.Canceled) {
		return result(nil, err)
	}
	return result(nil, &codedError{api.CodeNotSupported, err.Error()})
}
