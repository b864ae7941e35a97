package claude

import (
	"reflect"
	"testing"

	"nod/policy"
)

func TestRules(t *testing.T) {
	tool := func(names ...string) (rules []policy.Rule) {
		for _, name := range names {
			rules = append(rules, policy.Rule{Tool: name})
		}
		return rules
	}
	for rule, want := range map[string][]policy.Rule{
		"Edit":           tool("Edit", "Write", "MultiEdit", "NotebookEdit"),
		"Bash(*)":        tool("Bash", "Monitor"),
		"mcp__git":       tool("mcp__git__*"),
		"mcp__git__push": tool("mcp__git__push"),
		"Bash(rm:*)":     {{Run: []string{"rm"}}},
		"Bash(git push *)": {
			{Run: []string{"git push"}},
		},
		"WebFetch(domain:example.com)": {
			{Tool: "WebFetch", Host: "example.com"}, {Tool: "WebFetch", Host: "*.example.com"},
		},
		"WebFetch(domain:)": nil, "Bash(rm a)": nil, "Bash(rm:*": nil, "Bash(a*b:*)": nil, "Bash(:*)": nil,
		"Read(~/.ssh/**)": nil, "(x)": nil, "Bash rm": nil, "": nil,
	} {
		if got := translate(rule); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", rule, got, want)
		}
	}
}

func TestReadRules(t *testing.T) {
	found, err := readRules([]byte(`{ // a comment
		"permissions": {
			"allow": ["Bash(ls:*)"],
			"deny": ["Bash(rm:*)"],
			"ask": ["Read(./.env)", "WebSearch"],
		},
	}`))
	if err != nil || len(found) != 3 {
		t.Fatalf("%+v, %v", found, err)
	}
	if r := found[2]; r.Text != "deny Bash(rm:*)" || r.Line != 4 || r.Effect != policy.Deny || len(r.Rules) != 1 {
		t.Errorf("%+v", r)
	}
	if r := found[0]; r.Text != "ask Read(./.env)" || r.Line != 5 || r.Effect != policy.Ask || len(r.Rules) != 0 {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{
		``, `{`, `{"permissions": {"deny": "x"}}`, `{"permissions": {"deny": [1]}}`,
	} {
		if found, err := readRules([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, found)
		}
	}
}

func FuzzReadRules(f *testing.F) {
	f.Add([]byte(`{"permissions": {"deny": ["Bash(rm:*)", "WebFetch(domain:*.example.com)", "("]}}`))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = readRules(text) })
}
