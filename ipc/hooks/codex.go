package hooks

import (
	"encoding/json"

	"nod/interact"
)

// readCodex reads Codex's hooks, which have Claude Code's names and nearly its fields
// (https://developers.openai.com/codex/hooks). Two things differ: Codex takes a reply with any field it does
// not expect for a failure, and it shows no prompt of its own while a hook thinks.
func readCodex(c Call) (step, error) {
	var p claude
	if err := json.Unmarshal(c.Payload, &p); err != nil {
		return step{}, err
	}
	s := step{session: p.SessionID, cwd: p.CWD}
	switch c.Event {
	case "PermissionRequest":
		s.ask = p.approve()
		s.reply = func(a interact.Answer) any {
			switch a.Outcome {
			case interact.Allowed:
				return p.permission(decision{Behavior: "allow"})
			case interact.Denied:
				return p.permission(decision{Behavior: "deny", Message: a.Refusal()})
			}
			return nil
		}
	case "PreToolUse":
		a := p.approve()
		s.judge = &a
		s.reply = func(a interact.Answer) any {
			if a.Outcome == interact.Denied {
				return p.preTool(decision{Behavior: "deny", Message: a.Refusal()})
			}
			return nil // "allow" and "ask" are not supported here: silence lets Codex's own rules decide
		}
	case "PostToolUse":
		s.over = p.sameCall
	case "Stop":
		s.over = everything
		s.notice, s.noticeKind = notice(p.CWD, "finished"), "stop"
		s.reply = func(interact.Answer) any { return struct{}{} } // Stop wants an object
	case "UserPromptSubmit", "SessionEnd", "Interrupt":
		s.over = everything
	}
	return s, nil
}
