// Package process finds out which of a request's parent processes wait for its answer, and which only start others.
package process

import (
	"context"
	"path/filepath"
	"strings"

	"nod/api"
)

// Table describes the processes that requests come from.
type Table interface {
	// IsInline reports whether a shell runs a line that its parent gave it, as in sh -c 'make all'.
	IsInline(shell api.Parent) bool
	// LeadsTerminal reports whether a process leads the session of a terminal.
	LeadsTerminal(p api.Parent) bool
	// Ended reports whether one of the processes has ended; when in doubt, it has.
	Ended(ps ...api.Parent) bool
	// AwaitEnd waits until one of the processes has ended, and returns true, or ctx has, and returns false.
	AwaitEnd(ctx context.Context, ps ...api.Parent) bool
}

// Itself returns p without its parents.
func Itself(p api.Process) api.Parent {
	return api.Parent{PID: p.PID, Name: filepath.Base(p.Exe), Exe: p.Exe, Started: p.Started}
}

// Callers lists the processes whose end means that the answer to p is no longer needed, nearest first: p, and the
// parents as long as their child is a go-between, such as nod's command, sh -c, env or timeout. So a hook depends on
// its agent, and a command in a script on the script, but not on what started the script, which may run on under nohup.
//
// The list ends before a process that adopts orphans or starts programs without waiting for them (init, cron), and
// before a terminal's shell: the system hangs up on what runs there, unless nohup or disown said not to.
func Callers(p api.Process, t Table) []api.Parent {
	if p.PID == 0 {
		return nil
	}
	callers := []api.Parent{Itself(p)}
	for _, parent := range p.Parents {
		if !runsErrand(callers[len(callers)-1], t) || Adopts(parent) {
			break
		}
		if isShell(parent.Exe) && t.LeadsTerminal(parent) {
			break
		}
		callers = append(callers, parent)
	}
	return callers
}

// IsOrphan reports whether the process for which p, a go-between, ran has ended.
func IsOrphan(p api.Process, t Table) bool {
	callers := Callers(p, t)
	above := len(callers) - 1 // in p.Parents
	return above >= 0 && above < len(p.Parents) && runsErrand(callers[above], t) && Adopts(p.Parents[above])
}

// runsErrand reports whether a process is a go-between for its parent.
func runsErrand(p api.Parent, t Table) bool {
	return IsGoBetween(p.Exe) && (!isShell(p.Exe) || t.IsInline(p))
}

// Adopts reports whether a process adopts orphans, or starts programs without waiting for them.
func Adopts(p api.Parent) bool {
	switch strings.TrimSuffix(p.Name, " (deleted)") {
	case "init", "systemd", "launchd", "runit", "openrc-init", "s6-svscan", "tini", "tini-static", "dumb-init",
		"docker-init", "catatonit", "bwrap", "firejail", "cron", "crond", "atd":
		return true
	}
	return p.PID == 1 && p.Exe == "" // init under another name, which only root may look at
}

// IsGoBetween reports whether a program only starts others: nod's own command, a shell, env.
func IsGoBetween(program string) bool {
	switch nameOf(program) {
	case "nod", "nod-cli", "env", "timeout", "nohup":
		return true
	}
	return isShell(program)
}

func isShell(program string) bool {
	switch nameOf(program) {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "cmd", "powershell", "pwsh":
		return true
	}
	return false
}

// nameOf returns the name of an executable without its folder and without what systems append.
func nameOf(program string) string {
	program = strings.TrimSuffix(program, " (deleted)") // Linux says so of one that was replaced while it runs
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	return strings.TrimSuffix(name, ".exe")
}
