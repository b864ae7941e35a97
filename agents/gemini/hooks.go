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

// beforeTool comes before Gemini's own policy. An allow does not skip Gemini's prompt, so nod asks only
// where that prompt is switched off, and then whatever is not allowed must be denied: Gemini goes on after
// silence.
func (p payload) beforeTool(s hooks.Step, gate bool) (hooks.Step, error) {
	switch {
	case p.ToolName == "ask_user":
		return p.AsksByDenial(s, deny)
	case gate:
		s.Gates(p.Approve(), map[string]string{"decision": "allow"}, deny)
	default:
		s.Vetoes(p.Approve(), nil, deny)
		s.AskNow = false // its own prompt may follow
	}
	return s, nil
}

func deny(reason string) any {
	return struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"deny", reason}
}
