package codex

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"nod/policy"
	"nod/policy/imports"
)

type entry struct{ imports.Entry }

// readRules reads a .rules file. It is parsed and never run.
func readRules(f imports.File) ([]*imports.Entry, error) {
	file, err := (&syntax.FileOptions{}).Parse(f.Path, f.Text, 0)
	if err != nil {
		return nil, fmt.Errorf("not Starlark: %w", err)
	}
	var entries []*imports.Entry
	for _, statement := range file.Stmts {
		start, end := statement.Span()
		e := &entry{imports.Entry{
			Text: sourceLines(f.Text, start, end), Line: int(start.Line), Effect: policy.Deny, Rank: imports.SameRank,
			Touches: imports.Always,
		}}
		e.readStatement(statement, f.Project)
		entries = append(entries, &e.Entry)
	}
	return entries, nil
}

func (e *entry) readStatement(statement syntax.Stmt, project string) {
	e.Reason = "nod only reads calls of prefix_rule, and runs nothing"
	expression, ok := statement.(*syntax.ExprStmt)
	if !ok {
		return
	}
	call, ok := expression.X.(*syntax.CallExpr)
	if !ok {
		return
	}
	name, ok := call.Fn.(*syntax.Ident)
	given := arguments(call)
	decision := literalText(given["decision"])
	if ok && name.Name == "network_rule" && decision == "allow" {
		e.Touches = nil
	}
	if !ok || name.Name != "prefix_rule" {
		return
	}
	if given["decision"] == nil {
		decision = "allow" // as Codex takes it
	}
	effect, known := decisions[decision]
	if !known {
		e.Reason = fmt.Sprintf("decision %q: Codex knows allow, prompt and forbidden", decision)
		return
	}
	var prefixes []string
	e.Effect = effect
	if prefixes, e.Reason = prefixesOf(given); e.Reason != "" {
		return
	}
	e.Touches = func(r policy.Rule) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return imports.TakesFrom(p, r) })
	}
	e.AddRun("codex", "", project, prefixes...)
}

var decisions = map[string]policy.Effect{"allow": policy.Allow, "prompt": policy.Ask, "forbidden": policy.Deny}

const maxPrefixes = 50

// prefixesOf are the beginnings of commands that a pattern stands for: each of its elements is a word, or a list
// of words of which any may be there.
func prefixesOf(given map[string]syntax.Expr) (prefixes []string, problem string) {
	const unread = "nod reads patterns of plain words only"
	for name := range given {
		if !slices.Contains([]string{"pattern", "decision", "match", "not_match", "justification"}, name) {
			return nil, unread
		}
	}
	list, ok := given["pattern"].(*syntax.ListExpr)
	if !ok || len(list.List) == 0 {
		return nil, unread
	}
	prefixes = []string{""}
	for _, element := range list.List {
		choices := []syntax.Expr{element}
		if any, isList := element.(*syntax.ListExpr); isList {
			choices = any.List
		}
		var longer []string
		for _, choice := range choices {
			word := literalText(choice)
			if word == "" || len(strings.Fields(word)) != 1 || len(prefixes)*len(choices) > maxPrefixes {
				return nil, unread
			}
			for _, prefix := range prefixes {
				longer = append(longer, strings.TrimSpace(prefix+" "+word))
			}
		}
		prefixes = longer
	}
	if len(prefixes) == 0 {
		return nil, unread
	}
	return prefixes, ""
}

// arguments are what a call gives its parameters, by their names; "" is one without a name, or given twice.
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
