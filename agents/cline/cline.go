// Package cline is all that nod knows of Cline: its hook, its settings and its tools.
package cline

import (
	"path/filepath"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

const name = "cline"

// Agent is Cline.
var Agent = agent.Agent{
	Name: name, Title: "Cline", Program: "cline",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: hooks.DenyIn(deny, toolCall)},
	Folder:   folder,
	Settings: settings,
	Tested:   []string{"3.0.65"},
	Limits: []string{
		"A denial ends its whole task, and the model does not read why.",
		"nod does not ask you where Cline asks you itself: an allow does not skip Cline's own prompt. nod denies what " +
			"your rules deny, and asks you where they say ask.",
		"It waits two minutes for nod and then goes on as if you had allowed: what you have not answered shortly before " +
			"is denied.",
		"It goes on as if you had allowed when nod's hook is killed.",
		"It has one hook for each event: nod does not come where you have your own PreToolUse.",
		"Its hook is a shell script: there is none for Windows.",
		"It is for Cline's own program; in the extension for editors nod knows neither hooks nor tools.",
	},
}

func folder(m agent.Machine) string { return m.Folder("CLINE_DIR", ".cline") }

// settings is the program that Cline runs before each call: it is found by the name of the event.
func settings(m agent.Machine) agent.File {
	return agent.Script(filepath.Join(folder(m), "hooks", "PreToolUse"), name)
}
