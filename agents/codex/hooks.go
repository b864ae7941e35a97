package codex

import (
	"encoding/json"
	"strings"
	"sync"

	"nod/agents/claude"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// hookPayload is what nod reads of Codex's hook payloads, which have Claude Code's names and nearly its fields
// (https://developers.openai.com/codex/hooks). Two things differ: Codex takes a reply with any field it does
// not expect for a failure, and it shows no prompt of its own while a hook thinks.
type hookPayload struct {
	claude.Payload
	Rollout string `json:"transcript_path"`
}

func (p hookPayload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD, Silence: interact.AsksInTerminal, Call: p.call}
	switch c.Event {
	case "PermissionRequest":
		s.Ask, s.Again = p.outsideSandbox(), !p.reachesHost()
		s.Reply = claude.Permits
	case "PreToolUse":
		return p.preToolUse(s)
	case "PostToolUse":
		s.Over = p.SameCall
	case "Stop":
		s.Finished()
		s.Reply = func(interact.Answer) (any, error) { return struct{}{}, nil } // Stop wants an object
	case "UserPromptSubmit", "SessionEnd", "Interrupt":
		s.Over = hooks.Everything
	}
	return s, nil
}

// preToolUse comes before Codex's own rules. It takes no "allow" and no "ask": silence lets those rules decide, and
// what its sandbox holds runs unasked. So what the policy insists on is asked about here, and silence is for an allow
// only. Whether the command will ask to leave the sandbox nobody can tell yet. So what is asked is whether it may run,
// as in agents without a sandbox, and the answer counts for the PermissionRequest that may follow.
func (p hookPayload) preToolUse(s hooks.Step) (hooks.Step, error) {
	if p.ToolName == "request_user_input" {
		// PermissionRequest does not follow, and changed input changes only what the terminal asks, which it does in plan
		// mode.
		return p.AsksByDenial(s, deny)
	}
	s.Vetoes(p.Approve(), nil)
	s.Futile = sync.OnceValue(p.futile)
	return s, nil
}

func deny(reason string) any { return claude.Deny("PreToolUse", reason) }

// outsideSandbox is the request that asks about what Codex's sandbox would not let through: a command that leaves it,
// or one that wants to reach a host. With what rights, the payload does not say, but for the agent's own words. So a
// command runs something, even one that would only read where the sandbox holds it.
func (p hookPayload) outsideSandbox() interact.Approve {
	a := p.Approve()
	if p.ToolName == "Bash" {
		a.Class = policy.Execute
	}
	return a
}

// call is the same for the events of one call: PermissionRequest adds a description.
func (p hookPayload) call() string {
	var in struct {
		Command string `json:"command"`
	}
	if p.ToolName != "Bash" || json.Unmarshal(p.ToolInput, &in) != nil {
		return p.Call()
	}
	return p.ToolName + " " + in.Command
}

// reachesHost reports whether a command that runs in the sandbox wants to reach a host, which is a question of its own.
func (p hookPayload) reachesHost() bool {
	var in struct {
		Description string `json:"description"`
	}
	return json.Unmarshal(p.ToolInput, &in) == nil && strings.HasPrefix(in.Description, "network-access ")
}
