package hooks

import (
	"encoding/json"
	"fmt"
	"strings"

	"nod/interact"
	"nod/policy"
)

// gemini is what nod reads of Gemini CLI's hook payloads, whose fields have the names that Claude Code gave them
// (https://github.com/google-gemini/gemini-cli/blob/main/docs/hooks/reference.md).
type gemini struct{ claude }

func (p gemini) step(c Call) (step, error) {
	s := step{session: p.SessionID, cwd: p.CWD}
	switch c.Event {
	case "BeforeTool":
		return p.beforeTool(s, c.Gate)
	case "AfterTool":
		s.over = p.sameCall
	case "AfterAgent":
		s.finished()
	case "BeforeAgent", "SessionEnd":
		s.over = everything
	case "Notification":
		if p.Message != "" {
			s.notice, s.noticeKind = notice(p.CWD, p.Message), "notification/"+p.NotificationType
		}
	}
	return s, nil
}

// beforeTool comes before Gemini's own policy. An allow does not skip Gemini's prompt, so nod asks only
// where that prompt is switched off, and then whatever is not allowed must be denied: Gemini goes on after
// silence.
func (p gemini) beforeTool(s step, gate bool) (step, error) {
	if p.ToolName == "ask_user" {
		return p.askUser(s)
	}
	s.ask = p.approve()
	if !gate {
		s.judge = []policy.Effect{policy.Deny}
	}
	s.reply = func(a interact.Answer) (any, error) {
		switch {
		case a.Outcome == interact.Denied:
			return geminiDeny(a.Refusal()), nil
		case !gate:
			return nil, nil
		case a.Outcome == interact.Allowed:
			return map[string]string{"decision": "allow"}, nil
		}
		return geminiDeny(a.Undecided()), nil
	}
	return s, nil
}

// askUser answers Gemini's own question tool. The only way to hand it an answer is a deny whose reason is
// the answer; without one the question goes on to the terminal.
func (p gemini) askUser(s step) (step, error) {
	var in questionInput
	if err := json.Unmarshal(p.ToolInput, &in); err != nil {
		return step{}, err
	}
	return s.asks(in.Questions, func(picks [][]string) (any, error) {
		lines := []string{"This is not a refusal: the person has answered in another window."}
		for i, pick := range picks {
			lines = append(lines, fmt.Sprintf("%s: %s", in.Questions[i].Question, strings.Join(pick, ", ")))
		}
		return geminiDeny(strings.Join(lines, "\n")), nil
	})
}

func geminiDeny(reason string) any {
	return struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"deny", reason}
}
