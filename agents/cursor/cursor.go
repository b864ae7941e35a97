// Package cursor is all that nod knows of Cursor: its hooks, its settings and its tools.
package cursor

import (
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

const name = "cursor"

// Agent is Cursor.
var Agent = agent.Agent{
	Name: name, Title: "Cursor", Program: "cursor",
	Hooks: hooks.Protocol{
		Read: hooks.Reads(payload.step),
		Deny: hooks.DenyIn(deny, "beforeShellExecution", "beforeMCPExecution", "preToolUse"),
	},
	Folder:   folder,
	Settings: settings,
	Limits: []string{
		"nod does not ask you where Cursor asks you itself, as it may ask all the same after an allow. nod denies what " +
			"your rules deny, and asks you where they say ask.",
		"It goes on in its own way when nod's hook is killed or takes longer than its settings say.",
		"It has no hook for its own questions.",
	},
}

func folder(m agent.Machine) string { return filepath.Join(m.Home, ".cursor") }

// settings says nothing of hooks that fail: told to block then, Cursor would also block what nod has no opinion on.
func settings(m agent.Machine) agent.File {
	return agent.HookFile{
		Agent: name, Unit: time.Second, Default: time.Minute, Flat: true, Version: 1,
		Events: []agent.Event{
			{Name: "beforeShellExecution", Decides: true}, {Name: "beforeMCPExecution", Decides: true},
			{Name: "preToolUse", Decides: true}, {Name: "stop"},
		},
	}.At(filepath.Join(folder(m), "hooks.json"))
}
