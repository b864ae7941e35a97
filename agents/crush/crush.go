// Package crush supports Crush according to its documentation: its hooks, settings and tools.
package crush

import (
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/ipc/hooks"
)

const name = "crush"

// Agent is Crush.
var Agent = agent.Agent{
	Name: name, Title: "Crush", Program: "crush",
	Hooks:    hooks.Protocol{Read: hooks.Reads(step), Deny: hooks.DenyIn(deny, preToolUse)},
	Settings: settings,
	Limits: []string{
		"It does not say when it would ask you: nod asks about everything your rules do not allow, even in yolo mode.",
		"Its subagents' calls do not reach nod.",
		"If nod's hook is killed or takes too long, the agent decides on its own.",
	},
}

func folder(m agent.Machine) string {
	if dir := m.Env("CRUSH_GLOBAL_CONFIG"); filepath.IsAbs(dir) {
		return dir
	}
	return agent.FolderOf("XDG_CONFIG_HOME", ".config", "crush")(m)
}

var settings = agent.HookFile{
	Agent: name, Unit: time.Second, Default: 30 * time.Second, Flat: true, Untyped: true,
	Events: []agent.Event{{Name: preToolUse, Decides: true}},
}.In(folder, "crush.json")

const preToolUse = "PreToolUse"

func step(p claude.Payload, c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD}
	if c.Event == preToolUse {
		s.Gates(p.Approve(), agent.Decision{Decision: "allow"}) // in mode yolo, or without a terminal, it runs after silence
	}
	return s, nil
}

func deny(reason string) any { return agent.Decision{Decision: "deny", Reason: reason} }
