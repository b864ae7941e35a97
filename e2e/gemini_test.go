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
	"strings"
	"testing"
)

// geminiSession is Gemini CLI, in the middle of what its model has it do.
type geminiSession struct {
	*nod
	*transcript
	model *geminiModel
}

// newGemini sets Gemini CLI up for nod, by nod itself, and to talk to a model of ours.
func newGemini(t *testing.T, config string, isUp, gate bool, script ...toolCall) *geminiSession {
	t.Helper()
	released(t, "gemini")
	n := startDesktop(t)
	n.writeConfig(config)
	if isUp {
		n.startNod()
	}
	s := n.geminiTalks(script...)
	install := []string{"agents", "install", "gemini-cli", "--yes"}
	if gate {
		install = append(install, "--only-gate")
	}
	n.launch(n.program("nod", install...)).result()
	return s
}

// geminiTalks sets Gemini CLI up to talk to a model of ours.
func (n *nod) geminiTalks(script ...toolCall) *geminiSession {
	n.t.Helper()
	must(n.t, os.MkdirAll(filepath.Join(n.Home(), ".gemini"), 0o700))
	must(n.t, os.WriteFile(filepath.Join(n.Home(), ".gemini", "settings.json"), []byte(`{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}, "ui": {"hideTips": true}
}
`), 0o600))
	m := newGeminiModel(script)
	n.t.Cleanup(m.Close)
	return &geminiSession{n, &m.transcript, m}
}

// command prepares Gemini CLI.
func (s *geminiSession) command(args ...string) *exec.Cmd {
	s.t.Helper()
	cmd := s.inProject(s.Command(released(s.t, "gemini"), append([]string{"--model", "test"}, args...)...))
	cmd.Env = append(cmd.Env, "GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL="+s.model.URL,
		"GEMINI_CLI_NO_RELAUNCH=true", "NO_BROWSER=true")
	return cmd
}

// headless runs one turn without a terminal.
func (s *geminiSession) headless() *call {
	s.t.Helper()
	return s.launch(s.command("-p", "do it"))
}

// done fails the test unless a headless turn ends as the model meant it to.
func (s *geminiSession) done(c *call) {
	s.t.Helper()
	if out, status := c.result(); status != 0 || !strings.Contains(out, "all done") {
		s.t.Fatalf("status %d: %s\n%s", status, out, c.errout.String())
	}
}

func geminiRuns(command string) toolCall {
	return toolCall{"run_shell_command", map[string]string{"command": command, "description": "As the script says"}}
}

// With nod as the only gate Gemini CLI asks nobody else.
func TestAgentGeminiGate(t *testing.T) {
	makeIt := geminiRuns("touch made.txt")
	t.Run("reads without a prompt", func(t *testing.T) {
		s := newGemini(t, settings, true, true, geminiRuns("ls -la"))
		s.done(s.headless())
		s.neverAWindow()
	})
	t.Run("allowed", func(t *testing.T) {
		s := newGemini(t, settings, true, true, makeIt)
		c := s.headless()
		s.prompt()
		s.armed()
		s.shot("gemini-cli")
		s.press("ctrl+Return")
		s.done(c)
		s.made(true)
	})
	t.Run("denied with a reason", func(t *testing.T) {
		s := newGemini(t, settings, true, true, makeIt)
		c := s.headless()
		s.prompt()
		s.armed()
		s.after(func() { s.press("Tab", "Tab", "Tab", "space") })
		s.write("use make instead")
		s.blink()
		s.press("ctrl+d")
		s.done(c)
		s.made(false)
		s.reads(s, "use make instead")
	})
	t.Run("closed", func(t *testing.T) {
		s := newGemini(t, settings, true, true, makeIt)
		c := s.headless()
		s.prompt()
		s.press("Escape")
		s.done(c)
		s.made(false)
		s.reads(s, "without deciding")
	})
	t.Run("nod killed in the middle", func(t *testing.T) {
		s := newGemini(t, settings, true, true, makeIt)
		c := s.headless()
		s.prompt()
		must(t, s.cmd.Process.Kill())
		<-s.ended
		s.done(c)
		s.made(false)
		s.reads(s, "nod")
	})
	t.Run("away", func(t *testing.T) {
		s := newGemini(t, settings, false, true, makeIt)
		s.done(s.headless())
		s.made(false)
		s.reads(s, "nod start")
	})
	t.Run("away, in another home", func(t *testing.T) {
		s := newGemini(t, settings, false, false, makeIt)
		moved := filepath.Join(s.Home(), "moved")
		must(t, os.Mkdir(moved, 0o700))
		must(t, os.Rename(filepath.Join(s.Home(), ".gemini"), filepath.Join(moved, ".gemini")))
		install := s.program("nod", "agents", "install", "gemini-cli", "--yes", "--only-gate")
		agent := s.command("-p", "do it")
		for _, cmd := range []*exec.Cmd{install, agent} {
			cmd.Env = append(cmd.Env, "GEMINI_CLI_HOME="+moved)
		}
		s.launch(install).result()
		s.done(s.launch(agent))
		s.made(false)
		s.reads(s, "nod start")
	})
}

// Without the gate Gemini CLI asks in its terminal, and nod adds what its rules deny.
func TestAgentGemini(t *testing.T) {
	makeIt := geminiRuns("touch made.txt")
	t.Run("denied by a rule", func(t *testing.T) {
		const rule = "\npolicy:\n  rules:\n    - {id: no-touch, effect: deny, command: touch made.txt}\n"
		s := newGemini(t, settings+rule, true, false, makeIt)
		term := s.terminal(s.command("-i", "do it"))
		term.shows("all done")
		s.made(false)
		s.neverAWindow()
		s.reads(s, "no-touch")
	})
	t.Run("the terminal asks", func(t *testing.T) {
		s := newGemini(t, settings, true, false, makeIt)
		term := s.terminal(s.command("-i", "do it"))
		term.shows(geminiAsks)
		s.neverAWindow()
		s.made(false)
		term.says("Enter", geminiAsks)
		term.shows("all done")
		s.made(true)
	})
	t.Run("away and strict", func(t *testing.T) {
		s := newGemini(t, settings+"\nagents:\n  strict: [gemini-cli]\n", false, false, makeIt)
		term := s.terminal(s.command("-i", "do it"))
		term.shows("all done")
		s.made(false)
		s.reads(s, "nod start")
	})
	database := toolCall{"ask_user", map[string]any{"questions": []any{
		map[string]any{"question": "Which database?", "header": "Storage", "type": "choice", "options": databases},
	}}}
	t.Run("question closed, so the terminal asks", func(t *testing.T) {
		s := newGemini(t, settings, true, false, database)
		term := s.terminal(s.command("-i", "do it"))
		s.prompt()
		s.press("Escape")
		s.noWindow()
		term.shows(geminiPicks)
		term.says("Enter", geminiPicks)
		term.shows("all done")
		s.reads(s, "SQLite")
	})
	t.Run("question", func(t *testing.T) {
		s := newGemini(t, settings, true, false, database)
		term := s.terminal(s.command("-i", "do it"))
		s.prompt()
		s.after(func() { s.press("2") })
		s.armed()
		s.shot("gemini-cli-question")
		s.press("ctrl+Return")
		term.shows("all done")
		s.reads(s, "Postgres")
	})
}

// What Gemini CLI's own prompts say, for a tool and for a question.
const (
	geminiAsks  = "Allow execution"
	geminiPicks = "Enter to select"
)

// geminiModel plays Gemini's API (https://ai.google.dev/api/generate-content): it makes each call in turn and
// then says that all is done.
type geminiModel struct {
	*httptest.Server
	transcript
	script []toolCall
}

func newGeminiModel(script []toolCall) *geminiModel {
	m := &geminiModel{script: script}
	m.Server = httptest.NewServer(m)
	return m
}

// ServeHTTP implements [http.Handler].
func (m *geminiModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []json.RawMessage `json:"tools"`
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct {
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.NotFound(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, ":countTokens") {
		fmt.Fprint(w, `{"totalTokens":1}`)
		return
	}
	var results []string
	for _, c := range in.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				results = append(results, string(p.FunctionResponse.Response))
			}
		}
	}
	m.heard(results)
	part := map[string]any{"text": "all done"}
	if len(in.Tools) > 0 && len(results) < len(m.script) {
		m.mayCall(r.Context(), len(results))
		next := m.script[len(results)]
		part = map[string]any{"functionCall": map[string]any{"name": next.tool, "args": next.input}}
	}
	content := map[string]any{"role": "model", "parts": []any{part}}
	data, _ := json.Marshal(map[string]any{
		"candidates":    []any{map[string]any{"content": content, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]int{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	})
	if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", data)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data)
}
