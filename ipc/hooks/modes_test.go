package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// claudeCall makes a call of Claude Code's hooks, with what stands in a recorded payload and these fields.
func claudeCall(t *testing.T, file, name string, fields map[string]any) hooks.Call {
	t.Helper()
	c := call(t, "claude-code", file)
	payload := map[string]any{}
	if err := json.Unmarshal(c.Payload, &payload); err != nil {
		t.Fatal(err)
	}
	for k, v := range fields {
		payload[k] = v
	}
	payload["hook_event_name"], c.Event = name, name
	var err error
	if c.Payload, err = json.Marshal(payload); err != nil {
		t.Fatal(err)
	}
	return c
}

func preTool(decision, reason string) string {
	return fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":%q,`+
		`"permissionDecisionReason":%q}}`, decision, reason)
}

// A rule that asks holds in every mode: in the terminal Claude Code is told to ask, without one the user is asked.
// What no rule speaks of is left to the mode, unless nod shall ask more.
func TestAskRulesHoldInEveryMode(t *testing.T) {
	const bash, rule, none = "06-PreToolUse-Bash", true, false
	for _, tt := range []struct {
		mode, version     string
		rule, more, alone bool
		want              string
		prompts           int
	}{
		{mode: "default", rule: rule, want: preTool("ask", "the test says so")},
		{mode: "default", rule: none, want: ""},
		{mode: "default", rule: none, more: true, want: ""}, // Claude Code asks by itself
		{mode: "plan", rule: rule, want: preTool("ask", "the test says so")},
		{mode: "acceptEdits", rule: rule, want: preTool("ask", "the test says so")},
		{mode: "dontAsk", rule: rule, want: preTool("ask", "the test says so")},
		{mode: "bypassPermissions", rule: rule, want: preTool("deny", "not now"), prompts: 1},
		{mode: "bypassPermissions", rule: none, want: ""},
		{mode: "bypassPermissions", rule: none, more: true, want: preTool("deny", "not now"), prompts: 1},
		{mode: "auto", rule: rule, want: preTool("deny", "not now"), prompts: 1},
		{mode: "auto", rule: none, more: true, want: preTool("deny", "not now"), prompts: 1},
		{mode: "plan", rule: none, more: true, want: ""},
		{mode: "plan", rule: none, more: true, version: "2.1.330", want: preTool("ask", "no rule covers this")},
		{mode: "bypassPermissions", rule: rule, alone: true, want: preTool("deny", "not now"), prompts: 1},
		{mode: "bypassPermissions", rule: none, alone: true, want: ""},
		{mode: "acceptEdits", rule: none, alone: true, want: preTool("deny", "not now"), prompts: 1}, // it is no edit
		{mode: "default", rule: none, alone: true, want: preTool("deny", "not now"), prompts: 1},
		{mode: "default", rule: none, alone: true, version: "2.1.330", want: ""}, // PermissionRequest follows
		{mode: "default", rule: rule, alone: true, version: "2.1.330", want: preTool("deny", "not now"), prompts: 1},
		{mode: "", rule: rule, want: preTool("ask", "the test says so")},
		{mode: "", rule: none, more: true, want: ""},
		{mode: "unheardOf", rule: rule, want: preTool("deny", "not now"), prompts: 1}, // who knows whether it heeds "ask"
		{mode: "unheardOf", rule: rule, alone: true, want: preTool("deny", "not now"), prompts: 1},
		{mode: "unheardOf", rule: none, want: ""},
		{mode: "unheardOf", rule: none, more: true, want: preTool("deny", "not now"), prompts: 1},
		{mode: "unheardOf", rule: none, alone: true, want: preTool("deny", "not now"), prompts: 1},
	} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			r := newRig(t, deny)
			r.more = tt.more
			if tt.rule {
				r.policy.Set("Bash", policy.Ask)
			}
			c := claudeCall(t, bash, "PreToolUse", map[string]any{"permission_mode": tt.mode})
			c.Headless, c.Version = tt.alone, tt.version
			if got := handle(t, r, c); got != tt.want {
				t.Errorf("reply\n got %s\nwant %s", got, tt.want)
			}
			if n := len(r.human.Shown()); n != tt.prompts {
				t.Errorf("%d prompts, want %d", n, tt.prompts)
			}
		})
	}
}

// A command in the text of a skill runs unless nod refuses it. Nobody else asks about it, so the user is asked about
// what no rule covers, but in the modes in which they want to be asked less.
func TestSkillCommands(t *testing.T) {
	const refused, closed = "not now", "nobody decided: the user closed the prompt and has not refused"
	for _, tt := range []struct {
		mode        string
		rule        policy.Effect
		more, alone bool
		human       interact.Answer
		want        string // why it is refused; empty: it runs
		prompts     int
	}{
		{mode: "default", rule: policy.Allow},
		{mode: "default", rule: policy.Deny, want: "the test says so"},
		{mode: "default", human: allow, prompts: 1},
		{mode: "default", human: deny, want: refused, prompts: 1},
		{mode: "default", human: dismiss, want: closed, prompts: 1},
		{mode: "default", alone: true, human: deny, want: refused, prompts: 1},
		{mode: "plan", human: deny, want: refused, prompts: 1},
		{mode: "acceptEdits", human: deny, want: refused, prompts: 1},
		{mode: "", human: deny, want: refused, prompts: 1},
		{mode: "auto"},
		{mode: "bypassPermissions"},
		{mode: "bypassPermissions", rule: policy.Deny, want: "the test says so"},
		{mode: "bypassPermissions", rule: policy.Ask, human: deny, want: refused, prompts: 1},
		{mode: "bypassPermissions", more: true, human: dismiss, want: closed, prompts: 1},
		{mode: "dontAsk"},
		{mode: "unheardOf", rule: policy.Ask, human: deny, want: refused, prompts: 1},
	} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			r := newRig(t, tt.human)
			r.more = tt.more
			if tt.rule != "" {
				r.policy.Set("Bash", tt.rule)
			}
			const event = "PreSkillShellCommand"
			c := claudeCall(t, "2.1.332/"+event, event, map[string]any{"permission_mode": tt.mode})
			c.Headless, c.Version = tt.alone, "2.1.332"
			want := ""
			if tt.want != "" {
				want = strings.Replace(preTool("deny", tt.want), "PreToolUse", event, 1)
			}
			if got := handle(t, r, c); got != want {
				t.Errorf("reply\n got %s\nwant %s", got, want)
			}
			if n := len(r.human.Shown()); n != tt.prompts {
				t.Errorf("%d prompts, want %d", n, tt.prompts)
			}
			if tt.human.Outcome != api.Allowed {
				return
			}
			r.human.Answer = interacttest.Always(deny) // an allow is for the skill's text alone
			again := claudeCall(t, "2.1.332/"+event, "PermissionRequest", nil)
			if got := handle(t, r, again); !strings.Contains(got, `"deny"`) {
				t.Errorf("the model's own call of that command: %s", got)
			}
		})
	}
}

// An agent that runs what nobody denied asks about what a rule insists on, and is denied when nobody decides.
func TestAskRulesHoldWithoutAPrompt(t *testing.T) {
	denied := func(reason string) string { return preTool("deny", reason) }
	const closed = "nobody decided: the user closed the prompt and has not refused"
	for _, tt := range []struct {
		agent      string
		call       func(*hooks.Call)
		human      interact.Answer
		more, none bool // ask more; no rule
		want       string
	}{
		{agent: "qwen-code", human: allow, want: ""},
		{agent: "qwen-code", human: deny, want: denied("not now")},
		{agent: "qwen-code", human: dismiss, want: denied(closed)},
		{agent: "qwen-code", human: dismiss, call: mode("yolo"), want: denied(closed)},
		{agent: "qwen-code", human: deny, call: mode("yolo"), none: true, more: true, want: denied("not now")},
		{agent: "kimi-code", human: allow, want: ""},
		{agent: "kimi-code", human: deny, want: denied("not now")},
		{agent: "kimi-code", human: dismiss, want: denied(closed)},
		{agent: "copilot-cli", human: allow, want: `{"permissionDecision":"allow"}`},
		{agent: "copilot-cli", human: deny, want: `{"permissionDecision":"deny","permissionDecisionReason":"not now"}`},
		{agent: "copilot-cli", human: dismiss,
			want: `{"permissionDecision":"deny","permissionDecisionReason":"` + closed + `"}`},
	} {
		t.Run(fmt.Sprintf("%s/%s", tt.agent, tt.human.Outcome), func(t *testing.T) {
			r := newRig(t, tt.human)
			r.more = tt.more
			file := map[string]string{"qwen-code": "15-PreToolUse-run_shell_command", "kimi-code": "13-PreToolUse-Bash",
				"copilot-cli": "14-preToolUse-bash"}[tt.agent]
			for _, tool := range []string{"run_shell_command", "Bash", "bash"} {
				if !tt.none {
					r.policy.Set(tool, policy.Ask)
				}
			}
			c := call(t, tt.agent, file)
			if tt.agent == "copilot-cli" {
				c.Event = "preToolUse"
			}
			if tt.call != nil {
				tt.call(&c)
			}
			if got := handle(t, r, c); got != tt.want || len(r.human.Shown()) != 1 {
				t.Errorf("%d prompts, reply\n got %s\nwant %s", len(r.human.Shown()), got, tt.want)
			}
		})
	}
}

// Qwen Code's PreToolUse follows its PermissionRequest, and its own prompt where that decided nothing: what the user
// said there counts.
func TestQwenAsksOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		human   interact.Answer
		rule    bool
		prompts int
		want    string
	}{
		"allowed":                   {allow, true, 1, ""},
		"closed":                    {dismiss, false, 1, ""},
		"closed though a rule asks": {dismiss, true, 1, ""}, // Qwen Code has asked itself since
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tt.human)
			if tt.rule {
				r.policy.Set("write_file", policy.Ask)
			}
			handle(t, r, call(t, "qwen-code", "05-PermissionRequest-write_file"))
			got := handle(t, r, call(t, "qwen-code", "06-PreToolUse-write_file"))
			if n := len(r.human.Shown()); got != tt.want || n != tt.prompts {
				t.Errorf("%d windows, reply %s", n, got)
			}
		})
	}
}

// What the user said of a command counts when Codex then asks whether it may leave the sandbox, but not when it wants
// to reach a host, nor where no rule had nod ask about the command.
func TestOneWindowForACallOfCodex(t *testing.T) {
	const (
		command, escalated = "04-PreToolUse-Bash", "05-PermissionRequest-Bash"
		network            = "09-PermissionRequest-Bash-network"
	)
	for name, tt := range map[string]struct {
		calls   []string
		rule    bool
		prompts int
	}{
		"escalated":            {[]string{command, escalated}, true, 1},
		"escalated twice":      {[]string{command, escalated, escalated}, true, 2},
		"two that are alike":   {[]string{command, command, escalated}, true, 3},
		"no rule":              {[]string{command, escalated}, false, 1},
		"a host":               {[]string{command, network}, true, 2},
		"escalated and a host": {[]string{command, escalated, network}, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, allow)
			if tt.rule {
				r.policy.Set("Bash", policy.Ask)
			}
			for _, file := range tt.calls {
				c := call(t, "codex", file)
				c.Payload = regexp.MustCompile(`"session_id": "[^"]*"|"command": "(\\.|[^"])*"`).ReplaceAllFunc(c.Payload,
					func(field []byte) []byte {
						if bytes.HasPrefix(field, []byte(`"command"`)) {
							return []byte(`"command": "touch /etc/nod-test"`)
						}
						return []byte(`"session_id": "s"`)
					})
				handle(t, r, c)
			}
			if n := len(r.human.Shown()); n != tt.prompts {
				t.Errorf("%d windows, want %d", n, tt.prompts)
			}
		})
	}
}

// Claude Code may deliver one call twice: the user is asked once, and what they said counts for both.
func TestOneWindowForACallThatComesTwice(t *testing.T) {
	const question = "18-PreToolUse-AskUserQuestion"
	answers := answered(interact.ListValue("SQLite"), interact.ListValue("Auth"))
	quiet := map[string]any{"permission_mode": "dontAsk"}
	for name, human := range map[string]interact.Answer{"answered": answers, "dismissed": dismiss} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, human)
			first := handle(t, r, claudeCall(t, question, "PreToolUse", quiet))
			second := handle(t, r, claudeCall(t, question, "PermissionRequest", quiet))
			if len(r.human.Shown()) != 1 || (first == "") != (second == "") {
				t.Errorf("%d windows, %q and %q", len(r.human.Shown()), first, second)
			}
			handle(t, r, claudeCall(t, question, "PermissionRequest", quiet))
			if n := len(r.human.Shown()); n != 2 {
				t.Errorf("an answer counted for a third delivery: %d windows", n)
			}
		})
	}
	t.Run("headless", func(t *testing.T) {
		r := newRig(t, deny)
		c := claudeCall(t, "06-PreToolUse-Bash", "PreToolUse", nil)
		c.Headless = true
		handle(t, r, c)
		again := claudeCall(t, "06-PreToolUse-Bash", "PermissionRequest", nil)
		if got := handle(t, r, again); got == "" || len(r.human.Shown()) != 1 {
			t.Errorf("reply %s, %d windows", got, len(r.human.Shown()))
		}
	})
	for name, between := range map[string]hooks.Call{
		"over":            claudeCall(t, "06-PreToolUse-Bash", "PostToolUse", nil),
		"two alike":       claudeCall(t, "06-PreToolUse-Bash", "PreToolUse", nil),
		"another thread":  claudeCall(t, "06-PreToolUse-Bash", "Stop", nil),
		"another session": claudeCall(t, "06-PreToolUse-Bash", "SessionEnd", map[string]any{"session_id": "x"}),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, deny)
			first := claudeCall(t, "06-PreToolUse-Bash", "PreToolUse", nil)
			first.Headless, between.Headless = true, true
			handle(t, r, first)
			handle(t, r, between)
			before := len(r.human.Shown())
			second := map[string]any{}
			if name == "another thread" {
				second["agent_id"] = "a1"
			}
			if name == "another session" {
				second["session_id"] = "x"
			}
			handle(t, r, claudeCall(t, "06-PreToolUse-Bash", "PermissionRequest", second))
			if len(r.human.Shown()) != before+1 {
				t.Error("an answer counted for another call")
			}
		})
	}
}

// An allow counts for one call. The call may be interrupted, of which no event tells; when it comes once more, in a
// mode in which Claude Code asks, the user is asked again.
func TestAnAllowCountsOnce(t *testing.T) {
	const bash = "06-PreToolUse-Bash"
	mode := func(name string) map[string]any { return map[string]any{"permission_mode": name} }
	for name, rule := range map[string]bool{"a rule asks": true, "no rule": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, allow)
			r.policy.Set("Bash", policy.Ask)
			handle(t, r, claudeCall(t, bash, "PreToolUse", mode("bypassPermissions")))
			if !rule {
				r.policy.Set("Bash", "")
			}
			handle(t, r, claudeCall(t, bash, "PreToolUse", mode("default")))
			handle(t, r, claudeCall(t, bash, "PermissionRequest", mode("default")))
			if n := len(r.human.Shown()); n != 2 {
				t.Errorf("%d windows for two calls", n)
			}
		})
	}
}

// Subagents work on while the main thread goes on: only what ends one of them ends what it asks.
func TestSubagentsKeepTheirPrompts(t *testing.T) {
	const ask, over = "07-PermissionRequest-Bash", "23-Stop"
	sub := func(id string) map[string]any { return map[string]any{"agent_id": id, "agent_type": "Explore"} }
	for _, tt := range []struct {
		event string
		of    map[string]any
		left  int
	}{
		{"Stop", nil, 2}, {"UserPromptSubmit", nil, 2}, {"SubagentStop", sub("a1"), 2}, {"SessionEnd", nil, 0},
	} {
		t.Run(tt.event, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, interact.Answer{})
				ctx, cancel := context.WithCancel(t.Context())
				for _, who := range []map[string]any{nil, sub("a1"), sub("a2")} {
					go func() { _, _ = r.Handle(ctx, claudeCall(t, ask, "PermissionRequest", who)) }()
				}
				synctest.Wait()
				if n := len(r.broker.Pending()); n != 3 {
					t.Fatalf("%d pending: the same command of three threads is three requests", n)
				}
				handle(t, r, claudeCall(t, over, tt.event, tt.of))
				synctest.Wait()
				if n := len(r.broker.Pending()); n != tt.left {
					t.Errorf("%d pending, want %d", n, tt.left)
				}
				cancel()
			})
		})
	}
}

// What passes where no rule speaks of it is still held by a rule that does.
func TestOtherwiseGivesWayToRules(t *testing.T) {
	for effect, want := range map[policy.Effect]string{"": "allowed", policy.Ask: "denied", policy.Deny: "denied"} {
		for _, judge := range [][]policy.Effect{nil, {policy.Allow, policy.Deny}} {
			r := newRig(t, deny)
			if effect != "" {
				r.policy.Set("T", effect)
			}
			step := hooks.Step{
				Ask: interact.Approve{Tool: "T", Input: json.RawMessage(`{}`)}, Judge: judge, AskNow: true, Otherwise: allow,
				Reply: func(a interact.Answer) (any, error) { return a.Outcome, nil },
			}
			refuse := func(_, _ string) any { return api.Denied }
			h := hooks.New(hooks.Config{
				Agents: map[string]hooks.Protocol{
					"a": {Read: func(hooks.Call) (hooks.Step, error) { return step, nil }, Deny: refuse},
				},
				Broker: r.broker, Log: slog.New(slog.DiscardHandler),
				Timeout: func() time.Duration { return time.Minute }, AskMore: func() bool { return false },
			})
			if got, err := h.Handle(t.Context(), hooks.Call{Agent: "a"}); err != nil || string(got) != `"`+want+`"` {
				t.Errorf("%q, judged %v: %s, %v", effect, judge, got, err)
			}
		}
	}
}

// In a mode that lets everything pass, and in one that nod does not know, a request that the user leaves undecided,
// or that cannot be put to them, is denied: silence would let it run.
func TestNobodysDecisionIsNoLeaveInQuietModes(t *testing.T) {
	bypass := map[string]any{"permission_mode": "bypassPermissions"}
	for name, human := range map[string]interact.Answer{
		"closed": dismiss, "unavailable": {Outcome: api.Unavailable, Reason: "no screen"},
	} {
		for _, mode := range []map[string]any{bypass, {"permission_mode": "unheardOf"}} {
			r := newRig(t, human)
			r.policy.Set("Bash", policy.Ask)
			got := handle(t, r, claudeCall(t, "06-PreToolUse-Bash", "PreToolUse", mode))
			if !strings.Contains(got, `"permissionDecision":"deny"`) || strings.Contains(got, "user denied") {
				t.Errorf("%s, %v: %s", name, mode, got)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, interact.Answer{})
		r.policy.Set("Bash", policy.Ask)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range interact.MaxPendingPerRequester {
			fields := map[string]any{"agent_id": fmt.Sprint(i)}
			go func() { _, _ = r.Handle(ctx, claudeCall(t, "07-PermissionRequest-Bash", "PermissionRequest", fields)) }()
		}
		synctest.Wait()
		got := handle(t, r, claudeCall(t, "06-PreToolUse-Bash", "PreToolUse", bypass))
		if !strings.Contains(got, `"permissionDecision":"deny"`) {
			t.Errorf("flooded: %q", got)
		}
		cancel()
	})
}

// Codex runs unasked what its sandbox holds: a rule that asks is asked about before, and nobody's decision is no leave.
func TestAskRulesHoldInCodex(t *testing.T) {
	for _, tt := range []struct {
		human  interact.Answer
		effect policy.Effect
		want   string
		shown  int
	}{
		{allow, policy.Ask, "", 1},
		{deny, policy.Ask, preTool("deny", "not now"), 1},
		{dismiss, policy.Ask, preTool("deny", "nobody decided: the user closed the prompt and has not refused"), 1},
		{deny, policy.Allow, "", 0},
		{deny, "", "", 0},
	} {
		r := newRig(t, tt.human)
		if tt.effect != "" {
			r.policy.Set("Bash", tt.effect)
		}
		got := handle(t, r, call(t, "codex", "04-PreToolUse-Bash"))
		if n := len(r.human.Shown()); n != tt.shown || got != tt.want {
			t.Errorf("%s, %q: %d windows, reply\n got %s\nwant %s", tt.human.Outcome, tt.effect, n, got, tt.want)
		}
	}
}
