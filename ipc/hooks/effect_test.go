package hooks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// What an agent does with a call after its first hook, as measured with the released programs.
const (
	runs    = "runs"
	refused = "refused"
	asks    = "asks" // the second hook follows; the agent does as that says, and without a decision it does not run
)

// cell is an agent in a mode with a kind of call, and what it does after each reply to its first hook.
type cell struct {
	agent, version, mode, kind string
	headless                   bool
	allow, ask, silence        string
}

// effects are those measured. The classifier of Claude Code judges changes of files that Claude Code protects in auto,
// and in 2.1.330 in a plan: it lets "protected" pass, and refuses "flagged". A rule of the agent's own asks about what
// is "owned", and denies what is "forbidden".
func effects() (all []cell) {
	claude := func(version, modes, kind string, headless bool, allow, ask, silence string) {
		for mode := range strings.FieldsSeq(modes) {
			all = append(all, cell{"claude-code", version, mode, kind, headless, allow, ask, silence})
		}
	}
	for _, version := range []string{"2.1.197", "2.1.330"} {
		for _, headless := range []bool{false, true} {
			claude(version, "bypassPermissions", "plain protected", headless, runs, "", runs)
			claude(version, "dontAsk", "protected", headless, refused, refused, refused)
		}
		claude(version, "dontAsk", "plain", true, runs, refused, refused)
		claude(version, "dontAsk", "plain", false, runs, asks, refused)
		claude(version, "auto", "plain", true, runs, refused, runs)
		claude(version, "auto", "plain", false, runs, asks, runs)
		claude(version, "default acceptEdits plan", "plain", false, runs, asks, asks)
		claude(version, "default acceptEdits plan", "protected", false, asks, asks, asks)
	}
	claude("2.1.197", "default acceptEdits plan", "plain", true, runs, refused, refused)
	claude("2.1.197", "default acceptEdits plan", "protected", true, refused, refused, refused)
	claude("2.1.330", "default acceptEdits plan", "plain", true, runs, refused, asks)
	claude("2.1.330", "default acceptEdits", "protected", true, asks, asks, asks)
	for _, headless := range []bool{false, true} {
		claude("2.1.197", "auto", "protected", headless, runs, runs, runs)
		claude("2.1.197", "auto", "flagged", headless, refused, refused, refused)
		claude("2.1.330", "auto plan", "protected", headless, runs, asks, runs)
		claude("2.1.330", "auto plan", "flagged", headless, refused, refused, refused)
	}
	const modes = "default acceptEdits plan auto bypassPermissions"
	for _, version := range []string{"2.1.197", "2.1.330"} {
		claude(version, modes, "owned", false, asks, asks, asks)
		for _, headless := range []bool{false, true} {
			claude(version, modes+" dontAsk", "forbidden", headless, refused, refused, refused)
			claude(version, "dontAsk", "owned", headless, refused, refused, refused)
		}
	}
	claude("2.1.197", modes, "owned", true, refused, refused, refused)
	claude("2.1.330", modes, "owned", true, asks, "", asks)
	for kind, then := range map[string][2]string{"owned": {asks, refused}, "forbidden": {refused, refused}} {
		all = append(all, cell{"codex", "0.169.0", "default", kind, false, "", "", then[0]},
			cell{"codex", "0.169.0", "bypassPermissions", kind, false, "", "", then[1]})
	}
	return append(all,
		cell{"codex", "0.169.0", "default", "plain", false, "", "", runs},
		cell{"codex", "0.169.0", "default", "escalated", false, "", "", asks},
		cell{"codex", "0.169.0", "default", "forced", false, "", "", asks},
		cell{"codex", "0.169.0", "bypassPermissions", "plain", false, "", "", runs},
		cell{"codex", "0.169.0", "bypassPermissions", "escalated", false, "", "", refused},
		cell{"codex", "0.169.0", "bypassPermissions", "forced", false, "", "", refused},
	)
}

// call makes the call of a hook. What a payload of Codex does not say is in its rollout.
func (c cell) call(t *testing.T, event, kind string) hooks.Call {
	t.Helper()
	command := map[string]string{
		"plain": "touch made.txt", "escalated": "touch made.txt", "forced": "cd src && rm -fr build",
		"owned": "mkdir owned", "forbidden": "cd src && chmod 600 forbidden",
	}[kind]
	fields := map[string]any{
		"hook_event_name": event, "permission_mode": c.mode, "session_id": "s", "cwd": "/srv/shop", "tool_use_id": "call_1",
		"tool_name": "Bash", "tool_input": map[string]string{"command": command},
	}
	if command == "" {
		fields["tool_name"] = "Write"
		fields["tool_input"] = map[string]string{"file_path": "/srv/shop/.git/hooks/pre-commit", "content": "x"}
	}
	if c.agent == "codex" {
		asked := `{"cmd":"x"}`
		if kind == "escalated" {
			asked = `{"cmd":"x","sandbox_permissions":"require_escalated"}`
		}
		line := fmt.Sprintf(`{"type":"response_item","payload":{"type":"function_call","call_id":"call_1","arguments":%q}}`,
			asked)
		rollout := filepath.Join(t.TempDir(), "rollout.jsonl")
		if err := os.WriteFile(rollout, []byte("garbage call_1\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		fields["transcript_path"] = rollout
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return hooks.Call{Agent: c.agent, Event: event, Payload: payload, Headless: c.headless, Version: c.version}
}

// does has the agent do what it does after nod's replies, and returns whether the call runs.
func (c cell) does(t *testing.T, r *rig, kind string) bool {
	t.Helper()
	reply := handle(t, r, c.call(t, "PreToolUse", kind))
	next := c.silence
	for decision, then := range map[string]string{"allow": c.allow, "ask": c.ask, "deny": refused} {
		if strings.Contains(reply, `"permissionDecision":"`+decision+`"`) {
			next = then
		}
	}
	switch next {
	case "":
		t.Fatalf("nobody has measured what follows %s", reply)
	case asks:
		return strings.Contains(handle(t, r, c.call(t, "PermissionRequest", kind)), `"allow"`)
	case refused:
		if kind == "flagged" && c.mode == "auto" {
			handle(t, r, c.call(t, "PermissionDenied", kind))
		}
	}
	return next == runs
}

// In every mode of an agent, an allow by the user takes effect, and what nobody allows does not run. Where an allow
// would take none nobody is asked. The history says allowed only of what runs.
func TestAnAllowTakesEffect(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", home)
	t.Setenv("CODEX_HOME", home)
	for name, text := range map[string]string{
		"settings.json": `{"permissions": {"ask": ["Bash(mkdir:*)"], "deny": ["Bash(chmod *)"]}}`,
		"rules/default.rules": `prefix_rule(pattern=["mkdir"], decision="prompt")` + "\n" +
			`prefix_rule(pattern=["chmod"], decision="forbidden")`,
	} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range effects() {
		for kind := range strings.FieldsSeq(c.kind) {
			for name, tt := range map[string]struct {
				rule  policy.Effect
				human interact.Answer
			}{
				"policy allows": {policy.Allow, deny}, "allowed": {policy.Ask, allow}, "denied": {policy.Ask, deny},
				"silence": {policy.Ask, dismiss},
			} {
				title := fmt.Sprint(c.agent, c.version, " ", c.mode, " ", kind, " headless ", c.headless, " ", name)
				t.Run(title, func(t *testing.T) {
					r := newRig(t, tt.human)
					for _, tool := range []string{"Bash", "Write"} {
						r.policy.Set(tool, tt.rule)
					}
					ran := c.does(t, r, kind)
					asked := len(r.human.Shown())
					var last interact.Answer
					for _, record := range r.broker.Own(interact.Requester{}) {
						last = record.Answer
					}
					judgedLate := c.version == "2.1.197" && kind == "flagged" // the classifier refuses what was allowed
					switch {
					case asked > 1, asked == 1 && tt.rule == policy.Allow:
						t.Errorf("asked %d times", asked)
					case asked == 1 && ran != (name == "allowed") && !judgedLate:
						t.Errorf("asked, and it ran: %v", ran)
					case asked == 0 && tt.rule == policy.Ask && ran:
						t.Error("it ran unasked")
					case last.Outcome == api.Allowed && !ran:
						t.Errorf("the history says %+v, and it did not run", last)
					case asked == 0 && tt.rule == policy.Ask && last.Rule != "builtin:no_effect" && kind != "flagged" &&
						kind != "forbidden":
						t.Errorf("nobody was asked, and the history says %+v", last)
					}
				})
			}
		}
	}
}

// However long a request may wait by the configuration, nod answers before the agent gives up its hook, by the agent's
// own limit and by the one in its settings.
func TestTheAnswerComesBeforeTheAgentGivesUp(t *testing.T) {
	const never = time.Duration(0)
	for limit, want := range map[time.Duration]time.Duration{
		never: api.MaxHookWait, -time.Second: api.MaxHookWait,
		10 * time.Minute: api.MaxHookWait, 24 * time.Hour: api.MaxHookWait,
		time.Minute: 55 * time.Second, 5 * time.Minute: 285 * time.Second, 6 * time.Second: time.Second, 1: time.Second,
	} {
		for _, agent := range []struct {
			name, file, rule string
			own              time.Duration // nod's patience with the agent, whatever its settings say
			call             func(*hooks.Call)
		}{
			{name: "claude-code", file: "07-PermissionRequest-Bash"},
			{name: "claude-code", file: "06-PreToolUse-Bash", call: headless},
			{name: "codex", file: "05-PermissionRequest-Bash"},
			{name: "gemini-cli", file: "00-BeforeTool-run_shell_command", call: gate},
			{name: "qwen-code", file: "25-PermissionRequest-run_shell_command"},
			{name: "copilot-cli", file: "15-permissionRequest-bash", call: as("permissionRequest")},
			{name: "kimi-code", file: "13-PreToolUse-Bash", call: gate},
			{name: "opencode", file: "00-permission.asked"},
			{name: "letta", file: "02-PermissionRequest-Bash"},
			{name: "crush", file: "00-PreToolUse-bash"},
			{name: "cline", file: "09-PreToolUse-run_commands", rule: "run_commands", own: 110 * time.Second},
			{name: "cursor", file: "02-beforeShellExecution", rule: "Shell"},
			{name: "goose", file: "02-PreToolUse-developer__shell", rule: "developer__shell"},
			{name: "vscode", file: "02-PreToolUse-run_in_terminal"},
		} {
			t.Run(fmt.Sprint(agent.name, " ", agent.file, " ", limit), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, interact.Answer{})
					r.policy.Set(agent.rule, policy.Ask)
					c := recorded(t, agent.name, agent.file)
					c.Limit = limit
					if agent.call != nil {
						agent.call(&c)
					}
					begun, want := time.Now(), want
					if agent.own != 0 {
						want = min(want, agent.own)
					}
					if handle(t, r, c); time.Since(begun) != want {
						t.Errorf("it was answered after %v, want %v", time.Since(begun), want)
					}
				})
			})
		}
	}
}
