//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var qwen = chatAgent{"qwen-code", (*nod).qwenCommand}

// qwenCommand prepares Qwen Code to talk to a model of ours and nobody else.
func (n *nod) qwenCommand(model string, args ...string) *exec.Cmd {
	n.t.Helper()
	settings := filepath.Join(n.Home(), ".qwen", "settings.json")
	if _, err := os.Stat(settings); err != nil {
		must(n.t, os.MkdirAll(filepath.Dir(settings), 0o700))
		must(n.t, os.WriteFile(settings, []byte(`{
  "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}},
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}
}
`), 0o600))
	}
	cmd := n.onNode(released(n.t, "qwen"), args...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+model+"/v1", "OPENAI_API_KEY=x", "OPENAI_MODEL=test",
		"QWEN_CODE_NO_RELAUNCH=true")
	return cmd
}

// qwenRuns asks for a command as Qwen Code's model does.
func qwenRuns(command string) toolCall {
	return toolCall{"run_shell_command", map[string]any{
		"command": command, "description": "As the script says", "is_background": false}}
}

// qwenAsks is what Qwen Code's own prompt says.
const qwenAsks = "Allow execution of"

func TestAgentQwen(t *testing.T) {
	makeIt := qwenRuns("touch made.txt")
	inMode := func(s *chatSession, mode string) *terminal {
		return s.terminal(s.command("--approval-mode", mode, "-i", "do it"))
	}
	t.Run("reads without a prompt", func(t *testing.T) {
		s := qwen.start(t, settings, true, false, qwenRuns("ls -la"))
		inMode(s, "default").shows("all done")
		s.neverAWindow()
	})
	t.Run("allowed", func(t *testing.T) {
		s := qwen.start(t, settings, true, false, makeIt)
		term := inMode(s, "default")
		s.prompt()
		s.armed()
		s.shot("qwen-code")
		s.press("ctrl+Return")
		term.shows("all done")
		s.made(true)
	})
	t.Run("denied with a reason", func(t *testing.T) {
		s := qwen.start(t, settings, true, false, makeIt)
		term := inMode(s, "default")
		s.denies("use make instead")
		term.shows("all done")
		s.made(false)
		s.reads(s, "use make instead")
	})
	t.Run("denied by a rule", func(t *testing.T) {
		s := qwen.start(t, settings+noTouch, true, false, makeIt)
		inMode(s, "yolo").shows("all done")
		s.neverAWindow()
		s.made(false)
		s.reads(s, "no-touch")
	})
	t.Run("closed, so the terminal asks", func(t *testing.T) {
		s := qwen.start(t, settings, true, false, makeIt)
		term := inMode(s, "default")
		s.closes()
		term.shows(qwenAsks)
		s.made(false)
		term.says("Enter", qwenAsks)
		term.shows("all done")
		s.made(true)
	})
	t.Run("yolo runs what no rule speaks of", func(t *testing.T) {
		s := qwen.start(t, settings, true, false, makeIt)
		inMode(s, "yolo").shows("all done")
		s.neverAWindow()
		s.made(true)
	})
	t.Run("asks by a rule in yolo, and the window is closed", func(t *testing.T) {
		s := qwen.start(t, settings+askTouch, true, false, makeIt)
		term := inMode(s, "yolo")
		s.closes()
		term.shows("all done")
		s.made(false)
		s.reads(s, "without deciding")
	})
	t.Run("asks by a rule, once", func(t *testing.T) {
		s := qwen.start(t, settings+askTouch, true, false, makeIt)
		term := inMode(s, "default")
		s.allows()
		term.shows("all done")
		s.made(true)
	})
	t.Run("away, so the terminal asks", func(t *testing.T) {
		s := qwen.start(t, settings, false, false, makeIt)
		term := inMode(s, "default")
		term.shows(qwenAsks)
		s.made(false)
	})
	t.Run("away and strict", func(t *testing.T) {
		s := qwen.start(t, settings+"\nagents:\n  strict: [qwen-code]\n", false, false, makeIt)
		inMode(s, "yolo").shows("all done")
		s.made(false)
		s.reads(s, "nod start")
	})
	t.Run("question", func(t *testing.T) {
		s := qwen.start(t, settings, true, false, toolCall{"ask_user_question", map[string]any{"questions": []any{
			map[string]any{"question": "Which database?", "header": "Storage", "multiSelect": false, "options": databases},
		}}})
		term := inMode(s, "default")
		s.picksPostgres()
		term.shows("all done")
		s.reads(s, "Postgres")
	})
}
