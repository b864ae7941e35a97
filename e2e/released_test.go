//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// released is the program of a coding agent as its maker released it. Without make test-agents the test is skipped.
func released(t *testing.T, program string) string {
	t.Helper()
	return installed(t, filepath.Join(".bin", program))
}

// installed is the path of what make test-agents installed: it names the folder of all agents in NOD_AGENTS.
func installed(t *testing.T, path string) string {
	t.Helper()
	folder := os.Getenv("NOD_AGENTS")
	if folder == "" {
		t.Skip("NOD_AGENTS names no folder of released agents: run make test-agents")
	}
	path = filepath.Join(folder, path)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the agent is not installed, run make test-agents: %v", err)
	}
	return path
}

// transcript is what a model got to read.
type transcript struct {
	mu      sync.Mutex // guards results
	results []string   // of the tools, in the last request that had any
}

// heard takes note of what tools said.
func (m *transcript) heard(results []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(results) > 0 {
		m.results = results
	}
}

func (m *transcript) lastResult() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.results) == 0 {
		return ""
	}
	return m.results[len(m.results)-1]
}

// reads fails the test unless a model read a text last.
func (n *nod) reads(m interface{ lastResult() string }, want string) {
	n.t.Helper()
	if got := m.lastResult(); !strings.Contains(got, want) {
		n.t.Errorf("the model reads %q, want %q", got, want)
	}
}

// made fails the test unless made.txt is there, or is not.
func (n *nod) made(want bool) {
	n.t.Helper()
	if _, err := os.Stat(filepath.Join(n.project(), "made.txt")); (err == nil) != want {
		n.t.Errorf("made.txt is there: %v, want %v", err == nil, want)
	}
}
