package interact

import (
	"context"
	"strings"

	"nod/policy"
)

// Processes describes the processes that requests come from.
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

// Callers lists the processes whose end means that nobody waits for the answer to p, nearest first: p, and the parents
// as long as their child is a go-between, such as nod's command, sh -c, env or timeout. So a hook depends on its agent,
// and a command in a script on the script, but not on what started the script, which may run on under nohup.
//
// The list ends before a process that adopts orphans or starts programs for nobody (init, cron), and before a
// terminal's shell: the system hangs up on what runs there, unless nohup or disown said not to.
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

// IsOrphan reports whether the process that p, a go-between, ran for has ended.
func IsOrphan(p Process, t Processes) bool {
	callers := Callers(p, t)
	above := len(callers) - 1 // in p.Parents
	return above >= 0 && above < len(p.Parents) && runsErrand(callers[above], t) && adopts(p.Parents[above])
}

// runsErrand reports whether a process is a go-between for its parent.
func runsErrand(p Parent, t Processes) bool {
	return policy.IsGoBetween(p.Exe) && (!policy.IsShell(p.Exe) || t.IsInline(p))
}

// adopts reports whether a process adopts orphans, or starts programs for nobody who waits.
func adopts(p Parent) bool {
	switch strings.TrimSuffix(p.Name, " (deleted)") {
	case "init", "systemd", "launchd", "runit", "openrc-init", "s6-svscan", "tini", "tini-static", "dumb-init",
		"docker-init", "catatonit", "bwrap", "firejail", "cron", "crond", "atd":
		return true
	}
	return p.PID == 1 && p.Exe == "" // init under another name, which only root may look at
}
