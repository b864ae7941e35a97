//go:build linux

package e2e

import (
	"os/exec"
	"testing"
)

// clineCommand prepares Cline to talk to a model of ours and nobody else, and to leave no daemon behind.
func (n *nod) clineCommand(model string, args ...string) *exec.Cmd {
	n.t.Helper()
	program := released(n.t, "cline")
	if out, status := n.launch(n.clineAlone(program, "auth", "-p", "openai-compatible", "-k", "x", "-m", "test",
		"-b", model+"/v1")).result(); status != 0 {
		n.t.Fatalf("status %d: %s", status, out)
	}
	return n.clineAlone(program, args...)
}

func (n *nod) clineAlone(program string, args ...string) *exec.Cmd {
	cmd := n.onNode(program, args...)
	cmd.Env = append(cmd.Env, "CLINE_SESSION_BACKEND_MODE=local", "CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1")
	return cmd
}

// clineAsks is what Cline's own prompt says.
const clineAsks = "Approve tool call?"

// Without nod Cline asks in its terminal unless everything is approved, which it is unless one says otherwise.
func TestAgentClineAlone(t *testing.T) {
	makeIt := toolCall{"run_commands", map[string]any{"commands": []string{"touch made.txt"}}}
	s := chatAlone(t, (*nod).clineCommand, []string{"-i", "--auto-approve", "false", "do it"}, makeIt)
	s.shows(clineAsks)
	s.made(false)
	s.says("y", clineAsks)
	s.finished()
	s.made(true)
	s.reads(s, "success")
}

// Cline goes on unless a rule of nod's, or the person whom a rule asks, says no: then its task ends.
func TestAgentCline(t *testing.T) {
	makeIt := toolCall{"run_commands", map[string]any{"commands": []string{"touch made.txt"}}}
	cline := func(t *testing.T, rule string) *chatSession {
		t.Helper()
		return chatWithNod(t, "cline", settings+rule, true, (*nod).clineCommand, []string{"-i", "do it"}, makeIt)
	}
	const denies = "\npolicy:\n  rules:\n    - {id: no-commands, effect: deny, tool: run_commands}\n"
	const asks = "\npolicy:\n  rules:\n    - {id: commands, effect: ask, tool: run_commands}\n"
	t.Run("no rule", func(t *testing.T) {
		s := cline(t, "")
		s.finished()
		s.made(true)
		s.neverAWindow()
	})
	t.Run("denied by a rule", func(t *testing.T) {
		s := cline(t, denies)
		s.shows("no-commands")
		s.made(false)
		s.neverAWindow()
	})
	t.Run("allowed", func(t *testing.T) {
		s := cline(t, asks)
		s.prompt()
		s.armed()
		s.made(false)
		s.press("ctrl+Return")
		s.finished()
		s.made(true)
	})
	t.Run("closed", func(t *testing.T) {
		s := cline(t, asks)
		s.prompt()
		s.press("Escape")
		s.shows("nobody decided")
		s.made(false)
	})
}
