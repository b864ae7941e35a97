package settings

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"nod/dialogs/controls"
	"nod/dialogs/dialogstest"
	"nod/policy"
)

// What the form shows of the rarer fields is what the rule says, and saved as such.
func TestARuleWithRarerFieldsIsEdited(t *testing.T) {
	before := policy.Rule{ID: "deploys", Effect: policy.Allow, Server: "deploy", Expires: "2030-12-31",
		Args: []policy.Arg{{Field: "branch", Value: "release/*"}, {Field: "/options/force", Value: "false"}},
		Examples: policy.Examples{Match: []string{
			`{"tool":"mcp__deploy__run","input":{"branch":"release/1","options":{"force":false}}}`}}}
	w, o := few(t)
	o.state.Config.Policy.Rules = []policy.Rule{before}
	w.tabs.selectIndex(onAllow)
	w.allow.edit(w.state.Config.Policy.Rules[0])
	e := w.allow.editor
	if got := e.texts["args"].Text; got != "branch = release/*\n/options/force = false" {
		t.Errorf("args are shown as %q", got)
	}
	if !e.rule().Equal(before) {
		t.Errorf("the form says %+v, want %+v", e.rule(), before)
	}
	e.texts["args"].SetText("branch = main")
	test.Tap(e.save)
	if w.allow.editor == nil || !strings.Contains(e.wrong["examples.match"].Label.Text, "does not match") {
		t.Errorf("an example that fails can be saved: %q", e.wrong["examples.match"].Label.Text)
	}
	e.texts["examples.match"].SetText("")
	e.texts["host"].SetText("HTTP://x")
	test.Tap(e.save)
	if w.allow.editor == nil || shownBy(e.wrong["host"]) == "" {
		t.Error("a host that is none can be saved")
	}
	e.texts["host"].SetText("")
	e.texts["session"].SetText("s1")
	test.Tap(e.save)
	want := policy.Rule{ID: "deploys", Effect: policy.Allow, Server: "deploy", Expires: "2030-12-31", Session: "s1",
		Args: []policy.Arg{{Field: "branch", Value: "main"}}}
	if got := o.rule(t, "deploys"); !got.Equal(want) {
		t.Errorf("saved %+v, want %+v", got, want)
	}
}

func TestSentenceNamesEveryMatcher(t *testing.T) {
	r := policy.Rule{Effect: policy.Deny, Server: "prod", Host: "*.example.com", Session: "s1",
		Expires: "2030-12-31", Args: []policy.Arg{{Field: "force", Value: "true"}}}
	got := controls.Sentence(r)
	for _, want := range []string{"prod", "*.example.com", "s1", "2030-12-31", "force = true"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// A class and a path together make one phrase.
func TestSentenceOfAClassInAPath(t *testing.T) {
	for class, want := range map[policy.Class]string{
		policy.ReadOnly:    "Any agent may read files in ~/src",
		policy.Write:       "Any agent may change files in ~/src",
		policy.Destructive: "Any agent may delete or overwrite files in ~/src",
		policy.Execute:     "Any agent may run programs on files in ~/src",
		"":                 "Any agent may access files in ~/src",
	} {
		if got := controls.Sentence(policy.Rule{Effect: policy.Allow, Class: class, Path: "~/src/**"}); got != want {
			t.Errorf("of the class %q: %q, want %q", class, got, want)
		}
	}
}

// A rule is told as what an agent may do.
func TestSentenceOfEachEffect(t *testing.T) {
	claude := policy.Rule{Agent: "claude-code", Program: "/usr/bin/claude", Run: []string{"npm test"},
		CWD: "~/src/shop/**"}
	bash := policy.Rule{Tool: "Bash", Run: []string{"npm test", "npm run lint"}, CWD: "~/src/shop"}
	for _, tt := range []struct {
		effect policy.Effect
		rule   policy.Rule
		want   string
	}{
		{policy.Allow, claude, "Claude Code (/usr/bin/claude) may run “npm test” anywhere in ~/src/shop"},
		{policy.Allow, bash, "Any agent may run “npm test”, “npm run lint” with Bash in ~/src/shop"},
		{policy.Sandbox, claude,
			"Claude Code (/usr/bin/claude) may run “npm test” anywhere in ~/src/shop, inside the sandbox"},
		{policy.Sandbox, bash, "Any agent may run “npm test”, “npm run lint” with Bash in ~/src/shop, inside the sandbox"},
		{policy.Ask, claude, "Claude Code (/usr/bin/claude) must ask to run “npm test” anywhere in ~/src/shop"},
		{policy.Ask, policy.Rule{Path: "~/notes/*.md"}, "Any agent must ask to access files that match ~/notes/*.md"},
		{policy.Deny, policy.Rule{Agent: "mine"}, "mine may not do anything"},
		{policy.Deny, policy.Rule{Program: "/usr/bin/claude", Tool: "Bash"}, "/usr/bin/claude may not use Bash"},
		{policy.Deny, policy.Rule{Command: "git push"}, "No agent may run exactly “git push”"},
	} {
		if tt.rule.Effect = tt.effect; controls.Sentence(tt.rule) != tt.want {
			t.Errorf("got %q, want %q", controls.Sentence(tt.rule), tt.want)
		}
	}
}

func TestSentenceInChinese(t *testing.T) {
	dialogstest.Speak(t, dialogstest.Chinese)
	r := policy.Rule{Effect: policy.Allow, Agent: "claude-code", Tool: "Bash", Run: []string{"npm test"},
		CWD: "~/src/shop"}
	if got := controls.Sentence(r); got != "Claude Code 可以运行 “npm test”（用 Bash）（在 ~/src/shop）" {
		t.Errorf("got %q", got)
	}
}
