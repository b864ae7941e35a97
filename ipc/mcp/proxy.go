package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/ipc/api"
)

// Connect opens a session with the running nod-desktop's MCP endpoint, in the name of the given client. Its
// error is what the model reads when there is nobody to ask.
type Connect func(ctx context.Context, clientName string, o *mcp.ClientOptions) (*mcp.ClientSession, error)

// NewProxy returns an MCP server with nod's tools that passes every call on to nod-desktop. It looks for
// nod-desktop anew at each call, so that nod may come and go while the client's session lasts. A call under way is
// lost with nod-desktop and not made again: whoever quit nod did not want to be asked, an answer may have been given
// that nobody heard, and the client may have given up. The model is told, and asks again if it still wants to know.
func NewProxy(connect Connect, version string) *mcp.Server {
	return serve(version, func(tool) mcp.ToolHandler {
		return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return pass(ctx, connect, req), nil
		}
	})
}

// pass hands one call over and its result back.
func pass(ctx context.Context, connect Connect, req *mcp.CallToolRequest) *mcp.CallToolResult {
	name := ""
	if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		name = p.ClientInfo.Name
	}
	token := req.Params.GetProgressToken()
	there, err := connect(ctx, name, &mcp.ClientOptions{
		ProgressNotificationHandler: func(ctx context.Context, r *mcp.ProgressNotificationClientRequest) {
			p := *r.Params
			p.ProgressToken = token
			_ = req.Session.NotifyProgress(ctx, &p) // a client that is gone needs no progress
		},
	})
	if err != nil {
		return absent(req, ended(ctx, err))
	}
	defer there.Close()
	params := &mcp.CallToolParams{Name: req.Params.Name}
	if len(req.Params.Arguments) > 0 {
		params.Arguments = req.Params.Arguments
	}
	if token != nil {
		params.SetProgressToken("nod")
	}
	r, err := there.CallTool(ctx, params)
	if err != nil {
		return absent(req, ended(ctx, fmt.Errorf("nod-desktop gave no answer (%w): call again to ask again", plain(err))))
	}
	return r
}

// ended is why ctx ended, which says more than the err that came of it, and else err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// plain leaves out the method and address that the HTTP client puts in front.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// absent is the result of a call that nobody took.
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
	return result(nil, &Error{api.CodeNotSupported, err.Error()})
}
