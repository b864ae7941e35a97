package goose

import (
	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what nod reads of Goose's hook payloads
// (https://goose-docs.ai/docs/guides/context-engineering/hooks), in which the tool is as Claude Code names it.
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
		s.Over = p.isOver
	case "Stop":
		s.Finished()
	case "SessionEnd":
		s.Over = hooks.Everything
	}
	return s, nil
}

// isOver picks the request that asks about this very call.
func (p payload) isOver(r interact.Request) bool {
	a, ok := r.Body.(interact.Approve)
	return ok && p.CallID != "" && a.ToolUseID == p.CallID
}

func deny(reason string) any {
	return struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}{"block", reason}
}
