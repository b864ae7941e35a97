package gemini

import (
	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what nod reads of Gemini CLI's hook payloads, whose fields have the names that Claude Code gave them
// (https://github.com/google-gemini/gemini-cli/blob/main/docs/hooks/reference.md).
type payload struct{ claude.Payload }

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD, Silence: interact.AsksInTerminal}
	switch c.Event {
	case "BeforeTool":
		return p.beforeTool(s, c.Gate)
	case "AfterTool":
		s.Over = p.SameCall
	case "AfterAgent":
		s.Finished()
	case "BeforeAgent", "SessionEnd":
		s.Over = hooks.Everything
	case "Notification":
		if p.Message != "" {
			s.Notice, s.NoticeKind = hooks.Notice(p.CWD, p.Message), "notification/"+p.NotificationType
		}
	}
	return s, nil
}

// beforeTool comes before Gemini's own policy, and Gemini goes on after silence: whatever nod asks about and nobody
// allows is denied. An allow does not skip Gemini's own prompt, so nod asks about everything only where that prompt is
// switched off, and else about what the policy insists on.
func (p payload) beforeTool(s hooks.Step, gate bool) (hooks.Step, error) {
	switch {
	case p.ToolName == "ask_user":
		return p.AsksByDenial(s, deny)
	case gate:
		s.Gates(p.Approve(), map[string]string{"decision": "allow"})
	default:
		s.Vetoes(p.Approve(), nil)
	}
	return s, nil
}

func deny(reason string) any {
	return struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"deny", reason}
}
