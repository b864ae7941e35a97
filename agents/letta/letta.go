// Package letta is all that nod knows of Letta Code: its hooks, its settings and its tools.
package letta

import (
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

const name = "letta"

// Agent is Letta Code.
var Agent = agent.Agent{
	Name: name, Title: "Letta Code", Program: "letta",
	Hooks: hooks.Protocol{
		Read: hooks.Reads(payload.step), Deny: hooks.DenyIn(deny, "PermissionRequest", "PreToolUse"), Abstain: abstain,
	},
	Folder:   folder,
	Settings: settings,
	Off:      off,
	After:    "Letta Code asks only when it is told to: start it with --permission-mode standard.",
	Tested:   []string{"0.25.9"},
	Limits: []string{
		"It asks nobody unless it is started with --permission-mode standard; otherwise, and without a terminal, nod only " +
			"denies what your rules deny, and asks you about what they say ask to.",
		"It goes on as if you had allowed what it would not have asked you about when nod's hook is killed or takes longer " +
			"than its settings say.",
		"When nod denies, the model also reads nod's command line, which Letta Code puts in front of the reason.",
		"Its own questions stay in its terminal.",
	},
}

func folder(m agent.Machine) string { return m.Folder("LETTA_HOME", ".letta") }

// settings counts time-outs in milliseconds, as Letta Code does. Without a matcher an event of a tool runs no hook.
func settings(m agent.Machine) agent.File {
	return agent.HookFile{
		Agent: name, Unit: time.Millisecond, Default: time.Minute,
		Events: []agent.Event{
			{Name: "PermissionRequest", Decides: true, Matches: true}, {Name: "PreToolUse", Decides: true, Matches: true},
			{Name: "PostToolUse", Matches: true}, {Name: "Stop"},
		},
	}.At(filepath.Join(folder(m), "settings.json"))
}

// off are the ways around its hooks: what the user has set counts before what one of the project's files has.
func off(m agent.Machine, s agent.Session) []agent.Switch {
	var switches []agent.Switch
	user := filepath.Join(folder(m), "settings.json")
	for _, file := range s.Project(".letta/settings.json", ".letta/settings.local.json") {
		switches = append(switches, agent.Switch{Key: "hooks.disabled", Off: true, Files: []string{file, user}})
	}
	return append(switches, agent.Switch{Key: "hooks.disabled", Off: true, Files: []string{user}})
}
