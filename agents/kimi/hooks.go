package kimi

import (
	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what nod reads of Kimi Code's hook payloads, whose fields have the names that Claude Code gave them
// (https://moonshotai.github.io/kimi-code/en/customization/hooks).
type payload struct{ claude.Payload }

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD, Silence: interact.AsksInTerminal}
	switch c.Event {
	case preToolUse:
		return p.preToolUse(s, c.Gate)
	case "Stop":
		s.Finished()
	case "UserPromptSubmit", "Interrupt", "SessionEnd":
		s.Over = hooks.Everything
	}
	return s, nil
}

const preToolUse = "PreToolUse"

// preToolUse comes before Kimi Code's own prompt, which an allow does not skip: nod asks about everything only where
// that prompt is switched off, and else about what the policy insists on. Kimi Code goes on after silence, so whatever
// was asked and not allowed is denied.
func (p payload) preToolUse(s hooks.Step, gate bool) (hooks.Step, error) {
	switch {
	case p.ToolName == "AskUserQuestion":
		return p.AsksByDenial(s, deny)
	case gate:
		s.Gates(p.Approve(), nil)
	default:
		s.Vetoes(p.Approve(), nil)
	}
	return s, nil
}

func deny(reason string) any { return claude.Deny(preToolUse, reason) }
