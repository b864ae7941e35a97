//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"nod/policy"
)

// rule is the i-th of the rules that all decide by: one of the kinds that people write.
func rule(i int) policy.Rule {
	r := policy.Rule{ID: fmt.Sprintf("r%d", i), Effect: policy.Allow, Agent: "claude-code"}
	switch i % 5 {
	case 0:
		r.Command = fmt.Sprintf("make target-%d", i)
	case 1:
		r.Path, r.Tool = fmt.Sprintf("~/src/project-%d/**", i), "Edit"
	case 2:
		r.Command, r.Effect = fmt.Sprintf("command %d", i), policy.Deny
	case 3:
		r.Tool = fmt.Sprintf("mcp__server_%d__*", i)
	case 4:
		r.Command, r.CWD = "make test", fmt.Sprintf("~/src/project-%d", i)
	}
	return r
}

func compile(rules int, home string) (*policy.Compiled, error) {
	p := policy.Default()
	for i := range rules {
		p.Rules = append(p.Rules, rule(i))
	}
	return policy.Compile(p, policy.Places{Home: home, Own: []string{filepath.Join(home, ".config/nod")}})
}

// toolCall is a call that all are asked about. The input is flat.
type toolCall struct {
	name string
	policy.Call
	fields map[string]string
}

// toolCalls are calls of an agent that works in a folder of home, which it makes.
func toolCalls(home string) ([]toolCall, error) {
	src := filepath.Join(home, "src", "shop")
	if err := os.MkdirAll(src, 0o700); err != nil {
		return nil, err
	}
	call := func(name, tool, field, value string) toolCall {
		fields := map[string]string{field: value}
		input, _ := json.Marshal(fields) // texts always encode
		return toolCall{name, policy.Call{
			Agent: "claude-code", Session: "s1", CWD: src, Tool: tool, Input: policy.ReadInput(input),
			Programs: []string{"/usr/bin/nod", "/bin/sh", "/usr/bin/claude", "/usr/bin/bash"},
		}, fields}
	}
	return []toolCall{
		call("a file that may be read", "Read", "file_path", filepath.Join(src, "main.go")),
		call("a command that no rule knows", "Bash", "command", "make test"),
		call("a command that is denied", "Bash", "command", "command 7"),
		call("a command that is allowed", "Bash", "command", "make target-5"),
	}, nil
}
