package hooks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"nod/interact"
	"nod/policy"
)

// A call that the classifier of Claude Code refused runs only if the user overrules that, and then only this call,
// once, and soon.
func TestAppeal(t *testing.T) {
	const (
		bash  = "06-PreToolUse-Bash"
		retry = `{"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}`
	)
	allowed := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",` +
		`"permissionDecisionReason":"the user overruled the agent's own check"}}`
	auto := map[string]any{"permission_mode": "auto"}
	other := map[string]any{"permission_mode": "auto", "tool_input": map[string]any{"command": "ls"}}
	moved := map[string]any{"permission_mode": "auto", "cwd": "/elsewhere"}
	elsewhere := map[string]any{"permission_mode": "auto", "session_id": "other"}
	for name, tt := range map[string]struct {
		human         interact.Answer
		before, later policy.Effect  // what a rule says of the tool when it is refused, and when it is tried again
		again         map[string]any // what is tried
		after         time.Duration
		asked         int
		refused, ran  string
	}{
		"overruled":     {human: allow, asked: 1, refused: retry, ran: allowed},
		"left":          {human: deny, asked: 1},
		"closed":        {human: dismiss, asked: 1},
		"a rule allows": {human: deny, before: policy.Allow, ran: preToolAllows},
		"a rule denies": {human: allow, before: policy.Deny, ran: preTool("deny", "the test says so")},
		"a rule denies now": {human: allow, later: policy.Deny, asked: 1, refused: retry,
			ran: preTool("deny", "the test says so")},
		"another command": {human: allow, again: other, asked: 1, refused: retry},
		"another folder":  {human: allow, again: moved, asked: 1, refused: retry},
		"another session": {human: allow, again: elsewhere, asked: 1, refused: retry},
		"too late":        {human: allow, after: 6 * time.Minute, asked: 1, refused: retry},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, tt.human)
				r.policy.Set("Bash", tt.before)
				if got := handle(t, r, claudeCall(t, bash, "PermissionDenied", auto)); got != tt.refused {
					t.Errorf("refused: %s\nwant %s", got, tt.refused)
				}
				if tt.later != "" {
					r.policy.Set("Bash", tt.later)
				}
				time.Sleep(tt.after)
				again := auto
				if tt.again != nil {
					again = tt.again
				}
				if got := handle(t, r, claudeCall(t, bash, "PreToolUse", again)); got != tt.ran {
					t.Errorf("tried again: %s\nwant %s", got, tt.ran)
				}
				if shown := r.human.Shown(); len(shown) != tt.asked {
					t.Errorf("asked %d times, want %d", len(shown), tt.asked)
				} else if tt.asked == 1 && !shown[0].Body.(interact.Approve).Refused {
					t.Errorf("shown as %+v", shown[0].Body)
				}
				if got := handle(t, r, claudeCall(t, bash, "PreToolUse", auto)); tt.before == "" && tt.later == "" &&
					tt.again == nil && got != "" {
					t.Errorf("tried a third time: %s", got)
				}
			})
		})
	}
	t.Run("other modes", func(t *testing.T) {
		for _, mode := range []string{"", "default", "acceptEdits", "dontAsk", "bypassPermissions", "plan"} {
			r := newRig(t, allow)
			c := claudeCall(t, bash, "PermissionDenied", map[string]any{"permission_mode": mode})
			if got := handle(t, r, c); got != "" || len(r.human.Shown()) > 0 {
				t.Errorf("%q: %s, asked %d times", mode, got, len(r.human.Shown()))
			}
		}
	})
}

const preToolAllows = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",` +
	`"permissionDecisionReason":"the test says so"}}`
