// Package cline supports Cline: its hook, settings and tools.
package cline

import (
	"encoding/json"
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/interact"
	"nod/ipc/hooks"
)

const name = "cline"

// Agent is Cline.
var Agent = agent.Agent{
	Name: name, Title: "Cline", Program: "cline",
	Hooks:    hooks.Protocol{Read: hooks.Reads(payload.step), Deny: hooks.DenyIn(deny, toolCall)},
	Settings: settings,
	Tested:   []string{"3.0.65"},
	Limits: []string{
		"A denial ends its whole task, and the model does not learn why.",
		"An allow in nod does not skip Cline's own prompt, so nod asks only where your rules say ask.",
		"It waits two minutes, then continues as if you had allowed: nod denies shortly before.",
		"If nod's hook is killed, the agent continues as if you had allowed.",
		"It has one hook for each event: nod can't be set up beside your own PreToolUse hook.",
		"nod's hook is a shell script: there is none for Windows.",
		"nod works with Cline's own program, not with its extension for editors.",
	},
}

var folder = agent.FolderOf("CLINE_DIR", ".cline", "")

// settings is the program that Cline runs before each call: Cline finds it by the name of the event.
func settings(m agent.Machine) agent.File {
	return agent.Script(filepath.Join(folder(m), "hooks", "PreToolUse"), name)
}

// payload is what nod reads of Cline's hook payloads (https://docs.cline.bot/features/hooks). They also have a form of
// the call in which all values are texts.
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

// patience is how long nod waits for the user: Cline waits two minutes for its hook and then continues.
const patience = 110 * time.Second

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.Session.Root, Patience: patience}
	if len(p.Folders) == 1 { // otherwise it is ambiguous
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
