//go:build linux

package e2e

import (
	"image"
	"image/color"
	"os"
	"strings"
	"testing"

	"nod/e2e/desktop"
)

const historyTitle = "nod history"

// TestHistory finds what was denied among what passed, and has it denied from then on.
func TestHistory(t *testing.T) {
	t.Parallel()
	n := start(t, makeRule)
	n.send(bash("make all")...).wants("allow", 0)
	denied := n.send(bash("git push --force")...)
	n.prompt()
	n.press("ctrl+d")
	denied.wants("deny", 1)
	n.noWindow()

	must(t, n.PickFromTray(n.ctx, "History…"))
	w := n.window(historyTitle)
	n.awayWithThePointer()
	n.shot("history")
	n.write("push") // the search has the focus
	n.blink()
	n.press("Return")
	foot := image.Rectangle{w.Area.Max.Sub(image.Pt(150, footHeight)), w.Area.Max}
	must(t, n.Screen.Await(n.ctx, "the buttons below the entry", func() (bool, error) {
		_, pixels, err := n.Screen.Matching(foot, func(c color.RGBA) bool { return c == plainButton })
		return pixels >= buttonArea, err
	}))
	n.shot("history-entry")
	must(t, n.Click(foot.Max.Sub(image.Pt(90, 34)), desktop.LeftButton)) // Deny from now on
	n.accented(w, buttonArea)                                            // Save
	n.shot("history-deny")
	n.after(func() { n.press("Return") }) // Save has the focus
	must(t, n.Screen.Await(n.ctx, "a rule that denies", func() (bool, error) {
		text, err := os.ReadFile(n.configPath())
		return strings.Contains(string(text), "command: git push --force"), err
	}))
	n.send(bash("git push --force")...).wants("deny", 1)
	n.neverAPrompt()

	n.press("ctrl+w")
	n.noWindow()
}

// accented waits until more pixels of a window than that have the accent's colour.
func (n *nod) accented(w desktop.Window, most int) {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "the accent's colour", func() (bool, error) {
		_, pixels, err := n.Screen.Matching(w.Area, func(c color.RGBA) bool { return c == accent })
		return pixels > most, err
	}))
}

// neverAPrompt fails the test if a prompt is on screen.
func (n *nod) neverAPrompt() {
	n.t.Helper()
	all, err := n.left()
	must(n.t, err)
	for _, w := range all {
		if w.Title == promptTitle {
			n.t.Errorf("there is a prompt: %+v", w)
		}
	}
}
