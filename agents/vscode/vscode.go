// Package vscode is all that nod knows of the agent in VS Code: its hooks, their settings and its tools.
package vscode

import (
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/ipc/hooks"
)

const name = "vscode"

// Agent is the agent in VS Code that runs in VS Code itself.
var Agent = agent.Agent{
	Name: name, Title: "VS Code", Program: "code",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: claude.Deny},
	Folder:   folder,
	Settings: settings,
	After: `VS Code does not look there by itself: add "~/.vscode/nod-hooks.json": true to the setting ` +
		"chat.hookFilesLocations.",
	Limits: []string{
		`Its setting chat.hookFilesLocations has to name nod's file: all other files that VS Code reads hooks from belong ` +
			"to Claude Code or Copilot, too.",
		"It is for VS Code's own agent; sessions of Copilot, Claude or Codex in VS Code run the hooks of those.",
		"Edits of files are yours to review in VS Code: nod asks about them only where a rule of yours says ask.",
		"Its own questions stay in VS Code.",
	},
}

func folder(m agent.Machine) string { return filepath.Join(m.Home, ".vscode") }

// settings is a file of its own: hooks in ~/.claude/settings.json and ~/.copilot/hooks run in other agents as well.
func settings(m agent.Machine) agent.File {
	return agent.HookFile{
		Agent: name, Unit: time.Second, Default: 30 * time.Second, Flat: true,
		Events: []agent.Event{
			{Name: "PreToolUse", Decides: true}, {Name: "PostToolUse"}, {Name: "Stop"}, {Name: "UserPromptSubmit"},
		},
	}.At(filepath.Join(folder(m), "nod-hooks.json"))
}
