package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nod/interact"
	"nod/ipc/client"
)

// status is how nod ends.
type status int

// The exit statuses, as the package comment explains them.
const (
	exitYes         status = 0
	exitNo          status = 1
	exitUsage       status = 2
	exitTimedOut    status = 3
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

// Error implements error.
func (v *verdict) Error() string { return v.cause }

// failure is an error of a command that ran. What cobra finds wrong before that is wrong usage.
type failure struct{ err error }

// Error implements error.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap returns what failed.
func (f *failure) Unwrap() error { return f.err }

// usageError is a mistake in the command line that cobra cannot see.
type usageError struct{ problem string }

// Error implements error.
func (e *usageError) Error() string { return e.problem }

func wrongUsage(format string, args ...any) error {
	return &usageError{problem: fmt.Sprintf(format, args...)}
}

// inputError is a mistake in a file that the command line names.
type inputError struct{ file, problem string }

// Error implements error.
func (e *inputError) Error() string { return e.file + ": " + e.problem }

// errUnreachable marks what keeps nod from reaching nod-desktop besides the errors of package client.
var errUnreachable = errors.New("nod-desktop cannot be reached")

// unreachable marks err, whose text stays as it is.
func unreachable(err error) error { return &marked{err} }

type marked struct{ error }

func (m *marked) Unwrap() error        { return m.error }
func (m *marked) Is(target error) bool { return target == errUnreachable }

// errHung ends a call that nod-desktop should have answered long ago.
var errHung = fmt.Errorf("nod-desktop does not answer: it hangs; quit it and run: nod start")

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
	if f, ok := errors.AsType[*failure](err); ok {
		for line := range strings.SplitSeq(explain(cmd, f.err), "\n") {
			c.complain(what, line)
		}
		return int(statusOf(f.err))
	}
	c.complain(what, err.Error()+": see: "+cmd.CommandPath()+" --help")
	return int(exitUsage)
}

// statusOf maps what went wrong to the exit status.
func statusOf(err error) status {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return statusOfProblem(p)
	}
	_, usage := errors.AsType[*usageError](err)
	_, input := errors.AsType[*inputError](err)
	_, lost := errors.AsType[*client.LostError](err)
	_, pending := errors.AsType[*client.Pending](err)
	switch {
	case usage, input:
		return exitUsage
	case pending:
		return exitTimedOut
	case lost, errors.Is(err, errUnreachable), errors.Is(err, errHung), errors.Is(err, client.ErrNotRunning), errors.Is(err, client.ErrForeign):
		return exitUnreachable
	}
	return exitOther
}

// statusOfProblem goes by what came of the request and, where it never came to be, by the refusal.
func statusOfProblem(p *client.Problem) status {
	switch p.Outcome {
	case interact.TimedOut:
		return exitTimedOut
	case interact.Dismissed, interact.Cancelled, interact.Withdrawn:
		return exitDismissed
	case interact.Denied:
		return exitNo
	case interact.Unavailable:
		return exitOther
	}
	switch p.Code {
	case client.CodeInvalidParam, client.CodeInvalidPath, client.CodeTooLarge, client.CodeNotFound:
		return exitUsage
	case client.CodeTimeout:
		return exitTimedOut
	case client.CodeCancelled:
		return exitDismissed
	}
	return exitOther
}

// explain puts an error into words, with what to do about it where that is known.
func explain(cmd *cobra.Command, err error) string {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return explainProblem(p)
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return err.Error() + ": see: " + cmd.CommandPath() + " --help"
	}
	if p, ok := errors.AsType[*client.Pending](err); ok {
		return fmt.Sprintf("no answer yet: fetch it with: nod wait %s", p.ID)
	}
	if _, ok := errors.AsType[*client.LostError](err); ok {
		return err.Error() + ": nobody decided; see: nod status"
	}
	switch {
	case errors.Is(err, client.ErrNotRunning):
		return client.ErrNotRunning.Error() + ": " + client.Hint
	case errors.Is(err, client.ErrForeign):
		return err.Error() + ": nothing was sent to it; run: nod status"
	}
	return err.Error()
}

func explainProblem(p *client.Problem) string {
	why := p.Error()
	if p.Param != "" && !strings.HasPrefix(why, p.Param) {
		why = p.Param + ": " + why
	}
	switch p.Code {
	case client.CodeUnauthorized:
		return why + ": nod-desktop was restarted meanwhile; try again"
	case client.CodeRateLimited:
		if p.RetryAfter > 0 {
			return fmt.Sprintf("%s: try again in %s", why, p.RetryAfter)
		}
	}
	return why
}
