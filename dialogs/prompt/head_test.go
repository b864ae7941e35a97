package prompt

import (
	"strings"
	"testing"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// A name that nothing confirms is shown as one, and nothing beside it says that it was verified.
func TestAClaimedNameIsNotVerified(t *testing.T) {
	process := api.Process{PID: 7, Exe: "/tmp/claude", CWD: "/src/shop"}
	for _, tt := range []struct {
		name       string
		who        interact.Requester
		want       string
		isVerified bool
	}{
		{"the agent", interact.Requester{Agent: "claude-code", Title: "Claude Code", IsAgent: true, Process: process},
			"Claude Code", true},
		{"another program", interact.Requester{Agent: "claude-code", Title: "Claude Code", Process: process},
			"A program that calls itself Claude Code", false},
		{"no program", interact.Requester{Agent: "claude-code", Title: "Claude Code"},
			"A program that calls itself Claude Code", false},
		{"no name", interact.Requester{Process: process}, "The program claude", false},
		{"a program of that name", interact.Requester{Process: api.Process{PID: 7, Exe: "/tmp/Claude Code"}},
			"The program Claude Code", false},
		{"nothing", interact.Requester{}, "Unknown program", false},
		{"a machine's word", interact.Requester{Agent: "codex", IsAgent: true, Machine: "web", Process: process},
			"codex", false},
		{"a machine that knows nothing", interact.Requester{Agent: "codex", Machine: "web", Process: process},
			"A program that calls itself codex", false},
		{"a name of nod's own words", interact.Requester{Agent: "x\u202e\nverified", Process: process},
			"A program that calls itself x‹U+202E›‹newline›verified", false},
	} {
		if got := AgentOf(tt.who); got != tt.want {
			t.Errorf("%s is called %q, want %q", tt.name, got, tt.want)
		}
		for _, o := range originOf(interact.Request{Requester: tt.who, Body: api.Ask{}}) {
			if says := o.From == Verified || strings.HasPrefix(o.Label, "verified"); says && !tt.isVerified {
				t.Errorf("%s: %q says that it was verified", tt.name, o.Label)
			}
		}
	}
}

// What is asked for a command in the sandbox is told by the host alone, and the command is not the agent's word on why.
func TestAHostIsAskedAboutForACommand(t *testing.T) {
	for address, want := range map[string]string{
		"https://registry.npmjs.org": "registry.npmjs.org", "https://github.com:22": "github.com:22",
		"https://127.0.0.1:5432": "127.0.0.1:5432", "https://[fd00::1]": "[fd00::1]",
	} {
		v := ViewOf(interact.Request{Body: interact.Approve{
			Tool: policy.NetworkTool, Input: []byte(`{"url":"` + address + `"}`), Description: "npm ci",
		}}, policy.Decision{})
		if got := v.Head.Wish + " " + v.Head.Object; got != "wants a command in the sandbox to reach "+want {
			t.Errorf("%s: %q", address, got)
		}
		if v.SaysLabel != "command:" || v.Says != "npm ci" {
			t.Errorf("%s: %s %q", address, v.SaysLabel, v.Says)
		}
	}
}

// Paths of another machine are not shortened by the home folder here.
func TestHomeIsShortenedOnThisMachineOnly(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	for machine, want := range map[string]string{"": "~/x", "build-1": "/home/ann/x"} {
		r := interact.Request{Requester: interact.Requester{Machine: machine}}
		if got := placesOf(r).home("/home/ann/x"); got != want {
			t.Errorf("machine %q: %s, want %s", machine, got, want)
		}
	}
}
