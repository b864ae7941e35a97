// Package vscode supports the agent in VS Code: its hooks, their settings and its tools.
package vscode

import (
	"cmp"
	"slices"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

const name = "vscode"

// Agent is the agent in VS Code that runs in VS Code itself.
var Agent = agent.Agent{
	Name: name, Title: "VS Code", Program: "code",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: claude.Deny},
	Settings: settings,
	After: `VS Code does not look there by itself: add "~/.vscode/nod-hooks.json": true to the setting ` +
		"chat.hookFilesLocations.",
	Limits: []string{
		"Its setting chat.hookFilesLocations must name nod's file: Claude Code or Copilot read its other hook files, too.",
		"nod's hook is for VS Code's own agent: sessions of Copilot, Claude or Codex in VS Code run their own hooks.",
		"You review edits in VS Code: nod asks about them only where your rules say ask.",
		"Its own questions stay in VS Code.",
	},
}

var folder = agent.FolderOf("", ".vscode", "")

// settings is a separate file: hooks in ~/.claude/settings.json and ~/.copilot/hooks would run in other agents as well.
var settings = agent.HookFile{
	Agent: name, Unit: time.Second, Default: 30 * time.Second, Flat: true,
	Events: []agent.Event{
		{Name: "PreToolUse", Decides: true}, {Name: "PostToolUse"}, {Name: "Stop"}, {Name: "UserPromptSubmit"},
	},
}.In(folder, "nod-hooks.json")

// payload is what nod reads of VS Code's hook payloads (https://code.visualstudio.com/docs/agent-customization/hooks),
// which are Claude Code's except for some names.
type payload struct {
	claude.Payload
	Session string `json:"sessionId"`
}

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: cmp.Or(p.Session, p.SessionID), CWD: p.CWD, Silence: api.AsksItself}
	switch c.Event {
	case "PreToolUse":
		p.preToolUse(&s)
	case "PostToolUse":
		s.Over = hooks.CallOf(p.ToolUseID)
	case "UserPromptSubmit":
		s.Over = hooks.Everything
	case "Stop":
		s.Finished()
	}
	return s, nil
}

// preToolUse comes before VS Code asks, whether it would or not.
func (p payload) preToolUse(s *hooks.Step) {
	if p.ToolName == "vscode_askQuestions" {
		return
	}
	s.Ask = p.Approve()
	if slices.Contains(reviewed, p.ToolName) {
		s.Judge, s.AskNow = []policy.Effect{policy.Allow, policy.Deny}, true
	}
	s.Reply = func(a interact.Answer) (any, error) {
		switch a.Outcome {
		case api.Allowed:
			return claude.PreTool("allow", ""), nil
		case "":
			return nil, nil
		}
		return claude.PreTool("ask", a.Undecided()), nil // after silence a call that VS Code approves by itself would run
	}
}

// reviewed are the tools whose changes VS Code shows, to be kept or undone.
var reviewed = []string{
	"apply_patch", "create_directory", "create_file", "edit_notebook_file", "insert_edit_into_file",
	"multi_replace_string_in_file", "replace_string_in_file",
}
