package codex

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"nod/agents/agent"
	"nod/ownfile"
	"nod/policy"
)

// Under approval policy never, which codex exec always has and hooks are told of as bypassPermissions, Codex asks
// nobody. Measured with 0.169.0, in the terminal and with exec, in any sandbox and without: PreToolUse comes all the
// same, and after silence Codex refuses what wants to leave the sandbox and every rm with -f.
const never = "bypassPermissions"

// Why nod asks nobody about such a call.
const (
	refusedEscalation = "Codex lets nothing leave its sandbox under approval policy never, even after an allow in nod, " +
		"so nod did not ask: start Codex in a terminal with -a on-request"
	refusedForce = "Codex refuses rm with -f under approval policy never, even after an allow in nod, so nod did not " +
		"ask: delete without -f, or start Codex in a terminal with -a on-request"
)

// futile says why an allow of the call would have no effect; "": it has.
func (p hookPayload) futile() string {
	call := policy.Call{Agent: name, CWD: p.CWD, Tool: p.ToolName, Input: policy.ReadInput(p.ToolInput)}
	effect, where := ownRules.Rule(call)
	switch {
	case effect == policy.Deny, effect == policy.Ask && p.PermissionMode == never:
		return agent.Heeds("Codex", effect, where)
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

// escalates reports whether the call asks to leave the sandbox. Hooks are not told, but the rollout is. Where that
// cannot be read nobody knows: then nod asks.
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
