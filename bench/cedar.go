//go:build linux

package main

import (
	"fmt"
	"strings"

	cedar "github.com/cedar-policy/cedar-go"
)

// cedarRule says in Cedar (https://docs.cedarpolicy.com) what [rule] says. Cedar compares texts: nod also reads the
// command as a shell would, follows links in paths and looks for what is always asked about.
func cedarRule(i int, home string) string {
	const allow, deny = "permit", "forbid"
	say := func(verb, when string) string {
		return fmt.Sprintf("%s (principal == Agent::\"claude-code\", action, resource) when { %s };\n", verb, when)
	}
	switch i % 5 {
	case 0:
		return say(allow, fmt.Sprintf(`context.command == "make target-%d"`, i))
	case 1:
		path := fmt.Sprintf("%s/src/project-%d/*", home, i)
		return say(allow, fmt.Sprintf(`action == Action::"Edit" && context.path like %q`, path))
	case 2:
		return say(deny, fmt.Sprintf(`context.command == "command %d"`, i))
	case 3:
		return say(allow, fmt.Sprintf(`context.tool like "mcp__server_%d__*"`, i))
	}
	folder := fmt.Sprintf("%s/src/project-%d", home, i)
	return say(allow, fmt.Sprintf(`context.command == "make test" && context.cwd == %q`, folder))
}

// cedarEngine decides by so many rules with Cedar.
func cedarEngine(rules int, home string) (engine, error) {
	var text strings.Builder
	for i := range rules {
		text.WriteString(cedarRule(i, home))
	}
	fmt.Fprintf(&text, "permit (principal, action == Action::%q, resource);\n", "Read") // the class that passes
	set, err := cedar.NewPolicySetFromBytes("policies", []byte(text.String()))
	if err != nil {
		return nil, err
	}
	return func(c toolCall) (func() (bool, error), error) {
		request := cedarRequest(c)
		return func() (bool, error) {
			decision, problem := cedar.Authorize(set, cedar.EntityMap{}, request)
			if len(problem.Errors) > 0 {
				return false, fmt.Errorf("cedar: %v", problem.Errors[0])
			}
			return bool(decision), nil
		}, nil
	}, nil
}

func cedarRequest(c toolCall) cedar.Request {
	return cedar.Request{
		Principal: cedar.NewEntityUID("Agent", cedar.String(c.Agent)),
		Action:    cedar.NewEntityUID("Action", cedar.String(c.Tool)),
		Resource:  cedar.NewEntityUID("Machine", "this"),
		Context: cedar.NewRecord(cedar.RecordMap{
			"tool": cedar.String(c.Tool), "command": cedar.String(c.fields["command"]),
			"path": cedar.String(c.fields["file_path"]), "cwd": cedar.String(c.CWD),
		}),
	}
}
