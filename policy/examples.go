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

	"github.com/bmatcuk/doublestar/v4"
	strict "github.com/go-json-experiment/json"

	"nod/policy/shell/language"
)

// An ExampleResult is the result of one example of a rule.
type ExampleResult struct {
	Rule    string `json:"rule"`              // its id
	Text    string `json:"example"`           // as it is written
	Match   bool   `json:"match"`             // the rule should match it
	Problem string `json:"problem,omitempty"` // why the example failed

	key string // as in "policy.rules[2].examples.match[0]"
}

// TryExamples tries the examples of all rules, which must be valid.
func (p Policy) TryExamples(places Places) []ExampleResult {
	var all []ExampleResult
	for i, r := range p.Rules {
		for _, result := range r.tryExamples(places) {
			result.key = fmt.Sprintf("policy.rules[%d].%s", i, result.key)
			all = append(all, result)
		}
	}
	return all
}

// FailedExamples lists the examples that fail. The policy must have no [Policy.Problems].
func (p Policy) FailedExamples(places Places) []*FieldError { return failures(p.TryExamples(places)) }

// CheckExamples returns the first example of a valid rule that fails, as a [*FieldError]; nil if none does.
func (r Rule) CheckExamples() error {
	if failed := failures(r.tryExamples(DefaultPlaces())); len(failed) > 0 {
		return failed[0]
	}
	return nil
}

func failures(results []ExampleResult) (failed []*FieldError) {
	for _, e := range results {
		if e.Problem != "" {
			failed = append(failed, &FieldError{e.key, fmt.Sprintf("%q: %s", e.Text, e.Problem)})
		}
	}
	return failed
}

func (e Examples) all() []ExampleResult {
	var all []ExampleResult
	for i, text := range e.Match {
		all = append(all, ExampleResult{key: fmt.Sprintf("examples.match[%d]", i), Text: text, Match: true})
	}
	for i, text := range e.NoMatch {
		all = append(all, ExampleResult{key: fmt.Sprintf("examples.no_match[%d]", i), Text: text})
	}
	return all
}

func checkExampleCount(r Rule) *FieldError {
	if n := len(r.Examples.Match) + len(r.Examples.NoMatch); n > maxExamples {
		return &FieldError{"examples", fmt.Sprintf("%d of them: want at most %d", n, maxExamples)}
	}
	return nil
}

func (r Rule) tryExamples(places Places) []ExampleResult {
	results := r.Examples.all()
	if len(results) == 0 {
		return nil
	}
	only := r.alone(places)
	for i := range results {
		e := &results[i]
		e.Rule = r.ID
		call, err := r.exampleCall(e.Text, places)
		switch {
		case err != nil:
			e.Problem = err.Error()
		case only.rules[0].isMet(newFacts(&call, only, time.Time{})) == e.Match:
		case e.Match:
			e.Problem = "the rule does not match it"
		default:
			e.Problem = "the rule matches it"
		}
	}
	return results
}

// alone returns a policy of one rule, treated as not expired. Commands that only read also pass.
func (r Rule) alone(places Places) *Compiled {
	compiled := newCompiledRule(r, places.Home)
	compiled.expires = time.Time{}
	only := &Compiled{places: places, guard: newGuard(places), rules: []compiledRule{compiled}, isPast: true}
	only.parts = newPartIndex(only.rules)
	only.auto[ReadOnly.care()] = true
	return only
}

// isMet reports whether the rule, alone in a policy, is about a call. A rule that allows commands is if it covers all
// that the command line does besides reading.
func (r *compiledRule) isMet(f *facts) bool {
	if !r.Effect.Permits() || len(r.run) == 0 {
		return r.matches(f)
	}
	parts, ok := f.judgeParts()
	return ok && slices.ContainsFunc(parts, func(v verdict) bool { return v.by.Rule == r.ID })
}

func (r Rule) exampleCall(text string, places Places) (Call, error) {
	e := struct {
		Tool    string          `json:"tool"`
		Input   json.RawMessage `json:"input"`
		Agent   string          `json:"agent"`
		Session string          `json:"session"`
		CWD     string          `json:"cwd"`
		Program string          `json:"program"`
	}{Agent: r.Agent, Session: r.Session, CWD: r.exampleFolder(places.Home), Program: literalOr(r.Program, places.Home)}
	field := "command"
	if !isWild(r.Tool) {
		e.Tool = r.Tool
	}
	if len(r.Run) > 0 {
		e.Agent, e.Tool, field = r.exampleShell()
	}
	if len(text) > 0 && text[0] == '{' {
		if err := strict.Unmarshal([]byte(text), &e, strict.RejectUnknownMembers(true)); err != nil {
			return Call{}, fmt.Errorf("not a tool call: %w", err)
		}
	} else {
		input, err := json.Marshal(map[string]string{field: text})
		if err != nil {
			return Call{}, err
		}
		e.Input = input
	}
	if len(e.Input) == 0 {
		e.Input = json.RawMessage("{}")
	}
	c := Call{
		Agent: e.Agent, Session: e.Session, Tool: cmp.Or(e.Tool, "Bash"), Input: ReadInput(e.Input), Declared: r.Class,
	}
	if cwd, ok := absolute(e.CWD, "", places.Home); ok {
		c.CWD = cwd
	}
	if program, ok := absolute(e.Program, "", places.Home); ok && program != "" {
		c.Programs = []string{program}
	}
	return c, nil
}

// exampleShell returns a tool that passes its command to a shell, of an agent that the rule applies to, and the field
// of the command: nod splits a command into parts only if it knows the tool.
func (r Rule) exampleShell() (agent, tool, field string) {
	for _, agent := range slices.Sorted(maps.Keys(catalogue())) {
		if r.Agent != "" && r.Agent != agent {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(catalogue()[agent])) {
			if t := catalogue()[agent][name]; t.isPosix && (r.Tool == "" || language.Wildcard(r.Tool, name)) {
				return agent, name, t.commandField()
			}
		}
	}
	return r.Agent, r.Tool, "command"
}

// exampleFolder returns the folder that an example runs in, unless it names one: what a command's paths may reach
// depends on the project, so there must be one.
func (r Rule) exampleFolder(home string) string {
	folder, isBelow := strings.CutSuffix(r.CWD, "/**")
	switch {
	case len(r.Run) == 0:
		return literalOr(r.CWD, home)
	case isBelow && folder != "" && !hasMeta(folder):
		return folder
	}
	return literalOr(cmp.Or(r.CWD, "**"), home)
}

func literalOr(pattern, home string) string {
	if pattern == "" || !hasMeta(pattern) {
		return pattern
	}
	base, _ := doublestar.SplitPattern(filepath.ToSlash(pattern))
	if base == "." || base == "/" {
		return filepath.Join(home, "example")
	}
	return base + "/example"
}
