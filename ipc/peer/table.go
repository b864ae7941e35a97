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

// Table is the operating system's table of processes: it tells which of the processes that a request came from have
// ended. It identifies a process by its id and start time, so that a process with a reused id never counts as the
// earlier one. A process that has ended but was not waited for (a zombie) counts as ended.
type Table struct{}

// pollEvery is how often to check a process if the system does not report when it ends.
const pollEvery = time.Second

// errEnded ends the wait for the end of several processes.
var errEnded = errors.New("a process has ended")

// Find returns the process that now has the id.
func (Table) Find(pid int) (api.Parent, error) {
	p, err := readProcess(int32(pid), time.Now(), func(api.Parent) bool { return false })
	return api.Parent{PID: p.PID, Exe: p.Exe, Started: p.Started}, err
}

// Ended reports whether one of the processes has ended. If the system does not tell, it counts as ended.
func (Table) Ended(ps ...api.Parent) bool { return slices.ContainsFunc(ps, hasEnded) }

// AwaitEnd waits until one of the processes ends and returns true, or until ctx ends and returns false. Linux since 5.3
// wakes it up; elsewhere it checks once a second.
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

// pollEnd is awaitEnd for systems that do not report when a process ends.
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

// IsInline reports whether a shell was started with a command line as an argument, as in sh -c 'make all', and not with
// a script or for a user who types.
func (Table) IsInline(shell api.Parent) bool { return hasLine(arguments(shell.PID)) }

// LeadsTerminal reports whether a process leads the session of a terminal, as the shell in a terminal window does. When
// it ends, the system hangs up on what runs there. Platforms other than Linux do not tell.
func (Table) LeadsTerminal(p api.Parent) bool { return leadsTerminal(p.PID) }

// hasLine reports whether the arguments of a shell contain a command line: after -c, alone or among other letters, or
// its equivalent in fish, cmd and PowerShell. Options come first; the first other argument ends them.
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
