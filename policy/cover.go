package policy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"nod/policy/shell"
	"nod/policy/shell/language"
)

// A command line may run if every part of it may: each simple command only reads, or a rule or a grant covers
// it, and every file that output is redirected to is covered as well.

type partIndex struct {
	run    map[string][]*compiledRule // by the program that a pattern starts with
	writes []*compiledRule            // those that allow writing below a path
}

func newPartIndex(rules []compiledRule) partIndex {
	ix := partIndex{run: map[string][]*compiledRule{}}
	for i := range rules {
		r := &rules[i]
		if !r.Effect.Permits() {
			continue
		}
		for _, t := range r.run {
			if list := ix.run[t.Words[0]]; len(list) == 0 || list[len(list)-1] != r {
				ix.run[t.Words[0]] = append(list, r)
			}
		}
		if r.Effect == Allow && r.path != nil && (r.Class == "" || r.Class == Write) && r.Command == "" &&
			len(r.run) == 0 && r.Host == "" && r.Server == "" && len(r.Args) == 0 {
			ix.writes = append(ix.writes, r)
		}
	}
	return ix
}

// matchesRun reports whether a rule that does not allow is about any part of the command, or of what else the command
// may be. What a rule permits is weighed part by part.
func (r *compiledRule) matchesRun(f *facts) bool {
	if f.line == nil || r.Effect == Allow {
		return false
	}
	isMet := func(p shell.Part) bool {
		return slices.ContainsFunc(r.run, func(t shell.Pattern) bool { return t.Meets(p) })
	}
	return slices.ContainsFunc(f.line.Parts, isMet) || slices.ContainsFunc(f.line.Readings, isMet)
}

// isBound reports whether some rule asks about or denies commands of the call.
func (f *facts) isBound() bool {
	return slices.ContainsFunc(f.policy.rules, func(r compiledRule) bool {
		return len(r.run) > 0 && !r.Effect.Permits() && r.appliesTo(f)
	})
}

// PartState is how the policy classifies a part of a command line.
type PartState string

// The states of parts.
const (
	PartReads   PartState = "reads"
	PartCovered PartState = "covered" // by a rule or a grant
	PartNew     PartState = "new"
)

// A CommandPart is a part of a command line as a prompt shows it.
type CommandPart struct {
	Text  string    `json:"text"`
	State PartState `json:"state"`
	By    string    `json:"by,omitempty"`  // id of the rule or grant that covers it
	Why   string    `json:"why,omitempty"` // one sentence: why it does not only read; empty if it does
}

type verdict struct {
	part  *linePart
	file  *access // set: the verdict is about this file that output goes to
	state PartState
	by    Decision // the decision of the rule or grant that covers it
}

func (v verdict) coveredBy(d Decision) verdict {
	v.state, v.by = PartCovered, d
	return v
}

// judgeParts weighs the parts of the command, once. ok says that it may run: no part is new, and nothing else matters.
func (f *facts) judgeParts() (list []verdict, ok bool) {
	if !f.isJudged {
		f.verdicts, f.isCovered = f.judge()
		f.isJudged = true
	}
	return f.verdicts, f.isCovered
}

func (f *facts) judge() (list []verdict, ok bool) {
	if f.line == nil || !f.isPlainShell() || f.line.Unreadable {
		return nil, false
	}
	ok = f.line.Whole == "" && f.line.outside == ""
	for i := range f.line.parts {
		p := &f.line.parts[i]
		if p.Within {
			continue
		}
		v := f.judgePart(p)
		list, ok = append(list, v), ok && v.state != PartNew
		for j := range p.output {
			v := f.judgeWrite(p, &p.output[j])
			list, ok = append(list, v), ok && v.state != PartNew
		}
	}
	return list, ok && len(list) > 0
}

func (f *facts) judgePart(p *linePart) verdict {
	v := verdict{part: p, state: PartNew}
	known := !p.Repository || f.line.repository == ""
	if p.Reads && known && f.policy.auto[ReadOnly.care()] {
		v.state = PartReads
		return v
	}
	if r := f.policy.parts.covers(f, p); r != nil {
		return v.coveredBy(r.decision())
	}
	if g := f.grantForPart(p); g != nil {
		return v.coveredBy(g.decision())
	}
	if p.Understood && known {
		return f.judgeWriter(p)
	}
	return v
}

// judgeWriter weighs a part that does nothing but read and write the files that it names.
func (f *facts) judgeWriter(p *linePart) verdict {
	v := verdict{part: p, state: PartNew}
	if p.doesMore() {
		return v
	}
	for i := range p.reach {
		if p.reach[i].kind != shell.Write {
			continue
		}
		w := f.judgeWrite(p, &p.reach[i])
		if w.state == PartNew {
			return verdict{part: p, state: PartNew}
		}
		v = v.coveredBy(w.by)
	}
	return v
}

func (f *facts) judgeWrite(p *linePart, a *access) verdict {
	v := verdict{part: p, file: a, state: PartNew}
	for _, r := range f.policy.parts.writes {
		if a.isInside(r.path) && r.appliesTo(f) && (r.Class == "" || r.Class == Write) {
			return v.coveredBy(r.decision())
		}
	}
	if g := f.grantForWrite(a.place); g != nil {
		return v.coveredBy(g.decision())
	}
	return v
}

func (ix partIndex) covers(f *facts, p *linePart) *compiledRule {
	if len(p.Argv) == 0 {
		return nil
	}
	for _, r := range ix.run[p.Argv[0]] {
		covers := func(t shell.Pattern) bool {
			return t.Covers(*p.Part, f.insideProject(p)) && (!t.HasPath() || f.partRunsAtTop(p)) && f.isOwn(p) &&
				(t.Text != "" || !f.removesProject(p))
		}
		if r.appliesTo(f) && r.matchesClass(f) && f.partRunsIn(p, r.cwd) &&
			slices.ContainsFunc(r.run, covers) {
			return r
		}
	}
	return nil
}

func (r *compiledRule) appliesTo(f *facts) bool {
	isMatch := func(program string) bool { return r.program.match(filepath.ToSlash(program)) }
	return r.inForce(f.now) && (r.Session == "" || r.Session == f.call.Session) &&
		(r.Agent == "" || r.Agent == f.call.Agent) && (r.Tool == "" || language.Wildcard(r.Tool, f.call.Tool)) &&
		(r.program == nil || slices.ContainsFunc(f.call.Programs, isMatch)) && (r.cwd == nil || r.matchesFolder(f))
}

func (f *facts) partRunsIn(p *linePart, folder *pattern) bool {
	return folder == nil || !slices.ContainsFunc(p.In, func(in string) bool { return !f.locateIn(in).isInside(folder) })
}

func (f *facts) partRunsAtTop(p *linePart) bool {
	return !slices.ContainsFunc(p.In, func(in string) bool { return f.locateIn(in).clean != f.project() })
}

// locateIn works out where a path in a command leads, relative to where its shell starts.
func (f *facts) locateIn(path string) place {
	return f.locate(joinPath(f.input.folder, cmp.Or(path, ".")))
}

// insideProject returns a test whether an operand of a part lies in the project, wherever the part may run. A task may
// change its operands, so they must also be the project's own and not guarded.
func (f *facts) insideProject(p *linePart) func(operand string) bool {
	isStaged := len(p.Argv) > 1 && p.Argv[0] == "git" && p.Argv[1] == "add" // which leaves the files as they are
	changes := !p.Understood && !isStaged
	return func(operand string) bool {
		return !slices.ContainsFunc(p.In, func(in string) bool {
			place := f.locateIn(joinPath(in, operand))
			return !f.inProject(place) || !p.Understood && f.isForeign(place) || changes && f.isGuarded(place)
		})
	}
}

func (f *facts) isGuarded(p place) bool {
	named := f.policy.guard.named
	return guarded().find(p.clean, named) != nil || guarded().find(p.real, named) != nil
}

// isOwn reports whether a part runs in the project's own folders, if that matters: a task does what they say.
func (f *facts) isOwn(p *linePart) bool {
	return p.Understood || !slices.ContainsFunc(p.In, func(in string) bool { return f.isForeign(f.locateIn(in)) })
}

// isForeign reports whether a place in the project was written by others: packages, or another repository.
func (f *facts) isForeign(p place) bool {
	return f.project() != "" && (isForeign(p.clean, f.projectTop) || isForeign(p.real, f.realProject))
}

func isForeign(path, top string) bool {
	rest, isBelow := strings.CutPrefix(path, strings.TrimSuffix(top, "/")+"/")
	if !isBelow {
		return false
	}
	if foreign().find(rest, "") != nil {
		return true
	}
	for ; len(path) > len(top); path = filepath.Dir(path) {
		for _, name := range []string{".git", "HEAD"} { // a HEAD makes a folder a repository that has no .git
			if isThere(filepath.Join(path, name)) {
				return true
			}
		}
	}
	return false
}

// removesProject reports whether a part removes the whole project, or something of its repository. Allowing other
// removals does not include that.
func (f *facts) removesProject(p *linePart) bool {
	project := f.project()
	return slices.ContainsFunc(p.reach, func(a access) bool {
		return a.kind == shell.Delete && slices.ContainsFunc(a.paths(), func(path string) bool {
			return isWithin(project, path) || isWithin(path, project+"/.git") || isWithin(f.realProject, path)
		})
	})
}

func joinPath(folder, path string) string {
	if folder == "" || filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") {
		return path
	}
	return folder + "/" + path
}

func (f *facts) inProject(p place) bool {
	project := f.project()
	return project != "" && !p.lost && !p.relative && isWithin(p.clean, project) && isWithin(p.real, f.realProject)
}

// project returns the top of the git repository around the folder that the call works in, or that folder. It returns ""
// if there is none, or if it contains the home folder.
func (f *facts) project() string {
	if f.isProject {
		return f.projectTop
	}
	f.isProject = true
	cwd := f.cwd()
	if cwd.lost || cwd.relative || f.policy.guard.holdsHome(cwd.clean) || f.policy.guard.holdsHome(cwd.real) {
		return ""
	}
	f.projectTop, f.realProject = cwd.clean, cwd.real
	if cwd.clean == cwd.real {
		if top := f.topOf(cwd.real); top != "" {
			f.projectTop, f.realProject = top, top
			return top
		}
	}
	if f.policy.isPast {
		f.beganIn()
	}
	return f.projectTop
}

// topOf returns the top of the git repository around a folder, or "" if there is none below the home folder.
func (f *facts) topOf(folder string) string {
	for top := folder; top != "" && !f.policy.guard.holdsHome(top); top = filepath.Dir(top) {
		if isThere(filepath.Join(top, ".git")) {
			return top
		}
		if filepath.Dir(top) == top {
			break
		}
	}
	return ""
}

// beganIn treats the folder in which a past session began as its project, if the session still works there.
func (f *facts) beganIn() {
	top := f.locate(f.policy.tops[sessionKey(f.call)])
	if filepath.IsAbs(top.clean) && top.holds(f.cwd()) &&
		!f.policy.guard.holdsHome(top.clean) && !f.policy.guard.holdsHome(top.real) {
		f.projectTop, f.realProject = top.clean, top.real
	}
}
