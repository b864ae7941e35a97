package hooks

import (
	"encoding/json"
	"fmt"
	"strings"

	"nod/interact"
)

// gemini is what nod reads of Gemini CLI's hook payloads
// (https://github.com/google-gemini/gemini-cli/blob/main/docs/hooks/reference.md).
type gemini struct {
	SessionID        string          `json:"session_id"`
	CWD              string          `json:"cwd"`
	ToolName         string          `json:"tool_name"`
	ToolInput        json.RawMessage `json:"tool_input"`
	NotificationType string          `json:"notification_type"`
	Message          string          `json:"message"`
}

func readGemini(c Call) (step, error) {
	var p gemini
	if err := json.Unmarshal(c.Payload, &p); err != nil {
		return step{}, err
	}
	s := step{session: p.SessionID, cwd: p.CWD}
	switch c.Event {
	case "BeforeTool":
		return p.beforeTool(s, c.Gate)
	case "AfterTool":
		s.over = claude{ToolName: p.ToolName, ToolInput: p.ToolInput}.sameCall
	case "AfterAgent":
		s.over = everything
		s.notice, s.noticeKind = notice(p.CWD, "finished"), "stop"
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
	a := claude{ToolName: p.ToolName, ToolInput: p.ToolInput}.approve()
	if !gate {
		s.judge = &a
		s.reply = func(a interact.Answer) any {
			if a.Outcome == interact.Denied {
				return geminiDeny(a.Refusal())
			}
			return nil
		}
		return s, nil
	}
	s.ask = a
	s.reply = func(a interact.Answer) any {
		switch a.Outcome {
		case interact.Allowed:
			return map[string]string{"decision": "allow"}
		case interact.Denied:
			return geminiDeny(a.Refusal())
		}
		return geminiDeny(a.Undecided())
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
	f, err := form(in.Questions)
	if err != nil {
		return step{}, err
	}
	s.ask = f
	s.reply = func(a interact.Answer) any {
		if a.Outcome != interact.Answered {
			return nil
		}
		lines := []string{"This is not a refusal: the person has answered in another window."}
		for i, pick := range picks(in.Questions, a) {
			lines = append(lines, fmt.Sprintf("%s: %s", in.Questions[i].Question, strings.Join(pick, ", ")))
		}
		return geminiDeny(strings.Join(lines, "\n"))
	}
	return s, nil
}

func geminiDeny(reason string) any {
	return struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"deny", reason}
}
