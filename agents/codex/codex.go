// Package codex supports Codex: its hooks, settings, tools, own rules and transcripts.
package codex

import (
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/ipc/hooks"
)

const name = "codex"

// Agent is Codex.
var Agent = agent.Agent{
	Name: name, Title: "Codex", Program: "codex",
	Hooks:    hooks.Protocol{Read: hooks.Reads(hookPayload.step), Deny: claude.Deny},
	Settings: settings,
	Off:      off,
	After:    "Codex runs new hooks only after you have trusted them: start codex, type /hooks and trust nod's.",
	Own:      ownRules,
	Transcripts: &agent.Transcripts{
		Folder: func(m agent.Machine) string { return filepath.Join(folder(m), "sessions") },
		Is:     isTranscript, Read: newTranscript,
	},
	Tested: []string{"0.171.0"},
	Limits: []string{
		"It runs new hooks only after you trust them: type /hooks once.",
		"It asks nod only where it would ask you. Elsewhere nod asks or denies only where a rule says so.",
		"codex exec never asks: there nod asks or denies only where a rule says so.",
		"It asks only about calls that leave its sandbox: without a rule, nod asks even about commands that only read.",
		"No hook sees what it types into a command that already runs: do not let it start a shell or another interpreter.",
		"Your answer to a question reaches the model as the reason of a denial.",
		"Questions you leave unanswered in nod appear in its terminal only in plan mode.",
	},
}

var ownRules = &agent.OwnRules{
	Agent: name, Title: "Codex", Folder: folder, Read: readRules,
	Own: []string{"rules/*.rules"}, Project: []string{".codex/rules/*.rules"},
}

var folder = agent.FolderOf("CODEX_HOME", ".codex", "")

// settings lists only events that Codex has had for a long time: it fails on unknown ones.
var settings = agent.HookFile{
	Agent: name, Unit: time.Second, Default: 10 * time.Minute,
	Events: []agent.Event{
		{Name: "PermissionRequest", Decides: true}, {Name: "PreToolUse", Decides: true},
		{Name: "PostToolUse"}, {Name: "Stop"}, {Name: "UserPromptSubmit"},
	},
}.In(folder, "hooks.json")

func off(m agent.Machine, s agent.Session) []agent.Switch {
	const system = "/etc/codex"
	files := append([]string{m.System(system+"/config.toml", system+"/config.toml", ""),
		filepath.Join(folder(m), "config.toml")}, s.Project(".codex/config.toml")...)
	required := []string{m.System(system+"/requirements.toml", system+"/requirements.toml", "")}
	switches := []agent.Switch{
		{Key: "features.hooks", Off: false, Files: files}, {Key: "features.codex_hooks", Off: false, Files: files},
		{Key: "allow_managed_hooks_only", Off: true, Files: required},
	}
	if feature, _ := s.Flag("--disable"); feature == "hooks" || feature == "codex_hooks" {
		switches = append(switches, agent.Switch{Key: "--disable"})
	}
	return switches
}
