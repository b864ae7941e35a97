package policy

import (
	"path/filepath"
	"strings"

	"nod/policy/shell"
)

// A commandLine is what a shell tool's command would do, and where its paths lead.
type commandLine struct {
	shell.Analysis
	reads, writes []place
}

// why is the first reason for which the command is not read-only, for the middle of a sentence.
func (l *commandLine) why() string {
	if len(l.Reasons) == 0 {
		return "the command could not be read"
	}
	return "the command is not read-only: " + strings.TrimSuffix(l.Reasons[0], ".")
}

// readCommandLine reads the command of a shell tool. One that surely only reads makes the call read-only,
// when an agent that nod knows hands it to a POSIX shell with nothing beside it that changes what it does.
func (f *facts) readCommandLine() {
	if !f.input.isRun || !isShell(f.call.Tool) || isPowerShell(f.call.Tool) {
		return
	}
	f.line = &commandLine{Analysis: shell.Analyze(f.input.command, f.inTrustedFolder())}
	look := expansion{left: maxLooked}
	f.line.reads = f.locateAll(f.line.Reads, &look)
	f.line.writes = f.locateAll(f.line.Writes, &look)
	if f.line.ReadOnly && f.tool.isPosix && f.input.problem == "" && f.input.onlyRuns() {
		f.class = ReadOnly
		if f.call.Declared != "" {
			declared, _ := ParseClass(string(f.call.Declared))
			f.class = Stricter(ReadOnly, declared)
		}
	}
}

func isPowerShell(tool string) bool {
	return strings.EqualFold(strings.TrimSpace(tool), "PowerShell")
}

// locateAll works out where the paths of a command lead. A pattern also stands for all that it matches now;
// where it climbs after a wildcard, or matches more than anybody would look at, nobody can tell.
func (f *facts) locateAll(paths []string, e *expansion) []place {
	var places []place
	for _, path := range paths {
		p := locate(f.fromFolder(path), f.call.CWD, f.policy.places.Home)
		places = append(places, p)
		wild := strings.IndexAny(path, "*?[")
		if wild < 0 {
			continue
		}
		if p.lost || p.afloat || strings.Contains(path[wild:], "..") || len(places) > maxPaths {
			places = append(places, place{clean: p.clean, lost: true})
			continue
		}
		matches, ok := e.expand(filepath.FromSlash(p.clean))
		if !ok || len(matches) > maxPaths {
			places = append(places, place{clean: p.clean, lost: true})
			continue
		}
		for _, m := range matches {
			places = append(places, locate(m, f.call.CWD, f.policy.places.Home))
		}
	}
	return places
}

// fromFolder puts the folder that the input tells the shell to run in before a relative path.
func (f *facts) fromFolder(path string) string {
	if f.input.folder == "" || isRooted(path) {
		return path
	}
	return f.input.folder + "/" + path
}

// inTrustedFolder reports whether the call works in a folder that the human trusts.
func (f *facts) inTrustedFolder() bool {
	where := f.cwd()
	if f.input.folder != "" {
		where = f.folder()
	}
	return len(f.policy.roots) > 0 && f.policy.isTrustedPlace(where)
}

// isTrustedPlace reports whether a place is inside one of the trusted folders; everything is while none are
// named.
func (c *Compiled) isTrustedPlace(p place) bool {
	for i := range c.roots {
		if p.isInside(&c.roots[i]) {
			return true
		}
	}
	return len(c.roots) == 0
}

// nothing is the reason of a call that nothing decided.
func (f *facts) nothing() string {
	if f.line == nil || f.line.ReadOnly {
		return reasonNothing
	}
	return reasonNothing + ", and " + f.line.why()
}
