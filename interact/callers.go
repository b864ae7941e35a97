package interact

import (
	"context"
	"strings"

	"nod/policy"
)

// Processes tells of the processes that requests come from. nod/ipc/peer has the system's.
type Processes interface {
	// IsInline reports whether a shell runs a line that its parent gave it, as in sh -c 'make all'.
	IsInline(shell Parent) bool
	// LeadsTerminal reports whether a process leads the session of a terminal.
	LeadsTerminal(p Parent) bool
	// Ended reports whether one of the processes has ended; when in doubt, it has.
	Ended(ps ...Parent) bool
	// AwaitEnd waits until one of the processes has ended, and returns true, or ctx has, and returns false.
	AwaitEnd(ctx context.Context, ps ...Parent) bool
}

// Callers lists the processes without which nobody waits for the answer to what p asks, nearest first: p itself and,
// as long as the last one only does its parent's errand, that parent. Errands are done by nod's own command, by a shell
// that runs a line it was given (sh -c), and by programs like env and timeout. So a hook of an agent depends on the
// agent, and a command in a script on the script, but not on who started the script: that may end, as a terminal
// does whose script runs on under nohup.
//
// Two kinds of parent are never in the list. One is whoever adopts processes whose parent has ended, or starts them for
// nobody who waits (init, cron). The other is the shell that a terminal started: when it ends, the system hangs up on
// what runs there, unless nohup or disown said not to.
func Callers(p Process, t Processes) []Parent {
	if p.PID == 0 {
		return nil
	}
	callers := []Parent{itself(p)}
	for _, parent := range p.Parents {
		if !runsErrand(callers[len(callers)-1], t) || adopts(parent) {
			break
		}
		if policy.IsShell(parent.Exe) && t.LeadsTerminal(parent) {
			break
		}
		callers = append(callers, parent)
	}
	return callers
}

// IsOrphan reports whether p does the errand of a process that has ended already: the parent that it has now, or that
// of the shell which runs it, has adopted it.
func IsOrphan(p Process, t Processes) bool {
	callers := Callers(p, t)
	above := len(callers) - 1 // in p.Parents
	return above >= 0 && above < len(p.Parents) && runsErrand(callers[above], t) && adopts(p.Parents[above])
}

// runsErrand reports whether a process does nothing but what its parent told it to.
func runsErrand(p Parent, t Processes) bool {
	return policy.IsGoBetween(p.Exe) && (!policy.IsShell(p.Exe) || t.IsInline(p))
}

// adopts reports whether a process gets the children of those that have ended, or starts programs for nobody who waits.
func adopts(p Parent) bool {
	switch strings.TrimSuffix(p.Name, " (deleted)") {
	case "init", "systemd", "launchd", "runit", "openrc-init", "s6-svscan", "tini", "tini-static", "dumb-init",
		"docker-init", "catatonit", "bwrap", "firejail", "cron", "crond", "atd":
		return true
	}
	return p.PID == 1 && p.Exe == "" // init under another name, which only root may look at
}
