package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nod/agents/agent"
	"nod/agents/amp"
	"nod/agents/claude"
	"nod/agents/cline"
	"nod/agents/codex"
	"nod/agents/copilot"
	"nod/agents/crush"
	"nod/agents/gemini"
	"nod/agents/goose"
	"nod/agents/kimi"
	"nod/agents/letta"
	"nod/agents/opencode"
	"nod/agents/qwen"
)

// A version that is newer than every tested one is said, and so is an agent that was never tested.
func TestUntested(t *testing.T) {
	never := claude.Agent
	never.Tested = nil
	for _, test := range []struct {
		agent   agent.Agent
		version string
		want    string
	}{
		{claude.Agent, "2.1.197", ""}, {claude.Agent, "2.1.332", ""}, {claude.Agent, "2.1.200", ""},
		{claude.Agent, "2.1.99", ""}, {claude.Agent, "no number", ""}, {claude.Agent, "2.1.332-beta.1", ""},
		{claude.Agent, "2.1.333", "Version 2.1.333 is newer than the one nod was tested with (2.1.332)."},
		{claude.Agent, "2.10.0", "newer"}, {claude.Agent, "10.0", "newer"},
		{claude.Agent, "2.1.332.4", "can't compare version"}, {never, "1.0.0", "from its documentation"},
		{never, "", "from its documentation"},
	} {
		m := machine(t)
		m.Run = func(string, ...string) (string, error) { return test.version + " (x)\n", nil }
		s, err := test.agent.Status(m)
		if err != nil || (s.Untested == "") != (test.want == "") || !strings.Contains(s.Untested, test.want) {
			t.Errorf("%s: %q, %v, want %q", test.version, s.Untested, err, test.want)
		}
	}
}

// A hook that an agent cuts off before nod stops waiting is said, in whatever unit its settings count.
func TestCutOff(t *testing.T) {
	event := func(name, rest string) string {
		return `{"hooks": {"` + name + `": [{"hooks": [{"command": "nod hook AGENT"` + rest + `}]}]}}`
	}
	for _, test := range []struct {
		agent agent.Agent
		text  string
		wait  time.Duration
		want  string
	}{
		{claude.Agent, event("PreToolUse", `, "timeout": 60`), 0, "after 60 s: nod waits up to 570 s"},
		{claude.Agent, event("PreToolUse", `, "timeout": 60`), 5 * time.Minute, "after 60 s: nod waits up to 300 s"},
		{claude.Agent, event("PreToolUse", `, "timeout": 60`), time.Minute, ""},
		{claude.Agent, event("PreToolUse", `, "timeout": 1.5`), 0, "after 1.5 s"},
		{claude.Agent, event("PreToolUse", `, "timeout": 600`), 24 * time.Hour, ""},
		{claude.Agent, event("PreToolUse", ""), 0, ""},
		{claude.Agent, event("Stop", `, "timeout": 5`), 0, ""},
		{claude.Agent, event("Other", `, "timeout": 5`), 0, ""},
		{codex.Agent, event("PermissionRequest", `, "timeout": 60`), 0, "after 60 s"},
		{gemini.Agent, event("BeforeTool", `, "timeout": 60000`), 0, "after 60 s"},
		{letta.Agent, event("PermissionRequest", `, "timeout": 600`), 0, "after 0.6 s"},
		{goose.Agent, event("PreToolUse", ""), 0, "after 30 s"},
		{gemini.Agent, event("BeforeTool", `, "timeout": 600000`), 0, ""},
		{gemini.Agent, event("BeforeTool", ""), 0, "after 60 s"},
	} {
		m := machine(t)
		m.Wait = test.wait
		text := strings.ReplaceAll(test.text, "AGENT", test.agent.Name)
		write(t, test.agent.Settings(m).Path, text)
		s, err := test.agent.Status(m)
		if err != nil || (s.CutOff == nil) != (test.want == "") {
			t.Errorf("%s: %v, %v, want %q", text, s.CutOff, err, test.want)
		}
		if s.CutOff != nil && !strings.Contains(s.CutOff.Error(), "its settings cut nod's hook off "+test.want) {
			t.Errorf("%s: %v, want %q", text, s.CutOff, test.want)
		}
	}
}

// Names count byte for byte, as the agent reads them; and a hook that decides cannot be one that nobody waits for.
func TestWhatIsNotInstalled(t *testing.T) {
	m := machine(t)
	path := claude.Agent.Settings(m).Path
	install(t, claude.Agent, m, false)
	installed := text(t, path)
	for _, edit := range [][2]string{
		{`"hooks": {`, `"Hooks": {`}, {`"PreToolUse"`, `"preToolUse"`}, {`"command": "/opt`, `"Command": "/opt`},
		{`"timeout": 600`, `"timeout": 600, "async": true`}, {"/opt/nod/bin/nod", "/old/nod"},
	} {
		write(t, path, strings.Replace(installed, edit[0], edit[1], 1))
		if s, err := claude.Agent.Status(m); err != nil || s.Installed {
			t.Errorf("%s: %+v, %v", edit[1], s, err)
		}
	}
}

func TestEnvironmentMovesFolders(t *testing.T) {
	m := machine(t)
	m.Env = func(name string) string {
		return map[string]string{
			"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "GEMINI_CLI_HOME": "/g", "XDG_CONFIG_HOME": "/o",
			"OPENCODE_CONFIG_DIR": "/not/this", "QWEN_HOME": "/q", "COPILOT_HOME": "/h", "KIMI_CODE_HOME": "/k",
			"LETTA_HOME": "/l", "CLINE_DIR": "/n",
		}[name]
	}
	for _, test := range []struct{ what, got, want string }{
		{"claude", claude.Agent.Settings(m).Path, "/c/settings.json"},
		{"codex", codex.Agent.Settings(m).Path, "/x/hooks.json"},
		{"gemini", gemini.Agent.Settings(m).Path, "/g/.gemini/settings.json"},
		{"gemini's gate", gemini.Agent.Gate(m).Path, "/g/.gemini/policies/nod.toml"},
		{"qwen", qwen.Agent.Settings(m).Path, "/q/settings.json"},
		{"copilot", copilot.Agent.Settings(m).Path, "/h/hooks/nod.json"},
		{"kimi", kimi.Agent.Settings(m).Path, "/k/config.toml"},
		{"kimi's gate", kimi.Agent.Gate(m).Path, "/k/config.toml"},
		{"crush", crush.Agent.Settings(m).Path, "/o/crush/crush.json"},
		{"letta", letta.Agent.Settings(m).Path, "/l/settings.json"},
		{"amp", amp.Agent.Settings(m).Path, "/o/amp/settings.json"},
		{"cline", cline.Agent.Settings(m).Path, "/n/hooks/PreToolUse"},
		{"opencode", opencode.Agent.Settings(m).Path, "/o/opencode/plugins/nod.js"},
	} {
		if test.got != filepath.FromSlash(test.want) {
			t.Errorf("%s: %s", test.what, test.got)
		}
	}
}

// The transcripts are where the agents' variables say.
func TestTranscriptFolders(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("CODEX_HOME", filepath.Join(home, "moved"))
	if got, err := Transcripts(nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v, before there are any", got, err)
	}
	want := []string{
		filepath.Join(home, ".claude", "projects", "a.jsonl"), filepath.Join(home, "moved", "sessions", "b.jsonl"),
	}
	for i, line := range []string{`{"type":"user","sessionId":"a"}`, `{"type":"session_meta","payload":{}}`} {
		if err := os.MkdirAll(filepath.Dir(want[i]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(want[i], []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Transcripts(nil)
	if err != nil || len(got) != 2 || got[0].Name != want[0] || got[1].Name != want[1] {
		t.Errorf("%v, %v, want %q", got, err, want)
	}
}

// Without a home folder nobody knows whether the agent's own prompt is switched off, so nod decides.
func TestSettingsWithoutAHomeFolder(t *testing.T) {
	for _, a := range All() {
		for _, home := range []string{"", "home"} {
			gate, limit := Settings(a.Name, func(name string) string { return map[string]string{"HOME": home}[name] })
			if gate != (a.Gate != nil) || limit != 0 {
				t.Errorf("%s in %q: %v, %v", a.Name, home, gate, limit)
			}
		}
	}
}
