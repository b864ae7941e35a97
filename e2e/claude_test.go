//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// claudeCode is the program of a release of Claude Code.
type claudeCode string

// eachClaudeCode runs a test with the oldest release of Claude Code that nod supports and with the newest.
func eachClaudeCode(t *testing.T, test func(*testing.T, claudeCode)) {
	t.Helper()
	for _, age := range []string{"oldest", "newest"} {
		t.Run(age, func(t *testing.T) {
			program := installed(t, filepath.Join("claude-code-"+age, "bin", "claude.exe")) // its name on every system
			test(t, claudeCode(program))
		})
	}
}

// Claude Code itself, as released, with a model that follows a script.
func TestAgentClaudeCode(t *testing.T) { eachClaudeCode(t, testClaudeCodeHeadless) }

func testClaudeCodeHeadless(t *testing.T, claude claudeCode) {
	const strict = settings + "\nagents:\n  strict: [claude-code]\n"
	touch := []string{"touch made.txt"}
	const blocked = "touch in '" // so begins why Claude Code itself, which has nobody to ask, blocks it
	tests := []struct {
		name     string
		config   string
		away     bool // nod is not running
		commands []string
		answer   []string // keys at the prompt; none: there must be no window
		made     bool     // made.txt is there in the end
		reads    string   // in what the model reads last
	}{
		{"reads without a window", settings, false, []string{"ls"}, nil, false, "completed with no output"},
		{"allowed", settings, false, touch, []string{"ctrl+Return"}, true, "completed with no output"},
		{"denied", settings, false, touch, []string{"ctrl+d"}, false, "the user denied this and gave no reason"},
		{"closed", settings, false, touch, []string{"Escape"}, false, "nobody decided"},
		{"away", settings, true, touch, nil, false, blocked},
		{"away and strict", strict, true, touch, nil, false, "nod start"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := startDesktop(t)
			n.writeConfig(tt.config)
			if !tt.away {
				n.startNod()
			}
			n.launch(n.program("nod", "agents", "install", "claude-code", "--yes")).result()
			model := newModel(commands(tt.commands...)...)
			defer model.Close()
			c := claude.headless(n, model.URL)
			if tt.answer != nil {
				n.prompt()
				n.armed()
				n.shot("claude-code")
				n.press(tt.answer...)
			}
			if out, status := c.result(); status != 0 || !strings.Contains(out, "all done") {
				t.Fatalf("status %d: %s", status, out)
			}
			n.noWindow()
			if got := model.lastResult(); !strings.Contains(got, tt.reads) {
				t.Errorf("the model reads %q, want %q", got, tt.reads)
			}
			if _, err := os.Stat(filepath.Join(n.project(), "made.txt")); (err == nil) != tt.made {
				t.Errorf("made.txt: %v", err)
			}
		})
	}
}

// headless starts a turn without a terminal against a model of ours.
func (c claudeCode) headless(n *nod, model string, args ...string) *call {
	n.t.Helper()
	return n.launch(c.command(n, model, append(args, "-p", "do it", "--output-format", "json")...))
}

// command prepares Claude Code to talk to a model of ours and nobody else.
func (c claudeCode) command(n *nod, model string, args ...string) *exec.Cmd {
	n.t.Helper()
	cmd := n.inProject(n.Command(string(c), args...))
	isClaudes := func(v string) bool { return strings.HasPrefix(v, "CLAUDE") || strings.HasPrefix(v, "ANTHROPIC") }
	cmd.Env = append(slices.DeleteFunc(cmd.Env, isClaudes),
		"ANTHROPIC_BASE_URL="+model, "ANTHROPIC_API_KEY=sk-ant-test", "DISABLE_TELEMETRY=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		"IS_SANDBOX=1") // or root may not bypass permissions
	return cmd
}

// toolCall is what a model wants done.
type toolCall struct {
	tool  string
	input any
}

// databases are the options of a question that a model asks, which have the same form for every agent.
var databases = []any{
	map[string]any{"label": "SQLite", "description": "One file"},
	map[string]any{"label": "Postgres", "description": "A server"},
}

// commands are calls of the tool that runs commands.
func commands(lines ...string) []toolCall {
	var calls []toolCall
	for _, line := range lines {
		calls = append(calls, toolCall{"Bash", map[string]string{"command": line, "description": "As the script says"}})
	}
	return calls
}

// model plays Anthropic's API (https://docs.anthropic.com/en/api/messages-streaming): it makes each call in
// turn and then says that all is done.
type model struct {
	*httptest.Server
	transcript
	script    []toolCall
	subagents map[string][]toolCall // their scripts, by what stands in their prompts
	flagged   string                // the classifier refuses calls whose input has this in it; empty: none
	waits     chan string           // if not nil, the model waits until somebody has received what a tool said

	mu   sync.Mutex     // guards told
	told map[string]int // how much of what tools said was received, by thread
}

// planFile stands in a call's input for the file that Claude Code has told the model to write its plan to.
const planFile = "PLAN_FILE"

var planPath = regexp.MustCompile(`/[^ "\\\\]+/\.claude/plans/[a-z0-9-]+\.md`)

func newModel(script ...toolCall) *model {
	m := &model{script: script, told: map[string]int{}}
	m.Server = httptest.NewServer(m)
	return m
}

// ServeHTTP implements [http.Handler].
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools      []json.RawMessage `json:"tools"`
		Stream     bool              `json:"stream"`
		Safeguards []json.RawMessage `json:"safeguards"` // the newest asks the model itself whether a call is dangerous
		Messages   []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.NotFound(w, r)
		return
	}
	if strings.Contains(r.URL.Path, "count_tokens") {
		fmt.Fprint(w, `{"input_tokens":1}`)
		return
	}
	var results []string
	for _, message := range in.Messages {
		results = append(results, toolResults(message.Content)...)
	}
	m.heard(results)
	if !in.Stream { // the oldest asks about a call in a request of its own
		w.Header().Set("Content-Type", "application/json")
		verdict := "<block>no</block>"
		if last := in.Messages[len(in.Messages)-1].Content; m.flagged != "" && bytes.Contains(last, []byte(m.flagged)) {
			verdict = "<block>yes</block><reason>the script says so</reason>"
		}
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"test","stop_reason":"end_turn",`+
			`"content":[{"type":"text","text":%q}],"usage":{"input_tokens":1,"output_tokens":1}}`, verdict)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	block := map[string]any{"type": "text", "text": ""}
	delta, stop := map[string]any{"type": "text_delta", "text": "all done"}, "end_turn"
	script, thread := m.script, ""
	for prompt, own := range m.subagents {
		if len(in.Messages) > 0 && strings.Contains(string(in.Messages[0].Content), prompt) {
			script, thread = own, strings.ReplaceAll(prompt, " ", "_")
		}
	}
	if len(in.Tools) > 0 {
		m.tell(r.Context(), thread, results)
	}
	verdict := map[string]any{}
	done := len(slices.DeleteFunc(slices.Clone(results), isMissingTool))
	if len(in.Tools) > 0 && done < len(script) {
		m.mayCall(r.Context(), done)
		next := script[done]
		input, _ := json.Marshal(next.input)
		for _, message := range in.Messages {
			if path := planPath.Find(message.Content); path != nil {
				input = bytes.ReplaceAll(input, []byte(planFile), path)
			}
		}
		id := fmt.Sprintf("toolu_%s%d", thread, len(results))
		block = map[string]any{"type": "tool_use", "id": id, "name": next.tool, "input": map[string]any{}}
		delta, stop = map[string]any{"type": "input_json_delta", "partial_json": string(input)}, "tool_use"
		verdict[id] = map[string]any{"type": "evaluated", "outcome": "not_flagged"}
		if m.flagged != "" && bytes.Contains(input, []byte(m.flagged)) {
			verdict[id] = map[string]any{"type": "evaluated", "outcome": "flagged", "explanation": "the script says so"}
		}
	}
	end := map[string]any{"stop_reason": stop, "stop_sequence": nil}
	if len(in.Safeguards) > 0 {
		end["safeguard_results"] = []any{map[string]any{"type": "dangerous_tool_use",
			"status": map[string]any{"type": "available", "tool_uses": verdict}}}
	}
	usage := map[string]int{"input_tokens": 1, "output_tokens": 1}
	for _, event := range []map[string]any{
		{"type": "message_start", "message": map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "test",
			"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
		}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": end, "usage": usage},
		{"type": "message_stop"},
	} {
		data, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
	}
}

// tell waits until somebody has received what a tool said last to a thread.
func (m *model) tell(ctx context.Context, thread string, results []string) {
	m.mu.Lock()
	isNews := m.waits != nil && len(results) > m.told[thread]
	m.told[thread] = len(results)
	m.mu.Unlock()
	if !isNews || isMissingTool(results[len(results)-1]) {
		return
	}
	select {
	case m.waits <- results[len(results)-1]:
	case <-ctx.Done():
	}
}

// isMissingTool reports whether a result says that there is no such tool. The model then calls it again: the tools of
// an MCP server appear once it has connected.
func isMissingTool(result string) bool { return strings.Contains(result, "No such tool available") }

// toolResults finds what tools said in the content of a message, which may also be a plain text.
func toolResults(content json.RawMessage) []string {
	var blocks []struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	var results []string
	for _, b := range blocks {
		if b.Type == "tool_result" {
			results = append(results, string(b.Content))
		}
	}
	return results
}

// In a project whose commands run in the sandbox Claude Code works on unasked, from call to call in the folder that its
// shell went to, and reads what it would read without nod.
func TestAgentClaudeCodeSandbox(t *testing.T) { eachClaudeCode(t, testClaudeCodeSandbox) }

func testClaudeCodeSandbox(t *testing.T, claude claudeCode) {
	c := claudeHands{startDesktop(t)}
	c.containing()
	c.writeConfig(sandboxed)
	c.launch(c.program("nod", "agents", "install", "claude-code", "--yes")).result()
	c.startNod()
	settings := filepath.Join(c.Home(), ".claude", "settings.json")
	must(t, c.Screen.Await(c.ctx, "Claude Code to hand its commands to nod", func() (bool, error) {
		text, err := os.ReadFile(settings)
		return strings.Contains(string(text), "CLAUDE_CODE_SHELL_PREFIX"), err
	}))
	model := newModel(commands(
		`mkdir -p sub && cd sub && printf '%s\n' "it's ✓" > made.txt`,
		`pwd && cat made.txt && python3 -c 'import os; print(os.path.exists("/run/user"), os.listdir(os.environ["HOME"]))'`,
		`python3 -c 'import os; open(os.path.expanduser("~/outside.txt"), "w")'`,
	)...)
	defer model.Close()
	if out, status := claude.headless(c.nod, model.URL).result(); status != 0 || !strings.Contains(out, "all done") {
		t.Fatalf("status %d: %s", status, out)
	}
	c.noWindow()
	if _, err := os.Stat(filepath.Join(c.Home(), "outside.txt")); err == nil {
		t.Error("a command changed what is outside of the project")
	}
	said := strings.Join(model.results, "\n")
	for _, want := range []string{filepath.Join(c.project(), "sub"), "it's ✓", "False ["} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in what the model reads: %s", want, said)
		}
	}
	list, status := c.launch(c.program("nod", "undo")).result()
	if status != 0 || !strings.Contains(list, "mkdir -p sub") {
		t.Errorf("status %d: %s", status, list)
	}
}
