package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/adrg/xdg"

	"nod/agents/agent"
	"nod/agents/gemini"
	"nod/ipc/client"
	"nod/ipc/hooks"
	"nod/policy/config"
)

// Where nod alone decides, a call that is too long or too deep to be read is denied: the agent goes on after silence.
func TestTheGateDeniesWhatNodCannotRead(t *testing.T) {
	for _, name := range []string{"in the home folder", "where GEMINI_CLI_HOME says", "unknown: there is no home folder"} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("USERPROFILE", home)
			t.Setenv("XDG_RUNTIME_DIR", home)
			t.Setenv("GEMINI_CLI_HOME", "")
			switch name {
			case "where GEMINI_CLI_HOME says":
				t.Setenv("GEMINI_CLI_HOME", filepath.Join(home, "moved"))
			case "unknown: there is no home folder":
				t.Setenv("HOME", "")
				t.Setenv("USERPROFILE", "")
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
	if err := os.WriteFile(gate, []byte("# whose?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const event = `"hook_event_name":"BeforeTool"`
	head := `{"session_id":"s","tool_name":"write_file",` + event + `,"tool_input":`
	long := `{"content":"` + strings.Repeat("x", client.MaxPayload) + `"}`
	for _, payload := range []string{
		head + long + "}",
		head + `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}}",
		`{"tool_name":"write_file","tool_input":` + long + "," + event + "}",
	} {
		var out, err bytes.Buffer
		c := &console{in: strings.NewReader(payload), out: &out, err: &err}
		e := c.answerHook(t.Context(), "gemini-cli", "", hookRun{})
		if e != nil || !strings.Contains(out.String(), `"decision":"deny"`) {
			t.Errorf("%.120s: %q, %v", payload, out.String(), e)
		}
	}
}

// The agents that go by how a hook ends take 0 for an allow: nod ends so only where that is the reply.
func TestHookEndsAsNobodyDecided(t *testing.T) {
	const call = `{"event_type":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`
	for name, in := range map[string]string{
		"a call": call, "nothing": "", "no JSON": "x", "half": call[:60], "an unknown event": `{"event_type":"New"}`,
		"too long": `{"event_type":"PermissionRequest","x":"` +
			strings.Repeat("x", client.MaxPayload) + `"}`,
		"an event that decides nothing": `{"event_type":"Stop"}`,
	} {
		for _, agent := range []string{"letta", "amp"} {
			for _, isStrict := range []bool{false, true} {
				isCall := agent == "amp" || !strings.HasPrefix(name, "an ")
				want := 1
				if isCall && (isStrict || name == "too long") {
					want = 2
				}
				t.Run(fmt.Sprintf("%s/%s/strict %v", name, agent, isStrict), func(t *testing.T) {
					awayFrom(t, agent, isStrict)
					out, complaint, status := runHook(t, strings.NewReader(in), agent)
					if status != want || out != "" || (complaint == "") != (want == 1) {
						t.Errorf("status %d, want %d: %q, %q", status, want, out, complaint)
					}
				})
			}
		}
	}
	t.Run("a payload that breaks off", func(t *testing.T) {
		awayFrom(t, "letta", false)
		if _, _, status := runHook(t, iotest.ErrReader(io.ErrUnexpectedEOF), "letta"); status != 1 {
			t.Errorf("status %d", status)
		}
	})
}

// Whatever nod-desktop replies to such a hook, nod ends with 0 for the word that says so alone.
func TestHookEndsAsTold(t *testing.T) {
	for reply, want := range map[string]status{
		`{"status":0}`: 0, `{"status":2,"stderr":"no"}`: 2, `{"status":1}`: 1, `{"status":7}`: 7,
		"": 1, `{}`: 1, `null`: 1, `[]`: 1, `{"status":"0"}`: 1, `{"status":0`: 1, `{"Status":0}`: 1, `{"status":null}`: 1,
		`{"status":0,"status":0}`: 1, `{"decision":"allow"}`: 1, `{"status":0.0}`: 1, `{"status":0,"stderr":7}`: 1,
	} {
		var out, complaint bytes.Buffer
		c := &console{out: &out, err: &complaint}
		err := c.endHook(hooks.Protocol{Abstain: 1}, []byte(reply))
		if v, ok := errors.AsType[*verdict](err); !ok || v.status != want || out.Len() > 0 {
			t.Errorf("%s: %v, %q", reply, err, &out)
		}
	}
}

// awayFrom has nod-desktop be away, whatever else is on this machine.
func awayFrom(t *testing.T, agent string, isStrict bool) {
	t.Helper()
	home := t.TempDir()
	t.Cleanup(xdg.Reload) // after the variables are back
	for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"} {
		t.Setenv(name, home)
	}
	xdg.Reload()
	t.Setenv("AGENT_TOOL_NAME", map[string]string{"amp": "Bash"}[agent])
	if isStrict {
		configure(t, "agents:\n  strict: ["+agent+"]\n")
	}
}

func configure(t *testing.T, text string) (path string) {
	t.Helper()
	path, err := config.DefaultPath()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A configuration that is broken may name the agent where nod cannot read it.
func TestStrict(t *testing.T) {
	const strict = "agents: {strict: [claude-code]}\n"
	keep := func(string) error { return nil }
	again := func(make func(path string) error) func(string) error {
		return func(path string) error { return errors.Join(os.Remove(path), make(path)) }
	}
	for name, tt := range map[string]struct {
		text string
		then func(path string) error
		want string // in the reason; empty: nod is not strict
	}{
		"no file":        {"", os.Remove, ""},
		"another agent":  {"agents: {strict: [codex]}\n", keep, ""},
		"in order":       {strict, keep, "cannot be asked. To start it: nod start\""},
		"in short":       {"agents: {strict: [claude]}\n", keep, "cannot be asked. To start it: nod start\""},
		"too short":      {"agents: {strict: [clau]}\n", keep, ""},
		"an unknown key": {strict + "promt: 1\n", keep, "while its configuration is broken: "},
		"no YAML":        {strict + "prompt: [\n", keep, "this is not YAML"},
		"a null byte":    {strict + "# \x00\n", keep, "YAML allows no U+0000"},
		"a wrong type":   {"agents: {strict: {claude-code: true}}\n", keep, "agents.strict"},
		"two mistakes":   {"a: 1\nb: 2\n", keep, `config.yaml:2: b`},
		"others' file":   {strict, func(path string) error { return os.Chmod(path, 0o666) }, "others can change it"},
		"a link":         {"", again(func(path string) error { return os.Symlink("nowhere", path) }), "config.yaml: "},
		"a folder":       {"", again(func(path string) error { return os.Mkdir(path, 0o700) }), "config.yaml: "},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (name == "others' file" || name == "a link") {
				t.Skip("modes say nothing, and links need rights")
			}
			awayFrom(t, "claude-code", false)
			if err := tt.then(configure(t, tt.text)); err != nil {
				t.Fatal(err)
			}
			const call = `{"hook_event_name":"PreToolUse","permission_mode":"bypassPermissions","session_id":"s",` +
				`"cwd":"/tmp","tool_name":"Bash","tool_input":{"command":"make"}}`
			out, complaint, status := runHook(t, strings.NewReader(call), "claude-code")
			if status != 0 || complaint != "" || strings.Contains(out, `"deny"`) != (tt.want != "") ||
				!strings.Contains(out, tt.want) {
				t.Errorf("status %d, want %q: %s%s", status, tt.want, out, complaint)
			}
		})
	}
}

// A mistyped name would otherwise be "no decision" about every call, without a word.
func TestHookOfAnUnknownAgent(t *testing.T) {
	awayFrom(t, "generic", false)
	out, complaint, status := runHook(t, strings.NewReader(`{}`), "generc")
	if status != 2 || out != "" || !strings.Contains(complaint, `no agent named "generc"`) {
		t.Errorf("status %d: %s%s", status, out, complaint)
	}
}

// runHook runs the command as main does.
func runHook(t *testing.T, in io.Reader, agent string) (out, complaint string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	c := &console{in: in, out: &o, err: &e}
	root := newRoot(c)
	root.SetArgs([]string{"hook", agent})
	cmd, err := root.ExecuteContextC(t.Context())
	status = c.conclude(t.Context(), cmd, err)
	return o.String(), e.String(), status
}
