package imports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"nod/policy"
)

// readCodex reads a .rules file of Codex. It is parsed and never run.
func readCodex(f File) ([]*entry, error) {
	file, err := (&syntax.FileOptions{}).Parse(f.Path, f.Text, 0)
	if err != nil {
		return nil, fmt.Errorf("not Starlark: %w", err)
	}
	var entries []*entry
	for _, statement := range file.Stmts {
		start, end := statement.Span()
		e := &entry{text: sourceLines(f.Text, start, end), line: int(start.Line), effect: policy.Deny, rank: sameRank}
		e.touches = always
		e.readCodexStatement(statement, f.Project)
		entries = append(entries, e)
	}
	return entries, nil
}

func (e *entry) readCodexStatement(statement syntax.Stmt, project string) {
	e.reason = "nod reads the calls of prefix_rule only, and runs nothing"
	expression, ok := statement.(*syntax.ExprStmt)
	if !ok {
		return
	}
	call, ok := expression.X.(*syntax.CallExpr)
	if !ok {
		return
	}
	name, ok := call.Fn.(*syntax.Ident)
	if ok && name.Name == "network_rule" && keyword(call, "decision") == "allow" {
		e.touches = nil
	}
	if !ok || name.Name != "prefix_rule" {
		return
	}
	switch decision := keyword(call, "decision"); decision {
	case "", "allow": // Codex takes a missing decision for allow
		e.effect, e.reason = policy.Allow, ""
	case "prompt":
		e.effect, e.reason = policy.Ask, ""
	case "forbidden":
		e.effect, e.reason = policy.Deny, ""
	default:
		e.reason = fmt.Sprintf("decision %q: Codex knows allow, prompt and forbidden", decision)
		return
	}
	prefixes, problem := codexPrefixes(call)
	if e.reason = problem; problem != "" {
		return
	}
	e.touches = func(r policy.Rule) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return takesFrom(p, r) })
	}
	e.addRun("codex", "", project, prefixes...)
}

// maxPrefixes is how many commands one pattern may stand for.
const maxPrefixes = 50

// codexPrefixes are the beginnings of commands that a pattern stands for: each of its elements is a word, or a list
// of words of which any may be there.
func codexPrefixes(call *syntax.CallExpr) (prefixes []string, problem string) {
	const unread = "nod reads patterns of plain words only"
	if len(call.Args) > 0 && slices.ContainsFunc(call.Args, func(a syntax.Expr) bool { return !isCodexField(a) }) {
		return nil, unread
	}
	list, ok := argument(call, "pattern").(*syntax.ListExpr)
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

// isCodexField reports whether an argument is one that nod knows prefix_rule to take.
func isCodexField(arg syntax.Expr) bool {
	pair, ok := arg.(*syntax.BinaryExpr)
	if !ok || pair.Op != syntax.EQ {
		return false
	}
	key, ok := pair.X.(*syntax.Ident)
	return ok && slices.Contains([]string{"pattern", "decision", "match", "not_match", "justification"}, key.Name)
}

// argument returns what a call gives a parameter, or nil.
func argument(call *syntax.CallExpr, name string) syntax.Expr {
	for _, arg := range call.Args {
		if pair, ok := arg.(*syntax.BinaryExpr); ok && pair.Op == syntax.EQ {
			if key, ok := pair.X.(*syntax.Ident); ok && key.Name == name {
				return pair.Y
			}
		}
	}
	return nil
}

// literalText is the text that an expression is, or nothing.
func literalText(e syntax.Expr) string {
	if literal, ok := e.(*syntax.Literal); ok {
		text, _ := literal.Value.(string)
		return text
	}
	return ""
}

// keyword returns the text that a call gives a parameter, "?" when it is no literal, or "" when it is missing.
func keyword(call *syntax.CallExpr, name string) string {
	value := argument(call, name)
	if value == nil {
		return ""
	}
	return cmp.Or(literalText(value), "?")
}

// sourceLines returns what stands from start to end, in one line.
func sourceLines(text []byte, start, end syntax.Position) string {
	lines := strings.Split(string(text), "\n")
	from, to := int(start.Line)-1, min(int(end.Line), len(lines))
	if from < 0 || from >= to {
		return ""
	}
	return strings.Join(strings.Fields(strings.Join(lines[from:to], " ")), " ")
}
