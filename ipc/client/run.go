package client

import (
	"context"
	"encoding/json"
	"io"

	"nod/api"
)

// A Run is a command's place in the sandbox. nod-desktop takes it for running until Close.
type Run struct {
	api.RunReply
	reply *response
	gone  chan struct{} // closed with the connection
}

// IsLost reports whether nod-desktop has ended before the command, and so does not see its end.
func (r *Run) IsLost() bool {
	select {
	case <-r.gone:
		return true
	default:
		return false
	}
}

// Close says that the command has ended.
func (r *Run) Close() error { return r.reply.Close() }

// Run asks for the sandbox of a command. A [*Problem] with [api.CodeNotFound] says that it is not to run in one.
func (c *Client) Run(ctx context.Context, r api.RunRequest) (*Run, error) {
	at := c.current()
	resp, err := at.send(ctx, request{method: post, path: "/v1/runs", body: r})
	if err != nil {
		return nil, err
	}
	if resp.status != statusOK {
		defer resp.Close()
		text, err := resp.read(ctx)
		if err != nil {
			return nil, err
		}
		return nil, answered(resp, text)
	}
	run := &Run{reply: resp, gone: make(chan struct{})}
	if err := json.NewDecoder(resp.body).Decode(&run.RunReply); err != nil {
		_ = resp.Close()
		return nil, badReply("%v", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, resp.body)
		close(run.gone)
	}()
	return run, nil
}
