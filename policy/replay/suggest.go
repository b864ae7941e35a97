package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"nod/policy"
)

const (
	maxRules    = 10  // more of them nobody looks at
	minSpared   = 3   // a rule for less is not worth a look
	maxExamples = 3   // of one rule
	maxExample  = 300 // bytes
)

// A candidate is a rule that would let calls pass.
type candidate struct {
	rule  policy.Rule
	times int
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

// exemplify adds a call to the examples that nod will hold the rule to. The command of a rule is example enough.
func (w *candidate) exemplify(c policy.Call) {
	of := &w.rule.Examples.Match
	if w.rule.Command != "" || len(*of) >= maxExamples {
		return
	}
	if example := example(c); len(example) <= maxExample && !slices.Contains(*of, example) {
		*of = append(*of, example)
	}
}

// example writes a call as a rule's example: a command as it is, of others only where they write.
func example(c policy.Call) string {
	var in map[string]any
	if json.Unmarshal(c.Input, &in) != nil {
		return ""
	}
	if command, ok := in["command"].(string); ok && command != "" && command[0] != '{' {
		return command
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
	list := slices.SortedFunc(maps.Values(t.wanted), func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.rule.Command+a.rule.Path, b.rule.Command+b.rule.Path))
	})
	var rules []policy.Rule
	for _, w := range list {
		if w.times < minSpared || len(rules) == maxRules {
			break
		}
		if w.rule.ID = "x"; w.rule.Validate() != nil {
			continue
		}
		if w.rule.CheckExamples() != nil {
			w.rule.Examples = policy.Examples{}
		}
		rules = append(rules, w.rule)
	}
	return rules
}

// suggest puts into the report what the rules did in the second run.
func (r *Report) suggest(first, second *tally, rules []policy.Rule) {
	r.Rules = &Rules{Rules: []Rule{}, Counts: second.all}
	for _, rule := range rules {
		n := second.byRule[rule.ID]
		if n == 0 {
			continue
		}
		rule.Note = fmt.Sprintf("would have spared %d of %d prompts", n, first.all.Asked)
		r.Rules.Rules = append(r.Rules.Rules, Rule{rule, n})
	}
	slices.SortStableFunc(r.Rules.Rules, func(a, b Rule) int { return cmp.Compare(b.Spares, a.Spares) })
}
