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
			if allow.effect == policy.Allow && allow.rank >= deny.rank && slices.ContainsFunc(allow.rules, deny.touches) && allow.rank != sameRank {
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
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' })
	name = strings.Join(parts, "-")
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
	prefixAllow = "nod lets commands pass that surely only read, and asks once for others: allow this one for always when it comes"
	prefixDeny  = "nod's rules match whole commands only: nod asks about this one anyway, unless a rule or an earlier answer allows it"
)

func prefixReason(effect policy.Effect) string {
	if effect == policy.Allow {
		return prefixAllow
	}
	return prefixDeny
}
