package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/agents/agent"
	"nod/agents/gemini"
)

// Where nod alone decides, a call that is too long or too deep to be read is denied: the agent goes on after silence.
func TestTheGateDeniesWhatNodCannotRead(t *testing.T) {
	for name, moved := range map[string]bool{"in the home folder": false, "where GEMINI_CLI_HOME says": true} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("USERPROFILE", home)
			t.Setenv("XDG_RUNTIME_DIR", home)
			t.Setenv("GEMINI_CLI_HOME", "")
			if moved {
				t.Setenv("GEMINI_CLI_HOME", filepath.Join(home, "moved"))
			}
			deniesWhatItCannotRead(t, agent.Machine{Home: home, Env: os.Getenv})
		})
	}
}

func deniesWhatItCannotRead(t *testing.T, m agent.Machine) {
	t.Helper()
	gate := gemini.Agent.Gate(m).Path
	if err := os.MkdirAll(filepath.Dir(gate), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	head := `{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":`
	for _, input := range []string{
		`{"content":"` + strings.Repeat("x", maxPayload) + `"}`,
		`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
	} {
		var out, err bytes.Buffer
		c := &console{in: strings.NewReader(head + input + "}"), out: &out, err: &err}
		if e := c.answerHook(t.Context(), "gemini-cli"); e != nil || !strings.Contains(out.String(), `"decision":"deny"`) {
			t.Errorf("%.120s: %q, %v", input, out.String(), e)
		}
	}
}
