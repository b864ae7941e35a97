package codex

import (
	"slices"
	"testing"

	"nod/policy"
)

func TestReadRules(t *testing.T) {
	found, err := readRules([]byte(`
prefix_rule(pattern = ["ls"], decision = "allow")
prefix_rule(pattern = ["ls"])
prefix_rule(
    pattern = ["git", ["push", "pull"]],
    decision = "prompt",
)
prefix_rule(pattern = ["rm"], decision = "forbidden", justification = "no")
prefix_rule(pattern = ["a b"], decision = "forbidden")
prefix_rule(pattern = ["rm"], decision = "forbidden", host = "x")
network_rule(host = "example.com", decision = "forbidden")
x = 1
`))
	if err != nil || len(found) != 4 {
		t.Fatalf("%+v, %v", found, err)
	}
	asks, denies := found[0], found[1]
	if asks.Effect != policy.Ask || asks.Line != 4 || !slices.Equal(asks.Rules[0].Run, []string{"git push", "git pull"}) ||
		asks.Text != `prefix_rule( pattern = ["git", ["push", "pull"]], decision = "prompt", )` {
		t.Errorf("%+v", asks)
	}
	if denies.Effect != policy.Deny || denies.Line != 8 || !slices.Equal(denies.Rules[0].Run, []string{"rm"}) {
		t.Errorf("%+v", denies)
	}
	for _, unclear := range found[2:] {
		if unclear.Effect != policy.Deny || len(unclear.Rules) != 0 {
			t.Errorf("%+v", unclear)
		}
	}
	if found, err := readRules([]byte("prefix_rule(")); err == nil {
		t.Errorf("%+v", found)
	}
}

func FuzzReadRules(f *testing.F) {
	f.Add([]byte(`prefix_rule(pattern = ["git", ["push", "pull"]], decision = "prompt")`))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = readRules(text) })
}
