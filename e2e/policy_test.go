//go:build linux

package e2e

import (
	"image"
	"image/color"
	"os"
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
	t.Parallel()
	n := start(t, settings)
	c := n.send(read("README.md", "--agent", "claude-code", "--json")...)
	out, status := c.result()
	if status != 0 || !strings.Contains(out, `"decision":"allow"`) || !strings.Contains(out, `"by":"policy"`) {
		t.Errorf("got %s, status %d, stderr %s: want allow by policy", out, status, c.errout.String())
	}
	n.neverAWindow()
	n.shot("policy-allows-no-window")
}

// TestRuleFromTheFile adds a rule to the file while its call waits for a user: the rule answers it.
func TestRuleFromTheFile(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all", "--json")...)
	n.prompt()
	n.armed()
	n.shot("rule-before")
	n.writeConfig(makeRule)
	if out, _ := n.send("status").result(); !strings.Contains(out, "another program changed it") {
		t.Errorf("nod status says %q of a policy that is not accepted", out)
	}
	n.acceptChange()
	out, status := c.result()
	if status != 0 || !strings.Contains(out, `"by":"policy"`) || !strings.Contains(out, `"rule":"make"`) {
		t.Errorf("got %s, status %d: want allow by the rule", out, status)
	}
	if out, _ := n.send("status").result(); !strings.Contains(out, "policy: ") || strings.Contains(out, "changed it") {
		t.Errorf("nod status says %q of a policy that is accepted", out)
	}
	n.closeSettings()
	n.send(bash("make all")...).wants("allow", 0)
	n.neverAWindow()
	n.shot("rule-after")

	other := n.send(bash("make all install")...) // a rule for a command is for that command only
	n.prompt()
	n.press("ctrl+d")
	other.wants("deny", 1)
}

// TestTamperedFile changes the file while nod runs: nothing more passes until the user accepts the change, and
// the file can be put back.
func TestTamperedFile(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	n.writeConfig(makeRule)
	n.window(settingsTitle)
	must(t, n.AwaitNotices(n.ctx, 1))
	c := n.send(bash("make all")...)
	n.prompt()
	n.press("ctrl+d")
	c.wants("deny", 1)
	n.window(settingsTitle)
	n.armedChange()
	n.press("Tab", "space", "Tab", "space", "Tab", "space", "Return") // meant for another window: they press no button
	if text, err := os.ReadFile(n.configPath()); err != nil || string(text) != makeRule {
		t.Errorf("typing put back the old file, %v", err)
	}
	n.send(bash("make all", "--timeout", shortly)...).wants("deny", 3)
	n.window(settingsTitle)
	n.press("ctrl+d") // put the old file back
	must(t, n.Screen.Await(n.ctx, "the old file", func() (bool, error) {
		text, err := os.ReadFile(n.configPath())
		return string(text) == settings, err
	}))
	n.closeSettings()
}

// acceptChange accepts what another program has made of the policy file.
func (n *nod) acceptChange() {
	n.t.Helper()
	n.click(n.armedChange())
}

// armedChange waits until a change of the policy file can be accepted, and returns the button that does.
func (n *nod) armedChange() (button image.Rectangle) {
	n.t.Helper()
	w := n.window(settingsTitle)
	must(n.t, n.Screen.Await(n.ctx, "the change to be acceptable", func() (bool, error) {
		foot := w.Area
		foot.Min.Y = foot.Max.Y - footHeight
		area, count, err := n.Screen.Matching(foot, func(c color.RGBA) bool { return c == accent })
		button = area
		return count >= buttonArea, err
	}))
	n.shot("tampered")
	return button
}

// closeSettings closes the settings window, and waits until no window is left.
func (n *nod) closeSettings() {
	n.t.Helper()
	n.window(settingsTitle)
	n.press("ctrl+w")
	n.noWindow()
}

// TestBrokenFileAsks breaks the file while nod runs: what passed before asks, and nod says so.
func TestBrokenFileAsks(t *testing.T) {
	t.Parallel()
	n := start(t, makeRule)
	n.send(bash("make all")...).wants("allow", 0)
	n.writeConfig(makeRule + "      effekt: allow\n")
	must(t, n.AwaitNotices(n.ctx, 1))
	n.shot("broken-file-notice")

	for _, args := range [][]string{bash("make all"), read("README.md")} {
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
	t.Parallel()
	n := start(t, "policy:\n  auto_allow: [read_only\n")
	must(t, n.AwaitNotices(n.ctx, 1))
	n.shot("broken-from-the-start")
	c := n.send(read("README.md")...)
	n.prompt()
	n.press("ctrl+d")
	c.wants("deny", 1)
}

func TestAlwaysIsRemembered(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	// From the text: whole input, Deny, "Deny, and say why…", the scope.
	n.after(func() { n.press("Tab", "Tab", "Tab", "Tab", "space") })
	n.shot("scope-menu")
	n.after(func() { n.press("Down", "Down", "Down", "Down", "space") }) // session, 15 minutes, until nod quits, always
	n.armed()
	n.shot("scope-always")
	n.press("ctrl+Return")
	c.wants("allow", 0)
	n.noWindow()
	n.send(bash("make all")...).wants("allow", 0)
	n.neverAWindow()
}

// TestAllowedByParts allows what is new in a command: it passes as a part of other lines, too, and what is new
// beside it asks.
func TestAllowedByParts(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("go test ./... | tail -3")...)
	n.prompt()
	n.armed()
	n.after(func() { n.press("Tab", "Tab", "Tab", "Tab", "space") }) // the scope
	n.shot("scope-menu-parts")
	n.after(func() { n.press("Down", "Down", "Down", "Down", "space") }) // session, 15 minutes, until nod quits, always
	n.armed()
	n.shot("scope-parts")
	n.press("ctrl+Return")
	c.wants("allow", 0)
	n.noWindow()
	n.send(bash("cd . && go test -run One ./ipc | head")...).wants("allow", 0)
	n.neverAWindow()
	more := n.send(bash("go test; make install")...)
	n.prompt()
	n.armed() // right after an answer no key decides anything
	n.press("ctrl+d")
	more.wants("deny", 1)
}
