//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// openSession is opencode's server, in the middle of what its model has it do.
type openSession struct {
	*nod
	*transcript
	model *chatModel
	url   string // of opencode's server
	reply chan string
}

// newOpen sets opencode up to talk to a model of ours.
func newOpen(t *testing.T, config string, isUp bool, script ...toolCall) *openSession {
	t.Helper()
	released(t, "opencode")
	n := startDesktop(t)
	n.writeConfig(config)
	if isUp {
		n.startNod()
	}
	s := &openSession{nod: n, model: newChatModel(script), reply: make(chan string, 1)}
	s.transcript = &s.model.transcript
	t.Cleanup(s.model.Close)
	return s
}

// command prepares opencode.
func (s *openSession) command(args ...string) *exec.Cmd {
	s.t.Helper()
	cmd := s.inProject(s.Command(released(s.t, "opencode"), args...))
	cmd.Env = append(cmd.Env, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1")
	return cmd
}

// openInServer starts opencode's server, set up for nod by nod itself, and has its model begin.
func openInServer(t *testing.T, config string, isUp bool, script ...toolCall) *openSession {
	t.Helper()
	s := newOpen(t, config, isUp, script...)
	s.launch(s.program("nod", "agents", "install", "opencode", "--yes")).result()
	s.configure()
	s.serve(s.command("serve", "--port", "0", "--hostname", "127.0.0.1", "--print-logs"))
	go func() { s.reply <- s.begin() }()
	return s
}

// serve starts opencode's server and waits until it says where it listens.
func (s *openSession) serve(cmd *exec.Cmd) {
	s.t.Helper()
	out, err := cmd.StdoutPipe()
	must(s.t, err)
	cmd.Stderr = s.openLog("opencode.stderr")
	_, err = s.Launch(cmd)
	must(s.t, err)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, found := strings.Cut(lines.Text(), "http://"); found {
			s.url = "http://" + strings.TrimSpace(url)
			go io.Copy(io.Discard, out)
			return
		}
	}
	s.t.Fatal("opencode's server does not start")
}

// configure makes opencode ask before it runs or changes anything, and talk to our model.
func (s *openSession) configure() {
	s.t.Helper()
	text, err := json.Marshal(map[string]any{
		"model": "test/test", "small_model": "test/test", "autoupdate": false, "share": "disabled",
		"permission": map[string]string{"bash": "ask", "edit": "ask"},
		"provider": map[string]any{"test": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Test",
			"options": map[string]string{"baseURL": s.model.URL + "/v1", "apiKey": "x"},
			"models":  map[string]any{"test": map[string]any{"name": "Test", "tool_call": true}},
		}},
	})
	must(s.t, err)
	must(s.t, os.MkdirAll(filepath.Join(s.Config(), "opencode"), 0o700))
	must(s.t, os.WriteFile(filepath.Join(s.Config(), "opencode", "opencode.json"), text, 0o600))
}

// begin opens a session and returns what its model says in the end.
func (s *openSession) begin() string {
	session := s.call(http.MethodPost, "/session", `{}`)
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(session), &made); err != nil || made.ID == "" {
		return fmt.Sprintf("no session: %v: %s", err, session)
	}
	return s.call(http.MethodPost, "/session/"+made.ID+"/message",
		`{"model":{"providerID":"test","modelID":"test"},"parts":[{"type":"text","text":"do it"}]}`)
}

// call calls opencode's own API, as its terminal does.
func (s *openSession) call(method, path, body string) string {
	r, err := http.NewRequestWithContext(s.ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// finished waits until the model has had its last word.
func (s *openSession) finished() {
	s.t.Helper()
	select {
	case reply := <-s.reply:
		if !strings.Contains(reply, "all done") {
			s.t.Fatalf("opencode ends with %.2000s", reply)
		}
	case <-s.ctx.Done():
		s.t.Fatal("opencode does not end")
	}
}

// asked waits until opencode's own prompt for a permission is open, and returns its id.
func (s *openSession) asked() string {
	s.t.Helper()
	var pending []struct{ ID string }
	for next := time.NewTicker(20 * time.Millisecond); s.ctx.Err() == nil; <-next.C {
		must(s.t, json.Unmarshal([]byte(s.call(http.MethodGet, "/permission", "")), &pending))
		if len(pending) > 0 {
			return pending[0].ID
		}
	}
	s.t.Fatal("opencode does not ask")
	return ""
}

var openMakeIt = toolCall{"bash", map[string]string{"command": "touch made.txt", "description": "Makes it"}}

func TestAgentOpencode(t *testing.T) {
	t.Run("reads without a prompt", func(t *testing.T) {
		s := openInServer(t, settings, true, toolCall{"bash", map[string]string{"command": "ls -la", "description": "Lists"}})
		s.finished()
		s.neverAWindow()
	})
	t.Run("allowed", func(t *testing.T) {
		s := openInServer(t, settings, true, openMakeIt)
		s.prompt()
		s.armed()
		s.shot("opencode")
		s.press("ctrl+Return")
		s.finished()
		s.made(true)
	})
	t.Run("denied with a reason", func(t *testing.T) {
		s := openInServer(t, settings, true, openMakeIt)
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
	t.Run("closed, so opencode decides", func(t *testing.T) {
		s := openInServer(t, settings, true, openMakeIt)
		s.prompt()
		id := s.asked()
		s.press("Escape")
		s.noWindow()
		s.made(false)
		s.call(http.MethodPost, "/permission/"+id+"/reply", `{"reply":"once"}`)
		s.finished()
		s.made(true)
	})
	t.Run("answered in opencode first", func(t *testing.T) {
		s := openInServer(t, settings, true, openMakeIt)
		s.prompt()
		s.call(http.MethodPost, "/permission/"+s.asked()+"/reply", `{"reply":"once"}`)
		s.noWindow()
		s.finished()
		s.made(true)
		s.logs("outcome=withdrawn")
	})
	t.Run("nod killed in the middle", func(t *testing.T) {
		s := openInServer(t, settings, true, openMakeIt)
		s.prompt()
		must(t, s.cmd.Process.Kill())
		<-s.ended
		s.made(false)
		s.call(http.MethodPost, "/permission/"+s.asked()+"/reply", `{"reply":"once"}`)
		s.finished()
		s.made(true)
	})
	t.Run("away", func(t *testing.T) {
		s := openInServer(t, settings, false, openMakeIt)
		id := s.asked()
		s.made(false)
		s.call(http.MethodPost, "/permission/"+id+"/reply", `{"reply":"once"}`)
		s.finished()
		s.made(true)
	})
	t.Run("away and strict", func(t *testing.T) {
		s := openInServer(t, settings+"\nagents:\n  strict: [opencode]\n", false, openMakeIt)
		s.finished()
		s.made(false)
		s.reads(s, "nod start")
	})
	t.Run("edit", func(t *testing.T) {
		s := openInServer(t, settings, true,
			toolCall{"write", map[string]string{"filePath": "made.txt", "content": "one\ntwo\nthree\n"}},
			toolCall{"edit", map[string]string{"filePath": "made.txt", "oldString": "two", "newString": "2\n2 and a half"}})
		s.prompt()
		s.armed()
		s.shot("opencode-write")
		s.press("ctrl+Return")
		s.noWindow()
		s.prompt()
		s.armed()
		s.shot("opencode-edit")
		s.press("ctrl+Return")
		s.finished()
		if text, err := os.ReadFile(filepath.Join(s.project(), "made.txt")); string(text) != "one\n2\n2 and a half\nthree\n" {
			t.Errorf("made.txt: %q, %v", text, err)
		}
	})
	t.Run("reads outside the project", func(t *testing.T) {
		s := openInServer(t, settings, true,
			toolCall{"read", map[string]string{"filePath": "../notes.txt"}},
			toolCall{"bash", map[string]string{"command": "cat notes.txt", "workdir": "..", "description": "Reads"}},
			toolCall{"read", map[string]string{"filePath": "../.env"}})
		for _, name := range []string{"notes.txt", ".env"} {
			must(t, os.WriteFile(filepath.Join(s.project(), "..", name), []byte("read me"), 0o600))
		}
		s.prompt() // only now: what may hold secrets is asked about
		s.armed()
		s.reads(s, "read me")
		s.shot("opencode-outside")
		s.press("ctrl+d")
		s.finished()
		s.reads(s, "the user denied this")
	})
	t.Run("question", func(t *testing.T) {
		s := openInServer(t, settings, true, toolCall{"question", map[string]any{"questions": []any{
			map[string]any{"question": "Which database?", "header": "Storage", "options": databases},
		}}})
		s.prompt()
		s.after(func() { s.press("2") })
		s.armed()
		s.shot("opencode-question")
		s.press("ctrl+Return")
		s.finished()
		s.reads(s, "Postgres")
	})
}

// chatModel plays an API of chat completions (https://platform.openai.com/docs/api-reference/chat/streaming):
// it makes each call in turn and then says that all is done.
type chatModel struct {
	*httptest.Server
	transcript
	script []toolCall
}

func newChatModel(script []toolCall) *chatModel {
	m := &chatModel{script: script}
	m.Server = httptest.NewServer(m)
	return m
}

// ServeHTTP implements [http.Handler].
func (m *chatModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.NotFound(w, r)
		return
	}
	var results []string
	for _, message := range in.Messages {
		if message.Role == "tool" {
			results = append(results, string(message.Content))
		}
	}
	m.heard(results)
	delta, stop := map[string]any{"role": "assistant", "content": "all done"}, "stop"
	if len(in.Tools) > 0 && len(results) < len(m.script) {
		m.mayCall(r.Context(), len(results))
		next := m.script[len(results)]
		input, _ := json.Marshal(next.input)
		delta, stop = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprintf("call_%d", len(results)), "type": "function",
			"function": map[string]string{"name": next.tool, "arguments": string(input)},
		}}}, "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{
		{"index": 0, "delta": delta},
		{"index": 0, "delta": map[string]any{}, "finish_reason": stop},
	} {
		data, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1,
			"model": "test", "choices": []any{choice}})
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
