package codex

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const meta = `{"timestamp":"2026-03-04T08:00:00.000Z","type":"session_meta",` +
	`"payload":{"id":"s1","cwd":"/srv/shop","cli_version":"0.169.0"}}
`

func read(t *testing.T, text string) (calls []string) {
	t.Helper()
	tr := newTranscript(strings.NewReader(text))
	for at, c := range tr.Calls() {
		if c.Agent != name || !json.Valid(c.Input.Raw) {
			t.Errorf("%+v", c)
		}
		calls = append(calls, strings.Join([]string{at.Format("05"), c.Session, c.CWD, c.Tool, c.Input.String()}, " "))
	}
	if err := tr.Err(); err != nil {
		t.Error(err)
	}
	return calls
}

// payload is a line that holds a call.
func payload(fields string) string {
	return `{"timestamp":"2026-03-04T08:00:07.000Z","type":"response_item","payload":{"call_id":"c",` + fields + `}}`
}

// callOf is the call of a function of the model.
func callOf(name, arguments string) string {
	text, _ := json.Marshal(arguments)
	return payload(`"type":"function_call","name":"` + name + `","arguments":` + string(text))
}

// Every way to run a command is what a hook gets: "Bash" and the command line.
func TestCalls(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{callOf("exec_command", `{"cmd":"go test 2>&1 | tail","workdir":"web"}`), `Bash {"command":"go test 2>&1 | tail"}`},
		{callOf("shell_command", `{"command":"ls","timeout_ms":1000}`), `Bash {"command":"ls"}`},
		{callOf("shell", `{"command":["bash","-lc","ls && pwd"]}`), `Bash {"command":"ls && pwd"}`},
		{callOf("shell", `{"command":["/bin/zsh","-c","ls"]}`), `Bash {"command":"ls"}`},
		{callOf("shell", `{"command":["git","log","--format=%h %s"]}`), `Bash {"command":"git log '--format=%h %s'"}`},
		{payload(`"type":"function_call","name":"container.exec","arguments":{"command":["ls"]}`), `Bash {"command":"ls"}`},
		{payload(`"type":"local_shell_call","action":{"command":["bash","-lc","ls"]}`), `Bash {"command":"ls"}`},
		{payload(`"type":"custom_tool_call","name":"apply_patch","input":"<a>"`), `apply_patch {"command":"<a>"}`},
		{callOf("apply_patch", `{"input":"*** Begin Patch"}`), `apply_patch {"command":"*** Begin Patch"}`},
		{payload(`"type":"custom_tool_call","name":"exec","input":"text(1)"`), `exec {"input":"text(1)"}`},
		{callOf("update_plan", `{"plan":[]}`), `update_plan {"plan":[]}`},
		{callOf("github__search", `{"q":"x"}`), `mcp__github__search {"q":"x"}`},
		{
			payload(`"type":"function_call","name":"search","namespace":"mcp__github__","arguments":"{}"`),
			`mcp__github__search {}`,
		},
	} {
		calls := read(t, meta+test.line)
		if len(calls) != 1 || calls[0] != "07 s1 /srv/shop "+test.want {
			t.Errorf("%s: %q", test.line, calls)
		}
	}
}

func TestNoCalls(t *testing.T) {
	for _, line := range []string{
		callOf("write_stdin", `{"session_id":1,"chars":"y"}`),
		`{"type":"event_msg","payload":{"type":"exec_command_begin","command":["function_call"]}}`,
		payload(`"type":"function_call_output","output":"x"`),
		payload(`"type":"message","role":"assistant","content":[]`),
		callOf("exec_command", `{"cmd":`),
		callOf("exec_command", `{}`),
		callOf("shell", `{"command":[]}`),
		callOf("shell", `{"command":["a\u0000b"]}`),
		payload(`"type":"function_call","arguments":"{}"`),
		payload(`"type":"function_call","name":7`),
		`{"type":"response_item","payload":{"type":"function_call"`,
		`garbage`,
	} {
		if calls := read(t, meta+line); len(calls) != 0 {
			t.Errorf("%s: %q", line, calls)
		}
	}
}

func TestFolderAndSession(t *testing.T) {
	call := strings.Replace(callOf("exec_command", `{"cmd":"ls"}`), ":07.000", ":09.000", 1) + "\n"
	turn := `{"timestamp":"2026-03-04T08:00:08.000Z","type":"turn_context","payload":{"cwd":"/srv/other"}}
`
	parent := strings.Replace(meta, "s1", "parent", 1)
	for text, want := range map[string]string{
		meta + call:          `09 s1 /srv/shop Bash {"command":"ls"}`,
		meta + turn + call:   `09 s1 /srv/other Bash {"command":"ls"}`,
		meta + parent + call: `09 s1 /srv/shop Bash {"command":"ls"}`,
	} {
		if calls := read(t, text); !slices.Equal(calls, []string{want}) {
			t.Errorf("%q, want %q", calls, want)
		}
	}
}

func TestIsTranscript(t *testing.T) {
	for line, want := range map[string]bool{
		meta:                                        true,
		`{"type":"event_msg","payload":{"a":1}}`:    true,
		`{"type":"event_msg"}`:                      false,
		`{"type":"summary","leafUuid":"x"}`:         false,
		`{"type":"user","sessionId":"x","cwd":"/"}`: false,
		`{}`: false, `[]`: false, `x`: false,
	} {
		if got := isTranscript([]byte(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add(meta)
	f.Add(meta + callOf("shell", `{"command":["git","a b"]}`))
	f.Add(meta + payload(`"type":"local_shell_call","action":{"command":["bash","-lc","ls"]}`))
	f.Add(meta + payload(`"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch"`))
	f.Fuzz(func(t *testing.T, text string) {
		if !slices.Equal(read(t, text), read(t, text)) {
			t.Error("two readings differ")
		}
	})
}
