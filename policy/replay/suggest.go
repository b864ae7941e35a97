package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nod/policy"
)

const (
	maxRules    = 10 // more of them nobody looks at
	minSpared   = 3  // a rule for less is not worth a look
	maxCommands = 20 // of one rule
	maxExamples = 10 // that are tried, of one rule
)

// A candidate is a rule that would let calls pass.
type candidate struct {
	rule     policy.Rule
	times    int
	examples []string // calls that it is about, as a rule's examples
}

// want takes note of the rules that would let a call pass.
func (t *tally) want(c policy.Call) {
	if t.wanted == nil {
		return
	}
	for _, rule := range t.sim.Suggest(c) {
		key, err := json.Marshal(rule)
		if err != nil {
			continue
		}
		w := t.wanted[string(key)]
		if w == nil {
			if len(t.wanted) >= maxListed {
				continue
			}
			w = &candidate{rule: rule}
			t.wanted[string(key)] = w
		}
		w.times++
		w.exemplify(c)
	}
}

// exemplify adds a call to the examples that nod may hold the rule to. The command of a rule is example enough.
func (w *candidate) exemplify(c policy.Call) {
	if w.rule.Command != "" || len(w.examples) >= maxExamples {
		return
	}
	if example := example(c); !slices.Contains(w.examples, example) {
		w.examples = append(w.examples, example)
	}
}

// example writes a call as a rule's example: a command as it is, of others only where they write.
func example(c policy.Call) string {
	var in map[string]any
	if json.Unmarshal(c.Input, &in) != nil {
		return ""
	}
	for _, field := range []string{"command", "cmd"} {
		if command, ok := in[field].(string); ok && command != "" && command[0] != '{' {
			return command
		}
	}
	maps.DeleteFunc(in, func(key string, _ any) bool {
		return key != "file_path" && key != "notebook_path" && key != "path"
	})
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	call := struct {
		Tool  string         `json:"tool"`
		Input map[string]any `json:"input"`
	}{c.Tool, in}
	if e.Encode(call) != nil {
		return ""
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// candidates are the rules that would let most calls pass.
func (t *tally) candidates() []policy.Rule {
	var rules []policy.Rule
	for _, w := range together(byTimes(slices.Collect(maps.Values(t.wanted)))) {
		if len(rules) == maxRules {
			break
		}
		if w.rule.ID = "x"; w.rule.Validate() != nil {
			continue
		}
		for _, example := range w.examples {
			w.rule.Exemplify(example)
		}
		rules = append(rules, w.rule)
	}
	return rules
}

// byTimes sorts candidates, the one that would let most calls pass first.
func byTimes(list []*candidate) []*candidate {
	about := func(w *candidate) string { return w.rule.Command + w.rule.Path + strings.Join(w.rule.Run, " ") }
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(about(a), about(b)))
	})
	return list
}

// together makes one rule of those for commands that differ in nothing else. A call may need several of them.
func together(list []*candidate) []*candidate {
	var all []*candidate
	by := map[string]*candidate{}
	for _, w := range list {
		if w.times < minSpared {
			break
		}
		beside := w.rule
		beside.Run = nil
		key, err := json.Marshal(beside)
		first := by[string(key)]
		switch {
		case len(w.rule.Run) == 0 || err != nil:
			all = append(all, w)
		case first == nil:
			by[string(key)] = w
			all = append(all, w)
		case len(first.rule.Run) < maxCommands:
			first.rule.Run = append(slices.Clone(first.rule.Run), w.rule.Run...)
			first.times += w.times
			first.examples = append(w.examples[:min(1, len(w.examples))], first.examples...)
		}
	}
	return byTimes(all)
}

// suggest puts into the report what the rules did in the second run.
func (r *Report) suggest(first, second *tally, rules []policy.Rule) {
	r.Rules = &Rules{Rules: []Rule{}, Counts: second.all}
	for _, rule := range rules {
		n := second.byRule[rule.ID]
		if n == 0 {
			continue
		}
		spared := fmt.Sprintf("would have spared %d of %d prompts", n, first.all.Asked)
		if rule.Note != "" {
			spared += "; " + rule.Note
		}
		rule.Note = spared
		r.Rules.Rules = append(r.Rules.Rules, Rule{rule, n})
	}
	slices.SortStableFunc(r.Rules.Rules, func(a, b Rule) int { return cmp.Compare(b.Spares, a.Spares) })
}
