//go:build linux

package e2e

import (
	"image"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nod/e2e/desktop"
)

func TestNotify(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	n.send("notify", "The build has finished: 214 tests pass.", "--title", "Build", "--agent", "claude-code").wants("", 0)
	n.send("notify", "<b>no</b> markup & no link", "--level", "error").wants("", 0)
	must(t, n.AwaitNotices(n.ctx, 2))
	n.shot("notify")
	notices, err := n.Notices()
	must(t, err)
	if len(notices) != 2 {
		t.Fatalf("the notification service got %+v, want two", notices)
	}
	for _, want := range []string{"The build has finished: 214 tests pass.",
		"&lt;b&gt;no&lt;/b&gt; markup &amp; no link"} {
		if !slices.ContainsFunc(notices, func(x desktop.Notice) bool { return strings.Contains(x.Body, want) }) {
			t.Errorf("notifications %+v, want one with %q", notices, want)
		}
	}
	for _, notice := range notices {
		if notice.Summary != "nod" {
			t.Errorf("title %q, want nod: no word of a requester may be in it", notice.Summary)
		}
	}
}

func TestNotifyWithoutService(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	must(t, n.StopNotifications(n.ctx))
	c := n.send("notify", "Nobody sees this", "--json")
	out, status := c.result()
	if status != 1 || !strings.Contains(out, `"sent":false`) {
		t.Errorf("got %q, status %d, want sent false, status 1", out, status)
	}
	n.send("status").result()
	n.neverAWindow()
	n.shot("notify-without-service")
}

func TestTrayShowsWhatWaits(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	icon, err := n.TrayIcon(n.ctx)
	must(t, err)
	idle := n.pixels(icon)
	c := n.send(bash("make all")...)
	n.prompt()
	must(t, n.Screen.Await(n.ctx, "the tray's icon to change", func() (bool, error) {
		return !slices.Equal(n.pixels(icon), idle), nil
	}))
	n.armed()
	must(t, n.OpenTrayMenu(n.ctx))
	n.shot("tray-waiting")
	items, err := n.TrayMenu()
	must(t, err)
	if !slices.ContainsFunc(items, func(i desktop.MenuItem) bool { return i.Label == "Claude Code · shop: make all" }) {
		t.Errorf("the menu does not list the request: %+v", items)
	}
	must(t, n.CloseTrayMenu(n.ctx)) // with Escape, which is not for the prompt
	c.pending()
	n.click(n.prompt().Area) // takes the keyboard back
	n.press("ctrl+d")
	c.wants("deny", 1)
	must(t, n.Screen.Await(n.ctx, "the tray's icon to change back", func() (bool, error) {
		return slices.Equal(n.pixels(icon), idle), nil
	}))
}

// TestSnoozedIsOpenedFromTheTray puts a request off by keyboard: it goes, is listed in the tray, and is answered when
// it is opened early.
func TestSnoozedIsOpenedFromTheTray(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	n.after(func() { n.press("F10") })
	n.shot("snooze-menu")
	n.press("Return")
	n.noWindow()
	c.pending()
	var snoozed desktop.MenuItem
	must(t, n.Screen.Await(n.ctx, "the tray's menu to list what is snoozed", func() (bool, error) {
		items, err := n.TrayMenu()
		i := slices.IndexFunc(items, func(i desktop.MenuItem) bool {
			return strings.HasPrefix(i.Label, "Snoozed: ")
		})
		if i >= 0 {
			snoozed = items[i]
		}
		return i >= 0, err
	}))
	must(t, n.ActivateTrayItem(n.ctx, snoozed.Label))
	n.prompt()
	n.affirm()
	c.wants("allow", 0)
}

func (n *nod) pixels(area image.Rectangle) []uint8 {
	n.t.Helper()
	img, err := n.Screen.ImageOf(area)
	must(n.t, err)
	return img.Pix
}

func TestTrayMenuOpensSettings(t *testing.T) {
	t.Parallel()
	n := start(t, makeRule)
	must(t, n.OpenTrayMenu(n.ctx))
	n.shot("tray-menu")
	must(t, n.CloseTrayMenu(n.ctx))
	must(t, n.PickFromTray(n.ctx, "Settings…"))
	w := n.window(settingsTitle)
	n.awayWithThePointer()
	n.shot("settings")
	for _, page := range []string{"rules", "approvals", "folders", "sandbox", "suggestions", "agents", "attention",
		"machines", "history", "about"} {
		n.after(func() { n.press("ctrl+Tab") })
		n.shot("settings-" + page)
	}
	n.after(func() { must(t, n.Click(w.Area.Min.Add(image.Pt(60, 27)), desktop.LeftButton)) }) // General
}

// TestTrayIconComesBackWithThePanel restarts the panel after a notification, which used to end the tray's watch for it.
func TestTrayIconComesBackWithThePanel(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	if out, status := n.send("notify", "done").result(); status != 0 {
		t.Fatalf("nod notify: status %d: %s", status, out)
	}
	must(t, n.AwaitNotices(n.ctx, 1))
	_, err := n.Notices()
	must(t, err)
	must(t, n.RestartPanel(n.ctx))
	_, err = n.TrayIcon(n.ctx)
	must(t, err)
	must(t, n.PickFromTray(n.ctx, "Settings…"))
	n.window(settingsTitle)
}

func TestTrayMenuQuits(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	n.quit()
	n.shot("quit")
	if _, status := n.send("status").result(); status != 5 {
		t.Errorf("nod status: %d, want 5: not reached", status)
	}
}

// quit ends nod-desktop by its menu.
func (n *nod) quit() {
	n.t.Helper()
	must(n.t, n.PickFromTray(n.ctx, "Quit"))
	select {
	case <-n.ended:
	case <-n.ctx.Done():
		n.t.Fatal("nod-desktop did not quit")
	}
	if !n.cmd.ProcessState.Success() {
		n.t.Errorf("nod-desktop: %v", n.cmd.ProcessState)
	}
}

func TestSecondStartRaisesTheFirst(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	second := n.program("nod-desktop")
	out, err := second.CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "already running") {
		t.Errorf("second start: %v, %q: want one line and success", err, out)
	}
	n.window(settingsTitle)
	n.shot("second-start")
}

// noDisplay is a display that there is not on any machine.
const noDisplay = ":4711"

// TestNoDisplay starts nod where there is no display: it runs, and whoever asks hears at once why nobody can be asked.
func TestNoDisplay(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	n.writeConfig(settings)
	n.shot("no-display")
	for name, display := range map[string][]string{
		"unset":          nil,
		"nobody answers": {"DISPLAY=" + noDisplay},
		"refused":        {"DISPLAY=" + n.Session()[0][len("DISPLAY="):], "XAUTHORITY=/dev/null"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := n.program("nod-desktop", "--background")
			cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool {
				return strings.HasPrefix(v, "DISPLAY=") || strings.HasPrefix(v, "XAUTHORITY=")
			})
			cmd.Env = append(cmd.Env, display...)
			n.startProgram(cmd)
			c := n.send(bash("make all", "--timeout", "20s")...)
			begin := time.Now()
			out, status := c.result()
			if status != 3 || !strings.Contains(out+c.errout.String(), "DISPLAY") {
				t.Errorf("got %q, stderr %q, status %d: want a failure that names DISPLAY", out, c.errout.String(), status)
			}
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("the request waited for %v, which is for a display that was there", took)
			}
			n.send(read("README.md", "--agent", "claude-code")...).wants("allow", 0)
			n.endsOrderly(syscall.SIGTERM)
		})
	}
}

// TestDeadScreenAllowsNothing kills the display while a prompt can be allowed: it is not, and its time runs out.
func TestDeadScreenAllowsNothing(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all", "--timeout", shortly)...)
	n.prompt()
	n.armed()
	n.shot("dead-screen-before")
	must(t, n.Kill(desktop.XServer))
	out, status := c.result()
	if status == 0 || strings.Contains(out, "allow") {
		t.Errorf("got %q, status %d, want a failure", out, status)
	}
	if out+c.errout.String() == "" {
		t.Error("not a word of what happened")
	}
}

// TestKilledDesktopComesBack kills nod while a prompt can be allowed, which allows nothing. Started again nod asks
// again, and the caller, who has waited, gets the answer.
func TestKilledDesktopComesBack(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	must(t, n.cmd.Process.Kill())
	<-n.ended
	n.noWindow()
	c.pending()
	n.startNod()
	n.prompt()
	n.shot("killed-back")
	c.pending()
	n.affirm()
	c.wants("allow", 0)
	n.noWindow()
}
