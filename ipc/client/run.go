package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"time"

	"nod/api"
)

// Flags of nod run with which nod starts nod-cli while it runs a command. It writes the [Run] to nod-cli's standard
// input.
const (
	ProxyFlag = "proxy" // to be the proxy on the listener that is the first file behind standard error
	EndFlag   = "end"   // to end a run in place of nod-desktop
)

// A Run is a command's place in the sandbox. nod-desktop treats the command as running until End or Close.
type Run struct {
	api.RunReply
	Noted json.RawMessage `json:"noted,omitempty"` // see [api.RunBegun]

	reply *response
	words *json.Decoder
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
	return nil
}

// endTime limits how long nod-desktop may take to look through a project and take a snapshot.
const endTime = 3 * time.Minute

// End tells nod-desktop that the command has ended, and returns the result. The error is a [*LostError] if nod-desktop
// does not see the end, because it has ended or hangs.
func (r *Run) End() (ended api.RunEnded, err error) {
	if r.reply.closeWrite() != nil {
		return ended, &LostError{Err: net.ErrClosed}
	}
	defer time.AfterFunc(endTime, func() { _ = r.reply.Close() }).Stop()
	if err := r.words.Decode(&ended); err != nil {
		return api.RunEnded{}, &LostError{Err: err}
	}
	return ended, nil
}

// Close closes the connection.
func (r *Run) Close() error { return r.reply.Close() }

// Run asks for the sandbox of a command. A [*Problem] with [api.CodeNotFound] means that the command should not run in
// one.
func (c *Client) Run(ctx context.Context, r api.RunRequest) (*Run, error) {
	resp, err := sendTo(ctx, c.Current(), request{method: post, path: "/v1/runs", body: r})
	if err != nil {
		return nil, err
	}
	if resp.status != statusOK {
		_, err := resp.read(ctx)
		return nil, err
	}
	run := &Run{reply: resp, words: json.NewDecoder(resp.body)}
	if err := run.words.Decode(&run.RunReply); err != nil {
		_ = resp.Close()
		return nil, badReply("%v", err)
	}
	return run, nil
}
