package kimi

import (
	"encoding/json"

	"nod/agents/claude"
	"nod/ipc/hooks"
)

// payload is what nod reads of Kimi Code's hook payloads, whose fields have the names that Claude Code gave them
// (https://moonshotai.github.io/kimi-code/en/customization/hooks).
type payload struct{ claude.Payload }

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD}
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
	if p.ToolName == "AskUserQuestion" {
		return p.question(s)
	}
	holds := s.Vetoes
	if gate {
		holds = s.Gates
	}
	holds(p.Approve(), nil, func(reason string) any { return refuse(preToolUse, reason) })
	return s, nil
}

// question answers Kimi Code's own question tool. The only way to hand it an answer is a denial whose reason is the
// answer; without one the question goes on to the terminal.
func (p payload) question(s hooks.Step) (hooks.Step, error) {
	var in claude.Questions
	if err := json.Unmarshal(p.ToolInput, &in); err != nil {
		return hooks.Step{}, err
	}
	return s.Asks(in.Questions, func(picks [][]string) (any, error) {
		return refuse(preToolUse, hooks.Told(in.Questions, picks)), nil
	})
}

// refuse is the reply with which the hook denies on its own.
func refuse(event, reason string) any {
	if event != preToolUse {
		return nil
	}
	return claude.Deny(event, reason)
}
