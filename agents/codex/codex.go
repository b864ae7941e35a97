// Package codex is all that nod knows of Codex: its hooks, its settings, its tools, its own rules and its transcripts.
package codex

import (
	"io"
	"path/filepath"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/ipc/hooks"
	"nod/policy/imports"
	"nod/policy/replay"
)

const name = "codex"

// Agent is Codex.
var Agent = agent.Agent{
	Name: name, Title: "Codex", Program: "codex",
	Hooks:    hooks.Protocol{Read: hooks.Reads(hookPayload.step), Deny: claude.Deny},
	Settings: settings,
	After:    "Codex runs new hooks only after you have trusted them: start codex, type /hooks and trust nod's.",
	Rules: &imports.Source{
		Folder: ".codex", Home: []string{".codex/rules/*.rules"}, Project: []string{".codex/rules/*.rules"},
		Read: readRules,
	},
	Transcripts: &agent.Transcripts{
		Folder: transcriptFolder, Is: isTranscript,
		Read: func(r io.Reader) replay.Reader { return newTranscript(r) },
	},
}

// settings lists only events that Codex has had for long: it fails on one that it does not know.
func settings(m agent.Machine) agent.File {
	return agent.HookFile{Agent: name, Timeout: agent.HookTimeout, Events: []agent.Event{
		{Name: "PermissionRequest"}, {Name: "PreToolUse"}, {Name: "PostToolUse"}, {Name: "Stop"}, {Name: "UserPromptSubmit"},
	}}.At(filepath.Join(m.Folder("CODEX_HOME", ".codex"), "hooks.json"))
}
