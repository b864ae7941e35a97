package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/interact"
)

// still is the result of a call whose question is open.
type still struct {
	Status string      `json:"status"`
	ID     interact.ID `json:"id"`
}

// deferred is the result of a form that nobody waits for.
type deferred struct{ id interact.ID }

// verdict is what Claude Code's --permission-prompt-tool wants to read.
type verdict struct {
	Behavior     string          `json:"behavior"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

// outcome turns how a request stands into the result of the tool that asked.
func outcome(s State) (any, error) {
	a := s.Answer
	if a.Outcome == "" {
		return still{Status: "pending", ID: s.ID}, nil
	}
	if a.Outcome == interact.Unavailable {
		return unavailable(s)
	}
	switch b := s.Body.(type) {
	case interact.Approve:
		return decision(a), nil
	case interact.Confirm:
		if a.Outcome == interact.Answered || a.Outcome == interact.TimedOut {
			return map[string]bool{"confirmed": a.Confirmed}, nil
		}
	case interact.Ask:
		if a.Outcome == interact.Answered {
			return map[string]string{"answer": a.Text}, nil
		}
	case interact.Form:
		if a.Outcome == interact.Answered {
			return answers(b, a), nil
		}
	case interact.Notify:
		return map[string]bool{"sent": a.Sent}, nil
	}
	if a.Outcome == interact.TimedOut {
		return nil, &Error{codeTimeout, a.Reason}
	}
	return nil, &Error{codeCancelled, a.Undecided()}
}

func unavailable(s State) (any, error) {
	if s.Body != nil && s.Body.Kind() == interact.KindNotify {
		return map[string]bool{"sent": false}, nil
	}
	return nil, &Error{codeUnsupported, s.Answer.Reason}
}

func answers(f interact.Form, a interact.Answer) any {
	if len(f.Questions) == 1 {
		return map[string]interact.Value{"answer": a.Values[f.Questions[0].ID]}
	}
	return map[string]map[string]interact.Value{"answers": a.Values}
}

func decision(a interact.Answer) any {
	d := struct {
		Decision string      `json:"decision"`
		Reason   string      `json:"reason"`
		By       interact.By `json:"by,omitempty"`
	}{Decision: "deny", Reason: a.Reason, By: a.By}
	switch a.Outcome {
	case interact.Allowed:
		d.Decision = "allow"
	case interact.Denied:
		d.Reason = a.Refusal()
	default:
		d.Reason = a.Undecided()
	}
	return d
}

// result is what goes over the wire: text for the model, the same as structured content for programs.
func result(r any, err error) *mcp.CallToolResult {
	if err != nil {
		e := coded(err)
		return &mcp.CallToolResult{
			IsError: true, Content: text(e.Error()),
			StructuredContent: map[string]string{"code": e.Code, "message": e.Message},
		}
	}
	switch r := r.(type) {
	case still:
		return &mcp.CallToolResult{StructuredContent: r, Content: text(fmt.Sprintf(
			"The human has not answered yet; the question is still on the screen. Call interact_wait with id %q to go on waiting. Do not ask again.", r.ID))}
	case deferred:
		return &mcp.CallToolResult{
			StructuredContent: still{Status: "waiting_for_user_response", ID: r.id}, Content: text(fmt.Sprintf(
				"The form is on the human's screen. Stop here: your task resumes with the human's next message. The answer can also be fetched with interact_wait and id %q.", r.id))}
	case verdict:
		return &mcp.CallToolResult{Content: text(encode(r))} // this tool's result is its text, and nothing else
	}
	return &mcp.CallToolResult{StructuredContent: r, Content: text(encode(r))}
}

func text(s string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: s}} }

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // none of the results above can fail
		panic(fmt.Sprintf("mcp: encode result: %v", err))
	}
	return string(b)
}
