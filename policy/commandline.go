package policy

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"nod/ownfile"
	"nod/policy/git"
	"nod/policy/shell"
)

type commandLine struct {
	shell.Analysis
	parts      []linePart
	repository string   // why git may run a program in a repository that the command reads; empty when it cannot
	outside    string   // a folder outside the project that it changes to; empty if there is none
	mayReach   []access // what it reaches if its words mean something else
}

type linePart struct {
	*shell.Part
	reach, output []access
}

func (l *commandLine) why(reasons []string) string {
	switch {
	case len(reasons) > 0:
		return asClause(reasons[0])
	case l.repository != "":
		return asClause(l.repository)
	case l.outside != "":
		return "it works in " + l.outside + ", which is not in the project"
	}
	return "nod can't read the command"
}

// asClause turns a sentence into a part of another.
func asClause(s string) string { return strings.ToLower(s[:1]) + strings.TrimSuffix(s[1:], ".") }

func (l *commandLine) onlyReads() bool { return l.ReadOnly && l.repository == "" && l.outside == "" }

// readCommandLine reads the command of a shell tool, and what PowerShell or another tool may run: that is for rules
// that ask or deny. One that certainly only reads makes the call read-only, if a known agent passes it to a POSIX shell
// and nothing else in the input changes what it does.
func (f *facts) readCommandLine() {
	command, isRun := f.everyLine()
	if !isRun || f.isKnown && !isShell(f.call.Tool) {
		return
	}
	f.line = &commandLine{Analysis: f.call.Input.analyze(command)}
	look := expansion{left: maxLooked}
	for i := range f.line.Parts {
		p := &f.line.Parts[i]
		reach, output := f.locateAll(p.Accesses, p.In, &look), f.locateAll(p.Output, nil, &look)
		f.line.parts = append(f.line.parts, linePart{p, reach, output})
	}
	for _, p := range f.line.Readings {
		f.line.mayReach = append(f.line.mayReach, f.locateAll(slices.Concat(p.Accesses, p.Output), p.In, &look)...)
	}
	if !isUnixShell(f.call.Tool) {
		return
	}
	f.line.outside, f.line.repository = f.leaves(), f.gitProblem()
	if !f.line.onlyReads() || !f.isPlainShell() {
		return
	}
	f.class, f.ownClass = ReadOnly, ReadOnly
	if f.call.Declared != "" {
		f.class = f.call.Declared.known()
	}
}

// everyLine returns the command line, and what a shell may run instead, such as the words of a list: rules that deny
// must see it. No rule and no saved approval for commands covers anything but a single line, see [facts.isPlainShell].
func (f *facts) everyLine() (text string, isRun bool) {
	if text, isRun = f.commandText(); len(f.input.lines) == 0 {
		return text, isRun
	}
	words, all := append([]string{text}, f.input.lines...), []string{}
	for i := range min(len(words), maxLines) { // a command may begin at any of them
		all = append(all, quoteWords(words[i:]))
	}
	all = append(all, strings.Join(words, " ")) // then the words as they are: one may continue on the next line
	return strings.Join(append(all, words...), "\n"), true
}

func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		var err error
		if quoted[i], err = syntax.Quote(word, syntax.LangBash); err != nil {
			quoted[i] = word
		}
	}
	return strings.Join(quoted, " ")
}

// isPlainShell reports whether a known agent passes the command to a POSIX shell, and nothing else in the input changes
// what it does. On Windows there is no shell that nod can read.
func (f *facts) isPlainShell() bool {
	return f.tool.isPosix && f.input.problem == "" && f.input.onlyRuns() && runtime.GOOS != "windows"
}

// isUnixShell reports whether the tool is a shell whose language nod may read. A rule that denies or asks also sees the
// programs and files that a line of PowerShell names plainly.
func isUnixShell(tool string) bool {
	return isShell(tool) && !strings.EqualFold(strings.TrimSpace(tool), "PowerShell")
}

// leaves returns the first folder that the command changes to and that is neither in the project nor trusted.
func (f *facts) leaves() string {
	for _, folder := range f.line.Folders {
		p := f.locateIn(folder)
		if !f.inProject(p) && p != f.cwd() && !f.policy.isInRoots(p) {
			return folder
		}
	}
	return ""
}

// gitProblem says why git may run a program when it only reads where the command does.
func (f *facts) gitProblem() string {
	for _, folder := range f.line.Repositories {
		p := f.locateIn(folder)
		if p.lost || p.relative {
			return "nod can't tell which git repository the command reads"
		}
		if f.policy.isPast && !isThere(p.real) {
			continue
		}
		found, problem := git.Inspect(filepath.FromSlash(p.real), f.policy.places.Home, f.line.Remotes)
		if problem == "" && !found && !f.policy.isInRoots(p) {
			problem = "nod finds no git repository whose configuration it could check."
		}
		if problem != "" {
			return problem
		}
	}
	return ""
}

// locateAll finds where a command's paths lead if it runs in the folders in. A pattern also counts as all that it
// matches now; if it climbs after a wildcard, or matches too much, its place is lost.
func (f *facts) locateAll(paths []shell.Access, in []string, e *expansion) []access {
	var found []access
	for _, a := range paths {
		p := f.locate(joinPath(f.input.folder, a.Path))
		if a.Past && (slices.Contains(in, a.Path) || a.Path == "." && slices.Contains(in, "")) { // all of the repository
			p = f.locate(cmp.Or(f.topOf(p.real), p.clean))
		}
		wild := strings.IndexAny(a.Path, "*?[")
		if !a.Bare || wild < 0 && (p.lost || p.relative || isThere(p.real)) {
			found = append(found, access{place: p, kind: a.Kind, only: a.Only, past: a.Past, bare: a.Bare})
		}
		if wild < 0 {
			continue
		}
		var matches []string
		ok := !p.lost && !p.relative && !strings.Contains(a.Path[wild:], "..") && len(found) <= maxPaths
		if ok {
			matches, ok = e.expand(filepath.FromSlash(p.clean))
		}
		if !ok || len(matches) > maxPaths {
			found = append(found, access{place: place{clean: p.clean, lost: true}, kind: a.Kind})
			continue
		}
		for _, m := range matches {
			if strings.HasSuffix(a.Path, "/") && isFile(m) {
				continue // */ matches folders only
			}
			found = append(found, access{place: f.locate(m), kind: a.Kind, only: a.Only, bare: a.Bare})
		}
	}
	return found
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// isThere reports whether a file exists, or nod cannot tell.
func isThere(path string) bool {
	_, err := isLink(path)
	return !ownfile.IsMissing(err)
}

func (c *Compiled) isInRoots(p place) bool {
	return slices.ContainsFunc(c.roots, p.isInside)
}

// nothing returns the reason for a call that nothing decided.
func (f *facts) nothing() string {
	if f.line == nil || f.line.onlyReads() || !isUnixShell(f.call.Tool) {
		return "no rule covers this"
	}
	verdicts, _ := f.judgeParts()
	says := func(reason string, state PartState) bool {
		return slices.ContainsFunc(verdicts, func(v verdict) bool { return v.part.Why == reason && v.state == state })
	}
	left := slices.DeleteFunc(slices.Clone(f.line.Reasons), func(reason string) bool {
		return says(reason, PartCovered) && !says(reason, PartNew)
	})
	return "no rule covers this; " + f.line.why(left)
}
