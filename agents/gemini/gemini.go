// Package gemini supports Gemini CLI: its hooks, settings, tools and own rules.
package gemini

import (
	_ "embed"
	"path/filepath"
	"slices"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/api"
	"nod/ipc/hooks"
)

const name = "gemini-cli"

// Agent is Gemini CLI.
var Agent = agent.Agent{
	Name: name, Title: "Gemini CLI", Program: "gemini",
	Hooks:    hooks.Protocol{Read: hooks.Reads(step), Deny: hooks.DenyIn(deny, "BeforeTool")},
	Settings: settings,
	Gate:     gate,
	Off:      off,
	Tested:   []string{"0.61.0"},
	Limits: []string{
		"Unless nod is the only gate, an allow in nod does not skip its own prompt.",
		"If nod's hook is killed or takes too long, the agent continues as if you had allowed; with nod as the only " +
			"gate, nobody else asks.",
		"Commands in the text of its custom commands don't come to nod: with nod as the only gate, they run unasked.",
		"Your answer to a question reaches the model as the reason of a denial.",
	},
}

// folder is below GEMINI_CLI_HOME, which replaces the home folder.
var folder = agent.FolderOf("GEMINI_CLI_HOME", "", ".gemini")

// settings counts time-outs in milliseconds, as Gemini CLI does.
var settings = agent.HookFile{
	Agent: name, Unit: time.Millisecond, Default: time.Minute, Named: true,
	Events: []agent.Event{
		{Name: "BeforeTool", Decides: true}, {Name: "AfterTool"}, {Name: "BeforeAgent"}, {Name: "AfterAgent"},
		{Name: "Notification"}, {Name: "SessionEnd"},
	},
}.In(folder, "settings.json")

//go:embed gate.toml
var gatePolicy []byte

// gate is the file that switches Gemini CLI's own prompt off. Then nod must deny what was not allowed.
func gate(m agent.Machine) agent.File {
	path := filepath.Join(folder(m), "policies", "nod.toml")
	return agent.Whole(path, func(string) []byte { return gatePolicy }, nil)
}

func off(m agent.Machine, s agent.Session) []agent.Switch {
	system := m.System("/etc/gemini-cli", "/Library/Application Support/GeminiCli", `C:\ProgramData\gemini-cli`)
	files := slices.Concat(
		[]string{filepath.Join(system, "system-defaults.json"), filepath.Join(folder(m), "settings.json")},
		s.Project(".gemini/settings.json"), []string{filepath.Join(system, "settings.json")},
	)
	return []agent.Switch{
		{Key: "hooksConfig.enabled", Off: false, Files: files}, {Key: "hooksConfig.disabled", Off: "nod", Files: files},
	}
}

// step reads Gemini CLI's hook payloads, whose fields have Claude Code's names
// (https://github.com/google-gemini/gemini-cli/blob/main/docs/hooks/reference.md).
func step(p claude.Payload, c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD, Silence: api.AsksInTerminal}
	switch c.Event {
	case "BeforeTool":
		return beforeTool(p, s, c.Gate)
	case "AfterTool":
		s.Over = p.SameCall
	case "AfterAgent":
		s.Finished()
	case "BeforeAgent", "SessionEnd":
		s.Over = hooks.Everything
	case "Notification":
		s.Notify(p.NotificationType, p.Message)
	}
	return s, nil
}

// beforeTool comes before Gemini's own policy, and Gemini continues after silence: so nod denies whatever it asks about
// and gets no allow for. An allow does not skip Gemini's own prompt, so nod asks about everything only if that prompt
// is switched off, and otherwise about what the policy insists on.
func beforeTool(p claude.Payload, s hooks.Step, gate bool) (hooks.Step, error) {
	switch {
	case p.ToolName == "ask_user":
		return p.AsksByDenial(s, deny)
	case gate:
		s.Gates(p.Approve(), agent.Decision{Decision: "allow"})
	default:
		s.Vetoes(p.Approve(), nil)
	}
	return s, nil
}

func deny(reason string) any { return agent.Decision{Decision: "deny", Reason: reason} }
