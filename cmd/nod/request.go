package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/client/waiting"
)

type requestFlags struct {
	set           *pflag.FlagSet
	common        *api.Common // of the request; the times come from the next two
	timeout, hold time.Duration
}

// newRequestFlags adds the flags of a request that a user answers. They set fields of common.
func (c *console) newRequestFlags(cmd *cobra.Command, common *api.Common) *requestFlags {
	f := c.newSenderFlags(cmd, common)
	f.set.DurationVar(&f.timeout, "timeout", 0,
		"how long to wait for an answer, for example 30s (default: nod-desktop's setting)")
	f.set.DurationVar(&f.hold, "hold", 0, "stop waiting after this time, and leave the request open")
	f.set.BoolVar(&f.common.Detach, "detach", false, "do not wait: print the request's id, for nod wait")
	f.set.StringVar(&f.common.IdempotencyKey, "idempotency-key", "", "a repeated `key` joins the first request")
	return f
}

func (c *console) newSenderFlags(cmd *cobra.Command, common *api.Common) *requestFlags {
	f := &requestFlags{set: cmd.Flags(), common: common}
	f.set.SortFlags = false
	f.set.StringVar(&f.common.Agent, "agent", f.common.Agent, "the agent's name for itself, for example claude-code")
	f.set.StringVar(&f.common.Session, "session", "", "the agent's session, for grouping")
	f.set.StringVar(&f.common.CWD, "cwd", "", "`folder` the agent works in (default: the current one)")
	c.withJSON(cmd, "print the HTTP reply, unchanged")
	_ = cmd.MarkFlagDirname("cwd") // the flag exists: it is made above
	return f
}

// complete checks the times, and sets them and the folder in the form for the wire.
func (f *requestFlags) complete() error {
	o := f.common
	o.Timeout, o.Hold = f.timeout.Seconds(), f.hold.Seconds()
	if o.Timeout < 0 {
		return wrongUsage("--timeout must be 0 or more, not %s", f.timeout)
	}
	if o.Hold < 0 {
		return wrongUsage("--hold must be 0 or more, not %s", f.hold)
	}
	if o.CWD == "" {
		// If our folder was removed it has no name, and the request has no folder.
		o.CWD, _ = os.Getwd()
		return nil
	}
	var err error
	o.CWD, err = filepath.Abs(o.CWD)
	return err
}

type answer struct {
	reply  any    // what --json prints
	text   string // what is printed without --json …
	value  any    // … or this, as JSON
	status status
	cause  string // why the status is what it is, when the text does not say
}

func answerTo(reply any) answer {
	a := answer{reply: reply}
	switch r := reply.(type) {
	case api.AskReply:
		a.text = r.Answer + "\n"
	case api.ConfirmReply:
		a.text = "yes\n"
		if !r.Confirmed {
			a.text, a.status = "no\n", exitNo
		}
	case api.FormReply:
		a.value = r.Answers
		if r.Answer != nil {
			a.value = r.Answer
		}
	case api.ApproveReply:
		a.text, a.status = withReason(r.Decision, r.Reason), statusOfDecision(r)
	case api.EvaluateReply:
		a.text = withReason(r.Decision, r.Reason)
		if r.Decision != api.Allow {
			a.status = exitNo
		}
	case api.NotifyReply:
		if !r.Sent {
			a.status, a.cause = exitNo, "it was not shown: the desktop may have no "+
				"notification service, nod may be paused or keep notices back, or its relay has no desk"
		}
	}
	return a
}

// request completes q with the flags, sends it and prints the answer. f holds the [api.Common] of q.
func request[Q, R any](
	ctx context.Context, c *console, f *requestFlags, q *Q, send func(*client.Client, context.Context, Q) (R, error),
) error {
	if err := f.complete(); err != nil {
		return err
	}
	patience := f.timeout
	if f.common.IdempotencyKey != "" {
		patience = 0 // the time-out of the first request with this key counts
	}
	r, err := call(ctx, patience, func(cl *client.Client, ctx context.Context) (R, error) {
		cl.Lost = c.sayLost
		return send(cl, ctx, *q)
	})
	if err != nil {
		return c.unanswered(err, f.common.Detach)
	}
	return c.give(answerTo(r))
}

func (c *console) sayLost() {
	c.complain("", "nod-desktop went away: waiting until it is back: nod start")
}

func (c *console) give(a answer) error {
	var err error
	switch {
	case c.json:
		err = c.printReply(a.reply)
	case a.value != nil:
		err = c.printReply(a.value)
	default:
		err = c.print(a.text)
	}
	if err != nil || a.status == exitYes {
		return err
	}
	return &verdict{a.status, a.cause}
}

// unanswered prints what came instead of an answer. A detached request that is pending is no failure.
func (c *console) unanswered(err error, detach bool) error {
	if p, ok := errors.AsType[*client.Pending](err); ok {
		return c.later(p, detach)
	}
	if p, ok := errors.AsType[*client.Problem](err); ok && c.json {
		return errors.Join(err, c.printReply(p.Problem))
	}
	return err
}

func (c *console) later(p *client.Pending, detach bool) error {
	var err error
	switch {
	case c.json:
		err = c.printReply(p.PendingReply)
	case detach:
		err = c.print(p.ID + "\n")
	}
	if err != nil || detach {
		return err
	}
	return p
}

func discover() (*client.Client, error) {
	cl, err := client.Discover()
	if err != nil {
		return nil, unreachable(err)
	}
	return cl, nil
}

// reach finds the running nod-desktop, and asks whether it is well.
func reach(ctx context.Context) (*client.Client, api.HealthReply, error) {
	cl, err := discover()
	if err != nil {
		return nil, api.HealthReply{}, err
	}
	ctx, cancel := waiting.Bounded(ctx, time.Second)
	defer cancel()
	h, err := cl.Health(ctx)
	return cl, h, err
}

// call makes one call to the running nod-desktop, which may wait for the user for as long as timeout.
func call[R any](
	ctx context.Context, timeout time.Duration, send func(*client.Client, context.Context) (R, error),
) (R, error) {
	cl, err := discover()
	if err != nil {
		var none R
		return none, err
	}
	ctx, cancel := waiting.Bounded(ctx, timeout)
	defer cancel()
	return send(cl, waiting.WhileAlive(waiting.WhileCalled(ctx), cl.Health))
}
