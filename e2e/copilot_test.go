//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var copilot = chatAgent{"copilot-cli", (*nod).copilotCommand}

// copilotCommand prepares Copilot CLI to talk to a model of ours and nobody else. It unpacks itself where caches
// are, which takes seconds: all tests share that.
func (n *nod) copilotCommand(model string, args ...string) *exec.Cmd {
	n.t.Helper()
	program := released(n.t, "copilot")
	trusted, err := json.Marshal(map[string]any{"trustedFolders": []string{n.project()}})
	must(n.t, err)
	must(n.t, os.MkdirAll(filepath.Join(n.Home(), ".copilot"), 0o700))
	must(n.t, os.WriteFile(filepath.Join(n.Home(), ".copilot", "config.json"), trusted, 0o600))
	cmd := n.onNode(program, args...)
	cmd.Env = append(cmd.Env, "COPILOT_PROVIDER_BASE_URL="+model+"/v1", "COPILOT_PROVIDER_TYPE=openai",
		"COPILOT_PROVIDER_API_KEY=x", "COPILOT_MODEL=test", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
		"XDG_CACHE_HOME="+filepath.Join(filepath.Dir(filepath.Dir(program)), ".cache"))
	return cmd
}

// copilotAsks is what Copilot CLI's own prompt says.
const copilotAsks = "Do you want to run this command?"

func TestAgentCopilot(t *testing.T) {
	runs := func(command string) toolCall {
		return toolCall{"bash", map[string]string{"command": command, "description": "As the script says"}}
	}
	makeIt := runs("touch made.txt")
	inTerminal := func(s *chatSession, args ...string) *terminal {
		return s.terminal(s.command(append([]string{"-i", "do it"}, args...)...))
	}
	t.Run("reads without a prompt", func(t *testing.T) {
		s := copilot.start(t, settings, true, false, runs("ls -la"))
		inTerminal(s).shows("all done")
		s.neverAWindow()
	})
	t.Run("allowed", func(t *testing.T) {
		s := copilot.start(t, settings, true, false, makeIt)
		term := inTerminal(s)
		s.prompt()
		s.armed()
		s.shot("copilot-cli")
		s.press("ctrl+Return")
		term.shows("all done")
		s.made(true)
	})
	t.Run("a change of a file", func(t *testing.T) {
		s := copilot.start(t, settings, true, false, toolCall{"create", map[string]string{
			"path": "made.txt", "file_text": "one\n"}})
		term := inTerminal(s)
		s.prompt()
		s.readToTheEnd()
		s.armed()
		s.shot("copilot-cli-create")
		s.press("ctrl+Return")
		term.shows("all done")
		s.made(true)
	})
	t.Run("denied with a reason", func(t *testing.T) {
		s := copilot.start(t, settings, true, false, makeIt)
		term := inTerminal(s)
		s.denies("use make instead")
		term.shows("all done")
		s.made(false)
		s.reads(s, "use make instead")
	})
	t.Run("denied by a rule", func(t *testing.T) {
		s := copilot.start(t, settings+noTouch, true, false, makeIt)
		inTerminal(s, "--allow-all-tools").shows("all done")
		s.neverAWindow()
		s.made(false)
		s.reads(s, "no-touch")
	})
	t.Run("closed, so the terminal asks", func(t *testing.T) {
		s := copilot.start(t, settings, true, false, makeIt)
		term := inTerminal(s)
		s.closes()
		term.shows(copilotAsks)
		s.made(false)
		term.says("Enter", copilotAsks)
		term.shows("all done")
		s.made(true)
	})
	t.Run("asks by a rule where all is allowed, and the window is closed", func(t *testing.T) {
		s := copilot.start(t, settings+askTouch, true, false, makeIt)
		term := inTerminal(s, "--allow-all-tools")
		s.closes()
		term.shows("all done")
		s.made(false)
		s.reads(s, "nobody decided")
	})
	t.Run("asks by a rule, once", func(t *testing.T) {
		s := copilot.start(t, settings+askTouch, true, false, makeIt)
		term := inTerminal(s)
		s.allows()
		term.shows("all done")
		s.made(true)
	})
	t.Run("allowed, headless", func(t *testing.T) {
		s := copilot.start(t, settings, true, false, makeIt)
		c := s.headless("-p", "do it")
		s.allows()
		s.done(c)
		s.made(true)
	})
	t.Run("closed, headless", func(t *testing.T) {
		s := copilot.start(t, settings, true, false, makeIt)
		c := s.headless("-p", "do it")
		s.closes()
		s.done(c)
		s.made(false)
	})
	t.Run("away, headless", func(t *testing.T) {
		s := copilot.start(t, settings, false, false, makeIt)
		s.done(s.headless("-p", "do it"))
		s.made(false)
	})
	t.Run("away, so the terminal asks", func(t *testing.T) {
		s := copilot.start(t, settings, false, false, makeIt)
		inTerminal(s).shows(copilotAsks)
		s.made(false)
	})
	t.Run("away and strict", func(t *testing.T) {
		s := copilot.start(t, settings+"\nagents:\n  strict: [copilot-cli]\n", false, false, makeIt)
		s.done(s.headless("-p", "do it", "--allow-all-tools"))
		s.made(false)
		s.reads(s, "nod start")
	})
	t.Run("question", func(t *testing.T) {
		s := copilot.start(t, settings, true, false, toolCall{"ask_user", map[string]any{
			"message": "Which database?",
			"requestedSchema": map[string]any{"required": []string{"database"}, "properties": map[string]any{
				"database": map[string]any{"type": "string", "title": "Database", "enum": []string{"SQLite", "Postgres"}},
			}},
		}})
		term := inTerminal(s)
		s.picksPostgres()
		term.shows("all done")
		s.reads(s, "Postgres")
	})
}
