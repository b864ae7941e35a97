//go:build unix

package registry_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"nod/agents/codex"
	"nod/policy"
)

// A project may hold any number of links to a long file where the agent looks for its rules.
func TestRulesOfAProjectDoNotFillTheMemory(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	project, long := t.TempDir(), filepath.Join(t.TempDir(), "long")
	folder := filepath.Join(project, ".codex", "rules")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(long, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, 4<<20); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := os.Symlink(long, filepath.Join(folder, fmt.Sprintf("%d.rules", i))); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	codex.Agent.Own.Rule(policy.Call{CWD: project, Tool: "Bash", Input: policy.ReadInput([]byte(`{"command":"ls"}`))})
	runtime.ReadMemStats(&after)
	if read := after.TotalAlloc - before.TotalAlloc; read > 4<<20 {
		t.Errorf("it took %d bytes", read)
	}
}
