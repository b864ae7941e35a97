// Package generic serves agents that have no folder of their own here.
package generic

import (
	"nod/agents/agent"
	"nod/agents/claude"
	"nod/ipc/hooks"
)

// Agent sends Claude Code's payload and understands Claude Code's reply. It has no settings that nod knows.
var Agent = agent.Agent{
	Name: "generic", Title: "Another agent",
	Hooks: hooks.Protocol{Read: hooks.Reads(step), Deny: claude.Deny},
	Limits: []string{
		"nod cannot set it up: have the agent run nod hook generic, with Claude Code's payload on standard input.",
		"While nod isn't running there is no reply, and the agent decides.",
	},
}

// step asks the user at PreToolUse, too, because such an agent may have no prompt of its own.
func step(p claude.Payload, c hooks.Call) (hooks.Step, error) {
	c.Headless = true
	return p.Step(c)
}
