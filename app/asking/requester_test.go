package asking

import (
	"encoding/json"
	"strings"
	"testing"

	"nod/interact"
)

func TestWish(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	claude := interact.Requester{Agent: "claude-code", IsAgent: true, CWD: "/home/me/src/shop",
		Process: interact.Process{Exe: "/usr/bin/node"}}
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
		{"a question", claude, interact.Ask{Question: "Which?"}, "Claude Code · shop has a question"},
		{"questions", claude, interact.Form{}, "Claude Code · shop has a question"},
		{"to confirm", claude, interact.Confirm{}, "Claude Code · shop asks you to confirm"},
		{"at home", in("/home/me/"), interact.Ask{}, "Claude Code · ~ has a question"},
		{"at the root", in("/"), interact.Ask{}, "Claude Code has a question"},
		{"nowhere", in(""), interact.Ask{}, "Claude Code has a question"},
		{"another program", interact.Requester{Agent: "claude-code", Process: interact.Process{Exe: "/tmp/claude"}},
			interact.Ask{}, "A program that calls itself Claude Code has a question"},
		{"a program of a telling name", interact.Requester{Process: interact.Process{Exe: "/tmp/Claude Code"}},
			interact.Ask{}, "The program Claude Code has a question"},
		{"a new agent", interact.Requester{Agent: "helper", Process: interact.Process{Exe: "/x"}}, interact.Ask{},
			"A program that calls itself helper has a question"},
		{"nobody verified", interact.Requester{Agent: "codex"}, interact.Ask{},
			"A program that calls itself Codex has a question"},
		{"a program", interact.Requester{Process: interact.Process{Exe: "/usr/bin/x (deleted)"}}, interact.Ask{},
			"The program x has a question"},
		{"elsewhere", interact.Requester{Agent: "claude-code", IsAgent: true, CWD: "/home/me", Machine: "build-1\u202e",
			Process: interact.Process{Exe: "/usr/bin/node"}}, interact.Ask{},
			"Claude Code · me · on build-1‹U+202E› has a question"},
		{"nobody at all", interact.Requester{}, interact.Ask{}, "Unknown program has a question"},
	}
	for _, tt := range tests {
		if got := wish(interact.Request{Requester: tt.who, Body: tt.body}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	hostile := wish(interact.Request{Requester: in("/a\u202e\n<b>"), Body: approve(`{}`)})
	if strings.ContainsAny(hostile, "\n\u202e") || !strings.Contains(hostile, "{{.Agent}}") {
		t.Errorf("not made safe: %q", hostile)
	}
}
