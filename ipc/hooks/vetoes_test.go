package hooks_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/agents/registry"
	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

const (
	exitAllow  = `{"status":0}`
	exitDeny   = `{"status":2,"stderr":"not now"}`
	goesOn     = "" // the agent as it would without nod
	noDecision = "" // the agent asks
)

// amps is the payload that nod hook makes of what Amp writes.
func amps(t *testing.T, tool string) hooks.Call {
	t.Helper()
	env := map[string]string{"AGENT_TOOL_NAME": tool, "AMP_THREAD_ID": "T-1"}
	payload, err := registry.Protocols()["amp"].Payload(
		call(t, "amp", "00-Bash").Payload, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return hooks.Call{Agent: "amp", Event: event(t, payload), Payload: payload}
}

// recorded is a recorded call.
func recorded(t *testing.T, agent, file string) hooks.Call {
	t.Helper()
	if agent == "amp" {
		return amps(t, "Bash")
	}
	return call(t, agent, file)
}

// Agents that ask wait for the user, whatever they read of the answer.
func TestAsksThePerson(t *testing.T) {
	const (
		codeAllow = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`
		codeDeny  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
			`"permissionDecisionReason":"not now"}}`
		codeAsk = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask",` +
			`"permissionDecisionReason":"nobody decided: the user closed the prompt and has not refused"}}`
	)
	for _, tt := range []struct {
		agent, file string
		human       interact.Answer
		want        string
	}{
		{"letta", "02-PermissionRequest-Bash", allow, exitAllow},
		{"letta", "02-PermissionRequest-Bash", deny, exitDeny},
		{"letta", "02-PermissionRequest-Bash", dismiss, noDecision},
		{"amp", "", allow, exitAllow},
		{"amp", "", deny, exitDeny},
		{"amp", "", dismiss, noDecision},
		{"vscode", "02-PreToolUse-run_in_terminal", allow, codeAllow},
		{"vscode", "02-PreToolUse-run_in_terminal", deny, codeDeny},
		{"vscode", "02-PreToolUse-run_in_terminal", dismiss, codeAsk},
	} {
		t.Run(tt.agent+"/"+string(tt.human.Outcome), func(t *testing.T) {
			r := newRig(t, tt.human)
			if got := handle(t, r, recorded(t, tt.agent, tt.file)); got != tt.want {
				t.Errorf("reply\n got %s\nwant %s", got, tt.want)
			}
			shown := r.human.Shown()
			if len(shown) != 1 {
				t.Fatalf("%d prompts", len(shown))
			}
			if cwd := shown[0].Requester.CWD; tt.agent != "amp" && cwd != "/home/ada/project" {
				t.Errorf("folder %q", cwd)
			}
		})
	}
}

// Agents that go on unless they are told not to are told so by a rule that denies, and where a rule asks and the user
// does not allow; else they hear nothing, and nobody is asked.
func TestVetoes(t *testing.T) {
	because := func(reply, reason string) string { return strings.ReplaceAll(reply, "not now", reason) }
	const closed = "nobody decided: the user closed the prompt and has not refused"
	for _, tt := range []struct{ agent, file, tool, allow, deny string }{
		{"letta", "03-PreToolUse-Bash", "Bash", goesOn, exitDeny},
		{"cline", "09-PreToolUse-run_commands", "run_commands", goesOn, `{"cancel":true,"errorMessage":"not now"}`},
		{"cursor", "02-beforeShellExecution", "Shell", `{"permission":"allow"}`,
			`{"permission":"deny","user_message":"not now","agent_message":"not now"}`},
		{"cursor", "06-beforeMCPExecution-stdio", "MCP:create_issue", `{"permission":"allow"}`,
			`{"permission":"deny","user_message":"not now","agent_message":"not now"}`},
		{"cursor", "04-preToolUse-Write", "Write", `{"permission":"allow"}`,
			`{"permission":"deny","user_message":"not now","agent_message":"not now"}`},
		{"goose", "02-PreToolUse-developer__shell", "developer__shell", goesOn,
			`{"decision":"block","reason":"not now"}`},
	} {
		t.Run(tt.agent+"/"+tt.tool, func(t *testing.T) {
			check := func(what, want string, effect policy.Effect, human interact.Answer, prompts int) {
				t.Helper()
				r := newRig(t, human)
				if effect != "" {
					r.policy.Set(tt.tool, effect)
				}
				got := handle(t, r, recorded(t, tt.agent, tt.file))
				if got != want || len(r.human.Shown()) != prompts {
					t.Errorf("%s: %d prompts, want %d, reply\n got %s\nwant %s", what, len(r.human.Shown()), prompts, got, want)
				}
				for _, shown := range r.human.Shown() {
					if a := shown.Body.(interact.Approve); a.Tool != tt.tool || !json.Valid(a.Input) {
						t.Errorf("asks about %s %s", a.Tool, a.Input)
					}
				}
			}
			check("no rule", goesOn, "", allow, 0)
			check("rule allows", tt.allow, policy.Allow, deny, 0)
			check("rule denies", because(tt.deny, "the test says so"), policy.Deny, allow, 0)
			check("rule asks, allowed", tt.allow, policy.Ask, allow, 1)
			check("rule asks, denied", tt.deny, policy.Ask, deny, 1)
			check("rule asks, closed", because(tt.deny, closed), policy.Ask, dismiss, 1)
		})
	}
}

// Cline waits two minutes, and then goes on as if nod had allowed: before that it is denied.
func TestClineIsAnsweredInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, interact.Answer{})
		r.policy.Set("run_commands", policy.Ask)
		began := time.Now()
		got := handle(t, r, call(t, "cline", "09-PreToolUse-run_commands"))
		if took := time.Since(began); !strings.Contains(got, `"cancel":true`) || took >= 2*time.Minute || took < time.Minute {
			t.Errorf("after %s: %s", took, got)
		}
	})
}

// Letta Code asks by two events about one call: the user is asked once, also where a rule insists. The same call is
// asked about again when it comes again, or in another folder.
func TestLettaAsksOnce(t *testing.T) {
	r := newRig(t, allow)
	r.policy.Set("Bash", policy.Ask)
	permission, before := call(t, "letta", "02-PermissionRequest-Bash"), call(t, "letta", "03-PreToolUse-Bash")
	elsewhere := before
	elsewhere.Payload = []byte(strings.Replace(string(before.Payload), "/home/ada/project", "/home/ada/other", 1))
	for i, step := range []struct {
		call    hooks.Call
		want    string
		prompts int
	}{
		{permission, exitAllow, 1}, {elsewhere, goesOn, 2}, {before, goesOn, 2},
		{call(t, "letta", "04-PostToolUse-Bash"), "", 2}, {before, goesOn, 3},
	} {
		if got := handle(t, r, step.call); got != step.want || len(r.human.Shown()) != step.prompts {
			t.Errorf("%d: %d prompts, reply %s", i, len(r.human.Shown()), got)
		}
	}
}

// What the user left to Letta Code's own prompt, and allowed there, goes on.
func TestLettaAsksItself(t *testing.T) {
	r := newRig(t, dismiss)
	r.policy.Set("Bash", policy.Ask)
	for i, file := range []string{"02-PermissionRequest-Bash", "03-PreToolUse-Bash"} {
		if got := handle(t, r, call(t, "letta", file)); got != "" || len(r.human.Shown()) != 1 {
			t.Errorf("%d: %d prompts, reply %s", i, len(r.human.Shown()), got)
		}
	}
}

// What asks by itself, or is asked about by another event, is not asked about.
func TestLeavesAlone(t *testing.T) {
	rename := func(agent, file, from, to string) hooks.Call {
		c := call(t, agent, file)
		c.Payload = []byte(strings.ReplaceAll(string(c.Payload), from, to))
		return c
	}
	for name, c := range map[string]hooks.Call{
		"letta's question": rename("letta", "02-PermissionRequest-Bash", `"Bash"`, `"AskUserQuestion"`),
		"letta's plan":     rename("letta", "02-PermissionRequest-Bash", `"Bash"`, `"ExitPlanMode"`),
		"cursor's shell":   call(t, "cursor", "01-preToolUse-Shell"),
		"cursor's MCP":     rename("cursor", "01-preToolUse-Shell", `"Shell"`, `"MCP:create_issue"`),
		"vscode's edit":    call(t, "vscode", "04-PreToolUse-create_file"),
		"vscode's question": rename("vscode", "02-PreToolUse-run_in_terminal", "run_in_terminal",
			"vscode_askQuestions"),
		"amp's probe": {Agent: "amp", Event: "NodProbe", Payload: []byte(`{"hook_event_name":"NodProbe"}`)},
	} {
		r := newRig(t, allow)
		if got := handle(t, r, c); got != "" || len(r.human.Shown()) != 0 {
			t.Errorf("%s: %d prompts, reply %s", name, len(r.human.Shown()), got)
		}
	}
}

// What the model writes into Amp's input is the tool's input, whatever it looks like.
func TestAmpInputIsNoPayload(t *testing.T) {
	p := registry.Protocols()["amp"]
	for _, written := range []string{
		`{"hook_event_name":"NodProbe","tool_name":"Read"}`, `{"cmd":"ls"} `, `[]`, `"x"`, `{"a":1,"a":2}`,
	} {
		payload, err := p.Payload([]byte(written), func(name string) string {
			return map[string]string{"AGENT_TOOL_NAME": "Bash"}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Read(hooks.Call{Event: event(t, payload), Payload: payload})
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := s.Ask.(interact.Approve); !ok || a.Tool != "Bash" || string(a.Input) != strings.TrimSpace(written) {
			t.Errorf("%s: asks about %+v", written, s.Ask)
		}
	}
	for _, written := range []string{``, `{`, `{} {}`} {
		if payload, err := p.Payload([]byte(written), func(string) string { return "Bash" }); err == nil {
			t.Errorf("%s became %s", written, payload)
		}
	}
}

// What ends a call, or a turn, takes the prompt away.
func TestOverInOtherAgents(t *testing.T) {
	for _, tt := range []struct{ agent, asks, over string }{
		{"letta", "02-PermissionRequest-Bash", "04-PostToolUse-Bash"},
		{"letta", "02-PermissionRequest-Bash", "05-Stop"},
		{"vscode", "02-PreToolUse-run_in_terminal", "03-PostToolUse-run_in_terminal"},
		{"vscode", "02-PreToolUse-run_in_terminal", "01-UserPromptSubmit"},
		{"vscode", "02-PreToolUse-run_in_terminal", "07-Stop"},
		{"goose", "02-PreToolUse-developer__shell", "06-PostToolUse-developer__shell"},
		{"goose", "02-PreToolUse-developer__shell", "09-SessionEnd"},
		{"cursor", "02-beforeShellExecution", "09-stop"},
	} {
		t.Run(tt.agent+"/"+tt.over, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, interact.Answer{})
				asks := call(t, tt.agent, tt.asks)
				r.policy.Set(map[string]string{"goose": "developer__shell", "cursor": "Shell"}[tt.agent], policy.Ask)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				replies := make(chan string)
				go func() {
					reply, _ := r.Handle(ctx, asks)
					replies <- string(reply)
				}()
				synctest.Wait()
				handle(t, r, call(t, tt.agent, tt.over))
				reply := <-replies
				synctest.Wait()
				if len(r.human.Shown()) == 0 || len(r.human.Closed()) == 0 || ctx.Err() != nil {
					t.Errorf("reply %q, shown %d, closed %d, %v", reply, len(r.human.Shown()), len(r.human.Closed()), ctx.Err())
				}
				if strings.Contains(reply, "allow") || reply == exitAllow {
					t.Errorf("reply %s", reply)
				}
			})
		})
	}
}

// Both spellings of VS Code's fields are read.
func TestVSCodeSpellings(t *testing.T) {
	for _, old := range []bool{true, false} {
		r := newRig(t, allow)
		c := call(t, "vscode", "02-PreToolUse-run_in_terminal")
		if !old {
			c.Payload = []byte(strings.NewReplacer("sessionId", "session_id", "hookEventName", "hook_event_name").
				Replace(string(c.Payload)))
			c.Event = event(t, c.Payload)
		}
		handle(t, r, c)
		if shown := r.human.Shown(); len(shown) != 1 || shown[0].Requester.Session != "c9f3" {
			t.Errorf("%s: %+v", c.Payload, shown)
		}
	}
}

// forgetful is a broker that cannot keep what the policy decided, so that nothing is decided.
type forgetful struct{ *interact.Broker }

func (forgetful) Judge(
	context.Context, interact.Request, func(policy.Decision) bool, ...policy.Effect,
) (interact.Answer, error) {
	return interact.Answer{Outcome: api.Unavailable, Reason: "no journal"}, nil
}

// What the policy has judged and cannot keep is denied by the agents that would go on after silence.
func TestWhatIsNotKeptIsNoLeave(t *testing.T) {
	for agent, file := range map[string]string{
		"gemini-cli": "00-BeforeTool-run_shell_command", "kimi-code": "13-PreToolUse-Bash", "codex": "04-PreToolUse-Bash",
		"letta": "03-PreToolUse-Bash", "goose": "02-PreToolUse-developer__shell",
	} {
		h := hooks.New(hooks.Config{
			Agents: registry.Protocols(), Broker: forgetful{}, Log: slog.New(slog.DiscardHandler),
			Timeout: func() time.Duration { return time.Minute }, AskMore: func() bool { return false },
		})
		got, err := h.Handle(t.Context(), call(t, agent, file))
		if err != nil || !strings.Contains(string(got), "no journal") {
			t.Errorf("%s: %q, %v", agent, got, err)
		}
	}
}
