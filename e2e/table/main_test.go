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
	const want = `agent	version	mode	scenario	result
claude-code	2.1.197	default	question	failed
claude-code	2.1.197	default, headless	allowed	passed
claude-code	2.1.332	default	question	passed
claude-code	2.1.332	default, headless	away and strict	passed
claude-code	2.1.332	default, headless	allowed	failed
codex	0.171.0	default	agent killed	passed
gemini-cli	0.61.0	nod alone asks	denied	passed
opencode	1.18.33	behind nod acp	read-only	passed
`
	if got := table(registry.All(), seen); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	text := summary(registry.All(), seen)
	for _, want := range []string{
		"Passed: 6. Failed: Claude Code 2.1.197, default: question; Claude Code 2.1.332, default, headless: allowed.",
		"Built from their documents and not run: Cursor, VS Code, Crush, Goose.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
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
	want := "1, 2: auto (H, T) → x\n1: plan (also H) → y\n2: (T) → y"
	if strings.Join(text, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(text, "\n"), want)
	}
}
