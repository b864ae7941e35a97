//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

// regoRule says in Rego (https://www.openpolicyagent.org/docs/policy-language) what [rule] says, in the forms that OPA
// can index. Rego compares texts, as Cedar does.
func regoRule(i int, home string) string {
	const allow, deny = "permitted", "forbidden"
	say := func(verb, when string) string {
		return fmt.Sprintf("%s if {\n\tinput.agent == \"claude-code\"\n\t%s\n}\n", verb, when)
	}
	switch i % 5 {
	case 0:
		return say(allow, fmt.Sprintf(`input.command == "make target-%d"`, i))
	case 1:
		path := fmt.Sprintf("%s/src/project-%d/", home, i)
		return say(allow, fmt.Sprintf("input.tool == \"Edit\"\n\tstartswith(input.path, %q)", path))
	case 2:
		return say(deny, fmt.Sprintf(`input.command == "command %d"`, i))
	case 3:
		return say(allow, fmt.Sprintf(`startswith(input.tool, "mcp__server_%d__")`, i))
	}
	folder := fmt.Sprintf("%s/src/project-%d", home, i)
	return say(allow, fmt.Sprintf("input.command == \"make test\"\n\tinput.cwd == %q", folder))
}

// regoHead decides by the rules as Cedar and nod do: what is forbidden is never allowed.
const regoHead = `package nod

default allow := false

allow if {
	permitted
	not forbidden
}

permitted if input.tool == "Read" # the class that passes
`

// regoEngine decides by so many rules with OPA.
func regoEngine(rules int, home string) (engine, error) {
	var text strings.Builder
	text.WriteString(regoHead)
	for i := range rules {
		text.WriteString(regoRule(i, home))
	}
	ctx := context.Background()
	query, err := rego.New(rego.Query("data.nod.allow"), rego.Module("nod.rego", text.String())).PrepareForEval(ctx)
	if err != nil {
		return nil, err
	}
	return func(c toolCall) (func() (bool, error), error) {
		input, err := ast.InterfaceToValue(map[string]any{
			"agent": c.Agent, "tool": c.Tool, "command": c.fields["command"], "path": c.fields["file_path"], "cwd": c.CWD,
		})
		if err != nil {
			return nil, err
		}
		return func() (bool, error) {
			results, err := query.Eval(ctx, rego.EvalParsedInput(input))
			return results.Allowed(), err
		}, nil
	}, nil
}
