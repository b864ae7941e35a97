package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/interact"
	"nod/policy"
)

// tool is one tool: what the client is told of it, and what it does.
type tool struct {
	name, title, about string
	input, output      string // JSON schemas
	run                func(context.Context, call) (any, error)
}

func (t tool) describe() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about,
		InputSchema: json.RawMessage(t.input), OutputSchema: schemaOrNone(t.output),
		// Asking changes nothing but what the human knows, so no client need ask before asking.
		Annotations: &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

func schemaOrNone(s string) any {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// The parts that schemas share.
const (
	timing = `"timeout":{"type":"number","minimum":0,"maximum":86400,"description":"seconds until the question is taken off the screen; 0 or absent: as the human has set it"},
		"hold":{"type":"number","minimum":0,"maximum":86400,"description":"seconds until this call returns \"pending\" while the question stays open; default 50"}`
	pending = `"status":{"type":"string","description":"\"pending\" when nobody has answered yet"},"id":{"type":"string","description":"for interact_wait"}`
)

var tools = []tool{
	{
		name: "interact_ask", title: "Ask the human",
		about:  "Ask the human at this desktop a question and return the answer. With options the human picks one of them or types something else; without, the answer is free text.",
		input:  `{"type":"object","required":["question"],"properties":{"question":{"type":"string"},"options":{"type":"array","items":{"type":"string"},"description":"non-empty: a single choice"},` + timing + `}}`,
		output: `{"type":"object","properties":{"answer":{"type":"string"},` + pending + `}}`,
		run:    runAsk,
	},
	{
		name: "interact_confirm", title: "Ask the human yes or no",
		about:  "Ask the human at this desktop a yes/no question. Without an answer in time the default counts.",
		input:  `{"type":"object","required":["message"],"properties":{"message":{"type":"string"},"default":{"type":"boolean","default":false,"description":"what silence means"},` + timing + `}}`,
		output: `{"type":"object","properties":{"confirmed":{"type":"boolean"},` + pending + `}}`,
		run:    runConfirm,
	},
	{
		name: "interact_notify", title: "Tell the human",
		about:  "Show the human a desktop notification. Returns at once.",
		input:  `{"type":"object","required":["message"],"properties":{"message":{"type":"string"},"level":{"type":"string","enum":["info","warning","error"],"default":"info"}}}`,
		output: `{"type":"object","properties":{"sent":{"type":"boolean"}},"required":["sent"]}`,
		run:    runNotify,
	},
	{
		name: "interactive_form_question", title: "Ask the human several questions",
		about: "Show the human one form with one or more questions. Every choice question also offers a free text. With wait: false this returns at once, and your task resumes with the human's next message.",
		input: `{"type":"object","required":["questions"],"properties":{"title":{"type":"string"},"questions":{"type":"array","minItems":1,"items":{"type":"object","required":["id","question"],"properties":{
			"id":{"type":"string","description":"key of the answer"},"question":{"type":"string"},"header":{"type":"string"},
			"input_type":{"type":"string","description":"choice or text"},
			"options":{"type":"array","items":{"type":"object","required":["label"],"properties":{"label":{"type":"string"},"value":{"type":"string"},"description":{"type":"string"},"recommended":{"type":"boolean"}}}},
			"multi_select":{"type":"boolean","default":false},"required":{"type":"boolean","default":true},
			"default":{"description":"a string or an array of strings"},"placeholder":{"type":"string"}}}},
			"wait":{"type":"boolean","default":true},` + timing + `}}`,
		output: `{"type":"object","properties":{"answer":{"description":"of a single question: an array for a choice, a string for a text"},"answers":{"type":"object","description":"of several, by question id"},` + pending + `}}`,
		run:    runForm,
	},
	{
		name: "interact_wait", title: "Wait for the human's answer",
		about:  "Wait for the answer to a question that was pending. The answer is never lost, however late it comes.",
		input:  `{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"hold":{"type":"number","minimum":0,"maximum":86400,"description":"seconds; default 50"}}}`,
		output: `{"type":"object","properties":{` + pending + `}}`,
		run:    runWait,
	},
	{
		name: "approval_prompt", title: "Permission prompt",
		about: "For Claude Code's --permission-prompt-tool: ask the human whether a tool call may run.",
		input: `{"type":"object","required":["tool_name","input"],"properties":{"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}}}`,
		run:   runPermission,
	},
	{
		name: "ask_user_approval", title: "Ask the human for approval",
		about: "Ask the human whether a tool call may run, before running it. Run it only when the decision is \"allow\".",
		input: `{"type":"object","required":["tool","input"],"properties":{"tool":{"type":"string"},"input":{"type":"object"},
			"class":{"type":"string","enum":["read_only","write","execute","network","destructive","unknown"]},"description":{"type":"string"},` + timing + `}}`,
		output: `{"type":"object","properties":{"decision":{"type":"string","enum":["allow","deny"]},"reason":{"type":"string"},"by":{"type":"string"},` + pending + `}}`,
		run:    runApprove,
	},
}

func runAsk(ctx context.Context, c call) (any, error) {
	return c.askAnd(ctx, interact.Ask{Question: c.args.text("question", true), Options: c.args.texts("options")})
}

func runConfirm(ctx context.Context, c call) (any, error) {
	return c.askAnd(ctx, interact.Confirm{Message: c.args.text("message", true), Default: c.args.flag("default", false)})
}

func runNotify(ctx context.Context, c call) (any, error) {
	s, err := c.ask(ctx, interact.Notify{Message: c.args.text("message", true), Level: interact.Level(c.args.text("level", false))})
	if err != nil {
		return nil, err
	}
	return map[string]bool{"sent": s.Answer.Sent}, nil
}

func runForm(ctx context.Context, c call) (any, error) {
	form := interact.Form{Title: c.args.text("title", false), Questions: c.args.questions()}
	wait := c.args.flag("wait", true)
	if !wait {
		c.args.set("hold", "0")
	}
	s, err := c.ask(ctx, form)
	if err != nil {
		return nil, err
	}
	if !wait && s.Answer.Outcome == "" {
		return deferred{s.ID}, nil
	}
	return outcome(s)
}

func runWait(ctx context.Context, c call) (any, error) {
	id := c.args.text("id", true)
	hold := c.args.seconds("hold", Hold)
	if c.args.err != nil {
		return nil, c.args.err
	}
	s, err := c.backend.Wait(ctx, c.who, interact.ID(id), hold)
	if err != nil {
		return nil, err
	}
	return outcome(s)
}

func runApprove(ctx context.Context, c call) (any, error) {
	return c.askAnd(ctx, interact.Approve{
		Tool: c.args.text("tool", true), Input: c.args.object("input"),
		Class: policy.Class(c.args.text("class", false)), Description: c.args.text("description", false),
	})
}

// runPermission waits for as long as the request lives: Claude Code has no other way to get the answer. Its
// answer is always a verdict, for an error here would end the agent's turn.
func runPermission(ctx context.Context, c call) (any, error) {
	input := c.args.object("input")
	body := interact.Approve{Tool: c.args.text("tool_name", true), Input: input, ToolUseID: c.args.text("tool_use_id", false)}
	c.args.set("hold", "86400")
	s, err := c.ask(ctx, body)
	switch {
	case err != nil:
		return verdict{Behavior: "deny", Message: "nobody decided: " + coded(err).Message}, nil
	case s.Answer.Outcome == interact.Allowed:
		return verdict{Behavior: "allow", UpdatedInput: input}, nil
	case s.Answer.Outcome == interact.Denied:
		return verdict{Behavior: "deny", Message: s.Answer.Refusal()}, nil
	}
	return verdict{Behavior: "deny", Message: s.Answer.Undecided()}, nil
}

func (c call) askAnd(ctx context.Context, body interact.Body) (any, error) {
	s, err := c.ask(ctx, body)
	if err != nil {
		return nil, err
	}
	return outcome(s)
}
