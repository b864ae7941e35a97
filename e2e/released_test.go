//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// released is the program of a coding agent as its maker released it. make test-agents installs all of them
// and names their folder in NOD_AGENTS; without that the test is skipped.
func released(t *testing.T, program string) string {
	t.Helper()
	folder := os.Getenv("NOD_AGENTS")
	if folder == "" {
		t.Skip("NOD_AGENTS names no folder of released agents: run make test-agents")
	}
	path := filepath.Join(folder, program)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the agent is not installed, run make test-agents: %v", err)
	}
	return path
}
