package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nod/interact"
	"nod/ipc/client"
)

// grace is how much longer than a request's own time-out nod waits for the reply that says so.
const grace = 10 * time.Second

// requestFlags are the flags of every command that sends a request.
type requestFlags struct {
	set  *pflag.FlagSet
	opts client.Options
	json bool
}

// requestFlags adds the flags that every request has.
func newRequestFlags(cmd *cobra.Command) *requestFlags {
	f := &requestFlags{set: cmd.Flags()}
	f.set.SortFlags = false
	f.set.StringVar(&f.opts.Agent, "agent", "", "who asks, as it calls itself, for example claude-code")
	f.set.StringVar(&f.opts.Session, "session", "", "the agent's session, for grouping")
	f.set.StringVar(&f.opts.CWD, "cwd", "", "`folder` the agent works in (default: the current one)")
	f.set.DurationVar(&f.opts.Timeout, "timeout", 0, "how long to wait for the human, for example 30s (default: as nod-desktop is set)")
	f.set.DurationVar(&f.opts.Hold, "hold", 0, "stop waiting after this long, and leave the request open")
	f.set.BoolVar(&f.opts.Detach, "detach", false, "do not wait: print the request's id, for nod wait")
	f.set.StringVar(&f.opts.IdempotencyKey, "idempotency-key", "", "the same `key` again joins the first request")
	f.set.BoolVar(&f.json, "json", false, "print the HTTP reply, unchanged")
	if err := cmd.MarkFlagDirname("cwd"); err != nil {
		panic(err) // the flag exists: it is made above
	}
	return f
}

// options returns the flags as the client wants them.
func (f *requestFlags) options() (client.Options, error) {
	o := f.opts
	if o.Timeout < 0 {
		return o, wrongUsage("--timeout: want 0 or more, not %s", o.Timeout)
	}
	if o.Hold < 0 {
		return o, wrongUsage("--hold: want 0 or more, not %s", o.Hold)
	}
	if o.CWD != "" {
		folder, err := filepath.Abs(o.CWD)
		o.CWD = folder
		return o, err
	}
	// A folder that was removed under us has no name: then the request carries none.
	o.CWD, _ = os.Getwd()
	return o, nil
}

// answer is what a reply amounts to on the command line.
type answer struct {
	raw    []byte // the reply's body
	text   string // what is printed without --json
	status status
	cause  string // why the status is what it is, when the text does not say
}

// request sends one request and prints its answer.
func (c *console) request(ctx context.Context, f *requestFlags, send func(context.Context, *client.Client, client.Options) (answer, error)) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	cl, err := discover()
	if err != nil {
		return err
	}
	ctx, cancel := bounded(ctx, o.Timeout)
	defer cancel()
	a, err := send(ctx, cl, o)
	if err != nil {
		return c.unanswered(err, o.Detach, f.json)
	}
	return c.give(a, f.json)
}

// give prints an answer and returns the verdict in it.
func (c *console) give(a answer, asJSON bool) error {
	var err error
	if asJSON {
		err = c.printReply(a.raw)
	} else {
		err = c.print(a.text)
	}
	if err != nil || a.status == exitYes {
		return err
	}
	return &verdict{a.status, a.cause}
}

// unanswered prints what there is instead of an answer. That a detached request waits is what was wanted.
func (c *console) unanswered(err error, detach, asJSON bool) error {
	if p, ok := errors.AsType[*client.Pending](err); ok {
		return c.later(p, detach, asJSON)
	}
	if p, ok := errors.AsType[*client.Problem](err); ok && asJSON {
		return errors.Join(err, c.printReply(p.Raw))
	}
	return err
}

// later prints how to come back for the answer.
func (c *console) later(p *client.Pending, detach, asJSON bool) error {
	var err error
	switch {
	case asJSON:
		err = c.printReply(p.Raw)
	case detach:
		err = c.print(string(p.ID) + "\n")
	}
	if err != nil || detach {
		return err
	}
	return p
}

// discover finds the running nod-desktop.
func discover() (*client.Client, error) {
	cl, err := client.Discover()
	if err != nil {
		return nil, unreachable(err)
	}
	return cl, nil
}

// bounded ends the wait when nod-desktop should have said long ago that the time is up.
func bounded(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 || timeout > interact.MaxTimeout {
		timeout = interact.MaxTimeout
	}
	return context.WithTimeoutCause(ctx, timeout+grace, errHung)
}
