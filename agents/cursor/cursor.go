// Package cursor supports Cursor: its hooks, settings and tools.
package cursor

import (
	"encoding/json"
	"strings"
	"time"

	"nod/agents/agent"
	"nod/interact"
	"nod/ipc/hooks"
)

const name = "cursor"

// Agent is Cursor.
var Agent = agent.Agent{
	Name: name, Title: "Cursor", Program: "cursor",
	Hooks: hooks.Protocol{
		Read: hooks.Reads(payload.step),
		Deny: hooks.DenyIn(deny, "beforeShellExecution", "beforeMCPExecution", "preToolUse"),
	},
	Settings: settings,
	Limits: []string{
		"Cursor may ask even after an allow in nod, so nod asks only where your rules say ask.",
		"If nod's hook is killed or takes too long, the agent decides on its own.",
		"It has no hook for its own questions.",
	},
}

var folder = agent.FolderOf("", ".cursor", "")

// settings does not say what to do if a hook fails: told to block, Cursor would also block calls on which nod has no
// opinion.
var settings = agent.HookFile{
	Agent: name, Unit: time.Second, Default: time.Minute, Flat: true, Version: 1,
	Events: []agent.Event{
		{Name: "beforeShellExecution", Decides: true}, {Name: "beforeMCPExecution", Decides: true},
		{Name: "preToolUse", Decides: true}, {Name: "stop"},
	},
}.In(folder, "hooks.json")

// payload is what nod reads of Cursor's hook payloads (https://cursor.com/docs/hooks).
type payload struct {
	Conversation string          `json:"conversation_id"`
	Folders      []string        `json:"workspace_roots"`
	CWD          string          `json:"cwd"`
	Command      string          `json:"command"` // of the shell, or of an MCP server
	Tool         string          `json:"tool_name"`
	Input        json.RawMessage `json:"tool_input"` // of an MCP server's tool: a text that holds JSON
	CallID       string          `json:"tool_use_id"`
}

const (
	shell     = "Shell"
	mcpPrefix = "MCP:" // begins the names of MCP servers' tools where Cursor names them among others
)

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.Conversation, CWD: p.CWD}
	if s.CWD == "" && len(p.Folders) == 1 { // otherwise it is ambiguous
		s.CWD = p.Folders[0]
	}
	switch c.Event {
	case "beforeShellExecution":
		return p.command(s)
	case "beforeMCPExecution":
		return p.mcp(s)
	case "preToolUse":
		if p.Tool != shell && !strings.HasPrefix(p.Tool, mcpPrefix) { // those come again in an event of their own
			p.asks(&s, p.Tool, p.Input)
		}
	case "stop":
		s.Finished()
	}
	return s, nil
}

func (p payload) command(s hooks.Step) (hooks.Step, error) {
	input := struct {
		Command string `json:"command"`
		CWD     string `json:"cwd,omitempty"`
	}{p.Command, p.CWD}
	text, err := json.Marshal(input)
	if err != nil {
		return hooks.Step{}, err
	}
	p.asks(&s, shell, text)
	return s, nil
}

func (p payload) mcp(s hooks.Step) (hooks.Step, error) {
	input := p.Input
	var text string
	if json.Unmarshal(input, &text) == nil && json.Valid([]byte(text)) {
		input = json.RawMessage(text)
	}
	p.asks(&s, mcpPrefix+p.Tool, input)
	return s, nil
}

func (p payload) asks(s *hooks.Step, tool string, input json.RawMessage) {
	s.Vetoes(interact.Approve{Tool: tool, Input: input, ToolUseID: p.CallID}, permission{Permission: "allow"})
}

type permission struct {
	Permission   string `json:"permission"`
	UserMessage  string `json:"user_message,omitempty"`
	AgentMessage string `json:"agent_message,omitempty"`
}

func deny(reason string) any { return permission{"deny", reason, reason} }
