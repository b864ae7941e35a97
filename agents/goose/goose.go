// Package goose supports Goose: the plugin with its hooks, and its tools.
package goose

import (
	_ "embed"
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/ipc/hooks"
)

const name = "goose"

// Agent is Goose.
var Agent = agent.Agent{
	Name: name, Title: "Goose", Program: "goose",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: hooks.DenyIn(deny, "PreToolUse")},
	Settings: settings,
	Needs:    needs,
	Limits: []string{
		"An allow in nod does not skip its own prompt, which is off by default: nod asks only where your rules say ask.",
	},
}

var plugin = agent.FolderOf("", ".agents/plugins/nod", "")

// settings makes Goose deny if nod's hook fails: a hook without a reply has not failed.
var settings = agent.HookFile{
	Agent: name, Unit: time.Second, Default: 30 * time.Second,
	Events: []agent.Event{
		{Name: "PreToolUse", Decides: true, Blocks: true}, {Name: "PostToolUse"}, {Name: "Stop"}, {Name: "SessionEnd"},
	},
}.In(plugin, "hooks/hooks.json")

//go:embed plugin.json
var manifest []byte

func needs(m agent.Machine) []agent.File {
	return []agent.File{agent.Whole(filepath.Join(plugin(m), "plugin.json"), func(string) []byte { return manifest }, nil)}
}

// payload is what nod reads of Goose's hook payloads (https://goose-docs.ai/docs/guides/context-engineering/hooks), in
// which the tool has Claude Code's field name.
type payload struct {
	claude.Payload
	Folder string `json:"working_dir"`
	CallID string `json:"tool_call_id"`
}

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.Folder}
	switch c.Event {
	case "PreToolUse":
		call := p.Approve()
		call.ToolUseID = p.CallID
		s.Vetoes(call, nil)
	case "PostToolUse":
		s.Over = hooks.CallOf(p.CallID)
	case "Stop":
		s.Finished()
	case "SessionEnd":
		s.Over = hooks.Everything
	}
	return s, nil
}

func deny(reason string) any { return agent.Decision{Decision: "block", Reason: reason} }
