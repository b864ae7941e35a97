package main

import (
	"strings"
	"testing"

	"nod/agents/registry"
)

const printed = `=== RUN   TestAgentClaudeCode
--- FAIL: TestAgentClaudeCodeQuestion (3.00s)
    --- FAIL: TestAgentClaudeCodeQuestion/oldest (1.00s)
    --- PASS: TestAgentClaudeCodeQuestion/newest (1.00s)
        --- PASS: TestAgentClaudeCode/oldest/allowed (1.00s)
        --- FAIL: TestAgentClaudeCode/newest/allowed (1.00s)
        --- PASS: TestAgentClaudeCode/newest/away_and_strict (1.00s)
--- FAIL: TestAgentClaudeCode (3.00s)
    --- PASS: TestAgentGeminiGate/denied_with_a_reason (1.00s)
    --- PASS: TestAgentKilled/Codex (1.00s)
        --- PASS: TestAgentACP/opencode/reads_without_a_prompt (1.00s)
--- PASS: TestAgentNobody (1.00s)
`

func TestTable(t *testing.T) {
	seen, err := read(strings.NewReader(printed))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[row]map[string]string{
		{"Claude Code", "2.1.197", "default, headless"}: {"allowed": "✓", "away": ""},
		{"Claude Code", "2.1.330", "default, headless"}: {"allowed": "✗", "away and strict": "✓", "away": ""},
		{"Gemini CLI", "0.61.0", "nod alone asks"}:      {"denied": "✓"},
		{"Claude Code", "2.1.197", "default"}:           {"question": "✗"},
		{"Claude Code", "2.1.330", "default"}:           {"question": "✓"},
		{"Codex", "0.169.0", "default"}:                 {"agent killed": "✓"},
		{"opencode", "1.18.33", "behind nod acp"}:       {"read-only": "✓"},
	} {
		for scenario, mark1 := range want {
			if got := mark(seen[at], scenario); got != mark1 {
				t.Errorf("%v, %s: %q, want %q", at, scenario, got, mark1)
			}
		}
	}
	if len(seen) != 7 {
		t.Errorf("rows: %v", seen)
	}
	text := table(registry.All(), seen)
	if !strings.Contains(text, "| Claude Code | 2.1.330 | default, headless |") {
		t.Error(text)
	}
}
