package codex

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"nod/agents/agent"
	"nod/policy"
)

// readRules reads the rules of a .rules file that prompt or forbid. It parses the file and never runs it.
func readRules(text []byte) ([]agent.OwnRule, error) {
	file, err := (&syntax.FileOptions{}).Parse("", text, 0)
	if err != nil {
		return nil, fmt.Errorf("not Starlark: %w", err)
	}
	var rules []agent.OwnRule
	for _, statement := range file.Stmts {
		effect, prefixes := readStatement(statement)
		if effect == "" {
			continue
		}
		start, end := statement.Span()
		rule := agent.OwnRule{Text: sourceLines(text, start, end), Line: int(start.Line), Effect: effect}
		if len(prefixes) > 0 {
			rule.Rules = []policy.Rule{{Run: prefixes}}
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// readStatement returns the effect of a prefix_rule, and the beginnings of the commands that it applies to, as far as
// nod can tell. The effect is empty for anything else.
func readStatement(statement syntax.Stmt) (policy.Effect, []string) {
	expression, ok := statement.(*syntax.ExprStmt)
	if !ok {
		return "", nil
	}
	call, ok := expression.X.(*syntax.CallExpr)
	if !ok {
		return "", nil
	}
	name, ok := call.Fn.(*syntax.Ident)
	given := arguments(call)
	effect, heeds := decisions[literalText(given["decision"])]
	if !ok || name.Name != "prefix_rule" || !heeds {
		return "", nil
	}
	return effect, prefixesOf(given)
}

var decisions = map[string]policy.Effect{"prompt": policy.Ask, "forbidden": policy.Deny}

const maxPrefixes = 50

// prefixesOf returns the beginnings of commands that a pattern matches: each of its elements is a word, or a list of
// alternative words. It returns nil for any other pattern.
func prefixesOf(given map[string]syntax.Expr) []string {
	for name := range given {
		if !slices.Contains([]string{"pattern", "decision", "match", "not_match", "justification"}, name) {
			return nil
		}
	}
	list, ok := given["pattern"].(*syntax.ListExpr)
	if !ok || len(list.List) == 0 {
		return nil
	}
	prefixes := []string{""}
	for _, element := range list.List {
		choices := []syntax.Expr{element}
		if any, isList := element.(*syntax.ListExpr); isList {
			choices = any.List
		}
		var longer []string
		for _, choice := range choices {
			word := literalText(choice)
			if word == "" || len(strings.Fields(word)) != 1 || len(prefixes)*len(choices) > maxPrefixes {
				return nil
			}
			for _, prefix := range prefixes {
				longer = append(longer, strings.TrimSpace(prefix+" "+word))
			}
		}
		prefixes = longer
	}
	return prefixes
}

// arguments returns a call's arguments by their parameters' names; "" is one without a name, or given twice.
func arguments(call *syntax.CallExpr) map[string]syntax.Expr {
	given := map[string]syntax.Expr{}
	for _, arg := range call.Args {
		name, value := "", arg
		if pair, ok := arg.(*syntax.BinaryExpr); ok && pair.Op == syntax.EQ {
			if key, ok := pair.X.(*syntax.Ident); ok && given[key.Name] == nil {
				name, value = key.Name, pair.Y
			}
		}
		given[name] = value
	}
	return given
}

func literalText(e syntax.Expr) string {
	if literal, ok := e.(*syntax.Literal); ok {
		text, _ := literal.Value.(string)
		return text
	}
	return ""
}

func sourceLines(text []byte, start, end syntax.Position) string {
	lines := strings.Split(string(text), "\n")
	from, to := int(start.Line)-1, min(int(end.Line), len(lines))
	if from < 0 || from >= to {
		return ""
	}
	return strings.Join(strings.Fields(strings.Join(lines[from:to], " ")), " ")
}
