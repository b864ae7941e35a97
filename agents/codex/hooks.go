package codex

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"nod/agents/claude"
	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/ownfile"
	"nod/policy"
)

// hookPayload is what nod reads of Codex's hook payloads, which have Claude Code's names and nearly its fields
// (https://developers.openai.com/codex/hooks). Two things differ: Codex treats a reply with an unexpected field as a
// failure, and it shows no prompt of its own while a hook runs.
type hookPayload struct {
	claude.Payload
	Rollout string `json:"transcript_path"`
}

func (p hookPayload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.SessionID, CWD: p.CWD, Silence: api.AsksInTerminal, Call: p.call}
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

// preToolUse comes before Codex's own rules. It accepts no "allow" and no "ask": silence lets those rules decide, and
// what its sandbox confines runs unasked. So nod asks here about what the policy insists on, and stays silent only for
// an allow. It is not known yet whether the command will ask to leave the sandbox. So nod asks whether it may run, as
// for agents without a sandbox, and the answer counts for the PermissionRequest that may follow.
func (p hookPayload) preToolUse(s hooks.Step) (hooks.Step, error) {
	if p.ToolName == "request_user_input" {
		// PermissionRequest does not follow, and changed input changes only what the terminal asks in plan mode.
		return p.AsksByDenial(s, deny)
	}
	s.Vetoes(p.Approve(), nil)
	s.Futile = sync.OnceValue(p.futile)
	return s, nil
}

func deny(reason string) any { return claude.Deny("PreToolUse", reason) }

// outsideSandbox returns the request that asks about what Codex's sandbox would block: a command that leaves it, or one
// that wants to reach a host. The payload does not say with what rights, except in the agent's own words. So a command
// counts as running something, even if it would only read inside the sandbox.
func (p hookPayload) outsideSandbox() interact.Approve {
	a := p.Approve()
	if p.ToolName == "Bash" {
		a.Class = policy.Execute
	}
	return a
}

// call returns the same text for the events of one call: PermissionRequest adds a description.
func (p hookPayload) call() string {
	var in struct {
		Command string `json:"command"`
	}
	if p.ToolName != "Bash" || json.Unmarshal(p.ToolInput, &in) != nil {
		return p.Call()
	}
	return p.ToolName + " " + in.Command
}

// reachesHost reports whether a command in the sandbox wants to reach a host, which is a separate question.
func (p hookPayload) reachesHost() bool {
	var in struct {
		Description string `json:"description"`
	}
	return json.Unmarshal(p.ToolInput, &in) == nil && strings.HasPrefix(in.Description, "network-access ")
}

// Under approval policy never, which codex exec always has and hooks see as bypassPermissions, Codex never asks.
// Measured with 0.169.0, in the terminal and with exec, in any sandbox and without: PreToolUse comes anyway, and after
// silence Codex refuses what wants to leave the sandbox and every rm with -f.
const never = "bypassPermissions"

// Why nod does not ask about such a call.
const (
	refusedEscalation = "Codex lets nothing leave its sandbox under approval policy never, even after an allow in nod, " +
		"so nod did not ask: start Codex in a terminal with -a on-request"
	refusedForce = "Codex refuses rm with -f under approval policy never, even after an allow in nod, so nod did not " +
		"ask: delete without -f, or start Codex in a terminal with -a on-request"
)

func (p hookPayload) futile() string {
	call := policy.Call{Agent: name, CWD: p.CWD, Tool: p.ToolName, Input: policy.ReadInput(p.ToolInput)}
	effect, advice := ownRules.Rule(call)
	switch {
	case effect == policy.Deny, effect == policy.Ask && p.PermissionMode == never:
		return advice
	case p.PermissionMode != never || p.ToolName != "Bash":
	case p.escalates():
		return refusedEscalation
	case policy.Decide(call, forced(), time.Now()).Effect == policy.Deny:
		return refusedForce
	}
	return ""
}

// forced denies rm with -f, however it is written.
var forced = sync.OnceValue(func() *policy.Compiled {
	p, err := policy.Compile(policy.Policy{Rules: []policy.Rule{
		{ID: "rm", Effect: policy.Deny, Run: []string{"rm -f", "rm --force"}},
	}}, policy.DefaultPlaces())
	if err != nil {
		panic(err) // the rule is a constant
	}
	return p
})

// maxTail is how much of a rollout's end is read, in bytes: Codex writes a call there before it runs hooks.
const maxTail = 1 << 20

// escalates reports whether the call asks to leave the sandbox. The payload does not say, but the rollout does. If the
// rollout cannot be read, that is unknown: then nod asks.
func (p hookPayload) escalates() bool {
	text, err := ownfile.ReadTail(p.Rollout, maxTail)
	if err != nil || p.ToolUseID == "" {
		return false
	}
	found := false
	for line := range bytes.Lines(text) {
		var l struct {
			Payload struct {
				CallID    string `json:"call_id"`
				Arguments string `json:"arguments"` // JSON
			} `json:"payload"`
		}
		var asked struct {
			Permissions string `json:"sandbox_permissions"`
		}
		if bytes.Contains(line, []byte(p.ToolUseID)) && json.Unmarshal(line, &l) == nil &&
			l.Payload.CallID == p.ToolUseID && json.Unmarshal([]byte(l.Payload.Arguments), &asked) == nil {
			found = asked.Permissions != "" && asked.Permissions != "use_default"
		}
	}
	return found
}
