package vscode

import (
	"cmp"
	"slices"

	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// payload is what nod reads of VS Code's hook payloads
// (https://code.visualstudio.com/docs/agent-customization/hooks), which are Claude Code's but for some names.
type payload struct {
	claude.Payload
	Session string `json:"sessionId"`
}

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: cmp.Or(p.Session, p.SessionID), CWD: p.CWD, Silence: interact.AsksItself}
	switch c.Event {
	case "PreToolUse":
		p.preToolUse(&s)
	case "PostToolUse":
		s.Over = p.isOver
	case "UserPromptSubmit":
		s.Over = hooks.Everything
	case "Stop":
		s.Finished()
	}
	return s, nil
}

// preToolUse comes before VS Code asks, whether it would or not.
func (p payload) preToolUse(s *hooks.Step) {
	if p.ToolName == "vscode_askQuestions" {
		return
	}
	s.Ask = p.Approve()
	if slices.Contains(reviewed, p.ToolName) {
		s.Judge, s.AskNow = []policy.Effect{policy.Allow, policy.Deny}, true
	}
	s.Reply = func(a interact.Answer) (any, error) {
		d := claude.DecisionOf(a)
		if d == nil && a.Outcome != "" { // after silence a call that VS Code approves by itself would run
			d = &claude.Decision{Behavior: "ask", Message: a.Undecided()}
		}
		return claude.PreTool(d), nil
	}
}

// reviewed are the tools of which VS Code shows what they did, to be kept or undone.
var reviewed = []string{
	"apply_patch", "create_directory", "create_file", "edit_notebook_file", "insert_edit_into_file",
	"multi_replace_string_in_file", "replace_string_in_file",
}

// isOver picks the request that asks about this very call.
func (p payload) isOver(r interact.Request) bool {
	a, ok := r.Body.(interact.Approve)
	return ok && p.ToolUseID != "" && a.ToolUseID == p.ToolUseID
}
