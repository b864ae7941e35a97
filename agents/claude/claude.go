// Package claude is all that nod knows of Claude Code: its hooks, its settings, its tools, its own rules and its
// transcripts.
package claude

import (
	"io"
	"path/filepath"

	"nod/agents/agent"
	"nod/ipc/hooks"
	"nod/policy/imports"
	"nod/policy/replay"
)

const name = "claude-code"

// Agent is Claude Code.
var Agent = agent.Agent{
	Name: name, Title: "Claude Code", Program: "claude",
	Hooks:    hooks.Protocol{Read: hooks.Reads(Payload.Step), Deny: Deny},
	Settings: settings,
	Rules: &imports.Source{
		Folder: ".claude", Home: []string{".claude/settings.json"},
		Project: []string{".claude/settings.json", ".claude/settings.local.json"}, Read: readRules,
	},
	Transcripts: &agent.Transcripts{
		Folder: transcriptFolder, Is: isTranscript,
		Read: func(r io.Reader) replay.Reader { return newTranscript(r) },
	},
}

// settings lists the events that decide, and, without making Claude Code wait, those that tell that the terminal was
// quicker.
func settings(m agent.Machine) agent.File {
	return agent.HookFile{Agent: name, Timeout: agent.HookTimeout, Events: []agent.Event{
		{Name: "PermissionRequest"}, {Name: "PreToolUse"}, {Name: "Elicitation"},
		{Name: "PostToolUse", Async: true}, {Name: "PostToolUseFailure", Async: true},
		{Name: "PermissionDenied", Async: true},
		{Name: "Notification", Async: true}, {Name: "Stop", Async: true},
		{Name: "UserPromptSubmit", Async: true}, {Name: "SubagentStop", Async: true}, {Name: "SessionEnd", Async: true},
	}}.At(filepath.Join(m.Folder("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"))
}
