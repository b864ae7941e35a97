//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ampTests has Amp say what would become of a command, which is as far as it goes without its maker's servers: it
// asks the program that its rules delegate to.
func (n *nod) ampTests(command string) *call {
	n.t.Helper()
	return n.launch(n.onNode(released(n.t, "amp"), "permissions", "test", "Bash", "--cmd", command))
}

// Amp asks the program that its settings name, and goes by its exit status and what it says.
func TestAgentAmpAlone(t *testing.T) {
	n := startDesktop(t)
	gate := filepath.Join(n.Home(), "gate")
	must(t, writeProgram(gate, "#!/bin/sh\ncat >&2\nexit 2\n"))
	must(t, os.MkdirAll(filepath.Join(n.Config(), "amp"), 0o700))
	must(t, os.WriteFile(filepath.Join(n.Config(), "amp", "settings.json"),
		[]byte(`{"amp.permissions": [{"tool": "*", "action": "delegate", "to": "`+gate+`"}]}`), 0o600))
	c := n.ampTests("touch made.txt")
	out, status := c.result()
	if said := out + c.errout.String(); status != 2 || !strings.Contains(said, `{"cmd":"touch made.txt"}`) {
		t.Errorf("status %d: %s", status, said)
	}
}

// Amp asks nod, which has set it up, and goes by what the user says.
func TestAgentAmp(t *testing.T) {
	amp := func(t *testing.T, config string, isUp bool) *nod {
		t.Helper()
		released(t, "amp")
		n := startDesktop(t)
		n.writeConfig(config)
		if isUp {
			n.startNod()
		}
		n.launch(n.program("nod", "agents", "install", "amp", "--yes")).result()
		return n
	}
	ends := func(t *testing.T, c *call, want int, words string) {
		t.Helper()
		out, status := c.result()
		if said := out + c.errout.String(); status != want || !strings.Contains(said, words) {
			t.Errorf("status %d, want %d: %s", status, want, said)
		}
	}
	t.Run("allowed", func(t *testing.T) {
		n := amp(t, settings, true)
		c := n.ampTests("touch made.txt")
		n.prompt()
		n.armed()
		n.shot("amp")
		n.press("ctrl+Return")
		ends(t, c, 0, "allow")
	})
	t.Run("denied with a reason", func(t *testing.T) {
		n := amp(t, settings, true)
		c := n.ampTests("touch made.txt")
		n.prompt()
		n.armed()
		n.after(func() { n.press("Tab", "Tab", "Tab", "space") })
		n.write("use make instead")
		n.blink()
		n.press("ctrl+d")
		ends(t, c, 2, "use make instead")
	})
	t.Run("reads without a prompt", func(t *testing.T) {
		n := amp(t, settings, true)
		ends(t, n.ampTests("ls -la"), 0, "allow")
		n.neverAWindow()
	})
	t.Run("closed", func(t *testing.T) {
		n := amp(t, settings, true)
		c := n.ampTests("touch made.txt")
		n.prompt()
		n.press("Escape")
		ends(t, c, 1, "ask")
	})
	t.Run("away", func(t *testing.T) {
		n := amp(t, settings, false)
		ends(t, n.ampTests("touch made.txt"), 1, "ask")
	})
	t.Run("away and strict", func(t *testing.T) {
		n := amp(t, settings+"\nagents:\n  strict: [amp]\n", false)
		ends(t, n.ampTests("touch made.txt"), 2, "nod start")
	})
}
