package policy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	suggestAfter   = 3  // like answers after which a rule is proposed
	maxSuggestions = 20 // nobody reads more of them
	maxCandidates  = 60 // rules that are tried, those with the most calls first
	maxCommands    = 20 // of one suggestion
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
// otherwise; what rules cannot decide is never proposed. Those with the most calls come first, twenty at most.
// The error is that of the context.
func (s *Simulation) Suggest(ctx context.Context, past []Past, now time.Time) ([]Suggestion, error) {
	candidates, err := group(ctx, past, s.rules, now)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(candidates, func(a, b *candidate) int { return cmp.Compare(len(b.Calls), len(a.Calls)) })
	candidates = candidates[:min(len(candidates), maxCandidates)]
	if err := oppose(ctx, candidates, past, s.rules, now); err != nil {
		return nil, err
	}
	var found []Suggestion
	taken := s.config.Rules
	for _, g := range candidates {
		if err := ctx.Err(); err != nil || len(found) == maxSuggestions {
			return found, err
		}
		g.Rule.ID = freeID(g.Rule, taken)
		if s.allows(g, now) {
			found, taken = append(found, g.Suggestion), slices.Concat(taken, []Rule{g.Rule})
		}
	}
	return found, nil
}

// A candidate is a rule, and calls that it could decide.
type candidate struct {
	Suggestion
	runs    [][]string // of each call, when the rule is for commands: those that it must name
	against []Call     // which the person decided otherwise, and the rule may be about
}

// group puts calls together that one rule could decide, and none does yet.
func group(ctx context.Context, past []Past, p *Compiled, now time.Time) ([]*candidate, error) {
	var all []*candidate
	by, refused := map[suggestKey]*candidate{}, map[string]bool{}
	for _, one := range past {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f := newFacts(&one.Call, p, now)
		if one.Effect == Deny {
			r, _ := f.ruleFor(Allow)
			for _, text := range r.Run {
				refused[text] = true
			}
		}
		rule, ok := f.ruleFor(one.Effect)
		if !ok || f.decision().Effect != Ask {
			continue
		}
		k := suggestKey{rule.Effect, rule.Agent, rule.Program, rule.Tool, rule.Path, rule.Command, ""}
		if len(rule.Run) > 0 {
			k.project = rule.CWD
		}
		g := by[k]
		if g == nil {
			g = &candidate{Suggestion: Suggestion{Rule: rule}}
			by[k] = g
			all = append(all, g)
		}
		g.add(one.Call, rule.Run)
	}
	return slices.DeleteFunc(all, func(g *candidate) bool {
		g.settle(refused)
		return len(g.Calls) < suggestAfter
	}), nil
}

// oppose notes for each candidate the calls that the person decided otherwise and its rule may be about.
func oppose(ctx context.Context, candidates []*candidate, past []Past, p *Compiled, now time.Time) error {
	rules := make([]compiledRule, len(candidates))
	effects := map[Effect]bool{}
	for i, g := range candidates {
		rules[i] = newCompiledRule(g.Rule, p.places.Home)
		effects[g.Rule.Effect] = true
	}
	for _, one := range past {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(effects) == 1 && effects[one.Effect] {
			continue
		}
		f := newFacts(&one.Call, p, now)
		for i, g := range candidates {
			r := &rules[i]
			if r.Effect != one.Effect && r.appliesTo(f) && (r.Effect == Allow || r.matches(f)) {
				g.against = append(g.against, one.Call)
			}
		}
	}
	return nil
}

type suggestKey struct {
	effect                                       Effect
	agent, program, tool, path, command, project string
}

func (g *candidate) add(c Call, run []string) {
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
func (g *candidate) settle(refused map[string]bool) {
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
func (g *candidate) keep(fits func(run []string) bool) (changed bool) {
	var kept candidate
	for i, run := range g.runs {
		if fits(run) {
			kept.add(g.Calls[i], run)
		}
	}
	changed = len(kept.runs) < len(g.runs)
	g.Calls, g.Folders, g.runs = kept.Calls, kept.Folders, kept.runs
	return changed
}

// ruleFor is the narrowest rule that decides calls like this one: the new commands of a line in this project where
// each can be told by itself, else the same line, or files in the same project. There is none for a command that may
// bring secrets to light, and none for a tool whose input is neither: a rule would not bound what it does.
func (f *facts) ruleFor(effect Effect) (Rule, bool) {
	c := f.call
	if f.mustAsk().Effect == Ask || !isPlainFolder(c.CWD) {
		return Rule{}, false
	}
	r := Rule{Effect: effect, Agent: c.Agent, Tool: c.Tool, CWD: c.CWD}
	if program := c.Program(); isPlainFolder(program) {
		r.Program = program
	}
	switch {
	case f.input.isRun && effect == Allow && f.mayLeak().Effect == Ask:
		return Rule{}, false
	case f.input.isRun && f.input.command != "":
		if r.Run = f.newCommands(); len(r.Run) > 0 && effect == Allow {
			r.CWD, r.Note = f.project()+"/**", runNote
		} else {
			r.Run, r.Command = nil, f.input.command
		}
	case f.class == Write && f.reachesOnly(f.cwd()):
		r.Path, r.CWD = c.CWD+"/**", ""
	default:
		return Rule{}, false
	}
	return r, !strings.ContainsAny(r.Tool, "*?")
}

// reachesOnly reports whether the call reaches something in a folder, and nothing else.
func (f *facts) reachesOnly(folder place) bool {
	return len(f.reach()) > 0 && !slices.ContainsFunc(f.reach(), func(a access) bool { return !folder.holds(a.place) })
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
	if err != nil || !pattern.Covers(*v.part.Part, f.insideProject(v.part)) ||
		pattern.HasPath() && !f.partRunsAtTop(v.part) {
		return "", false
	}
	return pattern.Rule()
}

// isPlainFolder reports whether a path stands for itself in a pattern.
func isPlainFolder(path string) bool {
	return filepath.IsAbs(path) && path != "/" && !strings.ContainsAny(path, `*?[]{}\!`)
}

// allows checks a suggestion against what the person decided.
func (s *Simulation) allows(g *candidate, now time.Time) bool {
	with, err := s.With(g.Rule) // which validates the rule
	if err != nil {
		return false
	}
	decides := func(c Call) bool { return Decide(c, with.rules, now).Rule == g.Rule.ID }
	return !slices.ContainsFunc(g.against, decides) &&
		!slices.ContainsFunc(g.Calls, func(c Call) bool { return !decides(c) })
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
