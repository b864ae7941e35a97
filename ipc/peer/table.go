package peer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"nod/api"
)

// Table is the operating system's table of processes: it tells which of those that a request came from have ended. A
// process is known by its id together with its start, so that one that was given a used id never counts for the one
// that had it before; one that has ended but not been waited for (a zombie) has ended.
type Table struct{}

// pollEvery is how often a process is looked at where the system does not tell when it ends.
const pollEvery = time.Second

// errEnded ends the wait for the end of several processes.
var errEnded = errors.New("a process has ended")

// Find returns the process that has the id now.
func (Table) Find(pid int) (api.Parent, error) {
	p, err := readProcess(int32(pid), time.Now(), func(api.Parent) bool { return false })
	return api.Parent{PID: p.PID, Exe: p.Exe, Started: p.Started}, err
}

// Ended reports whether one of the processes has ended. When the system does not tell, it has.
func (Table) Ended(ps ...api.Parent) bool { return slices.ContainsFunc(ps, hasEnded) }

// AwaitEnd waits until one of the processes has ended, and returns true, or ctx has, and returns false. Linux since 5.3
// wakes it up; elsewhere it looks once a second.
func (Table) AwaitEnd(ctx context.Context, ps ...api.Parent) bool {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var waits sync.WaitGroup
	for _, p := range ps {
		waits.Go(func() {
			if awaitEnd(ctx, p) {
				cancel(errEnded)
			}
		})
	}
	waits.Wait()
	return context.Cause(ctx) == errEnded
}

// pollEnd is awaitEnd where the system does not tell when a process ends.
func pollEnd(ctx context.Context, p api.Parent) bool {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !hasEnded(p) {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// IsInline reports whether a shell was started with a line to run among its arguments, as in sh -c 'make all', and not
// with a script or by a user who types.
func (Table) IsInline(shell api.Parent) bool { return hasLine(arguments(shell.PID)) }

// LeadsTerminal reports whether a process leads the session of a terminal, as the shell in a terminal's window does.
// When it ends, the system hangs up on what it runs there. Platforms other than Linux do not tell.
func (Table) LeadsTerminal(p api.Parent) bool { return leadsTerminal(p.PID) }

// hasLine reports whether the arguments of a shell hold a line to run: after -c, alone or among other letters, or what
// stands for it in fish, cmd and PowerShell. Options come first; what is none ends them.
func hasLine(args []string) bool {
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--command", strings.EqualFold(arg, "-Command"), strings.EqualFold(arg, "/c"):
			return true
		case arg == "--rcfile", arg == "--init-file":
			i++
		case strings.HasPrefix(arg, "--") && arg != "--":
		case isLetters(arg):
			if strings.Contains(arg, "c") {
				return true
			}
			if strings.HasSuffix(strings.ToLower(arg), "o") { // the name of an option comes next
				i++
			}
		case strings.HasPrefix(arg, "-") && arg != "--", strings.HasPrefix(arg, "/") && len(arg) == 2:
		default:
			return false
		}
	}
	return false
}

// isLetters reports whether an argument is a group of options of one letter each, as in -euxo or +o.
func isLetters(arg string) bool {
	const most = 8 // longer ones are PowerShell's words
	if len(arg) < 2 || len(arg) > most || arg[0] != '-' && arg[0] != '+' {
		return false
	}
	return strings.Trim(arg[1:], "abcdefghijklmnopqrstuvwxyzBCDEHOPT") == ""
}
