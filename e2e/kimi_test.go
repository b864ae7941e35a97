//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var kimi = chatAgent{"kimi-code", (*nod).kimiCommand}

// kimiCommand prepares Kimi Code to talk to a model of ours and nobody else.
func (n *nod) kimiCommand(model string, args ...string) *exec.Cmd {
	n.t.Helper()
	config := filepath.Join(n.Home(), ".kimi-code", "config.toml")
	if _, err := os.Stat(config); err != nil {
		must(n.t, os.MkdirAll(filepath.Dir(config), 0o700))
		must(n.t, os.WriteFile(config, fmt.Appendf(nil, `default_model = "test"
telemetry = false
[providers.test]
type = "openai"
base_url = %q
api_key = "x"
[models.test]
provider = "test"
model = "test"
max_context_size = 200000
`, model+"/v1"), 0o600))
	}
	cmd := n.onNode(released(n.t, "kimi"), args...)
	cmd.Env = append(cmd.Env, "KIMI_DISABLE_TELEMETRY=1", "KIMI_CODE_NO_AUTO_UPDATE=1")
	return cmd
}

func kimiRuns(command string) toolCall {
	return toolCall{"Bash", map[string]string{"command": command, "description": "As the script says"}}
}

// kimiAsks is what Kimi Code's own prompt says, kimiTrusts what it asks at its first start in a folder.
const (
	kimiAsks   = "Run this command?"
	kimiTrusts = "Trust this folder?"
)

// kimiBegins has Kimi Code trust the folder, and asks it for something: it takes no first request for its terminal
// from the command line.
func (s *chatSession) kimiBegins(args ...string) *terminal {
	s.t.Helper()
	term := s.terminal(s.command(args...))
	term.shows(kimiTrusts)
	term.says("Enter", kimiTrusts)
	term.shows("No session yet")
	term.asks("do it", "> ")
	return term
}

// With nod as the only gate Kimi Code asks nobody else.
func TestAgentKimiGate(t *testing.T) {
	makeIt := kimiRuns("touch made.txt")
	t.Run("reads without a prompt", func(t *testing.T) {
		s := kimi.start(t, settings, true, true, kimiRuns("ls -la"))
		s.done(s.headless("-p", "do it"))
		s.neverAWindow()
	})
	t.Run("allowed", func(t *testing.T) {
		s := kimi.start(t, settings, true, true, makeIt)
		term := s.kimiBegins()
		s.prompt()
		s.armed()
		s.shot("kimi-code")
		s.press("ctrl+Return")
		term.shows("all done")
		s.made(true)
	})
	t.Run("denied with a reason", func(t *testing.T) {
		s := kimi.start(t, settings, true, true, makeIt)
		c := s.headless("-p", "do it")
		s.denies("use make instead")
		s.done(c)
		s.made(false)
		s.reads(s, "use make instead")
	})
	t.Run("closed", func(t *testing.T) {
		s := kimi.start(t, settings, true, true, makeIt)
		term := s.kimiBegins()
		s.closes()
		term.shows("all done")
		s.made(false)
		s.reads(s, "without deciding")
	})
	t.Run("nod killed in the middle", func(t *testing.T) {
		s := kimi.start(t, settings, true, true, makeIt)
		c := s.headless("-p", "do it")
		s.prompt()
		must(t, s.cmd.Process.Kill())
		<-s.ended
		s.done(c)
		s.made(false)
	})
	t.Run("away", func(t *testing.T) {
		s := kimi.start(t, settings, false, true, makeIt)
		term := s.kimiBegins()
		term.shows("all done")
		s.made(false)
		s.reads(s, "nod start")
	})
	t.Run("away, and the gate open again", func(t *testing.T) {
		s := kimi.start(t, settings, false, true, makeIt)
		s.launch(s.program("nod", "agents", "uninstall", "kimi-code", "--yes")).result()
		s.kimiBegins().shows(kimiAsks)
		s.made(false)
	})
}

// Without the gate Kimi Code asks in its terminal, and nod adds what its rules deny or ask about.
func TestAgentKimi(t *testing.T) {
	makeIt := kimiRuns("touch made.txt")
	t.Run("denied by a rule", func(t *testing.T) {
		s := kimi.start(t, settings+noTouch, true, false, makeIt)
		s.done(s.headless("-p", "do it"))
		s.neverAWindow()
		s.made(false)
		s.reads(s, "no-touch")
	})
	t.Run("the terminal asks", func(t *testing.T) {
		s := kimi.start(t, settings, true, false, makeIt)
		term := s.kimiBegins()
		term.shows(kimiAsks)
		s.neverAWindow()
		s.made(false)
		term.says("Enter", kimiAsks)
		term.shows("all done")
		s.made(true)
	})
	t.Run("asks by a rule, and the window is closed", func(t *testing.T) {
		s := kimi.start(t, settings+askTouch, true, false, makeIt)
		c := s.headless("-p", "do it")
		s.closes()
		s.done(c)
		s.made(false)
		s.reads(s, "without deciding")
	})
	t.Run("asks by a rule, and it is allowed", func(t *testing.T) {
		s := kimi.start(t, settings+askTouch, true, false, makeIt)
		c := s.headless("-p", "do it")
		s.allows()
		s.done(c)
		s.made(true)
	})
	t.Run("away and strict", func(t *testing.T) {
		s := kimi.start(t, settings+"\nagents:\n  strict: [kimi-code]\n", false, false, makeIt)
		s.done(s.headless("-p", "do it"))
		s.made(false)
		s.reads(s, "nod start")
	})
	t.Run("question", func(t *testing.T) {
		s := kimi.start(t, settings, true, false, toolCall{"AskUserQuestion", map[string]any{"questions": []any{
			map[string]any{"question": "Which database?", "header": "Storage", "multi_select": false, "options": databases},
		}}})
		term := s.kimiBegins()
		s.picksPostgres()
		term.shows("all done")
		s.reads(s, "Postgres")
	})
}
