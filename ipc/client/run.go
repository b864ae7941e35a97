package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"nod/api"
)

// A Run is a command's place in the sandbox. nod-desktop takes it for running until Close.
type Run struct {
	api.RunReply
	Noted json.RawMessage // see [api.RunBegun]

	reply *response
	words *json.Decoder
	gone  chan struct{} // closed with the connection
}

// Begun waits until the command may start. It fails if it must not.
func (r *Run) Begun() error {
	var begun api.RunBegun
	err := r.words.Decode(&begun)
	switch {
	case err != nil:
		return &LostError{Err: err}
	case begun.Problem != "":
		return errors.New(begun.Problem)
	}
	r.Noted = begun.Noted
	go func() {
		_, _ = io.Copy(io.Discard, r.reply.body)
		close(r.gone)
	}()
	return nil
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
	run := &Run{reply: resp, words: json.NewDecoder(resp.body), gone: make(chan struct{})}
	if err := run.words.Decode(&run.RunReply); err != nil {
		_ = resp.Close()
		return nil, badReply("%v", err)
	}
	return run, nil
}
