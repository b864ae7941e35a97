package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// tool is one tool: its description for the client, and what it does.
type tool struct {
	mcp.Tool
	run func(ctx context.Context, c call, arguments json.RawMessage) *mcp.CallToolResult
}

// typed makes a tool from a function, whose arguments' type is also the tool's schema. members are the members of
// [reply] that it may return; without any its result is only a text.
//
// It does not use the SDK's AddTool, which reads the arguments into a map and re-encodes them before it decodes them:
// the user would see, and be asked to allow, other bytes of a tool's input than the agent sent.
func typed[In any](
	name, title, about string, members []string, run func(context.Context, call, In) (any, error),
) tool {
	no := false
	t := tool{Tool: mcp.Tool{
		Name: name, Title: title, Description: about, InputSchema: schemaOf(reflect.TypeFor[In]()),
		// Asking changes only what the user knows, so no client needs to ask before asking.
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}}
	if members != nil {
		t.OutputSchema = replySchema(members)
	}
	t.run = func(ctx context.Context, c call, arguments json.RawMessage) *mcp.CallToolResult {
		var in In
		if len(arguments) > 0 {
			if err := api.Decode(arguments, &in); err != nil {
				return result(nil, err)
			}
		}
		return result(run(ctx, c, in))
	}
	return t
}

// schemaOf returns the schema of a type. It permits unknown members, which are ignored, because models add some.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Type: "object"},
		reflect.TypeFor[api.Value]():       {},
	}})
	if err != nil { // the types are below
		panic(fmt.Sprintf("mcp: schema of %s: %v", t, err))
	}
	relax(s)
	return s
}

func relax(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	switch len(s.Types) { // null, and another unless that may be anything
	case 1:
		s.Types = nil
	case 2:
		s.Type, s.Types = s.Types[1], nil
	}
	s.AdditionalProperties = nil
	relax(s.Items)
	for _, member := range s.Properties {
		relax(member)
	}
}

type timing struct {
	Timeout float64  `json:"timeout,omitzero" jsonschema:"seconds until the question goes away; default: a setting"`
	Hold    *float64 `json:"hold,omitzero" jsonschema:"seconds until this call returns \"pending\"; default 50"`
}

// The arguments of the tools.
type (
	askArguments struct {
		Question string   `json:"question"`
		Options  []string `json:"options,omitempty" jsonschema:"non-empty: a single choice"`
		timing
	}
	confirmArguments struct {
		Message string `json:"message"`
		Default bool   `json:"default,omitzero" jsonschema:"what silence means; default false"`
		timing
	}
	notifyArguments struct {
		Message string `json:"message"`
		Level   string `json:"level,omitzero" jsonschema:"info, warning or error; default info"`
	}
	formArguments struct {
		Title     string    `json:"title,omitzero"`
		Questions questions `json:"questions"`
		Wait      *bool     `json:"wait,omitzero" jsonschema:"default true"`
		timing
	}
	waitArguments struct {
		ID   string   `json:"id"`
		Hold *float64 `json:"hold,omitzero" jsonschema:"seconds, at most 86400; default 50"`
	}
	permissionArguments struct {
		ToolName  string          `json:"tool_name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id,omitzero"`
	}
	approveArguments struct {
		Tool        string          `json:"tool"`
		Input       json.RawMessage `json:"input"`
		Class       string          `json:"class,omitzero" jsonschema:"read_only, write, execute, network or destructive"`
		Description string          `json:"description,omitzero"`
		timing
	}
)

func seconds(name string, n *float64, otherwise time.Duration) (time.Duration, error) {
	if n == nil {
		return otherwise, nil
	}
	if *n < 0 || *n > api.MaxSeconds {
		return 0, &codedError{api.CodeInvalidParam, fmt.Sprintf("%s: want 0 to %d seconds", name, api.MaxSeconds)}
	}
	return time.Duration(*n * float64(time.Second)), nil
}

func tools() []tool {
	return []tool{
		typed("interact_ask", "Ask the human",
			"Ask the human at this desktop a question and return the answer. With options the human picks one of them "+
				"or types something else; without, the answer is free text.", []string{"answer", "status", "id"}, runAsk),
		typed("interact_confirm", "Ask the human yes or no",
			"Ask the human at this desktop a yes/no question. Without an answer in time the default counts.",
			[]string{"confirmed", "defaulted", "status", "id"}, runConfirm),
		typed("interact_notify", "Tell the human", "Show the human a desktop notification. Returns at once.",
			[]string{"sent"}, runNotify),
		typed("interactive_form_question", "Ask the human several questions",
			"Show the human one form with one or more questions. Every choice question also offers a free text. "+
				"With wait: false this returns at once, and your task resumes with the human's next message.",
			[]string{"answer", "answers", "status", "id"}, runForm),
		typed("interact_wait", "Wait for the human's answer",
			"Wait for the answer to a question that was pending. The answer is never lost, however late it comes.",
			[]string{"answer", "answers", "confirmed", "defaulted", "decision", "reason", "by", "status", "id"}, runWait),
		typed("approval_prompt", "Permission prompt",
			"For Claude Code's --permission-prompt-tool: ask the human whether a tool call may run.", nil, runPermission),
		typed("ask_user_approval", "Ask the human for approval",
			"Ask the human whether a tool call may run, before running it. Run it only when the decision is \"allow\".",
			[]string{"decision", "reason", "by", "status", "id"}, runApprove),
	}
}

func runAsk(ctx context.Context, c call, in askArguments) (any, error) {
	return outcome(c.ask(ctx, api.Ask{Question: in.Question, Options: in.Options}, in.timing))
}

func runConfirm(ctx context.Context, c call, in confirmArguments) (any, error) {
	return outcome(c.ask(ctx, api.Confirm{Message: in.Message, Default: in.Default}, in.timing))
}

func runNotify(ctx context.Context, c call, in notifyArguments) (any, error) {
	return outcome(c.ask(ctx, api.Notify{Message: in.Message, Level: in.Level}, timing{}))
}

func runForm(ctx context.Context, c call, in formArguments) (any, error) {
	isWaiting := in.Wait == nil || *in.Wait
	if !isWaiting {
		in.Hold = new(float64)
	}
	t, err := c.ask(ctx, api.Form{Title: in.Title, Questions: in.Questions.form()}, in.timing)
	r, err := outcome(t, err)
	if pending, ok := r.(reply); ok && !isWaiting && pending.Status != "" {
		return reply{Status: waiting, ID: pending.ID}, nil
	}
	return r, err
}

func runWait(ctx context.Context, c call, in waitArguments) (any, error) {
	hold, err := seconds("hold", in.Hold, defaultHold)
	if err != nil {
		return nil, err
	}
	ticket, err := c.broker.Find(ctx, c.Requester, interact.ID(in.ID))
	if err != nil {
		return nil, err
	}
	return outcome(ticket, c.wait(ctx, ticket, hold))
}

func runApprove(ctx context.Context, c call, in approveArguments) (any, error) {
	return outcome(c.ask(ctx, interact.Approve{
		Tool: in.Tool, Input: in.Input, Class: policy.Class(in.Class), Description: in.Description,
	}, in.timing))
}

// runPermission waits for as long as the request is pending, because Claude Code has no other way to get the answer. It
// always returns a verdict, because an error would end the agent's turn.
func runPermission(ctx context.Context, c call, in permissionArguments) (any, error) {
	if in.ToolName == "" {
		return verdict{Behavior: "deny", Message: "nobody decided: tool_name: want a string"}, nil
	}
	hold := float64(api.MaxSeconds)
	body := interact.Approve{Tool: in.ToolName, Input: in.Input, ToolUseID: in.ToolUseID}
	t, err := c.ask(ctx, body, timing{Hold: &hold})
	if err != nil {
		return verdict{Behavior: "deny", Message: "nobody decided: " + coded(err).Message}, nil
	}
	switch a, _ := t.Answer(); a.Outcome {
	case api.Allowed:
		return verdict{Behavior: "allow", UpdatedInput: in.Input}, nil
	case api.Denied:
		return verdict{Behavior: "deny", Message: a.Refusal()}, nil
	default:
		return verdict{Behavior: "deny", Message: a.Undecided()}, nil
	}
}
