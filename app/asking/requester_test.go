package asking

import (
	"encoding/json"
	"strings"
	"testing"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
)

func TestWish(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	claude := interact.Requester{Agent: "claude-code", IsAgent: true, CWD: "/home/me/src/shop",
		Process: api.Process{Exe: "/usr/bin/node"}}
	in := func(folder string) interact.Requester {
		who := claude
		who.CWD = folder
		return who
	}
	approve := func(input string) interact.Approve {
		return interact.Approve{Tool: "Tool\n\u202e{{.Agent}}", Input: json.RawMessage(input)}
	}
	tests := []struct {
		name string
		who  interact.Requester
		body interact.Body
		want string
	}{
		{"a command", claude, approve(`{"command":"rm"}`), "Claude Code · shop wants to run a command"},
		{"an edit", claude, approve(`{"file_path":"a","old_string":"b"}`), "Claude Code · shop wants to edit a file"},
		{"edits", claude, approve(`{"patch":"a"}`), "Claude Code · shop wants to edit files"},
		{"a new file", claude, approve(`{"file_path":"a","content":"b"}`), "Claude Code · shop wants to write a file"},
		{"a page", claude, approve(`{"url":"a"}`), "Claude Code · shop wants to reach the network"},
		{"a host", claude, interact.Approve{Tool: policy.NetworkTool, Input: json.RawMessage(`{"url":"a"}`)},
			"Claude Code · shop wants a command in the sandbox to reach the network"},
		{"a question", claude, api.Ask{Question: "Which?"}, "Claude Code · shop has a question"},
		{"questions", claude, api.Form{}, "Claude Code · shop has a question"},
		{"to confirm", claude, api.Confirm{}, "Claude Code · shop asks you to confirm"},
		{"at home", in("/home/me/"), api.Ask{}, "Claude Code · ~ has a question"},
		{"at the root", in("/"), api.Ask{}, "Claude Code has a question"},
		{"nowhere", in(""), api.Ask{}, "Claude Code has a question"},
		{"another program", interact.Requester{Agent: "claude-code", Process: api.Process{Exe: "/tmp/claude"}},
			api.Ask{}, "A program that calls itself Claude Code has a question"},
		{"a program of a telling name", interact.Requester{Process: api.Process{Exe: "/tmp/Claude Code"}},
			api.Ask{}, "The program Claude Code has a question"},
		{"a new agent", interact.Requester{Agent: "helper", Process: api.Process{Exe: "/x"}}, api.Ask{},
			"A program that calls itself helper has a question"},
		{"nobody verified", interact.Requester{Agent: "codex"}, api.Ask{},
			"A program that calls itself Codex has a question"},
		{"a program", interact.Requester{Process: api.Process{Exe: "/usr/bin/x (deleted)"}}, api.Ask{},
			"The program x has a question"},
		{"elsewhere", interact.Requester{Agent: "claude-code", IsAgent: true, CWD: "/home/me", Machine: "build-1\u202e",
			Process: api.Process{Exe: "/usr/bin/node"}}, api.Ask{},
			"Claude Code · me · on build-1‹U+202E› has a question"},
		{"nobody at all", interact.Requester{}, api.Ask{}, "Unknown program has a question"},
	}
	for _, tt := range tests {
		if got := prompt.WishOf(titled(interact.Request{Requester: tt.who, Body: tt.body})); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	hostile := prompt.WishOf(titled(interact.Request{Requester: in("/a\u202e\n<b>"), Body: approve(`{}`)}))
	if strings.ContainsAny(hostile, "\n\u202e") || !strings.Contains(hostile, "{{.Agent}}") {
		t.Errorf("not made safe: %q", hostile)
	}
}
