//go:build linux

package e2e

import (
	"strings"
	"testing"
)

const makeRule = settings + `
policy:
  auto_allow: [read_only]
  rules:
    - id: make
      effect: allow
      tool: Bash
      command: make all
`

func TestReadOnlyPassesWithoutAWindow(t *testing.T) {
	n := start(t, settings)
	c := n.send("approve", "--tool", "Read", "--input", `{"file_path":"README.md"}`, "--agent", "claude-code", "--json")
	out, status := c.result()
	if status != 0 || !strings.Contains(out, `"decision":"allow"`) || !strings.Contains(out, `"by":"policy"`) {
		t.Errorf("got %s, status %d, stderr %s: want allow by policy", out, status, c.errout.String())
	}
	n.neverAWindow()
	n.shot("policy-allows-no-window")
}

// TestRuleFromTheFile adds a rule to the file while its call waits for a person: the rule answers it.
func TestRuleFromTheFile(t *testing.T) {
	n := start(t, settings)
	c := n.send(bash("make all", "--json")...)
	n.prompt()
	n.armed()
	n.shot("rule-before")
	n.writeConfig(makeRule)
	out, status := c.result()
	if status != 0 || !strings.Contains(out, `"by":"policy"`) || !strings.Contains(out, `"rule":"make"`) {
		t.Errorf("got %s, status %d: want allow by the rule", out, status)
	}
	n.noWindow()
	n.send(bash("make all")...).wants("allow", 0)
	n.neverAWindow()
	n.shot("rule-after")

	other := n.send(bash("make all install")...) // a rule for a command is for that command only
	n.prompt()
	n.press("ctrl+d")
	other.wants("deny", 1)
}

// TestBrokenFileAsks breaks the file while nod runs: what passed before asks, and nod says so.
func TestBrokenFileAsks(t *testing.T) {
	n := start(t, makeRule)
	n.send(bash("make all")...).wants("allow", 0)
	n.writeConfig(makeRule + "      effekt: allow\n")
	must(t, n.AwaitNotices(n.ctx, 1))
	n.shot("broken-file-notice")

	for _, args := range [][]string{bash("make all"), {"approve", "--tool", "Read", "--input", `{"file_path":"README.md"}`}} {
		c := n.send(args...)
		n.prompt()
		n.armed()
		n.shot("broken-file")
		n.press("ctrl+d")
		c.wants("deny", 1)
		n.noWindow()
	}
	if out, _ := n.send("status").result(); !strings.Contains(out, "effekt") {
		t.Errorf("nod status does not name the key that is wrong: %s", out)
	}
}

func TestBrokenFromTheStart(t *testing.T) {
	n := start(t, "policy:\n  auto_allow: [read_only\n")
	must(t, n.AwaitNotices(n.ctx, 1))
	n.shot("broken-from-the-start")
	c := n.send("approve", "--tool", "Read", "--input", `{"file_path":"README.md"}`)
	n.prompt()
	n.press("ctrl+d")
	c.wants("deny", 1)
}

func TestAlwaysIsRemembered(t *testing.T) {
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	// From the text: whole input, Deny, "Deny, and say why…", the scope.
	n.after(func() { n.press("Tab", "Tab", "Tab", "Tab", "space") })
	n.shot("scope-menu")
	n.after(func() { n.press("Up", "space") }) // from the first to the last: always
	n.armed()
	n.shot("scope-always")
	n.press("ctrl+Return")
	c.wants("allow", 0)
	n.noWindow()
	n.send(bash("make all")...).wants("allow", 0)
	n.neverAWindow()
}
