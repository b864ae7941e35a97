// Package imports translates the permission files of agents into rules of nod.
//
// A translated allow is never wider than the original, and a translated deny or ask never narrower. Statements that
// nod's rules cannot express under that condition are left out and listed with a reason. The package executes and
// writes nothing.
package imports

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"nod/ownfile"
	"nod/policy"
	"nod/policy/shell"
)

// A Source says where an agent keeps rules of its own, and how to read them.
type Source struct {
	Folder  string   // the agent's, below a project: ".claude"
	Own     []string // patterns of the user's files, below the agent's own folder
	Project []string // patterns of a project's files, below its folder
	Read    func(File) ([]*Entry, error)
}

// A File is one permission file of an agent.
type File struct {
	Path    string
	Project string // absolute folder of the file's project; empty for the user's own
	Text    []byte
}

// untranslated is a statement that nod's rules cannot express.
type untranslated struct {
	Text   string `json:"text"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Result is the translation of an agent's files.
type Result struct {
	Rules   []policy.Rule  `json:"rules"`
	Left    []untranslated `json:"left"`
	Present int            `json:"present"` // rules that exist already, left out
}

// An Entry is one statement of a file: rules, or the reason why there are none.
type Entry struct {
	Text   string // as in the file
	Line   int
	Effect policy.Effect
	Reason string // empty if there are rules
	Rank   int    // the highest decides; [SameRank] if the strictest does

	file  string
	rules []policy.Rule
	names []string // readable parts of the rules' ids, one for each of rules

	// Touches reports whether a deny or ask could overrule some of what the rule allows.
	Touches func(policy.Rule) bool
}

// Translate translates all files of an agent at once, because a deny in one limits the allows of another. It counts
// existing rules and leaves them out.
func (s *Source) Translate(agent string, files []File, existing []policy.Rule) (Result, error) {
	var entries []*Entry
	for _, f := range files {
		if f.Project != "" && !filepath.IsAbs(f.Project) {
			return Result{}, fmt.Errorf("%s: the project %q is not an absolute path", f.Path, f.Project)
		}
		found, err := s.Read(f)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", f.Path, err)
		}
		for _, e := range found {
			e.file = f.Path
			e.checkRules(agent)
		}
		entries = append(entries, found...)
	}
	settle(entries)
	return collect(entries, existing), nil
}

// checkRules ties the rules of an entry to the agent. If nod would refuse one, it drops all.
func (e *Entry) checkRules(agent string) {
	for i := range e.rules {
		r := &e.rules[i]
		r.Agent, r.Effect = agent, e.Effect
		r.Note = fmt.Sprintf("from %s, line %d", filepath.ToSlash(e.file), e.Line)
		if len(r.Run) > 0 && r.Effect == policy.Allow {
			r.Note += runNote
		}
		probe := *r
		probe.ID = "probe"
		if err := probe.Validate(); err != nil && e.Reason == "" {
			e.Reason = "nod would refuse the rule: " + err.Error()
		}
	}
	if e.Reason == "" && len(e.rules) == 0 {
		e.Reason = "nod has no rule that says this"
	}
}

// settle drops allows that would be wider in nod than in the agent: those limited by an untranslated deny or ask, and
// those that outrank one, because in nod the strictest rule wins.
func settle(entries []*Entry) {
	for _, deny := range entries {
		if deny.Effect == policy.Allow || deny.Touches == nil {
			continue
		}
		for _, allow := range entries {
			if allow.Effect == policy.Allow && allow.Rank >= deny.Rank && allow.Rank != SameRank &&
				slices.ContainsFunc(allow.rules, deny.Touches) {
				allow.leave("it conflicts with %s:%d, which it wins over there; in nod the strictest rule wins", deny)
				deny.leave("it conflicts with %s:%d, which wins over it there; in nod the strictest rule wins", allow)
			}
		}
	}
	for _, deny := range entries {
		if deny.Effect == policy.Allow || deny.Touches == nil || deny.Reason == "" {
			continue
		}
		for _, allow := range entries {
			if allow.Effect == policy.Allow && slices.ContainsFunc(allow.rules, deny.Touches) {
				allow.leave("%s:%d may take back a part of it, and cannot be translated", deny)
			}
		}
	}
}

// SameRank is the rank of entries whose agent, like nod, lets the strictest win.
const SameRank = -1

func (e *Entry) leave(format string, because *Entry) {
	e.Reason = cmp.Or(e.Reason, fmt.Sprintf(format, because.file, because.Line))
}

func collect(entries []*Entry, existing []policy.Rule) Result {
	result := Result{Rules: []policy.Rule{}, Left: []untranslated{}}
	for _, e := range entries {
		if e.Reason != "" {
			result.Left = append(result.Left, untranslated{e.Text, e.file, e.Line, e.Reason})
			continue
		}
		for i, r := range e.rules {
			all := slices.Concat(existing, result.Rules)
			if slices.ContainsFunc(all, func(o policy.Rule) bool { return !o.Disabled && saysTheSame(o, r) }) {
				result.Present++
				continue
			}
			r.ID = freeID(e.names[i], all)
			result.Rules = append(result.Rules, r)
		}
	}
	return result
}

func saysTheSame(a, b policy.Rule) bool {
	a.ID, a.Note, b.ID, b.Note = "", "", "", ""
	return reflect.DeepEqual(a, b)
}

func freeID(name string, taken []policy.Rule) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
	name = strings.Join(words, "-")
	name = strings.TrimRight(name[:min(len(name), 48)], "-")
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-%d", name, n)
		if !slices.ContainsFunc(taken, func(r policy.Rule) bool { return r.ID == id }) {
			return id
		}
	}
}

// Reasons that several agents share.
const (
	prefixAllow = "nod allows commands that only read, and asks about others once: choose Always for this one when " +
		"it asks"
	prefixDeny = "nod's rules can't express this: nod asks about it anyway, unless a rule or an earlier answer " +
		"allows it"

	// OfProject is the reason for leaving out a project's deny.
	OfProject = "it applies to a project's sessions wherever they work, but nod knows only the folder of each call"
)

const runNote = "; only with flags known to be harmless and project files"

// PrefixReason says why a rule for command prefixes is left out.
func PrefixReason(effect policy.Effect) string {
	if effect == policy.Allow {
		return prefixAllow
	}
	return prefixDeny
}

// AddRun translates commands that begin with one of the prefixes. A deny or ask applies to all tools that run commands;
// one in a project's file is left out, because it would hold for too little.
func (e *Entry) AddRun(agent, tool, project string, prefixes ...string) {
	for _, prefix := range prefixes {
		if !isSaid(prefix, e.Effect) {
			e.Reason = PrefixReason(e.Effect)
			return
		}
	}
	switch {
	case len(prefixes) == 0:
		e.Reason = PrefixReason(e.Effect)
	case e.Effect != policy.Allow && project != "":
		e.Reason = OfProject
	case e.Effect != policy.Allow:
		e.Add(agent+"-run-"+prefixes[0], policy.Rule{Run: prefixes})
	default:
		e.Add(agent+"-run-"+prefixes[0], policy.Rule{Tool: tool, Run: prefixes, CWD: Inside(project)})
	}
}

// isSaid reports whether a rule can express the prefix. An allow must not become wider: a rule can permit flags but not
// require them, and interpreters only by exact lines; a read-only prefix needs no rule. A deny or ask must not become
// narrower.
func isSaid(prefix string, effect policy.Effect) bool {
	p, err := shell.ParsePattern(prefix)
	if err != nil {
		return false
	}
	if effect != policy.Allow {
		r := policy.Rule{ID: "x", Effect: effect, Run: []string{prefix}}
		r.Examples.Match = []string{prefix, prefix + " other", "cd x && " + prefix + " --other"}
		return r.CheckExamples() == nil
	}
	isNeeded := !shell.Analyze(prefix).ReadOnly
	return isNeeded && p.Text == "" && len(p.Flags) == 0 && strings.Join(p.Words, " ") == prefix
}

// TakesFrom reports whether commands with the prefix may be among those that rule r allows: one begins with the other,
// or the prefix is a wrapper that nod looks through.
func TakesFrom(prefix string, r policy.Rule) bool {
	return slices.ContainsFunc(r.Run, func(run string) bool {
		if strings.HasPrefix(run+" ", prefix) || strings.HasPrefix(prefix+" ", run) {
			return true
		}
		examples := policy.Examples{NoMatch: []string{prefix + " " + run}}
		around := policy.Rule{ID: "x", Effect: policy.Allow, Run: r.Run, Examples: examples}
		return around.CheckExamples() != nil
	})
}

// Add adds a rule; name is the readable part of its id.
func (e *Entry) Add(name string, r policy.Rule) {
	e.rules, e.names = append(e.rules, r), append(e.names, name)
}

// Drop removes all rules and sets the reason.
func (e *Entry) Drop(reason string) { e.rules, e.names, e.Reason = nil, nil, reason }

// Always is an [Entry.Touches] that matches every rule.
func Always(policy.Rule) bool { return true }

// Inside is the pattern of a project's folder and its contents; "" without a project.
func Inside(project string) string {
	if project == "" {
		return ""
	}
	return Below(project, "**")
}

// Below prefixes the pattern p with a project's folder.
func Below(project, p string) string {
	return strings.TrimSuffix(policy.EscapeGlob(filepath.ToSlash(project)), "/") + "/" + p
}

const maxFile = 4 << 20

// Find opens the permission files that an agent reads when it works in a folder. own is the agent's folder; both are
// absolute.
func (s *Source) Find(own, folder string) ([]File, error) {
	paths, err := s.Paths(own, folder)
	if err != nil {
		return nil, err
	}
	return s.Open(paths, own)
}

// Paths names the files that [Source.Find] opens.
func (s *Source) Paths(own, folder string) (paths []string, err error) {
	add := func(base string, globs []string) error {
		for _, glob := range globs {
			found, err := fs.Glob(os.DirFS(base), glob)
			if err != nil {
				return fmt.Errorf("look for %s: %w", glob, err)
			}
			for _, name := range found {
				if path := filepath.Join(base, filepath.FromSlash(name)); !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
			}
		}
		return nil
	}
	err = errors.Join(add(own, s.Own), add(folder, s.Project))
	return paths, err
}

// Open reads files. A file outside the agent's folder counts as a project's: its allows hold in that project only.
func (s *Source) Open(paths []string, own string) ([]File, error) {
	var files []File
	for _, path := range paths {
		text, err := ownfile.ReadBehind(path, maxFile)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: path, Project: s.projectOf(abs, own), Text: text})
	}
	return files, nil
}

// projectOf is the parent of the agent's folder, or of the file; "" for the agent's own folder, except for local
// settings.
func (s *Source) projectOf(path, own string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		switch {
		case dir == filepath.Clean(own) && filepath.Base(path) != "settings.local.json":
			return ""
		case dir == filepath.Clean(own), filepath.Base(dir) == s.Folder:
			return filepath.Dir(dir)
		}
	}
	return filepath.Dir(path)
}
