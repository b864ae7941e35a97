package policy

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nod/ownfile"
	"nod/policy/shell"
	"nod/policy/shell/language"
)

// A command may run where it can do no harm, in the sandbox: because a rule says so, or because nothing else allows it
// and the user switched that on for the project. If it needs what is missing there, nod asks first.

const askNoSandbox = "nod can't run this agent's commands there"

// sandboxRule decides what runs in the sandbox of a project because the user switched that on.
const sandboxRule = "builtin:sandbox"

// EditsRule allows edits in such a project: the user can take them back, like a command's changes.
const EditsRule = "builtin:sandbox_edits"

// contained makes a call run in the sandbox, as a rule decided. If it cannot run there, the user is asked.
func (f *facts) contained(d Decision) Decision {
	in, problem := f.confinement(cmp.Or(f.switchedOn(), f.realTop()))
	if !f.call.Contains {
		problem = askNoSandbox
	}
	if problem != "" {
		return ask(d.Rule, d.Reason+", but it can't run there: "+problem)
	}
	d.Confinement = in
	return d
}

// permits reports whether a rule for the sandbox that matches a call lets it run there. A rule for commands matches
// each line with such a command in it, but the rest of the line must pass, too.
func (f *facts) permits(r *compiledRule) bool {
	return len(r.run) == 0 || f.allowed().Effect.Permits() || f.policy.find(f, Allow) != nil
}

// byProject makes a call run in the sandbox of its project, if the user switched that on: a call that nothing allows,
// or one that passes because it only reads.
func (f *facts) byProject(d Decision) Decision {
	project := f.switchedOn()
	if d.Effect == Ask && d.Rule == "" && project != "" && f.call.Undoes && f.editsOnly(project) {
		return Decision{Effect: Allow, Rule: EditsRule, Reason: "changes in this project can be taken back"}
	}
	onlyReads := d.Effect == Allow && d.Rule == ClassRule(ReadOnly) && f.policy.confined
	if project == "" || !f.call.Contains || f.line == nil || !isUnixShell(f.call.Tool) || d.Effect == Allow && !onlyReads {
		return d
	}
	in, problem := f.confinement(project)
	switch {
	case problem == "" && onlyReads:
		d.Effect, d.Confinement, d.Reason = Sandbox, in, d.Reason+", in the sandbox"
	case problem == "":
		const reason = "the project's commands run in the sandbox"
		return Decision{Effect: Sandbox, Rule: sandboxRule, Reason: reason, Confinement: in}
	case d.Effect == Ask && d.Rule == "":
		d.Reason = "no rule covers this; it can't run in the sandbox: " + problem
	}
	return d
}

func (f *facts) editsOnly(project string) bool {
	isElsewhere := func(a access) bool { return !f.isContained(a.place, project) }
	return f.line == nil && f.isKnown && f.class == Write && !f.input.isOdd && !f.input.isRun && len(f.edits()) > 0 &&
		!slices.ContainsFunc(f.reach(), isElsewhere)
}

// Containable returns the project of a call, as the configuration writes it, if the call would run in the sandbox once
// the user switches that on for the project; otherwise "".
func Containable(c Call, p *Compiled, now time.Time) string {
	return newFacts(&c, p, now).containable()
}

func (f *facts) containable() string {
	if f.switchedOn() != "" {
		return ""
	}
	call, p := *f.call, *f.policy
	call.Contains, p.inSandbox = true, true
	if d := Decide(call, &p, f.now); d.Rule == sandboxRule {
		return tilde(d.Confinement.Project, p.places.Home)
	}
	return ""
}

// switchedOn returns the smallest folder, with links followed, of a project whose commands run in the sandbox and that
// the call works in; "" if there is none.
func (f *facts) switchedOn() (folder string) {
	if f.policy.inSandbox {
		return f.realTop()
	}
	for _, p := range f.policy.projects {
		if cwd := f.cwd(); len(p.real) > len(folder) && !cwd.lost && !cwd.relative && isWithin(cwd.real, p.real) {
			folder = p.real
		}
	}
	return folder
}

func (f *facts) realTop() string {
	f.project()
	return f.realProject
}

// mayContain reports whether commands may be confined to a project: it must not include the home folder or any of nod's
// own.
func (g *guard) mayContain(p place) bool {
	return !p.lost && !p.relative && !g.holdsHome(p.real) && !g.holdsOwn(p.real) && !g.isOwn(p.real)
}

// confinement works out what a command may change in the sandbox of a project, or says why it cannot run there.
func (f *facts) confinement(project string) (in Confinement, problem string) {
	switch {
	case f.line == nil || !f.isPlainShell():
		return in, "only commands for a POSIX shell run there"
	case project == "" || !f.policy.guard.mayContain(place{real: project}):
		return in, "nod can't tell which project it works in"
	case f.line.Lingers:
		return in, "it leaves a program running, which the sandbox would end with the command"
	}
	in = Confinement{Project: project, Write: !f.line.ReadOnly, Near: f.line.Near}
	if in.Write && f.call.OnlyReads {
		return Confinement{}, "this machine's sandbox only runs commands that read"
	}
	for _, p := range f.line.Parts {
		if p.Outside != "" {
			return Confinement{}, p.Outside
		}
		in.Git = in.Git || in.Write && p.Commits && !p.Reads
	}
	problem = f.leavesProject(project)
	if in.Git && problem == "" && !f.policy.isPast {
		if info, err := os.Lstat(project + "/.git"); err != nil || !info.IsDir() {
			problem = "it changes a git repository other than the project's"
		}
	}
	if problem != "" {
		return Confinement{}, problem
	}
	return in, ""
}

// Commits reports whether a command changes what a git repository holds.
func Commits(command string) bool {
	return slices.ContainsFunc(shell.Analyze(command).Parts, func(p shell.Part) bool { return p.Commits && !p.Reads })
}

func (f *facts) leavesProject(project string) string {
	for _, folder := range append([]string{""}, f.line.Folders...) {
		if p := f.locateIn(folder); !f.isContained(p, project) && !f.isTemp(p) {
			return fmt.Sprintf("it works in %s, which is not in the project", cmp.Or(p.real, p.clean))
		}
	}
	for _, a := range f.reach() {
		if problem := f.missing(&a, project); problem != "" {
			return problem
		}
	}
	return ""
}

// missing says why the sandbox of a project lacks what a command reaches. Secrets below a folder are simply absent
// there.
func (f *facts) missing(a *access, project string) string {
	named := *a
	if named.kind == shell.Tree {
		named.kind = shell.Look
	}
	isMeant := func(glob string) bool { return f.isMeant(glob, a.whole) }
	switch {
	case a.lost || a.relative:
		return fmt.Sprintf("nod can't tell where %s leads", a.clean)
	case f.policy.leaks(&named), slices.ContainsFunc(a.only, isMeant):
		return fmt.Sprintf("it names %s, which may contain keys, passwords or tokens", a.clean)
	case f.isContained(a.place, project), isWithin(a.clean, "/dev") && !isDevice(a):
		return ""
	case f.isTemp(a.place):
		if _, err := isLink(a.real); !ownfile.IsMissing(err) {
			return fmt.Sprintf("the sandbox has no %s: it has its own temporary folder", a.clean)
		}
		return ""
	case a.changes():
		return fmt.Sprintf("it changes %s, which is not in the project", a.clean)
	case f.isHidden(a):
		return fmt.Sprintf("it names %s, which is not in the project", a.clean)
	}
	return ""
}

func (f *facts) isContained(p place, project string) bool {
	return !p.lost && !p.relative && isWithin(p.real, project)
}

// isTemp reports whether a place is in a folder for temporary files. A command in the sandbox has its own.
func (f *facts) isTemp(p place) bool {
	return (isWithin(p.real, "/tmp") || isWithin(p.real, "/var/tmp")) && !isWithin(fold(p.real), f.policy.guard.home)
}

// away are folders with files of users, of running programs and of devices.
var away = []string{"/home", "/root", "/Users", "/run", "/proc", "/sys", "/dev"}

// isHidden reports whether a place outside the project is not one of the system's, or contains one that is not.
func (f *facts) isHidden(a *access) bool {
	return slices.ContainsFunc(append(away, filepath.ToSlash(f.policy.places.Home)), func(folder string) bool {
		return isWithin(a.real, folder) || a.kind == shell.Tree && isWithin(folder, a.real)
	})
}

func (f *facts) runsCommand() bool { return f.line != nil || f.input.isRun || isShell(f.call.Tool) }

// Forbids reports what a command in the sandbox must not do with a file because of rules for its path. The command
// reaches more than its words say, so agent and tool do not matter, except for tools that only change files.
func (c *Compiled) Forbids(path string, now time.Time) (read, change bool) {
	for i := range c.rules {
		r := &c.rules[i]
		isOther := r.Command != "" || r.Host != "" || r.Server != "" || len(r.run) > 0 || len(r.Args) > 0
		if r.path == nil || isOther || !r.Effect.IsStricter(Sandbox) || !r.inForce(now) || !r.path.match(path) {
			continue
		}
		change = true
		read = read || r.Effect == Deny && !r.isForChanges()
	}
	return read, change
}

func (r *compiledRule) isForChanges() bool {
	if r.Class != "" || r.Tool == "" {
		return r.Class == Write
	}
	isFound := false
	for _, tools := range catalogue() {
		for name, t := range tools {
			if !language.Wildcard(r.Tool, name) {
				continue
			}
			if isFound = true; t.class != Write {
				return false
			}
		}
	}
	return isFound
}
