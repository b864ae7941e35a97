// Package claude supports Claude Code: its hooks, settings, tools, own rules and transcripts.
package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nod/agents/agent"
	"nod/ipc/hooks"
)

const name = "claude-code"

var tested = []string{"2.1.197", "2.1.332"}

// Agent is Claude Code.
var Agent = agent.Agent{
	Name: name, Title: "Claude Code", Program: "claude",
	Hooks:    hooks.Protocol{Read: hooks.Reads(Payload.Step), Deny: Deny},
	Settings: settings,
	Shell: func(m agent.Machine) agent.File {
		return agent.Shell(filepath.Join(folder(m), "settings.json"), "CLAUDE_CODE_SHELL_PREFIX")
	},
	Own: ownRules,
	Off: off,
	Transcripts: &agent.Transcripts{
		Folder: func(m agent.Machine) string { return filepath.Join(folder(m), "projects") },
		Is:     isTranscript, Read: newTranscript,
	},
	Tested: tested,
	Limits: []string{
		"Its terminal shows its own prompt beside nod's window: the first answer counts.",
		"With -p it has no prompt: while nod isn't running, its own rules decide, unless \"Deny while nod isn't running\" " +
			"(agents.strict) is on.",
		"With -p the model cannot ask you a question.",
		"Before 2.1.332, a command in the text of a skill runs without asking nod if the skill's allowed-tools name it.",
		"Do not use its HTTP hooks: while nod isn't running, any program of any user could take nod's port and allow " +
			"what it likes.",
	},
}

var ownRules = &agent.OwnRules{
	Agent: name, Title: "Claude Code", Folder: folder, Read: readRules,
	Own: []string{"settings.json"}, Project: []string{".claude/settings.json", ".claude/settings.local.json"},
}

var folder = agent.FolderOf("CLAUDE_CONFIG_DIR", ".claude", "")

// settings has the events that decide and, without waiting, those that report that the terminal was quicker.
var settings = agent.HookFile{
	Agent: name, Unit: time.Second, Default: 10 * time.Minute, Async: true,
	Events: []agent.Event{
		{Name: "PermissionRequest", Decides: true}, {Name: "PreToolUse", Decides: true},
		{Name: "Elicitation", Decides: true}, {Name: "PermissionDenied", Decides: true},
		{Name: "PreSkillShellCommand", Decides: true},
		{Name: "PostToolUse"}, {Name: "PostToolUseFailure"},
		{Name: "Notification"}, {Name: "Stop"}, {Name: "UserPromptSubmit"},
		{Name: "SubagentStop"}, {Name: "SessionEnd"},
	},
}.In(folder, "settings.json")

// off returns the ways to turn its hooks off. The organization's own hooks run despite most of them.
func off(m agent.Machine, s agent.Session) []agent.Switch {
	managed := managedSettings(m)
	own := append([]string{filepath.Join(folder(m), "settings.json")},
		s.Project(".claude/settings.json", ".claude/settings.local.json")...)
	if given, _ := s.Flag("--settings"); strings.HasPrefix(given, "{") || filepath.IsAbs(given) {
		own = append(own, given)
	} else if given != "" {
		own = append(own, filepath.Join(s.Dir, given))
	}
	switches := []agent.Switch{{Key: "disableAllHooks", Off: true, Files: managed}}
	runsNod := func(path string) bool {
		text, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		found, err := settings(m).Look(text)
		return err == nil && found.Some
	}
	if slices.ContainsFunc(managed, runsNod) {
		return switches
	}
	switches = []agent.Switch{
		{Key: "disableAllHooks", Off: true, Files: append(own, managed...)},
		{Key: "allowManagedHooksOnly", Off: true, Files: managed},
		{Key: "strictPluginOnlyCustomization", Off: true, Files: managed},
		{Key: "strictPluginOnlyCustomization", Off: "hooks", Files: managed},
		{Key: "--bare"}, {Key: "--safe-mode"}, {Key: "CLAUDE_CODE_SIMPLE"}, {Key: "CLAUDE_CODE_SAFE_MODE"},
	}
	if sources, is := s.Flag("--setting-sources"); is && !slices.Contains(strings.Split(sources, ","), "user") {
		switches = append(switches, agent.Switch{Key: "--setting-sources"})
	}
	return switches
}

func managedSettings(m agent.Machine) []string {
	folder := m.System("/etc/claude-code", "/Library/Application Support/ClaudeCode", `C:\Program Files\ClaudeCode`)
	more, _ := filepath.Glob(filepath.Join(folder, "managed-settings.d", "*.json")) // fails for bad patterns only
	return append([]string{filepath.Join(folder, "managed-settings.json")}, more...)
}
