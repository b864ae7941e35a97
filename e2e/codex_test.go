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
	"strings"
	"testing"
)

// codexSession is Codex in a terminal, in the middle of what its model has it do.
type codexSession struct {
	*nod
	*terminal
	*transcript
}

// codexInTerminal starts Codex in a terminal, and has its model begin.
func codexInTerminal(t *testing.T, config string, isUp bool, script ...toolCall) *codexSession {
	t.Helper()
	s, cmd := newCodex(t, config, isUp, script...)
	s.terminal = s.nod.terminal(cmd)
	return s
}

// newCodex prepares Codex, set up for nod by nod itself. Its hooks count as trusted, which a person says once with
// /hooks.
func newCodex(t *testing.T, config string, isUp bool, script ...toolCall) (*codexSession, *exec.Cmd) {
	t.Helper()
	program := released(t, "codex")
	n := startDesktop(t)
	n.writeConfig(config)
	if isUp {
		n.startNod()
	}
	n.launch(n.program("nod", "agents", "install", "codex", "--yes")).result()
	m := newResponsesModel(script)
	t.Cleanup(m.Close)
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
	must(t, os.WriteFile(filepath.Join(n.Home(), ".codex", "config.toml"), []byte(text), 0o600))
	cmd := n.inProject(n.Command(program, "--dangerously-bypass-hook-trust", "do it"))
	// Codex keeps the helper of its sandbox at home, and refuses to where temporary files are.
	temporary := filepath.Join(n.Home(), "tmp")
	must(t, os.Mkdir(temporary, 0o700))
	cmd.Env = append(cmd.Env, "TEST_KEY=x", "TMPDIR="+temporary)
	return &codexSession{nod: n, transcript: &m.transcript}, cmd
}

// inRuntimeFolder runs a command where nod's folder for running programs lies as systemd has it, below /run/user.
func (n *nod) inRuntimeFolder(cmd *exec.Cmd) *exec.Cmd {
	n.t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		n.t.Skip("bwrap is missing: install bubblewrap to give a program a /run/user of its own")
	}
	args := []string{"--dev-bind", "/", "/", "--tmpfs", "/run/user",
		"--bind", n.Runtime(), fmt.Sprintf("/run/user/%d", os.Getuid()), "--"}
	boxed := exec.CommandContext(n.ctx, "bwrap", append(args, cmd.Args...)...)
	boxed.Env, boxed.Dir = cmd.Env, cmd.Dir
	return boxed
}

// codexAsks is what Codex's own prompt says.
const codexAsks = "Would you like to run the following command?"

func (s *codexSession) finished() { s.nod.t.Helper(); s.shows("all done") }

// codexRuns asks for a command that stays in Codex's sandbox.
func codexRuns(command string) toolCall {
	return toolCall{"exec_command", map[string]string{"cmd": command}}
}

// codexEscalates asks for a command that the sandbox would not let through.
func codexEscalates(command string) toolCall {
	return toolCall{"exec_command", map[string]string{"cmd": command,
		"sandbox_permissions": "require_escalated", "justification": "the script says so"}}
}

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
	database := toolCall{"request_user_input", map[string]any{"questions": []any{
		map[string]any{"id": "db", "question": "Which database?", "header": "Storage", "options": databases},
	}}}
	t.Run("question", func(t *testing.T) {
		s := codexInTerminal(t, settings, true, database)
		s.prompt()
		s.after(func() { s.press("Tab", "Down", "space") })
		s.armed()
		s.shot("codex-question")
		s.press("ctrl+Return")
		s.finished()
		s.reads(s, "not a refusal: the person has answered in another window.\\nWhich database?: Postgres")
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
	t.Run("asks over MCP", func(t *testing.T) {
		ask := toolCall{"mcp__nod.interact_ask", map[string]string{"question": "How many?"}}
		s, cmd := newCodex(t, settings, true, ask)
		cmd.Args = append(cmd.Args, "-c", fmt.Sprintf("mcp_servers.nod={command=%q, args=['mcp'], tool_timeout_sec=600}",
			filepath.Join(bin, "nod")))
		s.terminal = s.nod.terminal(s.inRuntimeFolder(cmd)) // Codex hands XDG_RUNTIME_DIR on to no server
		s.prompt()
		s.write("42")
		s.armed()
		s.shot("codex-mcp")
		s.press("ctrl+Return")
		s.finished()
		s.reads(s, `\"answer\":\"42\"`)
	})
	t.Run("away and strict", func(t *testing.T) {
		s := codexInTerminal(t, settings+"\nagents:\n  strict: [codex]\n", false, makeIt)
		s.finished()
		s.made(false)
		s.reads(s, "To start it: nod start")
	})
}

// responsesModel plays an API of responses (https://platform.openai.com/docs/api-reference/responses-streaming):
// it makes each call in turn and then says that all is done.
type responsesModel struct {
	*httptest.Server
	transcript
	script []toolCall
}

func newResponsesModel(script []toolCall) *responsesModel {
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
	// None of the tools is there where Codex only wants a title for the session.
	if len(results) < len(m.script) {
		next := m.script[len(results)]
		server, tool, isMCP := strings.Cut(next.tool, ".")
		if slices.Contains(in.Tools, offeredTool{server}) {
			input, _ := json.Marshal(next.input)
			item = map[string]any{"type": "function_call", "id": "fc_1", "call_id": fmt.Sprintf("call_%d", len(results)),
				"name": server, "arguments": string(input)}
			if isMCP {
				item["namespace"], item["name"] = server, tool
			}
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

// offeredTool is a tool that a model may call, or a server of such tools: those are called "server.tool" here.
type offeredTool struct{ Name string }
