//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/e2e/desktop"
)

// everyManager runs a test on a desktop of each window manager, all of them at a time.
func everyManager(t *testing.T, test func(t *testing.T, n *nod)) {
	for _, m := range []desktop.WindowManager{desktop.Openbox, desktop.Xfwm4, desktop.I3} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			n := startManaged(t, m)
			n.writeConfig(settings)
			n.startNod()
			test(t, n)
		})
	}
}

func (n *nod) workspace(number uint32) {
	n.t.Helper()
	must(n.t, n.SwitchWorkspace(n.ctx, number))
}

// unseen waits until a window of nod's is there but cannot be seen.
func (n *nod) unseen() {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "the window to be out of sight", func() (bool, error) {
		all, err := n.Screen.Windows()
		return len(all) > 0 && !slices.ContainsFunc(all, func(w desktop.Window) bool { return w.Visible }), err
	}))
}

// alive fails the test unless nod answers and, asked something new, shows it on this workspace.
func (n *nod) alive() {
	n.t.Helper()
	c := n.send("confirm", "--timeout", "1m", "Still there?") // on a busy machine the soak's own is short
	n.prompt()
	n.armed() // right after an answer no key decides anything
	n.press("ctrl+d")
	c.wants("no", 1)
	n.noWindow()
}

// TestNextPromptFollowsThePerson has a prompt open on one workspace while the user goes to another: when it ends by
// itself, the next one is where the user is.
func TestNextPromptFollowsThePerson(t *testing.T) {
	t.Parallel()
	everyManager(t, func(t *testing.T, n *nod) {
		c := n.send(bash("make all")...)
		n.prompt()
		n.armed() // it has been looked at, and is left only then
		n.workspace(1)
		n.unseen()
		must(t, c.cmd.Process.Kill())
		n.noWindow()
		n.alive()
	})
}

// TestQueuedPromptFollowsThePerson has two requests pending: when the one on screen ends by itself while the user is
// on another workspace, its successor is shown there.
func TestQueuedPromptFollowsThePerson(t *testing.T) {
	t.Parallel()
	everyManager(t, func(t *testing.T, n *nod) {
		first := n.send(bash("make first")...)
		n.prompt()
		second := n.send(bash("make second")...)
		n.pendingIs(2)
		n.workspace(1)
		must(t, first.cmd.Process.Kill())
		n.pendingIs(1)
		n.prompt()
		n.armed()
		n.press("ctrl+d")
		second.wants("deny", 1)
		n.noWindow()
	})
}

// pendingIs waits until so many requests are pending.
func (n *nod) pendingIs(count int) {
	n.t.Helper()
	want := fmt.Sprintf(`"pending":%d`, count)
	w, err := n.wire()
	must(n.t, err)
	for {
		_, text, err := w.do(n.ctx, "GET", "/v1/health", nil)
		must(n.t, err)
		if strings.Contains(string(text), want) {
			return
		}
	}
}

// TestRaiseFromAnotherWorkspace asks for a prompt that was left on another workspace.
func TestRaiseFromAnotherWorkspace(t *testing.T) {
	t.Parallel()
	everyManager(t, func(t *testing.T, n *nod) {
		c := n.send(bash("make all")...)
		n.prompt()
		n.armed() // it has been looked at, and is left only then
		n.workspace(1)
		n.unseen()
		out, err := n.program("nod-desktop").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "already running") {
			t.Errorf("second start: %v, %q", err, out)
		}
		n.prompt()
		n.armed()
		n.press("ctrl+d")
		c.wants("deny", 1)
		n.noWindow()
		n.alive()
	})
}

// TestSettingsFollowThePerson opens the settings again that were left on another workspace.
func TestSettingsFollowThePerson(t *testing.T) {
	t.Parallel()
	everyManager(t, func(t *testing.T, n *nod) {
		must(t, n.ActivateTrayItem(n.ctx, "Settings…"))
		n.window(settingsTitle)
		n.workspace(1)
		n.unseen()
		must(t, n.ActivateTrayItem(n.ctx, "Settings…"))
		n.window(settingsTitle)
		n.closeSettings()
		n.alive()
	})
}

// TestMinimizedPromptHidesNoOther minimizes a prompt: it stays out of sight, and the next request is shown.
func TestMinimizedPromptHidesNoOther(t *testing.T) {
	t.Parallel()
	everyManager(t, func(t *testing.T, n *nod) {
		if n.Manager == desktop.I3 {
			t.Skip("i3 minimizes nothing")
		}
		first := n.send(bash("make first")...)
		must(t, n.Screen.Minimize(n.prompt()))
		n.unseen()
		second := n.send(bash("make second")...)
		n.prompt()
		n.armed()
		n.after(func() { n.press("ctrl+d") })
		n.armed() // right after an answer no key decides anything
		n.press("ctrl+d")
		first.wants("deny", 1)
		second.wants("deny", 1)
		n.noWindow()
	})
}

// TestPromptStaysOnASmallerScreen shrinks the screen under a prompt, of which window managers leave parts outside.
func TestPromptStaysOnASmallerScreen(t *testing.T) {
	t.Parallel()
	everyManager(t, func(t *testing.T, n *nod) {
		c := n.send(bash("make all")...)
		n.prompt()
		screen := image.Pt(640, 480)
		must(t, n.Screen.SetMonitor(screen))
		n.isWithin(screen)
		n.armed()
		n.press("ctrl+d")
		c.wants("deny", 1)
		n.noWindow()
	})
}

// TestPromptWithoutMonitor asks while the only monitor is off, which is nothing to crash about.
func TestPromptWithoutMonitor(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	must(t, n.Screen.SetMonitor(image.Point{}))
	n.alive()
}

// TestSettingsFitATinyScreen opens the settings on a screen that is smaller than what they need.
func TestSettingsFitATinyScreen(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	screen := image.Pt(480, 400)
	must(t, n.Screen.SetMonitor(screen))
	must(t, n.ActivateTrayItem(n.ctx, "Settings…"))
	n.isWithin(screen)
	n.closeSettings()
}

// isWithin waits until nod has one window, all of which is on a screen of this size.
func (n *nod) isWithin(screen image.Point) {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "all of the window to be on the screen", func() (bool, error) {
		all, err := n.Screen.Windows()
		return len(all) == 1 && all[0].Visible && all[0].Area.In(image.Rectangle{Max: screen}), err
	}))
}

// TestAskAgainFromTheMenu goes to the menu behind the dots by keyboard and asks to be asked again, which ended nod.
func TestAskAgainFromTheMenu(t *testing.T) {
	t.Parallel()
	everyManager(t, func(t *testing.T, n *nod) {
		c := n.send(bash("make all")...)
		n.prompt()
		n.armed()
		n.after(func() { n.press("shift+Tab", "Return") }) // backwards from the text: the dots
		n.shot("more-menu")
		must(t, n.Hold(0, "Return", "space", "KP_Enter")) // in five minutes, and faster on than the window closes
		n.noWindow()
		n.alive()
		c.pending()
	})
}

// TestSmallerWindowAfterScrolling makes a window smaller whose text was scrolled to the end.
func TestSmallerWindowAfterScrolling(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash(long)...)
	n.prompt()
	n.resize(image.Pt(1000, 700), func(s image.Point) bool { return s == image.Pt(1000, 700) })
	n.readToTheEnd()
	for _, size := range []image.Point{{540, 360}, {400, 250}, {300, 150}, {300, 100}, {1100, 750}} {
		n.resize(size, func(s image.Point) bool { return s.X >= 1000 == (size.X >= 1000) })
		n.press("End")
	}
	c.pending()
	n.press("ctrl+d")
	c.wants("deny", 1)
	n.alive()
}

// resize gives the prompt a size, again and again: a window that has just come up still takes one of its own.
func (n *nod) resize(to image.Point, met func(image.Point) bool) {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "the prompt to have its size", func() (bool, error) {
		all, err := n.Screen.Windows()
		if err != nil || len(all) == 0 || met(all[0].Area.Size()) {
			return len(all) > 0, err
		}
		return false, n.Screen.Resize(all[0], to)
	}))
}

// TestTypingStaysWithItsPrompt types an answer while the prompt ends by itself: the next one gets none of what was
// meant for it.
func TestTypingStaysWithItsPrompt(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	first := n.send("ask", "What should the branch be called?")
	n.prompt()
	second := n.send("ask", "What should the service be called?")
	n.pendingIs(2)
	for i := range 60 {
		n.press("a")
		if i == 20 {
			must(t, first.cmd.Process.Kill())
		}
		<-time.After(10 * time.Millisecond) // the pace of somebody who types fast
	}
	n.armed()
	n.press("ctrl+Return")
	n.pendingOrEmpty(second)
}

// pendingOrEmpty fails the test if the call has got an answer with anything in it.
func (n *nod) pendingOrEmpty(c *call) {
	n.t.Helper()
	select {
	case <-c.ended:
		if out := strings.TrimSpace(c.out.String()); out != "" {
			n.t.Errorf("typed for another prompt, and the answer to this one: %q", out)
		}
	case <-time.After(time.Second):
	}
}

// TestAssignedWorkspace has the window manager put the prompt on a workspace that nobody looks at: nod goes on, and
// withdraws it there.
func TestAssignedWorkspace(t *testing.T) {
	t.Parallel()
	n := startManaged(t, desktop.I3)
	config, err := os.OpenFile(filepath.Join(filepath.Dir(n.Home()), "i3.conf"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = config.WriteString("assign [class=\"nod\"] number 5\n")
	must(t, errors.Join(err, config.Close()))
	must(t, n.Command("i3-msg", "reload").Run())
	n.writeConfig(settings)
	n.startNod()
	has := func(want bool) {
		t.Helper()
		must(t, n.Screen.Await(n.ctx, fmt.Sprintf("a workspace 5: %v", want), func() (bool, error) {
			out, err := n.Command("i3-msg", "-t", "get_workspaces").Output()
			return strings.Contains(string(out), `"num":5`) == want, err
		}))
	}
	c := n.send(bash("make all")...)
	has(true)
	must(t, c.cmd.Process.Kill())
	has(false)
}
