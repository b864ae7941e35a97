//go:build linux

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
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

// transcript is what a model got to read, and how far it may go on.
type transcript struct {
	mu      sync.Mutex    // guards all below
	results []string      // of the tools, in the last request that had any
	isPaced bool          // the model makes a call only when the test says so
	turns   int           // how many calls it may have made
	turned  chan struct{} // closed when turns grows

	called, heardAt []time.Time // of each call: when the model made it, and when it read what came of it
}

// paced has the model wait with each call for [transcript.turn].
func (m *transcript) paced() *transcript {
	m.isPaced, m.turned = true, make(chan struct{})
	return m
}

// turn lets a paced model make its call number i, and those before.
func (m *transcript) turn(i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns = i + 1
	close(m.turned)
	m.turned = make(chan struct{})
}

// mayCall waits until the model may make its call number i.
func (m *transcript) mayCall(ctx context.Context, i int) {
	for {
		m.mu.Lock()
		waits, turned := m.isPaced && i >= m.turns, m.turned
		if !waits && len(m.called) == i {
			m.called = append(m.called, time.Now())
		}
		m.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return
		}
	}
}

// resultOf is what the model read of its call number i.
func (m *transcript) resultOf(i int) (result string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i >= len(m.results) {
		return "", false
	}
	return m.results[i], true
}

// heard takes note of what tools said.
func (m *transcript) heard(results []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(results) == 0 {
		return
	}
	m.results = results
	for len(m.heardAt) < len(results) {
		m.heardAt = append(m.heardAt, time.Now())
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
