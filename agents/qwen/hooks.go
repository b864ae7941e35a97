package qwen

import (
	"slices"

	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what nod reads of Qwen Code's hook payloads, which have Claude Code's shape
// (https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks). Qwen Code shows no prompt while a hook thinks.
type payload struct{ claude.Payload }

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{
		Session: p.SessionID, CWD: p.CWD, Subagent: interact.Subagent{ID: p.AgentID, Type: p.AgentType}, Call: p.Call,
		Silence: interact.AsksInTerminal,
	}
	switch c.Event {
	case "PermissionRequest":
		if p.ToolName == question {
			return p.AsksByDenial(s, func(reason string) any { return claude.Deny(c.Event, reason) })
		}
		s.Ask = p.Approve()
		s.Reply = claude.Verdict(claude.Permission)
		return s, nil
	case "PreToolUse":
		return p.preToolUse(s), nil
	}
	return p.Step(c)
}

const question = "ask_user_question"

// preToolUse comes after the prompt, if there was one, and takes no allow. In modes that ask less, and for what Qwen
// Code never asks about, it comes alone: there the person is asked now, if the policy insists on it.
func (p payload) preToolUse(s hooks.Step) hooks.Step {
	if p.ToolName == question {
		return s // it has been answered
	}
	s.Again = true
	s.Quiet = slices.Contains(quietModes, p.PermissionMode)
	s.Vetoes(p.Approve(), nil)
	return s
}

// quietModes are those in which Qwen Code lets calls pass that it would otherwise ask about.
var quietModes = []string{"auto_edit", "auto", "yolo"}
