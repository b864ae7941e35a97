package asking

import (
	"testing"
	"time"

	"nod/policy"
)

// Only the very same call counts, of the same agent in the same folder, and only until midnight.
func TestRepeats(t *testing.T) {
	var r repeats
	today := time.Date(2026, 5, 1, 23, 0, 0, 0, time.Local)
	call := policy.Call{Agent: "claude-code", CWD: "/shop", Tool: "Bash"}
	call.Input.Raw = []byte(`{"command":"make"}`)
	for range 2 {
		r.add(call, today)
	}
	others := map[string]policy.Call{}
	for name, change := range map[string]func(*policy.Call){
		"agent":  func(c *policy.Call) { c.Agent = "codex" },
		"folder": func(c *policy.Call) { c.CWD = "/" },
		"tool":   func(c *policy.Call) { c.Tool = "Shell" },
		"input":  func(c *policy.Call) { c.Input.Raw = []byte(`{}`) },
	} {
		other := call
		change(&other)
		others[name] = other
	}
	if n := r.of(call, today); n != 2 {
		t.Errorf("counted %d, want 2", n)
	}
	for name, other := range others {
		if n := r.of(other, today); n != 0 {
			t.Errorf("another %s counts %d times", name, n)
		}
	}
	tomorrow := today.Add(2 * time.Hour)
	if n := r.of(call, tomorrow); n != 0 {
		t.Errorf("counted %d on the next day", n)
	}
	r.add(call, tomorrow)
	if n := r.of(call, tomorrow); n != 1 {
		t.Errorf("counted %d on the next day, want 1", n)
	}
}
