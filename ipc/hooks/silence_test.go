package hooks_test

import (
	"cmp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// What the user is told of what happens when nobody decides is what the agent then hears: where its call is said to be
// denied it reads that, and where it is said to ask it hears nothing, or that it shall.
func TestSilence(t *testing.T) {
	const (
		no, terminal       = api.TakesNo, api.AsksInTerminal
		itself             = api.AsksItself
		bash, permission   = "06-PreToolUse-Bash", "07-PermissionRequest-Bash"
		question, preAsked = "19-PermissionRequest-AskUserQuestion", "18-PreToolUse-AskUserQuestion"
	)
	for _, tt := range []struct {
		name, agent, file string
		call              func(*hooks.Call)
		rule              string // a tool that a rule asks about
		want              api.Silence
		waits             time.Duration
	}{
		{name: "the terminal asks as well", agent: "claude-code", file: permission, want: terminal},
		{name: "nobody is at a terminal", agent: "claude-code", file: permission, call: headless, want: no},
		{name: "dontAsk", agent: "claude-code", file: permission, call: mode("dontAsk"), want: no},
		{name: "question", agent: "claude-code", file: question, want: terminal},
		{name: "question, dontAsk", agent: "claude-code", file: preAsked, call: mode("dontAsk"), want: no},
		{name: "bypassPermissions", agent: "claude-code", file: bash, call: mode("bypassPermissions"), rule: "Bash",
			want: no},
		{name: "auto", agent: "claude-code", file: bash, call: mode("auto"), rule: "Bash", want: no},
		{name: "headless", agent: "claude-code", file: bash, call: headless, rule: "Bash", want: no},
		{name: "permission", agent: "generic", file: permission, want: no},
		{name: "permission", agent: "codex", file: "05-PermissionRequest-Bash", want: terminal},
		{name: "rule", agent: "codex", file: "04-PreToolUse-Bash", rule: "Bash", want: no},
		{name: "question", agent: "codex", file: "06-PreToolUse-request_user_input", want: terminal},
		{name: "gate", agent: "gemini-cli", file: "00-BeforeTool-run_shell_command", call: gate, want: no},
		{name: "rule", agent: "gemini-cli", file: "00-BeforeTool-run_shell_command", rule: "run_shell_command", want: no},
		{name: "question", agent: "gemini-cli", file: "06-BeforeTool-ask_user", want: terminal},
		{name: "permission", agent: "opencode", file: "00-permission.asked", want: itself},
		{name: "question", agent: "opencode", file: "02-question.asked", want: itself},
		{name: "permission", agent: "qwen-code", file: "25-PermissionRequest-run_shell_command", want: terminal},
		{name: "question", agent: "qwen-code", file: "22-PermissionRequest-ask_user_question", want: terminal},
		{name: "rule", agent: "qwen-code", file: "15-PreToolUse-run_shell_command", rule: "run_shell_command", want: no},
		{name: "permission", agent: "copilot-cli", file: "15-permissionRequest-bash", want: terminal},
		{name: "rule", agent: "copilot-cli", file: "14-preToolUse-bash", call: as("preToolUse"), rule: "bash", want: no},
		{name: "question", agent: "copilot-cli", file: "24-preToolUse-ask_user", call: as("preToolUse"), want: terminal},
		{name: "rule", agent: "kimi-code", file: "13-PreToolUse-Bash", rule: "Bash", want: no},
		{name: "gate", agent: "kimi-code", file: "13-PreToolUse-Bash", call: gate, want: no},
		{name: "question", agent: "kimi-code", file: "19-PreToolUse-AskUserQuestion", want: terminal},
		{name: "permission", agent: "letta", file: "02-PermissionRequest-Bash", want: terminal},
		{name: "rule", agent: "letta", file: "03-PreToolUse-Bash", rule: "Bash", want: no},
		{name: "delegate", agent: "amp", want: terminal},
		{name: "call", agent: "vscode", file: "02-PreToolUse-run_in_terminal", want: itself},
		{name: "call", agent: "crush", file: "00-PreToolUse-bash", want: no},
		{name: "rule", agent: "cline", file: "09-PreToolUse-run_commands", rule: "run_commands", want: no,
			waits: 110 * time.Second},
		{name: "rule", agent: "cursor", file: "02-beforeShellExecution", rule: "Shell", want: no},
		{name: "rule", agent: "goose", file: "02-PreToolUse-developer__shell", rule: "developer__shell", want: no},
	} {
		t.Run(tt.agent+", "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, interact.Answer{})
				r.policy.Set(tt.rule, policy.Ask)
				like := tt.agent
				if like == "generic" { // which has Claude Code's payloads
					like = "claude-code"
				}
				c := recorded(t, like, tt.file)
				c.Agent = tt.agent
				if tt.call != nil {
					tt.call(&c)
				}
				reply := handle(t, r, c)
				denies, isCall := false, false
				for _, word := range []string{`"deny"`, `"block"`, `"cancel":true`, `"status":2`, "reject"} {
					denies = denies || strings.Contains(reply, word)
				}
				shown := r.human.Shown()
				if len(shown) == 1 {
					_, isCall = shown[0].Body.(interact.Approve)
				}
				if len(shown) != 1 || shown[0].Silence != tt.want || denies != (isCall && tt.want == no) {
					t.Errorf("shown %+v\nwant one request with silence %q; reply %s", shown, tt.want, reply)
				} else if waits := shown[0].Until.Sub(shown[0].Created); waits != cmp.Or(tt.waits, api.MaxHookWait) {
					t.Errorf("it waits for %v", waits)
				}
			})
		})
	}
}
