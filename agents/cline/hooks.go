package cline

import (
	"encoding/json"
	"time"

	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what nod reads of Cline's hook payloads (https://docs.cline.bot/features/hooks). Beside the call as it is
// they hold one in which all values are texts.
type payload struct {
	Session struct {
		Root string `json:"rootSessionId"`
	} `json:"sessionContext"`
	Folders []string `json:"workspaceRoots"`
	Agent   string   `json:"agent_id"`
	Parent  *string  `json:"parent_agent_id"`
	Call    struct {
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"tool_call"`
}

// toolCall is the event before a call. The hook's file is called PreToolUse.
const toolCall = "tool_call"

// patience is how long nod waits for the person: Cline waits for its hook two minutes and then goes on.
const patience = 110 * time.Second

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.Session.Root, Patience: patience}
	if len(p.Folders) == 1 { // else nobody knows which
		s.CWD = p.Folders[0]
	}
	if p.Parent != nil {
		s.Subagent.ID = p.Agent
	}
	if c.Event == toolCall {
		s.Vetoes(interact.Approve{Tool: p.Call.Name, Input: p.Call.Input, ToolUseID: p.Call.ID}, nil)
	}
	return s, nil
}

func deny(reason string) any {
	return struct {
		Cancel  bool   `json:"cancel"`
		Message string `json:"errorMessage"`
	}{true, reason}
}
