package codex

import (
	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// hookPayload is what nod reads of Codex's hook payloads, which have Claude Code's names and nearly its fields
// (https://developers.openai.com/codex/hooks). Two things differ: Codex takes a reply with any field it does
// not expect for a failure, and it shows no prompt of its own while a hook thinks.
type hookPayload struct{ claude.Payload }

func (p hookPayload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD}
	switch c.Event {
	case "PermissionRequest":
		s.Ask = p.Approve()
		s.Reply = claude.Verdict(claude.Permission)
	case "PreToolUse":
		// "allow" and "ask" are not supported here: silence lets Codex's own rules decide.
		s.Ask, s.Judge = p.Approve(), []policy.Effect{policy.Deny}
		s.Reply = claude.Verdict(claude.PreTool)
	case "PostToolUse":
		s.Over = p.SameCall
	case "Stop":
		s.Finished()
		s.Reply = func(interact.Answer) (any, error) { return struct{}{}, nil } // Stop wants an object
	case "UserPromptSubmit", "SessionEnd", "Interrupt":
		s.Over = hooks.Everything
	}
	return s, nil
}
