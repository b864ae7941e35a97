package letta

import (
	"path/filepath"

	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what nod reads of Letta Code's hook payloads (https://docs.letta.com/letta-code/hooks), in which the tool
// is as Claude Code names it. Nothing tells two sessions apart.
type payload struct {
	claude.Payload
	Folder string `json:"working_directory"`
	CallID string `json:"tool_call_id"`
}

// Letta Code reads nothing but the exit status of a hook. Any other status than these is a failure.
const (
	allowed = 0 // even if a PermissionRequest hook has no opinion
	abstain = 1
	denied  = 2
)

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	p.CWD, p.ToolUseID, p.AgentID = p.Folder, p.CallID, "" // which names the main agent, and not everywhere
	s := hooks.Step{CWD: p.CWD, Call: p.call}
	switch c.Event {
	case "PermissionRequest":
		return p.permissionRequest(s), nil
	case "PreToolUse": // after PermissionRequest, or alone
		s.Again = true
		s.Vetoes(p.Approve(), nil)
	case "PostToolUse":
		s.Over = p.sameCall
	case "Stop":
		s.Finished()
		s.Over = p.sameFolder
	}
	return s, nil
}

// permissionRequest comes when Letta Code is about to ask in its terminal, which it does when there is no decision.
func (p payload) permissionRequest(s hooks.Step) hooks.Step {
	switch p.ToolName {
	case "AskUserQuestion", "EnterPlanMode", "ExitPlanMode": // they ask something themselves
		return s
	}
	s.Ask, s.Silence = p.Approve(), interact.AsksInTerminal
	s.Reply = func(a interact.Answer) (any, error) {
		if a.Outcome == interact.Allowed {
			return hooks.Exit{Status: allowed}, nil
		}
		return nil, nil
	}
	return s
}

// call is the same for the two events before one call.
func (p payload) call() string {
	call := p.Call()
	if call == "" {
		return ""
	}
	return p.CWD + "\n" + call
}

func (p payload) sameCall(r interact.Request) bool { return p.sameFolder(r) && p.SameCall(r) }

func (p payload) sameFolder(r interact.Request) bool {
	return filepath.IsAbs(p.CWD) && r.Requester.CWD == p.CWD
}

func deny(reason string) any { return hooks.Exit{Status: denied, Stderr: reason} }
