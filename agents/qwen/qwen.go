// Package qwen supports Qwen Code: its hooks, settings and tools.
package qwen

import (
	"path/filepath"
	"slices"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
)

const name = "qwen-code"

// Agent is Qwen Code.
var Agent = agent.Agent{
	Name: name, Title: "Qwen Code", Program: "qwen",
	Hooks:    hooks.Protocol{Read: hooks.Reads(step), Deny: claude.Deny},
	Settings: settings,
	Off:      off,
	Tested:   []string{"0.24.4"},
	Limits: []string{
		"It starts in auto, where its own classifier decides calls that no rule of yours mentions: to be asked, start " +
			"it with --approval-mode default.",
		"In yolo nod asks or denies only where your rules say so.",
		"With -p it hides its shell and its edits from the model, whatever nod would say.",
		"While nod isn't running, or when its hook is killed or takes too long, its own mode decides: in yolo the call runs.",
		"Commands in the text of its custom commands don't come to nod: in yolo they run unasked.",
		"Your answer to a question reaches the model as the reason of a denial.",
	},
}

var folder = agent.FolderOf("QWEN_HOME", ".qwen", "")

// settings counts milliseconds: newer versions count seconds, but treat values from a thousand as milliseconds.
var settings = agent.HookFile{
	Agent: name, Unit: time.Millisecond, Default: time.Minute, Named: true,
	Events: []agent.Event{
		{Name: "PermissionRequest", Decides: true}, {Name: "PreToolUse", Decides: true},
		{Name: "Notification"}, {Name: "Stop"}, {Name: "UserPromptSubmit"}, {Name: "SessionEnd"},
	},
}.In(folder, "settings.json")

func off(m agent.Machine, s agent.Session) []agent.Switch {
	system := m.System("/etc/qwen-code", "/Library/Application Support/QwenCode", `C:\ProgramData\qwen-code`)
	files := slices.Concat(
		[]string{filepath.Join(system, "system-defaults.json"), filepath.Join(folder(m), "settings.json")},
		s.Project(".qwen/settings.json"), []string{filepath.Join(system, "settings.json")},
	)
	return []agent.Switch{
		{Key: "disableAllHooks", Off: true, Files: files},
		{Key: "--bare"}, {Key: "--safe-mode"}, {Key: "QWEN_CODE_SIMPLE"}, {Key: "QWEN_CODE_SAFE_MODE"},
	}
}

// step reads Qwen Code's hook payloads, which have Claude Code's form
// (https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks). Qwen Code shows no prompt while a hook runs.
func step(p claude.Payload, c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{
		Session: p.SessionID, CWD: p.CWD, Subagent: interact.Subagent{ID: p.AgentID, Type: p.AgentType}, Call: p.Call,
		Silence: api.AsksInTerminal,
	}
	switch c.Event {
	case "PermissionRequest":
		if p.ToolName == question {
			return p.AsksByDenial(s, func(reason string) any { return claude.Deny(c.Event, reason) })
		}
		s.Ask, s.Reply = p.Approve(), claude.Permits
		return s, nil
	case "PreToolUse":
		return preToolUse(p, s), nil
	}
	return p.Step(c)
}

const question = "ask_user_question"

// preToolUse comes after the prompt, if there was one, and accepts no allow. In modes that ask less, and for what Qwen
// Code never asks about, it comes alone: then nod asks the user now, if the policy insists on it.
func preToolUse(p claude.Payload, s hooks.Step) hooks.Step {
	if p.ToolName == question {
		return s // it has been answered
	}
	s.Again = true
	s.Quiet = slices.Contains(quietModes, p.PermissionMode)
	s.Vetoes(p.Approve(), nil)
	return s
}

var quietModes = []string{"auto_edit", "auto", "yolo"}
