//go:build linux

package e2e

import (
	"errors"
	"image"
	"image/color"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nod/e2e/desktop"
)

const welcomeTitle = "Welcome to nod"

// TestWelcome starts nod for the first time: a user sets the agent up that is here, whose hook then reaches nod,
// answers a test request and is done. nod does not welcome them again.
func TestWelcome(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	n.startProgram(n.firstStart())
	n.window(welcomeTitle)
	n.shot("welcome")

	hooks := filepath.Join(n.Home(), ".claude", "settings.json")
	page := func(w image.Rectangle) image.Rectangle { w.Max.Y -= footHeight; return w }
	n.button(plainButton, func(w image.Rectangle) image.Rectangle { w.Min.X += w.Dx() / 2; return page(w) })
	n.press("Tab", "Tab", "Return") // Set up… of Claude Code
	// Set up… is on the right, with a line around it in the same color.
	do := n.button(accent, func(w image.Rectangle) image.Rectangle { w.Max.X -= w.Dx() / 2; return page(w) })
	if _, err := os.Stat(hooks); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("changed before the user agreed: %v", err)
	}
	n.shot("welcome-set-up")
	n.click(do)
	must(t, n.Screen.Await(n.ctx, "Claude Code to be set up", func() (bool, error) {
		text, err := os.ReadFile(hooks)
		return strings.Contains(string(text), n.nodForHooks()+" hook claude-code"), ignoreMissing(err)
	}))
	out, status := n.launch(n.program("nod", "agents", "check", "claude-code")).result()
	if status != 0 && !strings.Contains(out, "ok  nod-desktop") {
		t.Errorf("check: status %d: %s", status, out)
	}

	n.after(func() { n.press("End") })
	// Done, All settings, the sandbox, Start at login, the test
	n.press("shift+Tab", "shift+Tab", "shift+Tab", "shift+Tab", "shift+Tab", "Return")
	n.prompt()
	n.armed()
	n.shot("welcome-request")
	n.press("ctrl+d")
	n.window(welcomeTitle)
	n.shot("welcome-answered")
	n.click(n.button(accent, func(w image.Rectangle) image.Rectangle { w.Min.Y = w.Max.Y - footHeight; return w })) // Done
	n.noWindow()
	n.quit()

	n.startProgram(n.firstStart())
	if out, err := n.program("nod-desktop").CombinedOutput(); err != nil { // which shows what there is to see
		t.Errorf("second start: %v, %s", err, out)
	}
	n.window(settingsTitle)
}

// TestPromptDuringTheWelcome has an agent ask while the welcome opens: the prompt has the keyboard.
func TestPromptDuringTheWelcome(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	n.startProgram(n.firstStart())
	c := n.send(bash("make all")...)
	must(t, n.Screen.Await(n.ctx, "the welcome", func() (bool, error) { // which has the keyboard for a moment at most
		all, err := n.Screen.Windows()
		return slices.ContainsFunc(all, func(w desktop.Window) bool { return w.Title == welcomeTitle && w.Visible }), err
	}))
	n.prompt()
	n.armed()
	n.press("ctrl+Return")
	c.wants("allow", 0)
	n.window(welcomeTitle)
}

// button waits for a button of that colour in a part of the welcome.
func (n *nod) button(colour color.RGBA, part func(window image.Rectangle) image.Rectangle) (button image.Rectangle) {
	n.t.Helper()
	area := part(n.window(welcomeTitle).Area)
	must(n.t, n.Screen.Await(n.ctx, "a button to press", func() (bool, error) {
		found, count, err := n.Screen.Matching(area, func(c color.RGBA) bool { return c == colour })
		button = found
		return count >= buttonArea, err
	}))
	return button
}

// firstStart is nod-desktop as a user starts it, with an agent in their PATH.
func (n *nod) firstStart() *exec.Cmd {
	n.t.Helper()
	folder := filepath.Join(n.Home(), "bin")
	must(n.t, os.MkdirAll(folder, 0o700))
	must(n.t, writeProgram(filepath.Join(folder, "claude"), "#!/bin/sh\necho '2.1.197 (Claude Code)'\n"))
	cmd := n.program("nod-desktop")
	cmd.Env = append(cmd.Env, "PATH="+folder+":/usr/bin:/bin", "NOD_LOOK_THEME=light", "NOD_LOOK_LANGUAGE=en")
	return cmd
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
