package claude

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"nod/agents/agent"
	"nod/policy"
)

func readRules(text []byte) (rules []agent.OwnRule, err error) {
	root, err := policy.ParseSettings(text)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	for _, effect := range []policy.Effect{policy.Ask, policy.Deny} {
		found := root.Find("/permissions/" + string(effect))
		if found == nil {
			continue
		}
		list, ok := found.Value.(*hujson.Array)
		if !ok {
			return nil, fmt.Errorf("permissions.%s: want a list", effect)
		}
		for _, item := range list.Elements {
			rule, ok := item.Value.(hujson.Literal)
			if !ok || rule.Kind() != '"' {
				return nil, fmt.Errorf("permissions.%s: want texts", effect)
			}
			rules = append(rules, agent.OwnRule{
				Text: fmt.Sprintf("%s %s", effect, rule.String()), Effect: effect, Rules: translate(rule.String()),
				Line: 1 + bytes.Count(text[:item.StartOffset], []byte("\n")),
			})
		}
	}
	return rules, nil
}

const toolLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*"

// translate returns nod's rules for "Tool" or "Tool(what)", if that is about tools, the beginnings of commands or
// hosts. For paths nod has only wider rules, so it returns none.
func translate(rule string) []policy.Rule {
	tool, what, isNarrow := strings.Cut(rule, "(")
	what, isClosed := strings.CutSuffix(what, ")")
	domain, isDomain := strings.CutPrefix(what, "domain:")
	switch {
	case tool == "" || strings.Trim(tool, toolLetters) != "" || isNarrow && !isClosed:
		return nil
	case what == "" || what == "*":
		return forTool(tool)
	case tool == "Bash" && isPrefix(what):
		return []policy.Rule{{Run: []string{rulePrefix(what)}}}
	case tool == "WebFetch" && isDomain:
		return forDomain(domain)
	}
	return nil
}

func isPrefix(what string) bool {
	prefix := rulePrefix(what)
	return prefix != what && prefix != "" && !strings.ContainsAny(prefix, "*\\:")
}

func rulePrefix(what string) string {
	if prefix, ok := strings.CutSuffix(what, ":*"); ok {
		return prefix
	}
	return strings.TrimSuffix(what, " *")
}

// forDomain denies fetching from a host and all below it.
func forDomain(host string) []policy.Rule {
	if host == "" {
		return nil
	}
	rules := []policy.Rule{{Tool: "WebFetch", Host: host}}
	if !strings.HasPrefix(host, "*.") {
		rules = append(rules, policy.Rule{Tool: "WebFetch", Host: "*." + host})
	}
	return rules
}

var editTools = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}

// ruleMeaning lists the tools that a tool's name in a rule applies to, if not to itself alone: Monitor follows the
// rules of Bash, and Agent was called Task before.
var ruleMeaning = map[string][]string{
	"Edit": editTools, "Read": {"Read", "Grep", "Glob"}, "Bash": {"Bash", "Monitor"},
	"Agent": {"Agent", "Task"}, "Task": {"Agent", "Task"},
}

func forTool(tool string) (rules []policy.Rule) {
	if strings.HasPrefix(tool, "mcp__") && strings.Count(tool, "__") == 1 { // a server: all its tools
		tool += "__*"
	}
	means := ruleMeaning[tool]
	if means == nil {
		means = []string{tool}
	}
	for _, name := range means {
		rules = append(rules, policy.Rule{Tool: name})
	}
	return rules
}
