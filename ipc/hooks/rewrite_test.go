package hooks_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// Where Claude Code sends PermissionRequest with the call as other hooks have left it, nod's rules allow there. In
// other modes and releases they allow in PreToolUse, until another hook has been seen to change what they allowed.
func TestAnotherHooksRewrite(t *testing.T) {
	const bash = "06-PreToolUse-Bash"
	for _, tt := range []struct {
		mode, version string
		allows        bool // in PreToolUse
	}{
		{"default", "2.1.330", false}, {"plan", "2.1.330", false}, {"acceptEdits", "2.1.330", false},
		{"default", "2.2.0", false}, {"default", "2.1.197", true}, {"default", "", true}, {"default", "x", true},
		{"auto", "2.1.330", true}, {"bypassPermissions", "2.1.330", true}, {"dontAsk", "2.1.330", true},
		{"tomorrow's", "2.1.330", true},
	} {
		for _, headless := range []bool{false, true} {
			t.Run(tt.mode+" "+tt.version, func(t *testing.T) {
				r := newRig(t, deny)
				r.policy.Set("Bash", policy.Allow)
				event := func(name, id, command string) hooks.Call {
					c := claudeCall(t, bash, name, map[string]any{"permission_mode": tt.mode, "tool_use_id": id,
						"tool_input": map[string]any{"command": command}})
					c.Version, c.Headless = tt.version, headless
					return c
				}
				want := ""
				if tt.allows {
					want = preToolAllows
				}
				if got := handle(t, r, event("PreToolUse", "1", "ls")); got != want {
					t.Errorf("PreToolUse: %s, want %s", got, want)
				}
				if got := handle(t, r, event("PermissionRequest", "", "ls")); !strings.Contains(got, `"behavior":"allow"`) {
					t.Errorf("PermissionRequest: %s", got)
				}
				handle(t, r, event("PostToolUse", "1", "ls"))
				if n := len(notices(r)); n != 0 {
					t.Fatalf("%d notices of a call that ran as it was", n)
				}
				handle(t, r, event("PreToolUse", "2", "ls"))
				handle(t, r, event("PostToolUse", "2", "rm -rf src"))
				if notices := notices(r); tt.allows != (len(notices) == 1) {
					t.Fatalf("notices of a call that another hook changed: %+v", notices)
				} else if tt.allows {
					n := notices[0].Body.(api.Notify)
					if n.Level != interact.Warning || !strings.Contains(n.Message, "rm -rf src") {
						t.Errorf("notice %+v", n)
					}
				}
				handle(t, r, event("PreToolUse", "4", "ls"))
				r.policy.Set("Bash", policy.Deny)
				handle(t, r, event("PostToolUse", "4", "rm -rf src")) // which nobody allowed, and a rule denies
				r.policy.Set("Bash", policy.Allow)
				if n := len(notices(r)); (n == 2) != tt.allows || (n == 1) == tt.allows {
					t.Errorf("%d notices after what a rule denies", n)
				}
				if got := handle(t, r, event("PreToolUse", "3", "ls")); got != "" {
					t.Errorf("after a change a rule allows in PreToolUse: %s", got)
				}
			})
		}
	}
}

func notices(r *rig) []interact.Request {
	var all []interact.Request
	for _, record := range r.broker.Own(interact.Requester{}) {
		if record.Request.Body.Kind() == api.KindNotify {
			all = append(all, record.Request)
		}
	}
	return all
}

// Calls that nod leaves to the agent and that never run are not kept in full.
func TestLargeCallsThatNeverRun(t *testing.T) {
	r := newRig(t, deny)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const calls, size = 16, 256 << 10
	before := heap()
	for i := range calls {
		c := claudeCall(t, "06-PreToolUse-Bash", "PreToolUse", map[string]any{
			"permission_mode": "default", "tool_use_id": fmt.Sprint(i),
			"tool_input": map[string]any{"command": "echo " + strings.Repeat("x", size)},
		})
		c.Version = "2.1.330"
		if got := handle(t, r, c); got != "" {
			t.Fatal(got)
		}
	}
	if grown := heap() - before; grown > calls*size/2 {
		t.Errorf("%d bytes are held", grown)
	}
	runtime.KeepAlive(r)
}

// Two agents may give their sessions the same name: what another hook changed in one says nothing of the other.
func TestARewriteIsOfOneAgentsSession(t *testing.T) {
	r := newRig(t, deny)
	r.policy.Set("Bash", policy.Allow)
	event := func(agent, name, id, command string) hooks.Call {
		c := claudeCall(t, "06-PreToolUse-Bash", name, map[string]any{"permission_mode": "auto", "tool_use_id": id,
			"tool_input": map[string]any{"command": command}})
		c.Agent = agent
		return c
	}
	handle(t, r, event("generic", "PreToolUse", "1", "ls"))
	handle(t, r, event("generic", "PostToolUse", "1", "rm -rf src"))
	for agent, want := range map[string]string{"generic": "", "claude-code": preToolAllows} {
		if got := handle(t, r, event(agent, "PreToolUse", "2", "ls")); got != want {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
}
