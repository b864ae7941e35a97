package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/client/waiting"
)

type status int

// The exit statuses, as [exitHelp] explains them.
const (
	exitYes         status = 0
	exitNo          status = 1
	exitUsage       status = 2
	exitUnanswered  status = 3
	exitDismissed   status = 4
	exitUnreachable status = 5
	exitOther       status = 6
)

// verdict ends a command with a status other than exitYes. It is an answer and not a failure; its cause is empty if the
// printed answer says everything.
type verdict struct {
	status status
	cause  string
}

func (v *verdict) Error() string { return v.cause }

// usageError is a mistake in the command line that cobra cannot see.
type usageError string

func (e usageError) Error() string { return string(e) }

func wrongUsage(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

type withStatus struct {
	error
	status status
}

func (w *withStatus) Unwrap() error { return w.error }

// inputError returns an error about a file that the command line names, or about standard input if the name is -.
func inputError(file string, err error) error {
	if file == "-" {
		file = "standard input"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &withStatus{fmt.Errorf("%s: %w", file, err), exitUsage}
}

// pathError converts an error of the file system to an inputError, and returns any other error as it is.
func pathError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return inputError(p.Path, p)
	}
	return err
}

func unreachable(err error) error { return &withStatus{err, exitUnreachable} }

// conclude prints what went wrong with cmd, if anything, and returns the exit status.
func (c *console) conclude(ctx context.Context, cmd *cobra.Command, err error) int {
	if err == nil {
		return int(exitYes)
	}
	what := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "nod"), " ")
	if v, ok := errors.AsType[*verdict](err); ok {
		if v.cause != "" {
			c.complain(what, v.cause)
		}
		return int(v.status)
	}
	if ctx.Err() != nil {
		c.complain(what, "interrupted")
		return int(exitDismissed)
	}
	if _, isUsage := errors.AsType[usageError](err); isUsage || !c.ran { // else cobra found something wrong
		c.complain(what, misuse(err)+"; see: "+cmd.CommandPath()+" --help")
		return int(exitUsage)
	}
	why, status := explain(err)
	for line := range strings.SplitSeq(why, "\n") {
		c.complain(what, line)
	}
	return int(status)
}

func misuse(err error) string {
	text := err.Error()
	if flags, ok := strings.CutPrefix(text, "required flag(s) "); ok {
		return "needs " + strings.NewReplacer(`", "`, " and --", `"`, "--").Replace(strings.TrimSuffix(flags, `" not set`))
	}
	return text
}

// explain returns an error in words, with what to do about it if that is known, and the exit status.
func explain(err error) (string, status) {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return explainProblem(p), cmp.Or(statusOfOutcome[p.Outcome], statusOfCode[p.Code], exitOther)
	}
	if p, ok := errors.AsType[*client.Pending](err); ok {
		return fmt.Sprintf("no answer yet; wait for it with: nod wait %s", p.ID), exitUnanswered
	}
	if _, ok := errors.AsType[*client.LostError](err); ok {
		return err.Error() + ": nobody decided; see: nod status", exitUnreachable
	}
	switch {
	case errors.Is(err, client.ErrNotRunning):
		return program + " isn't running; start it with: nod " + starts, exitUnreachable
	case errors.Is(err, waiting.ErrHung):
		return err.Error(), exitUnreachable
	case errors.Is(err, waiting.ErrCallerGone):
		return err.Error(), exitDismissed
	case errors.Is(err, client.ErrForeign):
		return err.Error() + ": nod sent nothing to it; see: nod status", exitUnreachable
	}
	if w, ok := errors.AsType[*withStatus](err); ok {
		return err.Error(), w.status
	}
	return err.Error(), exitOther
}

// The outcome of a request determines the exit status …
var statusOfOutcome = map[api.Outcome]status{
	api.Denied: exitNo, api.TimedOut: exitUnanswered, api.Dismissed: exitDismissed, api.Cancelled: exitDismissed,
	api.Withdrawn: exitDismissed, api.Unavailable: exitUnanswered,
}

// … and if it was refused, the code of the refusal does.
var statusOfCode = map[api.Code]status{
	api.CodeInvalidParam: exitUsage, api.CodeInvalidPath: exitUsage, api.CodeTooLarge: exitUsage,
	api.CodeNotFound: exitUsage, api.CodeTimeout: exitUnanswered, api.CodeCancelled: exitDismissed,
}

// statusOfDecision returns exitYes for an allow and never for anything else.
func statusOfDecision(r api.ApproveReply) status {
	if r.Allowed() {
		return exitYes
	}
	return cmp.Or(statusOfOutcome[r.Outcome], exitOther)
}

func explainProblem(p *client.Problem) string {
	why := p.Error()
	if p.Param != "" && !strings.HasPrefix(why, p.Param) {
		why = p.Param + ": " + why
	}
	switch p.Code {
	case api.CodeUnauthorized:
		return why + ": nod-desktop restarted; try again"
	case api.CodeRateLimited:
		if p.RetryAfter > 0 {
			return fmt.Sprintf("%s: try again in %s", why, p.RetryAfter)
		}
	}
	return why
}
