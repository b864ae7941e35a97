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

// The exit statuses, as the package comment explains them.
const (
	exitYes         status = 0
	exitNo          status = 1
	exitUsage       status = 2
	exitUnanswered  status = 3
	exitDismissed   status = 4
	exitUnreachable status = 5
	exitOther       status = 6
)

// verdict ends a command with a status other than exitYes. That is an answer and no failure: its cause is
// empty when the answer that was printed says it all.
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

// inputError is a mistake in a file that the command line names, or in standard input where it names -.
func inputError(file string, err error) error {
	if file == "-" {
		file = "standard input"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &withStatus{fmt.Errorf("%s: %w", file, err), exitUsage}
}

// pathError is an inputError where err is the file system's, and else err.
func pathError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return inputError(p.Path, p)
	}
	return err
}

func unreachable(err error) error { return &withStatus{err, exitUnreachable} }

// conclude says what went wrong with cmd, if anything, and returns the exit status.
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

// explain puts an error into words, with what to do about it where that is known, and says how nod ends.
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

// What came of a request decides how nod ends …
var statusOfOutcome = map[api.Outcome]status{
	api.Denied: exitNo, api.TimedOut: exitUnanswered, api.Dismissed: exitDismissed, api.Cancelled: exitDismissed,
	api.Withdrawn: exitDismissed, api.Unavailable: exitOther,
}

// … and where it never came to be, the refusal.
var statusOfCode = map[api.Code]status{
	api.CodeInvalidParam: exitUsage, api.CodeInvalidPath: exitUsage, api.CodeTooLarge: exitUsage,
	api.CodeNotFound: exitUsage, api.CodeTimeout: exitUnanswered, api.CodeCancelled: exitDismissed,
}

// statusOfDecision is exitYes for an allow and never for anything else.
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
