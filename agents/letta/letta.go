// Package letta supports Letta Code: its hooks, settings and tools.
package letta

import (
	"path/filepath"
	"time"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
)

const name = "letta"

// Agent is Letta Code.
var Agent = agent.Agent{
	Name: name, Title: "Letta Code", Program: "letta",
	Hooks: hooks.Protocol{
		Read: hooks.Reads(payload.step), Deny: hooks.DenyIn(deny, "PermissionRequest", "PreToolUse"), Abstain: abstain,
	},
	Settings: settings,
	Off:      off,
	After:    "Letta Code asks only when it is told to: start it with --permission-mode standard.",
	Tested:   []string{"0.25.9"},
	Limits: []string{
		"Without --permission-mode standard, or without a terminal, it asks nobody: nod asks or denies only where your " +
			"rules say so.",
		"If nod's hook is killed or takes too long, calls that it would not ask about run.",
		"When nod denies, the model also reads nod's command line before the reason.",
		"Its own questions stay in its terminal.",
	},
}

var folder = agent.FolderOf("LETTA_HOME", ".letta", "")

// settings counts time-outs in milliseconds, as Letta Code does. Without a matcher, Letta Code runs no hook for a
// tool's event.
var settings = agent.HookFile{
	Agent: name, Unit: time.Millisecond, Default: time.Minute,
	Events: []agent.Event{
		{Name: "PermissionRequest", Decides: true, Matches: true}, {Name: "PreToolUse", Decides: true, Matches: true},
		{Name: "PostToolUse", Matches: true}, {Name: "Stop"},
	},
}.In(folder, "settings.json")

// off returns the ways to turn its hooks off: the user's settings override those of a project's files.
func off(m agent.Machine, s agent.Session) []agent.Switch {
	var switches []agent.Switch
	user := filepath.Join(folder(m), "settings.json")
	for _, file := range s.Project(".letta/settings.json", ".letta/settings.local.json") {
		switches = append(switches, agent.Switch{Key: "hooks.disabled", Off: true, Files: []string{file, user}})
	}
	return append(switches, agent.Switch{Key: "hooks.disabled", Off: true, Files: []string{user}})
}

// payload is what nod reads of Letta Code's hook payloads (https://docs.letta.com/letta-code/hooks), in which the tool
// has Claude Code's field name. Nothing in them identifies the session.
type payload struct {
	claude.Payload
	Folder string `json:"working_directory"`
	CallID string `json:"tool_call_id"`
}

// Letta Code reads only the exit status of a hook. Any status other than these is a failure.
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

// permissionRequest comes when Letta Code is about to ask in its terminal, which it does without a decision.
func (p payload) permissionRequest(s hooks.Step) hooks.Step {
	switch p.ToolName {
	case "AskUserQuestion", "EnterPlanMode", "ExitPlanMode": // they ask something themselves
		return s
	}
	s.Ask, s.Silence, s.Reply = p.Approve(), api.AsksInTerminal, hooks.Allows(hooks.Exit{Status: allowed})
	return s
}

// call returns the same text for the two events before one call.
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
