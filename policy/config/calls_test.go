package config

import (
	"encoding/json"

	"nod/policy"
)

// bash is a call of Claude Code's shell.
func bash(command string) policy.Call {
	return call("Bash", map[string]string{"command": command})
}

// fileCall is a call of a tool that takes a path.
func fileCall(tool, path string) policy.Call {
	return call(tool, map[string]string{"file_path": path})
}

func call(tool string, input map[string]string) policy.Call {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return policy.Call{
		Agent: "claude-code", Session: "s1", CWD: "/home/u/src/shop", Tool: tool, Input: policy.ReadInput(text),
		Programs: []string{"/usr/bin/nod", "/bin/sh", "/usr/bin/claude", "/usr/bin/bash"},
	}
}

func with(c policy.Call, change func(*policy.Call)) policy.Call {
	change(&c)
	return c
}

func holding(text string) func(*policy.Call) {
	return func(c *policy.Call) { c.Input = policy.ReadInput([]byte(text)) }
}
