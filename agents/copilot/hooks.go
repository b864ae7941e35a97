package copilot

import (
	"encoding/json"

	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what nod reads of Copilot CLI's hook payloads
// (https://docs.github.com/en/copilot/reference/hooks-configuration).
type payload struct {
	SessionID string          `json:"sessionId"`
	CWD       string          `json:"cwd"`
	ToolName  string          `json:"toolName"`
	ToolArgs  json.RawMessage `json:"toolArgs"`  // of preToolUse
	ToolInput json.RawMessage `json:"toolInput"` // of permissionRequest, which has less in it

	Message          string `json:"message"`
	NotificationType string `json:"notification_type"`
}

const (
	preToolUse        = "preToolUse"
	permissionRequest = "permissionRequest"
)

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD, Silence: interact.AsksInTerminal}
	switch c.Event {
	case preToolUse:
		return p.preToolUse(s)
	case permissionRequest:
		s.Ask = interact.Approve{Tool: p.ToolName, Input: p.ToolInput}
		s.Reply = func(a interact.Answer) (any, error) {
			if d := claude.DecisionOf(a); d != nil {
				return d, nil
			}
			return nil, nil // it asks in the terminal, with the same call
		}
	case "agentStop":
		s.Finished()
	case "userPromptSubmitted", "sessionEnd":
		s.Over = hooks.Everything
	case "notification":
		p.notification(&s)
	}
	return s, nil
}

// preToolUse comes before any prompt, and an allow skips the prompt. What the policy insists on is asked about here,
// for with --allow-all-tools nothing follows, even where the reply is "ask"; all else when Copilot CLI would ask, with
// [permissionRequest].
func (p payload) preToolUse(s hooks.Step) (hooks.Step, error) {
	if p.ToolName == "ask_user" {
		return p.askUser(s)
	}
	var in struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(p.ToolArgs, &in) // a tool whose description is no text has none
	call := interact.Approve{Tool: p.ToolName, Input: p.ToolArgs, Description: hooks.Cut(in.Description, interact.MaxText)}
	s.Vetoes(call, decision{Decision: "allow"})
	return s, nil
}

// askUser answers Copilot CLI's own question tool. The only way to hand it an answer is a denial whose reason is the
// answer; without one the question goes on to the terminal.
func (p payload) askUser(s hooks.Step) (hooks.Step, error) {
	var in struct {
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(p.ToolArgs, &in); err != nil {
		return hooks.Step{}, err
	}
	return claude.Elicit(s, in.Message, in.Schema, func(content map[string]any) any {
		text, _ := json.Marshal(content) // texts, numbers and lists of texts become JSON always
		return decision{"deny", hooks.NoRefusal + "\n" + string(text)}
	})
}

func (p payload) notification(s *hooks.Step) {
	switch p.NotificationType {
	case "permission_prompt", "elicitation_dialog":
		return // nod's own window has said so
	}
	if p.Message != "" {
		s.Notice, s.NoticeKind = hooks.Notice(p.CWD, p.Message), "notification/"+p.NotificationType
	}
}

// decision is the reply to preToolUse.
type decision struct {
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
}

// refuse is the reply with which the hook denies on its own.
func refuse(event, reason string) any {
	switch event {
	case preToolUse:
		return decision{"deny", reason}
	case permissionRequest:
		return claude.Decision{Behavior: "deny", Message: reason}
	}
	return nil
}
