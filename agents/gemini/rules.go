package gemini

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"nod/policy"
	"nod/policy/imports"
)

type entry struct{ imports.Entry }

func readRules(f imports.File) ([]*imports.Entry, error) {
	var tables map[string]any
	if err := toml.Unmarshal(f.Text, &tables); err != nil {
		return nil, fmt.Errorf("not TOML: %w", err)
	}
	rules, err := ruleTables(tables["rule"]) // a struct would take [[Rule]] for [[rule]], too
	if err != nil {
		return nil, err
	}
	lines := ruleLines(f.Text)
	var entries []*imports.Entry
	for _, key := range slices.Sorted(maps.Keys(tables)) {
		if key != "rule" {
			entries = append(entries, &imports.Entry{
				Text: key, Line: 1, Effect: policy.Deny, Rank: imports.SameRank, Touches: imports.Always,
				Reason: "nod reads only the rules in Gemini CLI's policies",
			})
		}
	}
	for i, rule := range rules {
		e := &entry{imports.Entry{Line: 1}}
		if i < len(lines) {
			e.Line = lines[i]
		}
		if err := e.readRule(rule, f.Project); err != nil {
			return nil, fmt.Errorf("line %d: %w", e.Line, err)
		}
		entries = append(entries, &e.Entry)
	}
	return entries, nil
}

func ruleLines(text []byte) []int {
	var p unstable.Parser
	p.Reset(text)
	var lines []int
	for p.NextExpression() {
		node := p.Expression()
		if node.Kind != unstable.ArrayTable {
			continue
		}
		key := node.Key()
		if key.Next() && string(key.Node().Data) == "rule" && key.IsLast() {
			lines = append(lines, p.Shape(key.Node().Raw).Start.Line)
		}
	}
	return lines
}

func ruleTables(v any) (rules []map[string]any, err error) {
	items, ok := v.([]any)
	for _, item := range items {
		rule, isTable := item.(map[string]any)
		rules, ok = append(rules, rule), ok && isTable
	}
	if v != nil && !ok {
		return nil, errors.New("rule: want [[rule]]")
	}
	return rules, nil
}

var decisions = map[string]policy.Effect{"allow": policy.Allow, "deny": policy.Deny, "ask_user": policy.Ask}

func (e *entry) readRule(rule map[string]any, project string) error {
	decision, _ := rule["decision"].(string)
	effect, known := decisions[decision]
	if !known {
		return fmt.Errorf("decision %v: want allow, deny or ask_user", rule["decision"])
	}
	e.Effect = effect
	priority, ok := rule["priority"].(int64)
	if !ok || priority < 0 || priority > 999 {
		return fmt.Errorf("priority %v: want a number from 0 to 999", rule["priority"])
	}
	e.Rank = int(priority)
	tools, err := texts(rule["toolName"])
	if err != nil {
		return fmt.Errorf("toolName: %w", err)
	}
	e.Text = textOf(rule)
	e.Touches = touchesOf(rule, tools)
	prefixes, err := texts(rule["commandPrefix"])
	if err != nil {
		return fmt.Errorf("commandPrefix: %w", err)
	}
	e.Reason = reasonAgainst(rule, tools, e.Effect, project)
	switch {
	case e.Reason != "":
	case len(prefixes) > 0:
		e.AddRun("gemini", shellTool, project, prefixes...)
	default:
		for _, tool := range withOldNames(tools, e.Effect) {
			e.Add("gemini-"+tool, policy.Rule{Tool: tool, CWD: imports.Inside(project)})
		}
	}
	return nil
}

func texts(v any) ([]string, error) {
	items, isList := v.([]any)
	if !isList {
		items = []any{v}
	}
	var all []string
	for _, item := range items {
		text, ok := item.(string)
		if !ok && item != nil {
			return nil, fmt.Errorf("%v: want a text or a list of texts", item)
		}
		if ok {
			all = append(all, text)
		}
	}
	return all, nil
}

func textOf(rule map[string]any) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(rule)) {
		parts = append(parts, fmt.Sprintf("%s=%v", key, rule[key]))
	}
	return strings.Join(parts, " ")
}

// said are the fields of a rule that do not narrow it, or that nod's rules can say.
var said = []string{"toolName", "commandPrefix", "decision", "priority", "denyMessage", "deny_message"}

// reasonAgainst says why a rule cannot be translated, or nothing.
func reasonAgainst(rule map[string]any, tools []string, effect policy.Effect, project string) string {
	isPrefix := rule["commandPrefix"] != nil
	if rule["commandRegex"] != nil || isPrefix && !slices.Equal(tools, []string{shellTool}) {
		return imports.PrefixReason(effect)
	}
	for _, key := range slices.Sorted(maps.Keys(rule)) {
		if !slices.Contains(said, key) {
			return fmt.Sprintf("nod's rules cannot say %s", key)
		}
	}
	switch {
	case len(tools) == 0 || slices.Contains(tools, ""):
		return "it names no tool"
	case effect != policy.Allow && project != "":
		return imports.OfProject
	case effect == policy.Allow && slices.ContainsFunc(tools, isGlob):
		return "it allows many tools at once: nod's rules allow one tool each"
	case effect == policy.Allow && slices.Contains(tools, shellTool) && !isPrefix:
		return "Gemini CLI still asks about commands that redirect, and nod's rule would not"
	}
	return ""
}

const shellTool = "run_shell_command"

func isGlob(tool string) bool { return strings.ContainsAny(tool, "*?") }

var oldNames = map[string]string{"grep_search": "search_file_content", "search_file_content": "grep_search"}

// withOldNames adds the other names of what is not allowed.
func withOldNames(tools []string, effect policy.Effect) []string {
	if effect == policy.Allow {
		return tools
	}
	all := slices.Clone(tools)
	for _, tool := range tools {
		if old := oldNames[tool]; old != "" && !slices.Contains(all, old) {
			all = append(all, old)
		}
	}
	return all
}

// touchesOf says which allows a deny may take something from. Where a name is a pattern, any.
func touchesOf(rule map[string]any, tools []string) func(policy.Rule) bool {
	names := withOldNames(tools, policy.Deny)
	if rule["commandPrefix"] != nil || rule["commandRegex"] != nil {
		names = append(names, shellTool)
	}
	if len(names) == 0 || rule["mcpName"] != nil || rule["mcp_name"] != nil || slices.ContainsFunc(names, isGlob) {
		return imports.Always
	}
	prefixes, err := texts(rule["commandPrefix"])
	if err == nil && len(prefixes) > 0 && rule["commandRegex"] == nil && slices.Equal(tools, []string{shellTool}) {
		return func(r policy.Rule) bool {
			return r.Tool == shellTool && slices.ContainsFunc(prefixes, func(p string) bool { return imports.TakesFrom(p, r) })
		}
	}
	return func(r policy.Rule) bool { return slices.Contains(names, r.Tool) }
}
