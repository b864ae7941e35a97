package imports

import (
	"fmt"
	"strings"

	"go.starlark.net/syntax"

	"nod/policy"
)

// readCodex reads a .rules file of Codex. It is parsed and never run. All that it can say is about commands
// that begin in some way, or about hosts; nod's rules match whole commands, so all is listed.
func readCodex(f File) ([]*entry, error) {
	file, err := (&syntax.FileOptions{}).Parse(f.Path, f.Text, 0)
	if err != nil {
		return nil, fmt.Errorf("not Starlark: %w", err)
	}
	var entries []*entry
	for _, statement := range file.Stmts {
		start, end := statement.Span()
		e := &entry{text: sourceLines(f.Text, start, end), line: int(start.Line), effect: policy.Deny, rank: sameRank}
		e.readCodexStatement(statement)
		entries = append(entries, e)
	}
	return entries, nil
}

func (e *entry) readCodexStatement(statement syntax.Stmt) {
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
	if !ok || name.Name != "prefix_rule" {
		return
	}
	switch decision := keyword(call, "decision"); decision {
	case "", "allow": // Codex takes a missing decision for allow
		e.effect, e.reason = policy.Allow, prefixAllow
	case "prompt":
		e.effect, e.reason = policy.Ask, prefixDeny
	case "forbidden":
		e.effect, e.reason = policy.Deny, prefixDeny
	default:
		e.reason = fmt.Sprintf("decision %q: Codex knows allow, prompt and forbidden", decision)
	}
}

// keyword returns the text that a call gives a parameter, "?" when it is no literal, or "" when it is missing.
func keyword(call *syntax.CallExpr, name string) string {
	for _, arg := range call.Args {
		pair, ok := arg.(*syntax.BinaryExpr)
		if !ok || pair.Op != syntax.EQ {
			continue
		}
		if key, ok := pair.X.(*syntax.Ident); !ok || key.Name != name {
			continue
		}
		literal, ok := pair.Y.(*syntax.Literal)
		if !ok {
			return "?"
		}
		if text, ok := literal.Value.(string); ok {
			return text
		}
		return "?"
	}
	return ""
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
