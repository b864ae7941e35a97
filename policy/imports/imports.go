// Package imports translates the permission files of agents into rules of nod.
//
// A translated allow is never wider than the original, and a translated deny or ask never narrower. What
// cannot be said in nod's rules under that condition is left out, and listed with the reason. Nothing here
// runs what a file says or writes anything.
package imports

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"nod/policy"
	"nod/policy/shell"
)

// Agents are the agents whose files can be read.
var Agents = []string{"claude-code", "codex", "gemini-cli"}

// A File is one permission file of an agent.
type File struct {
	Path    string
	Project string // absolute folder of the project whose file it is; empty for the user's own
	Text    []byte
}

// Untranslated is one thing in a file that nod's rules cannot say.
type Untranslated struct {
	Text   string `json:"text"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Result is what the files of an agent come to.
type Result struct {
	Rules   []policy.Rule  `json:"rules"`
	Left    []Untranslated `json:"left"`
	Present int            `json:"present"` // rules left out because they are there already
}

// An entry is one statement of a file: either rules, or the reason why there are none.
type entry struct {
	text   string
	line   int
	file   string
	effect policy.Effect
	rules  []policy.Rule
	names  []string // readable parts of the rules' ids, one for each of rules
	reason string
	rank   int // Gemini CLI: the highest decides; the same for all elsewhere

	// touches reports whether a deny or ask may take back something that the rule allows.
	touches func(policy.Rule) bool
}

// Read translates all files of an agent at once, because a deny in one of them limits what another allows.
// Rules that are in existing already are counted, not repeated.
func Read(agent string, files []File, existing []policy.Rule) (Result, error) {
	read, known := map[string]func(File) ([]*entry, error){
		"claude-code": readClaude, "codex": readCodex, "gemini-cli": readGemini,
	}[agent]
	if !known {
		return Result{}, fmt.Errorf("%q: want %s", agent, strings.Join(Agents, ", "))
	}
	var entries []*entry
	for _, f := range files {
		if f.Project != "" && !filepath.IsAbs(f.Project) {
			return Result{}, fmt.Errorf("%s: the project %q is no absolute folder", f.Path, f.Project)
		}
		found, err := read(f)
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

// checkRules ties the rules of an entry to the agent and drops them all when nod would refuse one.
func (e *entry) checkRules(agent string) {
	for i := range e.rules {
		r := &e.rules[i]
		r.Agent, r.Effect = agent, e.effect
		r.Note = fmt.Sprintf("from %s, line %d", filepath.ToSlash(e.file), e.line)
		if len(r.Run) > 0 && r.Effect == policy.Allow {
			r.Note += runNote
		}
		probe := *r
		probe.ID = "probe"
		if err := probe.Validate(); err != nil && e.reason == "" {
			e.reason = "nod would refuse the rule: " + err.Error()
		}
	}
	if e.reason == "" && len(e.rules) == 0 {
		e.reason = "nod has no rule that says this"
	}
}

// settle drops allows that would be wider in nod than where they come from: those that a deny or ask which
// could not be translated takes back, and those that win over one there, where in nod the strictest wins.
func settle(entries []*entry) {
	for _, deny := range entries {
		if deny.effect == policy.Allow || deny.touches == nil {
			continue
		}
		for _, allow := range entries {
			if allow.effect == policy.Allow && allow.rank >= deny.rank && allow.rank != sameRank &&
				slices.ContainsFunc(allow.rules, deny.touches) {
				allow.leave("it conflicts with %s:%d, which it wins over there; in nod the strictest rule wins", deny)
				deny.leave("it conflicts with %s:%d, which wins over it there; in nod the strictest rule wins", allow)
			}
		}
	}
	for _, deny := range entries {
		if deny.effect == policy.Allow || deny.touches == nil || deny.reason == "" {
			continue
		}
		for _, allow := range entries {
			if allow.effect == policy.Allow && slices.ContainsFunc(allow.rules, deny.touches) {
				allow.leave("%s:%d may take back a part of it, and cannot be translated", deny)
			}
		}
	}
}

// sameRank is the rank of entries whose agent lets the strictest win, as nod does.
const sameRank = -1

func (e *entry) leave(format string, because *entry) {
	e.reason = cmp.Or(e.reason, fmt.Sprintf(format, because.file, because.line))
}

func collect(entries []*entry, existing []policy.Rule) Result {
	result := Result{Rules: []policy.Rule{}, Left: []Untranslated{}}
	for _, e := range entries {
		if e.reason != "" {
			result.Left = append(result.Left, Untranslated{e.text, e.file, e.line, e.reason})
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

// saysTheSame compares all that decides.
func saysTheSame(a, b policy.Rule) bool {
	a.ID, a.Note, b.ID, b.Note = "", "", "", ""
	return reflect.DeepEqual(a, b)
}

// freeID makes a readable id that no rule has.
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

// The reasons that several agents' files share.
const (
	prefixAllow = "nod lets commands pass that surely only read, and asks once for others: " +
		"allow this one for always when it comes"
	prefixDeny = "nod's rules cannot name this: nod asks about it anyway, unless a rule or an earlier answer allows it"
	ofProject  = "it holds for the sessions of a project wherever they work, and nod knows only the folder of each call"
)

// runNote says how a rule for commands differs from where it comes from.
const runNote = "; with flags known to be harmless and files of the project only"

func prefixReason(effect policy.Effect) string {
	if effect == policy.Allow {
		return prefixAllow
	}
	return prefixDeny
}

// addRun translates commands that begin with one of the prefixes. What asks or denies holds for all tools that run
// commands; in a project's file it would hold for too little.
func (e *entry) addRun(agent, tool, project string, prefixes ...string) {
	for _, prefix := range prefixes {
		if !isSaid(prefix, e.effect) {
			e.reason = prefixReason(e.effect)
			return
		}
	}
	switch {
	case len(prefixes) == 0:
		e.reason = prefixReason(e.effect)
	case e.effect != policy.Allow && project != "":
		e.reason = ofProject
	case e.effect != policy.Allow:
		e.add(agent+"-run-"+prefixes[0], policy.Rule{Run: prefixes})
	default:
		e.add(agent+"-run-"+prefixes[0], policy.Rule{Tool: tool, Run: prefixes, CWD: inside(project)})
	}
}

// isSaid reports whether a rule can say that a command begins so. One that allows must not hold for more: of flags
// it says only that they may be there, and of interpreters it knows exact lines only. One that does not must hold for
// all.
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
	return p.Text == "" && len(p.Flags) == 0 && strings.Join(p.Words, " ") == prefix
}

// takesFrom reports whether what begins with the prefix may be a part of what a rule for commands allows: one
// begins with the other, or the prefix is a program that runs another, which nod looks through.
func takesFrom(prefix string, r policy.Rule) bool {
	return slices.ContainsFunc(r.Run, func(run string) bool {
		if strings.HasPrefix(run+" ", prefix) || strings.HasPrefix(prefix+" ", run) {
			return true
		}
		examples := policy.Examples{NoMatch: []string{prefix + " " + run}}
		around := policy.Rule{ID: "x", Effect: policy.Allow, Run: r.Run, Examples: examples}
		return around.CheckExamples() != nil
	})
}
