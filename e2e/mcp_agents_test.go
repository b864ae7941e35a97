//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The released agents call nod's tools as any MCP client does, once they were told of the server: their model asks, the
// user fills in nod's form, the model reads the answers.

func TestAgentClaudeCodeForm(t *testing.T) { eachClaudeCode(t, testClaudeCodeForm) }

func testClaudeCodeForm(t *testing.T, claude claudeCode) {
	n := start(t, settings)
	model := newModel(toolCall{"mcp__nod__interactive_form_question", json.RawMessage(form)})
	defer model.Close()
	n.told(n.launch(claude.command(n, model.URL,
		"mcp", "add", "--scope", "user", "nod", "--", filepath.Join(bin, "nod"), "mcp")))
	c := n.launch(claude.command(n, model.URL, "-p", "do it", "--output-format", "json",
		"--allowedTools", "mcp__nod__interactive_form_question"))
	n.fillsIn("claude-code-form", c, model)
}

func TestAgentCodexForm(t *testing.T) {
	program := released(t, "codex")
	n := start(t, settings)
	model := n.codexModel(codexCalls("nod", "interactive_form_question", form))
	n.told(n.launch(n.codex(program, "mcp", "add", "nod", "--", filepath.Join(bin, "nod"), "mcp")))
	c := n.launch(n.inRuntimeFolder(n.codex(program, "exec", "--skip-git-repo-check", "do it")))
	n.fillsIn("codex-form", c, model)
}

// inRuntimeFolder has a command find the folder of running programs where systemd keeps it, below /run/user: Codex
// hands the variable that names it on to no server.
func (n *nod) inRuntimeFolder(cmd *exec.Cmd) *exec.Cmd {
	n.t.Helper()
	if out, err := exec.Command("bwrap", "--dev-bind", "/", "/", "true").CombinedOutput(); err != nil {
		n.t.Skipf("bubblewrap cannot give a program a /run/user of its own: %v: %s", err, out)
	}
	args := []string{"--dev-bind", "/", "/", "--tmpfs", "/run/user",
		"--bind", n.Runtime(), fmt.Sprintf("/run/user/%d", os.Getuid()), "--"}
	boxed := exec.CommandContext(n.ctx, "bwrap", append(args, cmd.Args...)...)
	boxed.Env, boxed.Dir = cmd.Env, cmd.Dir
	return boxed
}

// told fails the test unless an agent took note of nod as an MCP server.
func (n *nod) told(c *call) {
	n.t.Helper()
	if out, status := c.result(); status != 0 {
		n.t.Fatalf("status %d: %s%s", status, out, c.errout.String())
	}
}

// fillsIn answers the form, and waits until the agent has told its model so.
func (n *nod) fillsIn(shot string, c *call, model interface{ lastResult() string }) {
	n.t.Helper()
	n.prompt()
	// The first option of the first question, both checks, and the name.
	n.after(func() { n.press("1") })
	n.after(func() { n.press("Return", "1", "2", "Return") })
	n.write("orders")
	n.armed()
	n.blink()
	n.shot(shot)
	n.press("ctrl+Return")
	if out, status := c.result(); status != 0 || !strings.Contains(out, "all done") {
		n.t.Fatalf("status %d: %s%s", status, out, c.errout.String())
	}
	n.noWindow()
	for _, answer := range []string{"sqlite", "unit", "lint", "orders"} {
		n.reads(model, answer)
	}
}
