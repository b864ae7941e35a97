//go:build linux

package e2e

import (
	"os/exec"
	"strings"
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

// Cline goes on unless a rule of nod's, or the user whom a rule asks, says no: then its task ends, and the model
// reads nothing.
func TestAgentCline(t *testing.T) {
	makeIt := toolCall{"run_commands", map[string]any{"commands": []string{"touch made.txt"}}}
	const denies = "\npolicy:\n  rules:\n    - {id: no-commands, effect: deny, tool: run_commands}\n"
	const asks = "\npolicy:\n  rules:\n    - {id: commands, effect: ask, tool: run_commands}\n"
	for name, test := range map[string]struct {
		rules  string
		isUp   bool
		person func(*nod) // nil: is not asked
		made   bool
	}{
		"no rule":          {"", true, nil, true},
		"denied by a rule": {denies, true, nil, false},
		"allowed by an ask rule": {asks, true, func(n *nod) {
			n.armed()
			n.made(false)
			n.shot("cline")
			n.press("ctrl+Return")
		}, true},
		"denied at an ask rule": {asks, true, func(n *nod) { n.armed(); n.press("ctrl+d") }, false},
		"closed at an ask rule": {asks, true, func(n *nod) { n.press("Escape") }, false},
		"away":                  {denies, false, nil, true},
		"away and strict":       {"\nagents:\n  strict: [cline]\n", false, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := startDesktop(t)
			n.writeConfig(settings + test.rules)
			if test.isUp {
				n.startNod()
			}
			n.launch(n.program("nod", "agents", "install", "cline", "--yes")).result()
			m := newChatModel([]toolCall{makeIt})
			t.Cleanup(m.Close)
			c := n.launch(n.clineCommand(m.URL, "do it"))
			if test.person != nil {
				n.prompt()
				test.person(n)
			}
			out, _ := c.result()
			if isDone := strings.Contains(out, "all done"); isDone != test.made || (m.lastResult() != "") != test.made {
				t.Errorf("%s\nthe model reads %q", out, m.lastResult())
			}
			n.made(test.made)
			if test.person == nil && test.isUp {
				n.neverAWindow()
			}
		})
	}
}
