package hooks_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/agents/registry"
	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// rig is the hooks with a scripted human, policy and browser around them.
type rig struct {
	*hooks.Hooks
	human  *interacttest.Prompter
	policy *interacttest.Policy
	broker *interact.Broker
	opened []string
	more   bool // the configuration asks more
	log    strings.Builder
}

func newRig(t *testing.T, answer interact.Answer) *rig {
	r := &rig{human: &interacttest.Prompter{}, policy: &interacttest.Policy{}}
	if answer.Outcome != "" {
		r.human.Answer = interacttest.Always(answer)
	}
	r.broker = interacttest.Broker(r.human, r.policy)
	t.Cleanup(r.broker.Close)
	r.Hooks = hooks.New(hooks.Config{
		Agents: registry.Protocols(), Broker: r.broker, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Timeout: func() time.Duration { return time.Hour },
		AskMore: func() bool { return r.more },
		OpenURL: func(url string) error { r.opened = append(r.opened, url); return nil },
	})
	return r
}

// folders are those of the agents, below agents, that are not named like the agent.
var folders = map[string]string{
	"claude-code": "claude", "codex": "codex", "gemini-cli": "gemini", "opencode": "opencode",
	"qwen-code": "qwen", "copilot-cli": "copilot", "kimi-code": "kimi", "crush": "crush",
}

// call reads a recorded payload; its event is in it.
func call(t *testing.T, agent, file string) hooks.Call {
	t.Helper()
	folder := filepath.Join("../../agents", cmp.Or(folders[agent], agent), "testdata/hooks")
	payload, err := os.ReadFile(filepath.Join(folder, file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return hooks.Call{Agent: agent, Event: event(t, payload), Payload: payload}
}

func event(t testing.TB, payload []byte) string {
	t.Helper()
	var e struct {
		Name  string `json:"hook_event_name"`
		Type  string `json:"type"`
		Letta string `json:"event_type"`
		Code  string `json:"hookEventName"`
		Goose string `json:"event"`
		Cline string `json:"hookName"`
	}
	if err := json.Unmarshal(payload, &e); err != nil {
		t.Fatal(err)
	}
	return cmp.Or(e.Name, e.Type, e.Letta, e.Code, e.Goose, e.Cline)
}

func handle(t *testing.T, r *rig, c hooks.Call) string {
	t.Helper()
	reply, err := r.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return string(reply)
}

var (
	allow   = interact.Answer{Outcome: api.Allowed}
	deny    = interact.Answer{Outcome: api.Denied, Reason: "not now"}
	dismiss = interact.Answer{Outcome: api.Dismissed}
)

func answered(values ...api.Value) interact.Answer {
	a := interact.Answer{Outcome: api.Answered, Values: map[string]api.Value{}}
	for i, v := range values {
		a.Values[string(rune('0'+i))] = v
	}
	return a
}

// Recorded payload and a human's answer in, the agent's own reply out.
func TestReplies(t *testing.T) {
	list := interact.ListValue
	const (
		permissionAllow = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`
		permissionDeny  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny",` +
			`"message":"not now"}}}`
	)
	tests := []struct {
		agent, file string
		call        func(*hooks.Call)
		human       interact.Answer
		want        string
		prompts     int
	}{
		{agent: "claude-code", file: "07-PermissionRequest-Bash", human: allow, want: permissionAllow, prompts: 1},
		{agent: "claude-code", file: "07-PermissionRequest-Bash", human: deny, want: permissionDeny, prompts: 1},
		{agent: "claude-code", file: "07-PermissionRequest-Bash", human: interact.Answer{Outcome: api.Denied},
			prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny",` +
				`"message":"the user denied this and gave no reason"}}}`},
		{agent: "claude-code", file: "07-PermissionRequest-Bash", human: dismiss, want: "", prompts: 1},
		{agent: "claude-code", file: "2.1.330/PermissionRequest-ExitPlanMode",
			human: interact.Answer{Outcome: api.Allowed, Suggestion: 2}, prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow",` +
				`"updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}}}`},
		{agent: "claude-code", file: "07-PermissionRequest-Bash",
			human: interact.Answer{Outcome: api.Allowed, Suggestion: 1}, prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow",` +
				`"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"mkdir -p build"},` +
				`{"toolName":"Bash","ruleContent":"rm -rf build/cache"}],"behavior":"allow","destination":"localSettings"}]}}}`},
		{agent: "claude-code", file: "06-PreToolUse-Bash", human: allow, want: "", prompts: 0},
		{agent: "claude-code", file: "06-PreToolUse-Bash", human: allow, call: headless, prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`},
		{agent: "claude-code", file: "06-PreToolUse-Bash", human: deny, call: headless, prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
				`"permissionDecisionReason":"not now"}}`},
		{agent: "claude-code", file: "06-PreToolUse-Bash", human: dismiss, call: headless, prompts: 1,
			want: preTool("deny", "nobody decided: the user closed the prompt and has not refused")},
		{agent: "claude-code", file: "18-PreToolUse-AskUserQuestion", human: answered(list("SQLite"), list("Auth")),
			want: "", prompts: 0},
		{agent: "claude-code", file: "18-PreToolUse-AskUserQuestion",
			human: answered(list("SQLite"), list("Auth", "Search")), call: mode("dontAsk"), prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",` +
				`"updatedInput":{"answers":{"Which database?":"SQLite","Which features?":"Auth, Search"},"questions":[…]}}}`},
		{agent: "claude-code", file: "19-PermissionRequest-AskUserQuestion", human: answered(list("My own"), list("Auth")),
			prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow",` +
				`"updatedInput":{"answers":{"Which database?":"My own","Which features?":"Auth"},"questions":[…]}}}}`},
		{agent: "claude-code", file: "19-PermissionRequest-AskUserQuestion", human: dismiss, want: "", prompts: 1},
		{agent: "claude-code", file: "08-PostToolUse-Bash", want: ""},
		{agent: "claude-code", file: "00-SessionStart", want: ""},
		{agent: "codex", file: "05-PermissionRequest-Bash", human: allow, want: permissionAllow, prompts: 1},
		{agent: "codex", file: "05-PermissionRequest-Bash", human: deny, want: permissionDeny, prompts: 1},
		{agent: "codex", file: "05-PermissionRequest-Bash", human: dismiss, want: "", prompts: 1},
		{agent: "codex", file: "02-PreToolUse-Bash", human: allow, want: "", prompts: 0},
		{agent: "codex", file: "06-PreToolUse-request_user_input", human: answered(list("SQLite")), prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":` +
				`"This is not a refusal: the user has answered in another window.\nWhich database?: SQLite"}}`},
		{agent: "codex", file: "06-PreToolUse-request_user_input", human: dismiss, want: "", prompts: 1},
		{agent: "codex", file: "06-PreToolUse-request_user_input", human: allow, want: "", prompts: 1},
		{agent: "codex", file: "09-PermissionRequest-Bash-network", human: deny, want: permissionDeny, prompts: 1},
		{agent: "codex", file: "07-Stop", want: `{}`},
		{agent: "gemini-cli", file: "00-BeforeTool-run_shell_command", human: allow, want: "", prompts: 0},
		{agent: "gemini-cli", file: "00-BeforeTool-run_shell_command", human: allow, call: gate,
			want: `{"decision":"allow"}`, prompts: 1},
		{agent: "gemini-cli", file: "00-BeforeTool-run_shell_command", human: deny, call: gate,
			want: `{"decision":"deny","reason":"not now"}`, prompts: 1},
		{agent: "gemini-cli", file: "00-BeforeTool-run_shell_command", human: dismiss, call: gate, prompts: 1,
			want: `{"decision":"deny","reason":"nobody decided: the user closed the prompt and has not refused"}`},
		{agent: "gemini-cli", file: "06-BeforeTool-ask_user", human: answered(list("SQLite")), prompts: 1,
			want: `{"decision":"deny","reason":` +
				`"This is not a refusal: the user has answered in another window.\nWhich db?: SQLite"}`},
		{agent: "gemini-cli", file: "06-BeforeTool-ask_user", human: dismiss, want: "", prompts: 1},
		{agent: "opencode", file: "00-permission.asked", human: allow, want: `{"reply":"once"}`, prompts: 1},
		{agent: "opencode", file: "00-permission.asked", human: interact.Answer{Outcome: api.Allowed, Suggestion: 1},
			want: `{"reply":"always"}`, prompts: 1},
		{agent: "opencode", file: "00-permission.asked", human: deny, want: `{"reply":"reject","message":"not now"}`,
			prompts: 1},
		{agent: "opencode", file: "00-permission.asked", human: dismiss, want: "", prompts: 1},
		{agent: "opencode", file: "02-question.asked", human: answered(list("PG")), want: `{"answers":[["PG"]]}`, prompts: 1},
		{agent: "qwen-code", file: "25-PermissionRequest-run_shell_command", human: allow, want: permissionAllow, prompts: 1},
		{agent: "qwen-code", file: "25-PermissionRequest-run_shell_command", human: deny, want: permissionDeny, prompts: 1},
		{agent: "qwen-code", file: "25-PermissionRequest-run_shell_command", human: dismiss, want: "", prompts: 1},
		{agent: "qwen-code", file: "15-PreToolUse-run_shell_command", human: deny, want: "", prompts: 0},
		{agent: "qwen-code", file: "15-PreToolUse-run_shell_command", human: deny, call: mode("yolo"), want: ""},
		{agent: "qwen-code", file: "22-PermissionRequest-ask_user_question", human: answered(list("SQLite")), prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":` +
				`"This is not a refusal: the user has answered in another window.\nWhich database?: SQLite"}}}`},
		{agent: "qwen-code", file: "22-PermissionRequest-ask_user_question", human: dismiss, want: "", prompts: 1},
		{agent: "copilot-cli", file: "14-preToolUse-bash", call: as("preToolUse"), human: allow, want: "", prompts: 0},
		{agent: "copilot-cli", file: "15-permissionRequest-bash", call: as("permissionRequest"), human: allow, prompts: 1,
			want: `{"behavior":"allow"}`},
		{agent: "copilot-cli", file: "05-permissionRequest-edit", call: as("permissionRequest"), human: deny, prompts: 1,
			want: `{"behavior":"deny","message":"not now"}`},
		{agent: "copilot-cli", file: "15-permissionRequest-bash", call: as("permissionRequest"), human: dismiss, prompts: 1,
			want: ""},
		{agent: "copilot-cli", file: "24-preToolUse-ask_user", call: as("preToolUse"),
			human: answered(list("SQLite"), list("true")), prompts: 1,
			want: `{"permissionDecision":"deny","permissionDecisionReason":"This is not a refusal: the user has answered in ` +
				`another window.\n{\"database\":\"SQLite\",\"tests\":true}"}`},
		{agent: "copilot-cli", file: "24-preToolUse-ask_user", call: as("preToolUse"), human: dismiss, want: "", prompts: 1},
		{agent: "copilot-cli", file: "25-notification", call: as("notification"), want: ""},
		{agent: "kimi-code", file: "13-PreToolUse-Bash", human: deny, want: "", prompts: 0},
		{agent: "kimi-code", file: "13-PreToolUse-Bash", human: allow, call: gate, want: "", prompts: 1},
		{agent: "kimi-code", file: "13-PreToolUse-Bash", human: deny, call: gate, prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
				`"permissionDecisionReason":"not now"}}`},
		{agent: "kimi-code", file: "13-PreToolUse-Bash", human: dismiss, call: gate, prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
				`"permissionDecisionReason":"nobody decided: the user closed the prompt and has not refused"}}`},
		{agent: "kimi-code", file: "14-PermissionRequest-Bash", human: allow, want: "", prompts: 0},
		{agent: "kimi-code", file: "19-PreToolUse-AskUserQuestion", human: answered(list("Postgres")), prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
				`"permissionDecisionReason":` +
				`"This is not a refusal: the user has answered in another window.\nWhich database?: Postgres"}}`},
		{agent: "kimi-code", file: "19-PreToolUse-AskUserQuestion", human: dismiss, call: gate, want: "", prompts: 1},
		{agent: "crush", file: "00-PreToolUse-bash", human: allow, want: `{"decision":"allow"}`, prompts: 1},
		{agent: "crush", file: "00-PreToolUse-bash", human: deny, want: `{"decision":"deny","reason":"not now"}`, prompts: 1},
		{agent: "crush", file: "00-PreToolUse-bash", human: dismiss, prompts: 1,
			want: `{"decision":"deny","reason":"nobody decided: the user closed the prompt and has not refused"}`},
		{agent: "crush", file: "06-PreCompact", human: allow, want: "", prompts: 0},
		{agent: "generic", file: "06-PreToolUse-Bash", human: allow, prompts: 1,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.agent+"/"+tt.file+"/"+string(tt.human.Outcome), func(t *testing.T) {
			r := newRig(t, tt.human)
			from := tt.agent
			if from == "generic" {
				from = "claude-code"
			}
			c := call(t, from, tt.file)
			c.Agent = tt.agent
			if tt.call != nil {
				tt.call(&c)
			}
			if got := elide(handle(t, r, c)); got != tt.want {
				t.Errorf("reply\n got %s\nwant %s", got, tt.want)
			}
			if got := len(r.human.Shown()); got != tt.prompts {
				t.Errorf("%d prompts, want %d", got, tt.prompts)
			}
		})
	}
}

func headless(c *hooks.Call) { c.Headless = true }
func gate(c *hooks.Call)     { c.Gate = true }

// as names the event of an agent whose payloads do not.
func as(event string) func(*hooks.Call) { return func(c *hooks.Call) { c.Event = event } }

func mode(name string) func(*hooks.Call) {
	return func(c *hooks.Call) {
		c.Payload = []byte(strings.Replace(string(c.Payload), `"permission_mode": "default"`,
			`"permission_mode": "`+name+`"`, 1))
	}
}

// elide leaves the questions that are echoed out of a reply.
func elide(reply string) string {
	before, rest, found := strings.Cut(reply, `"questions":[`)
	if !found {
		return reply
	}
	return before + `"questions":[…` + rest[strings.LastIndex(rest, "]"):]
}

// What the policy says counts before any prompt.
func TestPolicySpeaksBeforeThePrompt(t *testing.T) {
	const (
		permissionAllow = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`
		preTool         = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":`
		preToolReason   = `"permissionDecisionReason":"the test says so"}}`
	)
	tests := []struct {
		agent, file, tool string
		effect            policy.Effect
		want              string
	}{
		{"claude-code", "06-PreToolUse-Bash", "Bash", policy.Allow, preTool + `"allow",` + preToolReason},
		{"claude-code", "06-PreToolUse-Bash", "Bash", policy.Deny, preTool + `"deny",` + preToolReason},
		{"claude-code", "07-PermissionRequest-Bash", "Bash", policy.Allow, permissionAllow},
		{"codex", "02-PreToolUse-Bash", "Bash", policy.Allow, ""},
		{"codex", "02-PreToolUse-Bash", "Bash", policy.Deny, preTool + `"deny",` + preToolReason},
		{"codex", "05-PermissionRequest-Bash", "Bash", policy.Allow, permissionAllow},
		{"gemini-cli", "00-BeforeTool-run_shell_command", "run_shell_command", policy.Deny,
			`{"decision":"deny","reason":"the test says so"}`},
		{"gemini-cli", "00-BeforeTool-run_shell_command", "run_shell_command", policy.Allow, ""},
		{"qwen-code", "15-PreToolUse-run_shell_command", "run_shell_command", policy.Allow, ""},
		{"qwen-code", "15-PreToolUse-run_shell_command", "run_shell_command", policy.Deny,
			preTool + `"deny",` + preToolReason},
		{"qwen-code", "25-PermissionRequest-run_shell_command", "run_shell_command", policy.Allow, permissionAllow},
		{"copilot-cli", "14-preToolUse-bash", "bash", policy.Allow, `{"permissionDecision":"allow"}`},
		{"copilot-cli", "14-preToolUse-bash", "bash", policy.Deny,
			`{"permissionDecision":"deny","permissionDecisionReason":"the test says so"}`},
		{"copilot-cli", "15-permissionRequest-bash", "bash", policy.Allow, `{"behavior":"allow"}`},
		{"kimi-code", "13-PreToolUse-Bash", "Bash", policy.Allow, ""},
		{"kimi-code", "13-PreToolUse-Bash", "Bash", policy.Deny, preTool + `"deny",` + preToolReason},
		{"crush", "00-PreToolUse-bash", "bash", policy.Allow, `{"decision":"allow"}`},
		{"crush", "00-PreToolUse-bash", "bash", policy.Deny, `{"decision":"deny","reason":"the test says so"}`},
		{"opencode", "00-permission.asked", "bash", policy.Allow, `{"reply":"once"}`},
		{"opencode", "00-permission.asked", "bash", policy.Deny, `{"reply":"reject","message":"the test says so"}`},
	}
	for _, tt := range tests {
		t.Run(tt.agent+"/"+string(tt.effect), func(t *testing.T) {
			r := newRig(t, interact.Answer{})
			r.policy.Set(tt.tool, tt.effect)
			c := call(t, tt.agent, tt.file)
			if tt.agent == "copilot-cli" {
				_, c.Event, _ = strings.Cut(strings.TrimSuffix(tt.file, "-bash"), "-")
			}
			if got := handle(t, r, c); got != tt.want {
				t.Errorf("reply\n got %s\nwant %s", got, tt.want)
			}
			if n := len(r.human.Shown()); n != 0 {
				t.Errorf("%d prompts, want none", n)
			}
		})
	}
}

// Nothing that nod does not know may become an error or an allow. A call that lacks what a rule is held against is
// denied where the agent would go on with it, and so is one that cannot be read, or does not say what it is.
func TestTheUnknownIsNoDecision(t *testing.T) {
	payloads := map[string]string{
		"unknown event":  `{"session_id":"s","hook_event_name":"Brandnew","tool_name":"Bash","tool_input":{}}`,
		"not JSON":       `hello`,
		"an array":       `[]`,
		"wrong types":    `{"session_id":1}`,
		"empty":          ``,
		"no tool":        `{"session_id":"s"}`,
		"no input":       `{"session_id":"s","tool_name":"Bash"}`,
		"questions gone": `{"session_id":"s","tool_name":"AskUserQuestion","tool_input":{"questions":[]}}`,
		"twin questions": `{"session_id":"s","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"?"},` +
			`{"question":"?"}]}}`,
		"input twice": `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"rm a"},` +
			`"tool_input":{"command":"ls"}}`,
		"names in capitals": `{"session_id":"s","Tool_Name":"Bash","TOOL_INPUT":{"command":"ls"}}`,
		"session too big":   `{"session_id":"` + strings.Repeat("s", 500) + `","tool_name":"Bash","tool_input":{}}`,
	}
	for _, agent := range []string{
		"claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "kimi-code", "crush", "generic",
	} {
		for name, payload := range payloads {
			for _, event := range []string{
				"PermissionRequest", "PreToolUse", "BeforeTool", "Elicitation", "Brandnew", "", api.NoEvent,
			} {
				if name == "unknown event" && event != "Brandnew" {
					continue
				}
				isTool := agent == "codex" || agent == "qwen-code" || agent == "crush"
				if strings.Contains(name, "questions") && isTool {
					continue // no question there, but a tool of that name, which the human did allow
				}
				r := newRig(t, allow)
				reply, err := r.Handle(t.Context(), hooks.Call{Agent: agent, Event: event, Payload: []byte(payload)})
				isDenied := strings.Contains(string(reply), "nobody decided: nod could not ask the user") ||
					strings.Contains(string(reply), "could not read the call")
				mustDeny := event == api.NoEvent && agent != "copilot-cli" // whose hooks are told their event
				if err != nil || len(reply) != 0 && (!isDenied || event == "Brandnew") || mustDeny && !isDenied {
					t.Errorf("%s %s %s: %q, %v", agent, event, name, reply, err)
				}
			}
		}
	}
}

// The agent learns what it must mend in its call.
func TestWrongCallSaysWhatIsWrong(t *testing.T) {
	r := newRig(t, allow)
	long := `{"session_id":"` + strings.Repeat("s", 500) + `","tool_name":"Bash","tool_input":{"command":"rm a"}}`
	reply, err := r.Handle(t.Context(), hooks.Call{Agent: "codex", Event: "PreToolUse", Payload: []byte(long)})
	if err != nil || !strings.Contains(string(reply), "nobody decided: nod could not ask the user: session") {
		t.Errorf("%s, %v", reply, err)
	}
}

func TestUnknownAgent(t *testing.T) {
	r := newRig(t, allow)
	_, err := r.Handle(t.Context(), hooks.Call{Agent: "nobody", Payload: []byte(`{}`)})
	if !errors.Is(err, hooks.ErrUnknownAgent) {
		t.Errorf("err = %v", err)
	}
}

// The terminal answered first: the window closes by itself.
func TestAnsweredInTheTerminal(t *testing.T) {
	tests := []struct {
		agent, asks string
		over        []string
	}{
		{"claude-code", "07-PermissionRequest-Bash", []string{"08-PostToolUse-Bash", "23-Stop", "24-SessionEnd",
			"01-UserPromptSubmit"}},
		{"claude-code", "19-PermissionRequest-AskUserQuestion", []string{"20-PostToolUse-AskUserQuestion"}},
		{"claude-code", "16-PermissionRequest-WebFetch", []string{"17-PostToolUseFailure-WebFetch"}},
		{"opencode", "00-permission.asked", []string{"01-permission.replied"}},
		{"opencode", "02-question.asked", []string{"03-question.replied"}},
	}
	for _, tt := range tests {
		for _, over := range tt.over {
			t.Run(tt.agent+"/"+over, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, interact.Answer{})
					replies := make(chan string)
					go func() { replies <- handle(t, r, call(t, tt.agent, tt.asks)) }()
					synctest.Wait()
					handle(t, r, call(t, tt.agent, over))
					if got := <-replies; got != "" {
						t.Errorf("reply %s, want none", got)
					}
					synctest.Wait()
					if len(r.human.Closed()) != 1 {
						t.Error("the prompt stayed on the screen")
					}
				})
			})
		}
	}
}

// What happens in another session, or to another call, closes nothing.
func TestOthersAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, interact.Answer{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = r.Handle(ctx, call(t, "claude-code", "07-PermissionRequest-Bash")) }()
		synctest.Wait()
		handle(t, r, call(t, "claude-code", "03-PostToolUse-Read"))
		other := call(t, "claude-code", "23-Stop")
		other.Payload = []byte(`{"session_id":"another","cwd":"/x"}`)
		handle(t, r, other)
		synctest.Wait()
		if len(r.human.Closed()) != 0 || len(r.broker.Pending()) != 1 {
			t.Error("the prompt was closed")
		}
		cancel()
	})
}

// A hook answers before the agent stops listening: an agent that gives up goes on as it likes.
func TestAHookNeverWaitsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, interact.Answer{})
		start := time.Now()
		if got := handle(t, r, call(t, "claude-code", "07-PermissionRequest-Bash")); got != "" {
			t.Errorf("reply %s", got)
		}
		if waited := time.Since(start); waited != api.MaxHookWait {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestNoticesAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, interact.Answer{})
		stop := call(t, "claude-code", "23-Stop")
		count := func() int {
			isOther := func(rec interact.Record) bool { return rec.Request.Body.Kind() != api.KindNotify }
			return len(slices.DeleteFunc(r.broker.Own(interact.Requester{}), isOther))
		}
		for range 5 {
			handle(t, r, stop)
		}
		if n := count(); n != 1 {
			t.Errorf("%d notices at once, want 1", n)
		}
		time.Sleep(time.Minute)
		handle(t, r, stop)
		if n := count(); n != 2 {
			t.Errorf("%d notices after a minute, want 2", n)
		}
	})
}

func TestElicitation(t *testing.T) {
	const schema = `{"type":"object","required":["name","level"],"properties":{
		"name":{"type":"string","title":"Name","minLength":2,"default":"Ada"},
		"mail":{"type":"string","format":"email"},
		"age":{"type":"integer","minimum":0,"maximum":150},
		"share":{"type":"number"},
		"ok":{"type":"boolean","default":true},
		"level":{"type":"string","enum":["l","h"],"enumNames":["Low","High"]},
		"colour":{"type":"string","oneOf":[{"const":"#f00","title":"Red"}]},
		"tags":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b"]}},
		"more":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]},"default":["x"]}}}`
	payload := []byte(`{"session_id":"s","cwd":"/p","mcp_server_name":"crm","message":"Who?","mode":"form",` +
		`"requested_schema":` + schema + `}`)
	text, list := interact.TextValue, interact.ListValue
	r := newRig(t, answered(text("Ada"), text("a@b.c"), text("36"), text("0.5"), list("true"), list("h"), list("#f00"),
		list("a", "b"), list()))
	got := handle(t, r, hooks.Call{Agent: "claude-code", Event: "Elicitation", Payload: payload})
	want := `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"age":36,` +
		`"colour":"#f00","level":"h","mail":"a@b.c","name":"Ada","ok":true,"share":0.5,"tags":["a","b"]}}}`
	if got != want {
		t.Errorf("reply\n got %s\nwant %s", got, want)
	}
	form := r.human.Shown()[0].Body.(api.Form)
	if form.Title != "crm asks: Who?" || len(form.Questions) != 9 {
		t.Fatalf("form %q with %d questions", form.Title, len(form.Questions))
	}
	name, ok, level, more := form.Questions[0], form.Questions[4], form.Questions[5], form.Questions[8]
	if !name.IsRequired() || name.Default.String() != "Ada" || *name.Min != 2 {
		t.Errorf("name: %+v", name)
	}
	if ok.IsRequired() || ok.OffersOther() || ok.Default.String() != "true" {
		t.Errorf("ok: %+v", ok)
	}
	if level.Options[1].Label != "High" || level.Options[1].Value != "h" || level.MultiSelect {
		t.Errorf("level: %+v", level)
	}
	if !more.MultiSelect || more.Default.String() != "x" {
		t.Errorf("more: %+v", more)
	}
}

// A number that the agent could not read as the user meant it is not passed on, and the log says so.
func TestElicitationOfWholeNumbers(t *testing.T) {
	payload := []byte(`{"mode":"form","requested_schema":{"properties":{"n":{"type":"integer"}}}}`)
	for typed, want := range map[string]string{
		"42": "42", "-1": "-1", "1e3": "1000", "5.0": "5", "9007199254740993": "9007199254740993", "1e300": "", "-1e19": "",
	} {
		r := newRig(t, answered(interact.TextValue(typed)))
		if want != "" {
			want = `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"n":` + want + `}}}`
		}
		if got := handle(t, r, hooks.Call{Agent: "claude-code", Event: "Elicitation", Payload: payload}); got != want {
			t.Errorf("%s: %s, want %s", typed, got, want)
		}
		if logged := strings.Contains(r.log.String(), "the agent has no form for this answer"); logged != (want == "") {
			t.Errorf("%s: logged %q", typed, r.log.String())
		}
	}
}

// A grant is used by what the agent is really told: Codex and Gemini take no allow from a hook that comes before
// their own rules.
func TestOnlyAnAllowThatIsGivenIsUsed(t *testing.T) {
	for agent, uses := range map[string]int{
		"claude-code": 1, "codex": 0, "gemini-cli": 0, "qwen-code": 0, "kimi-code": 0, "crush": 1,
	} {
		r := newRig(t, interact.Answer{})
		r.policy.Set("Bash", policy.Allow)
		event := map[string]string{"gemini-cli": "BeforeTool"}[agent]
		got := handle(t, r, hooks.Call{
			Agent: agent, Event: cmp.Or(event, "PreToolUse"),
			Payload: []byte(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`),
		})
		if n := len(r.policy.Uses()); n != uses || (got != "") != (uses > 0) {
			t.Errorf("%s: %d uses, reply %q", agent, n, got)
		}
	}
}

func TestElicitationOfAnAddress(t *testing.T) {
	payload := func(url string) hooks.Call {
		return hooks.Call{Agent: "claude-code", Event: "Elicitation",
			Payload: []byte(`{"session_id":"s","mode":"url","mcp_server_name":"crm","message":"Log in","url":"` + url + `"}`)}
	}
	tests := []struct {
		url    string
		human  interact.Answer
		want   string
		opened int
	}{
		{"https://example.com/login", allow, `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept"}}`, 1},
		{"https://example.com/login", deny, `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}`, 0},
		{"https://example.com/login", dismiss, "", 0},
		{"file:///etc/passwd", allow, "", 0},
		{"javascript:alert(1)", allow, "", 0},
		{"https:", allow, "", 0},
	}
	for _, tt := range tests {
		r := newRig(t, tt.human)
		if got := handle(t, r, payload(tt.url)); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.url, tt.human.Outcome, got, tt.want)
		}
		if len(r.opened) != tt.opened {
			t.Errorf("%s %s: opened %v", tt.url, tt.human.Outcome, r.opened)
		}
	}
}

// A rule may let a tool pass, but never opens an address in the user's name.
func TestARuleOpensNoAddress(t *testing.T) {
	r := newRig(t, interact.Answer{})
	r.policy.Set("open_url", policy.Allow)
	got := handle(t, r, hooks.Call{Agent: "claude-code", Event: "Elicitation",
		Payload: []byte(`{"mode":"url","url":"https://example.com"}`)})
	if got != "" || len(r.opened) != 0 {
		t.Errorf("reply %q, opened %v", got, r.opened)
	}
}

func TestRecommendedLabelsBecomeBadges(t *testing.T) {
	payload := []byte(`{"session_id":"s","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"?",` +
		`"options":[{"label":"A (Recommended)"},{"label":"B"}]}]}}`)
	r := newRig(t, answered(interact.ListValue("A (Recommended)")))
	got := handle(t, r, hooks.Call{Agent: "claude-code", Event: "PermissionRequest", Payload: payload})
	if !strings.Contains(got, `"answers":{"?":"A (Recommended)"}`) {
		t.Errorf("reply %s", got)
	}
	if o := r.human.Shown()[0].Body.(api.Form).Questions[0].Options[0]; o.Label != "A" || !o.Recommended {
		t.Errorf("option %+v", o)
	}
}

func FuzzHandle(f *testing.F) {
	files, err := filepath.Glob("../../agents/*/testdata/hooks/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no recorded payloads")
	}
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, agent := range registry.Names(registry.All()) {
			f.Add(agent, "PermissionRequest", payload)
			f.Add(agent, "Elicitation", payload)
			f.Add(agent, event(f, payload), payload)
		}
	}
	f.Fuzz(func(t *testing.T, agent, event string, payload []byte) {
		r := newRig(t, dismiss)
		defer r.broker.Close()
		reply, err := r.Handle(t.Context(), hooks.Call{Agent: agent, Event: event, Payload: payload, Headless: true})
		if err != nil && !errors.Is(err, hooks.ErrUnknownAgent) {
			t.Fatal(err)
		}
		if strings.Contains(string(reply), "allow") || strings.Contains(string(reply), `"status":0`) {
			t.Fatalf("a dismissed prompt became %s", reply)
		}
	})
}

// An input that says something twice, as JavaScript may write it with half surrogate pairs, gets nobody past the rules
// or the user.
func TestAnInputThatSaysSomethingTwiceIsAskedAbout(t *testing.T) {
	for agent, event := range map[string]string{
		"claude-code": "PreToolUse", "generic": "PreToolUse", "codex": "PermissionRequest", "gemini-cli": "BeforeTool",
		"qwen-code": "PermissionRequest", "kimi-code": "PreToolUse", "crush": "PreToolUse",
	} {
		for _, input := range []string{`{"command":"rm a","command":"ls"}`, `{"command":"rm a","a\ud800":1,"a\ud801":2}`} {
			r := newRig(t, deny)
			payload := `{"hook_event_name":"` + event + `","session_id":"s","tool_name":"t","tool_input":` + input + `}`
			reply := handle(t, r, hooks.Call{
				Agent: agent, Event: event, Payload: []byte(payload), Headless: true,
				Gate: agent == "gemini-cli" || agent == "kimi-code",
			})
			if len(r.human.Shown()) != 1 || !strings.Contains(reply, "deny") {
				t.Errorf("%s: %s: %d prompts, reply %q", agent, input, len(r.human.Shown()), reply)
			}
		}
	}
}

// Where nod alone decides, what it cannot read is denied: the agent goes on after silence.
func TestTheGateDeniesWhatItCannotRead(t *testing.T) {
	for _, payload := range []string{
		``, `[]`, `{"tool_name":5}`, `{"tool_name":"a","tool_name":"b"}`, `{"session_id":"s"} x`,
		`{"tool_name":"t","tool_input":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
	} {
		for agent, event := range map[string]string{"gemini-cli": "BeforeTool", "kimi-code": "PreToolUse"} {
			r := newRig(t, allow)
			reply := handle(t, r, hooks.Call{Agent: agent, Event: event, Payload: []byte(payload), Gate: true})
			if !strings.Contains(reply, `ecision":"deny"`) {
				t.Errorf("%s: %.60s: %q", agent, payload, reply)
			}
		}
	}
}
