//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// codexSession is Codex in a terminal, in the middle of what its model has it do.
type codexSession struct {
	*nod
	*terminal
	*transcript
}

// codexInTerminal starts Codex in a terminal, set up for nod by nod itself, and has its model begin. Its hooks
// count as trusted, which a user says once with /hooks.
func codexInTerminal(t *testing.T, config string, isUp bool, script ...responsesCall) *codexSession {
	t.Helper()
	program := released(t, "codex")
	n := startDesktop(t)
	n.writeConfig(config)
	if isUp {
		n.startNod()
	}
	n.launch(n.program("nod", "agents", "install", "codex", "--yes")).result()
	m := n.codexModel(script...)
	return &codexSession{n, n.terminal(n.codex(program, "--dangerously-bypass-hook-trust", "do it")), &m.transcript}
}

// codexModel starts a model and has Codex talk to it and nobody else.
func (n *nod) codexModel(script ...responsesCall) *responsesModel {
	n.t.Helper()
	m := newResponsesModel(script)
	n.t.Cleanup(m.Close)
	text := fmt.Sprintf(`model = "test"
model_provider = "test"
approval_policy = "on-request"
check_for_update_on_startup = false
[model_providers.test]
name = "Test"
base_url = %q
wire_api = "responses"
env_key = "TEST_KEY"
[features]
default_mode_request_user_input = true # else the terminal asks the agent's questions in plan mode only
[projects.%q]
trust_level = "trusted"
`, m.URL+"/v1", n.project())
	must(n.t, os.MkdirAll(filepath.Join(n.Home(), ".codex"), 0o700))
	must(n.t, os.WriteFile(filepath.Join(n.Home(), ".codex", "config.toml"), []byte(text), 0o600))
	return m
}

// codex prepares Codex. It keeps the helper of its sandbox at home, and refuses to where temporary files are.
func (n *nod) codex(program string, args ...string) *exec.Cmd {
	n.t.Helper()
	temporary := filepath.Join(n.Home(), "tmp")
	must(n.t, os.MkdirAll(temporary, 0o700))
	cmd := n.inProject(n.Command(program, args...))
	cmd.Env = append(cmd.Env, "TEST_KEY=x", "TMPDIR="+temporary)
	return cmd
}

// codexAsks is what Codex's own prompt says.
const codexAsks = "Would you like to run the following command?"

func (s *codexSession) finished() { s.nod.t.Helper(); s.shows("all done") }

func TestAgentCodex(t *testing.T) {
	makeIt := codexEscalates("touch made.txt")
	t.Run("allowed", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, makeIt)
		s.prompt()
		s.armed()
		s.shot("codex")
		s.press("ctrl+Return")
		s.finished()
		s.made(true)
	})
	t.Run("reads without a prompt", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, codexRuns("ls -la"))
		s.finished()
		s.neverAWindow()
	})
	t.Run("denied with a reason", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, makeIt)
		s.prompt()
		s.armed()
		s.after(func() { s.press("Tab", "Tab", "Tab", "space") })
		s.write("use make instead")
		s.blink()
		s.press("ctrl+d")
		s.finished()
		s.made(false)
		s.reads(s, "use make instead")
	})
	t.Run("denied by a rule", func(t *testing.T) {
		const rule = "\npolicy:\n  rules:\n    - {id: no, effect: deny, command: touch made.txt}\n"
		s := codexInTerminal(t, settings+rule, true, makeIt)
		s.finished()
		s.made(false)
		s.neverAWindow()
		s.reads(s, "no")
	})
	t.Run("closed, so the terminal decides", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, makeIt)
		s.prompt()
		s.press("Escape")
		s.noWindow()
		s.shows(codexAsks)
		s.made(false)
		s.says("y", codexAsks)
		s.finished()
		s.made(true)
	})
	t.Run("interrupted in the terminal", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, makeIt)
		s.prompt()
		s.keys("Escape")
		s.noWindow()
		s.made(false)
	})
	t.Run("nod killed in the middle", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, makeIt)
		s.prompt()
		must(t, s.cmd.Process.Kill())
		<-s.ended
		s.shows(codexAsks)
		s.made(false)
		s.says("y", codexAsks)
		s.finished()
		s.made(true)
	})
	t.Run("away", func(t *testing.T) {
		s := codexInTerminal(t, settings, false, makeIt)
		s.shows(codexAsks)
		s.made(false)
		s.says("y", codexAsks)
		s.finished()
		s.made(true)
	})
	t.Run("reads outside the sandbox", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, codexEscalates("ls -la"))
		s.prompt()
		s.armed()
		s.shot("codex-escalation")
		s.press("ctrl+Return")
		s.finished()
		s.reads(s, "exited with code 0")
	})
	database := codexTool("request_user_input", map[string]any{"questions": []any{
		map[string]any{"id": "db", "question": "Which database?", "header": "Storage", "options": databases},
	}})
	t.Run("question", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, database)
		s.prompt()
		s.after(func() { s.press("2") })
		s.armed()
		s.shot("codex-question")
		s.press("ctrl+Return")
		s.finished()
		s.reads(s, "not a refusal: the user has answered in another window.\\nWhich database?: Postgres")
	})
	t.Run("question closed, so the terminal asks", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, database)
		s.prompt()
		s.press("Escape")
		s.noWindow()
		s.shows("enter to submit answer")
		s.says("Enter", "enter to submit answer")
		s.finished()
		s.reads(s, "SQLite")
	})
	t.Run("away and strict", func(t *testing.T) {
		s := codexInTerminal(t, settings+"\nagents:\n  strict: [codex]\n", false, makeIt)
		s.finished()
		s.made(false)
		s.reads(s, "nod start")
	})
}

// responsesModel plays an API of responses (https://platform.openai.com/docs/api-reference/responses-streaming):
// it makes each call in turn and then says that all is done.
type responsesModel struct {
	*httptest.Server
	transcript
	script []responsesCall
}

// responsesCall makes a call with one of the tools that are offered. There is none where Codex only wants a title for
// the session.
type responsesCall func(offered []offeredTool) (call map[string]any, ok bool)

func newResponsesModel(script []responsesCall) *responsesModel {
	m := &responsesModel{script: script}
	m.Server = httptest.NewServer(m)
	return m
}

// ServeHTTP implements [http.Handler].
func (m *responsesModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools []offeredTool `json:"tools"`
		Input []struct {
			Type   string          `json:"type"`
			Output json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.NotFound(w, r)
		return
	}
	var results []string
	for _, item := range in.Input {
		if item.Type == "function_call_output" {
			results = append(results, string(item.Output))
		}
	}
	m.heard(results)
	done := map[string]string{"type": "output_text", "text": "all done"}
	item := map[string]any{"type": "message", "role": "assistant", "id": "msg_1", "content": []any{done}}
	if len(results) < len(m.script) {
		if call, ok := m.script[len(results)](in.Tools); ok {
			m.mayCall(r.Context(), len(results))
			item = call
			item["type"], item["id"], item["call_id"] = "function_call", "fc_1", fmt.Sprintf("call_%d", len(results))
		}
	}
	usage := map[string]int{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": "resp_1"}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": map[string]any{"id": "resp_1", "output": []any{item}, "usage": usage}},
	} {
		data, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
	}
}

// offeredTool is a tool that a model may call.
type offeredTool struct{ Name string }

// codexRuns runs a command in Codex's sandbox.
func codexRuns(command string) responsesCall {
	return codexTool("exec_command", map[string]string{"cmd": command})
}

// codexEscalates asks for a command that the sandbox would not let through.
func codexEscalates(command string) responsesCall {
	return codexTool("exec_command", map[string]string{"cmd": command,
		"sandbox_permissions": "require_escalated", "justification": "the script says so"})
}

// codexTool calls one of Codex's own tools.
func codexTool(tool string, input any) responsesCall {
	return func(offered []offeredTool) (map[string]any, bool) {
		arguments, _ := json.Marshal(input)
		call := map[string]any{"name": tool, "arguments": string(arguments)}
		return call, slices.Contains(offered, offeredTool{tool})
	}
}

// codexCalls calls a tool of an MCP server.
func codexCalls(server, tool, arguments string) responsesCall {
	return func(offered []offeredTool) (map[string]any, bool) {
		namespace := "mcp__" + server
		call := map[string]any{"namespace": namespace, "name": tool, "arguments": arguments}
		return call, slices.Contains(offered, offeredTool{namespace})
	}
}
