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
	for at, want := range map[row]string{
		{"Claude Code", "2.1.197", "default, headless"}: "allowed",
		{"Claude Code", "2.1.330", "default, headless"}: "away and strict, ✗ allowed",
		{"Gemini CLI", "0.61.0", "nod alone asks"}:      "denied",
		{"Claude Code", "2.1.197", "default"}:           "✗ question",
		{"Claude Code", "2.1.330", "default"}:           "question",
		{"Codex", "0.169.0", "default"}:                 "agent killed",
		{"opencode", "1.18.33", "behind nod acp"}:       "read-only",
	} {
		if got := results(seen[at]); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
	if len(seen) != 7 {
		t.Errorf("rows: %v", seen)
	}
	text := table(registry.All(), seen)
	if !strings.Contains(text, "| Claude Code | 2.1.330 | default (H) | away and strict, ✗ allowed |") {
		t.Error(text)
	}
}

func TestMerged(t *testing.T) {
	got := merged([]line{
		{[]string{"1"}, []string{"auto, headless"}, "x"}, {[]string{"2"}, []string{"auto, headless"}, "x"},
		{[]string{"1"}, []string{"auto, terminal"}, "x"}, {[]string{"2"}, []string{"auto, terminal"}, "x"},
		{[]string{"1"}, []string{"plan"}, "y"}, {[]string{"1"}, []string{"plan, headless"}, "y"},
		{[]string{"2"}, []string{"terminal"}, "y"},
	})
	var text []string
	for _, l := range got {
		text = append(text, l.String())
	}
	want := "1, 2 | auto (H, T) | x\n1 | plan (also H) | y\n2 | (T) | y"
	if strings.Join(text, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(text, "\n"), want)
	}
}
