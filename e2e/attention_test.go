//go:build linux

package e2e

import (
	"image"
	"slices"
	"testing"

	"nod/e2e/desktop"
)

// otherWindow is the title of the window that the tests have in the place of an agent's terminal.
const otherWindow = "terminal"

func (n *nod) openTerminal() {
	n.t.Helper()
	must(n.t, n.Screen.OpenWindow(otherWindow, image.Rect(40, 480, 440, 680)))
	n.active(otherWindow)
}

// active waits until the window of that title has the keyboard.
func (n *nod) active(title string) {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, title+" to have the keyboard", func() (bool, error) {
		all, err := n.Screen.Windows()
		return slices.ContainsFunc(all, func(w desktop.Window) bool { return w.Title == title && w.Active }), err
	}))
}

// A window that was not told that it got the keyboard asks the display. Otherwise its Allow would never work.
func TestKeyboardThatCameUnnoticed(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	w := n.prompt()
	n.armed()
	must(t, n.Screen.Mislead(w))
	n.disarmed()
	n.affirm()
	c.wants("allow", 0)
}

// TestPromptWithoutFocus has the prompt appear while the user types elsewhere, where the keyboard stays until a click
// on the notification.
func TestPromptWithoutFocus(t *testing.T) {
	t.Parallel()
	for _, m := range []desktop.WindowManager{desktop.Openbox, desktop.Xfwm4, desktop.I3} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			n := startManaged(t, m)
			n.writeConfig(settings + "prompt: {appear: unfocused}\n")
			n.startNod()
			n.openTerminal()
			for i, command := range []string{"make first", "make second"} { // a new window, and one that was hidden
				c := n.send(bash(command)...)
				must(t, n.Screen.Await(n.ctx, "the prompt", func() (bool, error) {
					all, err := n.Screen.Windows()
					i := slices.IndexFunc(all, func(w desktop.Window) bool { return w.Title == promptTitle && w.Visible })
					if err != nil || i < 0 {
						return false, err
					}
					return n.drawn(all[i].Area)
				}))
				n.active(otherWindow)
				must(t, n.AwaitNotices(n.ctx, i+1))
				n.active(otherWindow)
				n.press("ctrl+d", "ctrl+Return") // for the other window
				c.pending()
				n.shot("unfocused")
				must(t, n.ClickNotice())
				n.prompt()
				n.armed()
				n.press("ctrl+d")
				c.wants("deny", 1)
				must(t, n.AwaitNoticesGone(n.ctx))
				n.active(otherWindow)
			}
		})
	}
}

// TestPromptWaitsInTheTray has the prompt wait until the user starts nod again, as a shortcut of the desktop's would.
func TestPromptWaitsInTheTray(t *testing.T) {
	t.Parallel()
	n := start(t, settings+"prompt: {appear: tray}\n")
	n.openTerminal()
	c := n.send(bash("make all")...)
	must(t, n.AwaitNotices(n.ctx, 1))
	n.active(otherWindow)
	if out, err := n.program("nod-desktop").CombinedOutput(); err != nil {
		t.Errorf("second start: %v, %q", err, out)
	}
	n.prompt()
	must(t, n.AwaitNoticesGone(n.ctx))
	n.armed()
	n.press("ctrl+d")
	c.wants("deny", 1)
	n.active(otherWindow)
}
