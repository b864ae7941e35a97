package hooks

import (
	"nod/interact"
	"nod/policy"
)

// codex is what nod reads of Codex's hook payloads, which have Claude Code's names and nearly its fields
// (https://developers.openai.com/codex/hooks). Two things differ: Codex takes a reply with any field it does
// not expect for a failure, and it shows no prompt of its own while a hook thinks.
type codex struct{ claude }

func (p codex) step(c Call) (step, error) {
	s := step{session: p.SessionID, cwd: p.CWD}
	switch c.Event {
	case "PermissionRequest":
		s.ask = p.approve()
		s.reply = verdict(permission)
	case "PreToolUse":
		// "allow" and "ask" are not supported here: silence lets Codex's own rules decide.
		s.ask, s.judge = p.approve(), []policy.Effect{policy.Deny}
		s.reply = verdict(preTool)
	case "PostToolUse":
		s.over = p.sameCall
	case "Stop":
		s.finished()
		s.reply = func(interact.Answer) (any, error) { return struct{}{}, nil } // Stop wants an object
	case "UserPromptSubmit", "SessionEnd", "Interrupt":
		s.over = everything
	}
	return s, nil
}
