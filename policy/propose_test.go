package policy

import (
	"encoding/json"
	"errors"
	"testing"
)

func (r Rule) called(id string) Rule {
	r.ID = id
	return r
}

func TestPropose(t *testing.T) {
	call := func(tool string, input map[string]any) Call {
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return Call{Agent: "claude-code", Tool: tool, CWD: "/src/a", Input: ReadInput(text)}
	}
	status := call("Bash", map[string]any{"command": "git push"})
	denied := Rule{ID: "no", Effect: Deny, Agent: "claude-code", Tool: "Bash", Command: "git push", CWD: "/src/a"}
	tests := []struct {
		name    string
		rules   []Rule
		call    Call
		effect  Effect
		want    Rule
		changes string
		decides Effect
		err     error
	}{
		{"a command is denied", nil, status, Deny,
			Rule{ID: "deny-git-push", Effect: Deny, Agent: "claude-code", Tool: "Bash", Command: "git push", CWD: "/src/a"},
			"", Deny, nil},
		{"what was denied is asked about", []Rule{denied}, status, Ask,
			Rule{ID: "no", Effect: Ask, Agent: "claude-code", Tool: "Bash", Command: "git push", CWD: "/src/a"},
			"no", Ask, nil},
		{"a rule named for its effect", []Rule{denied.called("deny-git-push"), {ID: "ask-git-push", Effect: Deny, Tool: "x"}},
			status, Ask,
			Rule{ID: "ask-git-push-2", Effect: Ask, Agent: "claude-code", Tool: "Bash", Command: "git push", CWD: "/src/a"},
			"deny-git-push", Ask, nil},
		{"denied already", []Rule{denied}, status, Deny, denied, "no", "", ErrRuleIsThere},
		{"a stricter rule stays", []Rule{{ID: "no-mcp", Effect: Deny, Tool: "mcp__*"}},
			call("mcp__shop__order", map[string]any{"n": 1}), Allow,
			Rule{ID: "allow-mcp-shop-order", Effect: Allow, Agent: "claude-code", Tool: "mcp__shop__order", CWD: "/src/a"},
			"", Deny, nil},
		{"a host", nil, call("WebFetch", map[string]any{"url": "https://example.com/a", "prompt": "read"}), Allow,
			Rule{ID: "allow-webfetch", Effect: Allow, Agent: "claude-code", Tool: "WebFetch", Host: "example.com"},
			"", Allow, nil},
		{"a file outside", nil, call("Read", map[string]any{"file_path": "/etc/hosts"}), Deny,
			Rule{ID: "deny-read-hosts", Effect: Deny, Agent: "claude-code", Tool: "Read", Path: "/etc/hosts"}, "", Deny, nil},
		{"writing anywhere", nil, call("Write", map[string]any{"file_path": "/etc/hosts", "content": ""}), Allow,
			Rule{}, "", "", ErrNoRule},
		{"a tool that nobody knows", nil, call("Launch", map[string]any{"n": 1}), Allow, Rule{}, "", "", ErrNoRule},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Default()
			p.Rules = tt.rules
			got, err := Propose(p, Places{Home: "/home/ann"}, tt.call, tt.effect, testNow)
			got.Rule.Note, got.Rule.Examples = "", Examples{}
			if !errors.Is(err, tt.err) || !got.Rule.Equal(tt.want) || got.Changes != tt.changes ||
				got.Decision.Effect != tt.decides {
				t.Errorf("%v: %+v, changes %q, then %+v", err, got.Rule, got.Changes, got.Decision)
			}
		})
	}
}
