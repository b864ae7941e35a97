package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	suggestAfter   = 3   // like answers after which a rule is proposed
	maxSuggestions = 20  // nobody reads more of them
	maxCommands    = 20  // of one suggestion
	maxShownCalls  = 3   // as examples of one suggestion
	maxExample     = 300 // bytes
)

// runNote is what a person should know of a rule for commands before adding it.
const runNote = "also with other plain words, other files of the project and flags known to be harmless"

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
	refused := refusedCommands(past, today)
	for _, g := range group(past, today, now) {
		g.settle(refused)
		if len(g.Calls) < suggestAfter {
			continue
		}
		g.Rule.ID = freeID(g.Rule, p.Rules)
		if g.holds(past, p, places, now) {
			g.exemplify()
			found = append(found, g.Suggestion)
		}
	}
	slices.SortStableFunc(found, func(a, b Suggestion) int { return cmp.Compare(len(b.Calls), len(a.Calls)) })
	return found[:min(len(found), maxSuggestions)]
}

// likes are calls that one rule could decide.
type likes struct {
	Suggestion
	runs [][]string // of each call, when the rule is for commands: those that it must name
}

// group puts calls together that one rule could decide, and none does yet.
func group(past []Past, p *Compiled, now time.Time) []*likes {
	var all []*likes
	by := map[suggestKey]*likes{}
	for _, one := range past {
		rule, ok := ruleFor(one, p)
		if !ok || Decide(one.Call, p, now).Effect != Ask {
			continue
		}
		k := suggestKey{rule.Effect, rule.Agent, rule.Program, rule.Tool, rule.Path, rule.Command, ""}
		if len(rule.Run) > 0 {
			k.project = rule.CWD
		}
		g := by[k]
		if g == nil {
			g = &likes{Suggestion: Suggestion{Rule: rule}}
			by[k] = g
			all = append(all, g)
		}
		g.add(one.Call, rule.Run)
	}
	return all
}

type suggestKey struct {
	effect                                       Effect
	agent, program, tool, path, command, project string
}

func (g *likes) add(c Call, run []string) {
	g.Calls = append(g.Calls, c)
	if !slices.Contains(g.Folders, c.CWD) {
		g.Folders = append(g.Folders, c.CWD)
	}
	if len(run) > 0 {
		g.runs = append(g.runs, run)
	} else if len(g.Folders) > 1 {
		g.Rule.CWD = "" // asked in several projects: it holds in all
	}
}

// settle has a rule for commands name those that were allowed often and never refused, and leaves the calls that
// these let pass.
func (g *likes) settle(refused map[string]bool) {
	for changed := len(g.runs) > 0; changed; {
		times := map[string]int{}
		for _, run := range g.runs {
			for _, text := range run {
				times[text]++
			}
		}
		rare := func(text string) bool { return times[text] < suggestAfter || refused[text] }
		maps.DeleteFunc(times, func(text string, _ int) bool { return rare(text) })
		g.Rule.Run = slices.SortedFunc(maps.Keys(times), func(a, b string) int {
			return cmp.Or(cmp.Compare(times[b], times[a]), strings.Compare(a, b))
		})
		g.Rule.Run = g.Rule.Run[:min(len(g.Rule.Run), maxCommands)]
		changed = g.keep(func(run []string) bool {
			return !slices.ContainsFunc(run, func(text string) bool { return !slices.Contains(g.Rule.Run, text) })
		})
	}
}

// keep drops the calls whose commands do not fit, and reports whether there were any.
func (g *likes) keep(fits func(run []string) bool) (changed bool) {
	var kept likes
	for i, run := range g.runs {
		if fits(run) {
			kept.add(g.Calls[i], run)
		}
	}
	changed = len(kept.runs) < len(g.runs)
	g.Calls, g.Folders, g.runs = kept.Calls, kept.Folders, kept.runs
	return changed
}

// refusedCommands are those in command lines that the person denied.
func refusedCommands(past []Past, p *Compiled) map[string]bool {
	refused := map[string]bool{}
	for _, one := range past {
		if one.Effect != Deny {
			continue
		}
		r, _ := ruleFor(Past{one.Call, Allow}, p)
		for _, text := range r.Run {
			refused[text] = true
		}
	}
	return refused
}

// ruleFor is the narrowest rule that decides calls like this one: the new commands of a line in this project where
// each can be told by itself, else the same line, or files in the same project. There is none for a command that may
// bring secrets to light, and none for a tool whose input is neither: a rule would not bound what it does.
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
	leak, _ := f.mayLeak()
	switch {
	case f.input.isRun && leak != "" && one.Effect == Allow:
		return Rule{}, false
	case f.input.isRun && f.input.command != "":
		if r.Run = f.newCommands(); len(r.Run) > 0 && one.Effect == Allow {
			r.CWD, r.Note = f.project()+"/**", runNote
		} else {
			r.Run, r.Command = nil, f.input.command
		}
	case f.class == Write && len(f.reach()) > 0:
		r.Path, r.CWD = c.CWD+"/**", ""
	default:
		return Rule{}, false
	}
	return r, !strings.ContainsAny(r.Tool, "*?")
}

// newCommands are what a rule must name so that the command line may run. There are none where more than commands is
// new, where one deletes files, and where a rule would cover more than a grant of each part.
func (f *facts) newCommands() []string {
	verdicts, _ := f.judgeParts()
	if len(verdicts) == 0 || f.line.Whole != "" || f.line.outside != "" || !isPlainFolder(f.project()) {
		return nil
	}
	var texts []string
	for _, v := range verdicts {
		if v.state != PartNew {
			continue
		}
		text, ok := f.ruleText(v)
		if !ok {
			return nil
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// ruleText is what a rule must name to cover a part.
func (f *facts) ruleText(v verdict) (text string, ok bool) {
	if v.file != nil || v.part.doesMore() {
		return "", false
	}
	pattern, err := v.part.Pattern()
	if err != nil || !pattern.Covers(*v.part.Part, f.insideProject(v.part)) || pattern.HasPath() && !f.partRunsAtTop(v.part) {
		return "", false
	}
	return pattern.Rule()
}

// isPlainFolder reports whether a path stands for itself in a pattern.
func isPlainFolder(path string) bool {
	return filepath.IsAbs(path) && path != "/" && !strings.ContainsAny(path, `*?[]{}\!`)
}

// holds checks a suggestion against everything that the person decided.
func (g *likes) holds(past []Past, p Policy, places Places, now time.Time) bool {
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

// exemplify takes a few of the command lines as examples of a rule for commands, as far as they are short.
func (g *likes) exemplify() {
	if len(g.runs) == 0 {
		return
	}
	for _, c := range g.Calls {
		var in struct{ Command, Cmd string }
		if json.Unmarshal(c.Input, &in) == nil {
			g.Rule.Exemplify(cmp.Or(in.Command, in.Cmd))
		}
	}
}

// Exemplify adds a text to the calls that the rule is meant to match, when there is room for it and it holds. See
// [Examples] for its form.
func (r *Rule) Exemplify(text string) {
	if len(r.Examples.Match) >= maxShownCalls || text == "" || len(text) > maxExample || slices.Contains(r.Examples.Match, text) {
		return
	}
	with := *r
	with.Examples.Match = append(slices.Clone(r.Examples.Match), text)
	if with.Validate() == nil && with.CheckExamples() == nil {
		*r = with
	}
}

// freeID names a rule by what it is about, as no other rule is named.
func freeID(r Rule, rules []Rule) string {
	about := cmp.Or(r.Command, r.Tool+" "+filepath.Base(strings.TrimSuffix(r.Path, "/**")))
	if len(r.Run) == 1 {
		about = r.Run[0]
	} else if len(r.Run) > 1 {
		about = "commands " + filepath.Base(strings.TrimSuffix(r.CWD, "/**"))
	}
	words := strings.FieldsFunc(strings.ToLower(about),
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
