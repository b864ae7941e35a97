// Package claude is all that nod knows of Claude Code: its hooks, its settings, its tools, its own rules and its
// transcripts.
package claude

import (
	"io"
	"path/filepath"
	"time"

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
	Folder:   folder,
	Settings: settings,
	Rules: &imports.Source{
		Folder: ".claude", Own: []string{"settings.json"},
		Project: []string{".claude/settings.json", ".claude/settings.local.json"}, Read: readRules,
	},
	Transcripts: &agent.Transcripts{
		Folder: "projects", Is: isTranscript,
		Read: func(r io.Reader) replay.Reader { return newTranscript(r) },
	},
	Tested: []string{"2.1.197", "2.1.330"},
	Limits: []string{
		"Its terminal shows its own prompt beside nod's window: the first answer counts, and nod's window closes by itself.",
		"Run with -p it has no prompt: while nod isn't running its own rules alone decide, unless it is listed under " +
			"agents.strict.",
		"Run with -p it gives the model no way to ask you a question.",
		"Its hooks over HTTP are not for nod: while nod isn't running, any program of any user could take nod's port and " +
			"allow what it likes.",
	},
}

func folder(m agent.Machine) string { return m.Folder("CLAUDE_CONFIG_DIR", ".claude") }

// settings lists the events that decide, and, without making Claude Code wait, those that tell that the terminal was
// quicker.
func settings(m agent.Machine) agent.File {
	return agent.HookFile{
		Agent: name, Unit: time.Second, Default: 10 * time.Minute, Async: true,
		Events: []agent.Event{
			{Name: "PermissionRequest", Decides: true}, {Name: "PreToolUse", Decides: true},
			{Name: "Elicitation", Decides: true}, {Name: "PermissionDenied", Decides: true},
			{Name: "PostToolUse"}, {Name: "PostToolUseFailure"},
			{Name: "Notification"}, {Name: "Stop"}, {Name: "UserPromptSubmit"},
			{Name: "SubagentStop"}, {Name: "SessionEnd"},
		},
	}.At(filepath.Join(folder(m), "settings.json"))
}
