package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/api"
	"nod/interact"
)

type reply struct {
	Answer    *api.Value           `json:"answer,omitzero" jsonschema:"a string; of a form's single choice an array"`
	Answers   map[string]api.Value `json:"answers,omitempty" jsonschema:"of several questions, by their ids"`
	Confirmed *bool                `json:"confirmed,omitzero"`
	Defaulted bool                 `json:"defaulted,omitzero" jsonschema:"nobody answered in time"`
	Sent      *bool                `json:"sent,omitzero"`
	Decision  api.Decision         `json:"decision,omitzero" jsonschema:"allow or deny"`
	Reason    *string              `json:"reason,omitzero"`
	By        api.By               `json:"by,omitzero"`
	Status    string               `json:"status,omitzero" jsonschema:"\"pending\" when nobody has answered yet"`
	ID        interact.ID          `json:"id,omitzero" jsonschema:"for interact_wait"`
}

func replySchema(members []string) *jsonschema.Schema {
	all := schemaOf(reflect.TypeFor[reply]())
	some := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, name := range members {
		some.Properties[name] = all.Properties[name]
	}
	return some
}

// waiting is the status of a form whose caller does not wait for the answer.
const waiting = "waiting_for_user_response"

// verdict is the format that Claude Code's --permission-prompt-tool reads.
type verdict struct {
	Behavior     string          `json:"behavior"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

// outcome converts the state of a request into the tool's result.
func outcome(t *interact.Ticket, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if isForPerson(t) {
		return reply{Status: string(api.Pending), ID: t.ID()}, nil
	}
	a, _ := t.Answer()
	r, err := t.Request().Reply(a)
	switch r := r.(type) {
	case api.ApproveReply:
		if a.Outcome == api.Denied {
			r.Reason = a.Refusal()
		}
		return reply{Decision: r.Decision, Reason: &r.Reason, By: a.By}, nil
	case api.ConfirmReply:
		return reply{Confirmed: &r.Confirmed, Defaulted: r.Defaulted}, nil
	case api.AskReply:
		return reply{Answer: &api.Value{Items: []string{r.Answer}}}, nil
	case api.FormReply:
		return reply{Answer: r.Answer, Answers: r.Answers}, nil
	case api.NotifyReply:
		return reply{Sent: &r.Sent}, nil
	}
	return nil, err
}

// codedError is an error with a stable code for the model.
type codedError struct {
	Code    api.Code `json:"code"`
	Message string   `json:"message"`
}

func (e *codedError) Error() string { return string(e.Code) + ": " + e.Message }

func coded(err error) *codedError {
	if known, ok := errors.AsType[*codedError](err); ok {
		return known
	}
	if none, ok := errors.AsType[*interact.UnansweredError](err); ok {
		return &codedError{none.Code(), none.Reason}
	}
	text, isText := errors.AsType[*api.DecodeError](err)
	wrong, isWrong := errors.AsType[*interact.ParamError](err)
	_, isBusy := errors.AsType[*interact.BusyError](err)
	switch {
	case isText && text.Text, isWrong && wrong.Missing:
		return &codedError{api.CodeInvalidPath, err.Error()}
	case isText, isWrong:
		return &codedError{api.CodeInvalidParam, err.Error()}
	case isBusy:
		return &codedError{api.CodeRateLimited, err.Error()}
	case errors.Is(err, interact.ErrNotFound):
		return &codedError{api.CodeNotFound, "no request of yours has this id; if nod was restarted, ask again"}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &codedError{api.CodeCancelled, "the call was cancelled"}
	}
	return &codedError{api.CodeInternal, err.Error()}
}

// result returns what is sent: text for the model, and the same as structured content for programs.
func result(r any, err error) *mcp.CallToolResult {
	if err != nil {
		e := coded(err)
		return &mcp.CallToolResult{IsError: true, Content: text(e.Error()), StructuredContent: e}
	}
	switch r := r.(type) {
	case reply:
		switch r.Status {
		case string(api.Pending):
			return &mcp.CallToolResult{StructuredContent: r, Content: text(fmt.Sprintf("The human has not answered yet; "+
				"the question is still on the screen. Call interact_wait with id %q to go on waiting. Do not ask again.", r.ID))}
		case waiting:
			return &mcp.CallToolResult{StructuredContent: r, Content: text(fmt.Sprintf("The form is on the human's screen. "+
				"Stop here: your task resumes with the human's next message. "+
				"The answer can also be fetched with interact_wait and id %q.", r.ID))}
		}
	case verdict:
		return &mcp.CallToolResult{Content: text(encode(r))} // this tool's result is its text, and nothing else
	}
	return &mcp.CallToolResult{StructuredContent: r, Content: text(encode(r))}
}

func text(s string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: s}} }

func encode(v any) string {
	b, err := api.Encode(v)
	if err != nil { // none of the results above can fail
		panic(fmt.Sprintf("mcp: encode result: %v", err))
	}
	return string(b)
}
