package policy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	suggestAfter   = 3  // like answers after which a rule is proposed
	maxSuggestions = 20 // nobody reads more of them
)

// A Past is a call that the person decided: Effect is Allow or Deny.
type Past struct {
	Call   Call
	Effect Effect
}

// A Suggestion is a rule that would have given the answers that the person gave. It is only ever proposed.
type Suggestion struct {
	Rule    Rule
	Calls   []Call   // those that it would have decided, oldest first
	Folders []string // where they came from, in order of their first
}

// Suggest proposes rules that would have spared the person questions they always answered alike. A rule is
// proposed only when it would have decided every call that it rests on, and none that the person decided
// otherwise; what rules cannot decide is never proposed. Those with the most calls come first.
func (s *Store) Suggest(past []Past) []Suggestion {
	return suggest(past, s.Config().Policy, s.places, s.now())
}

func suggest(past []Past, p Policy, places Places, now time.Time) []Suggestion {
	today, err := Compile(p, places)
	if err != nil {
		return nil
	}
	var found []Suggestion
	for _, g := range group(past, today, now) {
		if len(g.Calls) < suggestAfter {
			continue
		}
		g.Rule.ID = freeID(g.Rule, p.Rules)
		if g.holds(past, p, places, now) {
			found = append(found, *g)
		}
	}
	slices.SortStableFunc(found, func(a, b Suggestion) int { return cmp.Compare(len(b.Calls), len(a.Calls)) })
	return found[:min(len(found), maxSuggestions)]
}

// group puts calls together that one rule could decide, and none does yet.
func group(past []Past, p *Compiled, now time.Time) []*Suggestion {
	var all []*Suggestion
	by := map[suggestKey]*Suggestion{}
	for _, one := range past {
		rule, ok := ruleFor(one, p)
		if !ok || Decide(one.Call, p, now).Effect != Ask {
			continue
		}
		k := suggestKey{rule.Effect, rule.Agent, rule.Program, rule.Tool, rule.Path, rule.Command}
		g := by[k]
		if g == nil {
			g = &Suggestion{Rule: rule}
			by[k] = g
			all = append(all, g)
		}
		g.Calls = append(g.Calls, one.Call)
		if !slices.Contains(g.Folders, one.Call.CWD) {
			g.Folders = append(g.Folders, one.Call.CWD)
		}
		if len(g.Folders) > 1 {
			g.Rule.CWD = "" // asked in several projects: it holds in all
		}
	}
	return all
}

type suggestKey struct {
	effect                              Effect
	agent, program, tool, path, command string
}

// ruleFor is the narrowest rule that decides calls like this one: the same command, or files in the same
// project. There is none for a tool whose input is neither: a rule would not bound what it does.
func ruleFor(one Past, p *Compiled) (Rule, bool) {
	c := one.Call
	f := newFacts(&c, p, time.Time{})
	if id, _ := f.mustAsk(); id != "" || !isPlainFolder(c.CWD) {
		return Rule{}, false
	}
	r := Rule{Effect: one.Effect, Agent: c.Agent, Tool: c.Tool, CWD: c.CWD}
	if program := c.Program(); isPlainFolder(program) {
		r.Program = program
	}
	switch {
	case f.input.isRun && f.input.command != "":
		r.Command = f.input.command
	case f.class == Write && len(f.reach()) > 0:
		r.Path, r.CWD = c.CWD+"/**", ""
	default:
		return Rule{}, false
	}
	return r, !strings.ContainsAny(r.Tool, "*?")
}

// isPlainFolder reports whether a path stands for itself in a pattern.
func isPlainFolder(path string) bool {
	return filepath.IsAbs(path) && path != "/" && !strings.ContainsAny(path, `*?[]{}\!`)
}

// holds checks a suggestion against everything that the person decided.
func (g *Suggestion) holds(past []Past, p Policy, places Places, now time.Time) bool {
	if g.Rule.Validate() != nil {
		return false
	}
	p.Rules = append(slices.Clone(p.Rules), g.Rule)
	with, err := Compile(p, places)
	if err != nil {
		return false
	}
	for _, one := range past {
		d := Decide(one.Call, with, now)
		if d.Rule == g.Rule.ID && d.Effect != one.Effect {
			return false // the person once said otherwise
		}
	}
	return !slices.ContainsFunc(g.Calls, func(c Call) bool { return Decide(c, with, now).Rule != g.Rule.ID })
}

// freeID names a rule by what it is about, as no other rule is named.
func freeID(r Rule, rules []Rule) string {
	words := strings.FieldsFunc(strings.ToLower(cmp.Or(r.Command, r.Tool+" "+filepath.Base(strings.TrimSuffix(r.Path, "/**")))),
		func(c rune) bool {
			return c > 'z' || !strings.ContainsRune(idLetters, c) || strings.ContainsRune("._-", c)
		})
	base := strings.Join(words[:min(len(words), 4)], "-")
	base = string(r.Effect) + "-" + cmp.Or(base[:min(len(base), 40)], "rule")
	base = strings.TrimSuffix(base, "-")
	for id, n := base, 2; ; id, n = fmt.Sprintf("%s-%d", base, n), n+1 {
		if !slices.ContainsFunc(rules, func(o Rule) bool { return o.ID == id }) {
			return id
		}
	}
}
