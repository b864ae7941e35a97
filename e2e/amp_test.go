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
	must(t, os.WriteFile(gate, []byte("#!/bin/sh\ncat >&2\nexit 2\n"), 0o700))
	must(t, os.MkdirAll(filepath.Join(n.Config(), "amp"), 0o700))
	must(t, os.WriteFile(filepath.Join(n.Config(), "amp", "settings.json"),
		[]byte(`{"amp.permissions": [{"tool": "*", "action": "delegate", "to": "`+gate+`"}]}`), 0o600))
	c := n.ampTests("touch made.txt")
	out, status := c.result()
	if said := out + c.errout.String(); status != 2 || !strings.Contains(said, `{"cmd":"touch made.txt"}`) {
		t.Errorf("status %d: %s", status, said)
	}
}
