package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	p := compiled(t, Policy{AutoAllow: []Class{ReadOnly}, Rules: []Rule{
		{ID: "shop", Effect: Allow, Tool: "Bash", Command: "rm -rf build"},
		{ID: "careful", Effect: Ask, Tool: "B*"},
		{ID: "other", Effect: Deny, Tool: "Write"},
	}})
	d, steps := Explain(bash("rm -rf build"), p, testNow)
	if want := Decide(bash("rm -rf build"), p, testNow); d != want {
		t.Errorf("explained %+v, decided %+v", d, want)
	}
	text := strings.Join(steps, "\n")
	for _, want := range []string{
		"nod knows the tool Bash of claude-code: class unknown", "the command runs rm", "nod treats it as class unknown",
		"path /home/u/src/shop/build", `rule "careful" asks about it`, `rule "shop" allows it`,
		`so the decision is ask: rule "careful" asks about it`,
	} {
		if !slices.Contains(steps, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "other") {
		t.Errorf("a rule that does not match is named:\n%s", text)
	}
}
