//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bash is a request for a shell command, which no rule allows by itself.
func bash(command string, more ...string) []string {
	return append([]string{"approve", "--tool", "Bash", "--input", `{"command":"` + command + `"}`,
		"--agent", "claude-code", "--session", "s1"}, more...)
}

// read are the arguments of nod that ask to read a file.
func read(file string, more ...string) []string {
	return append([]string{"approve", "--tool", "Read", "--input", `{"file_path":"` + file + `"}`}, more...)
}

func TestApproveByKeys(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("mkdir -p build && rm -rf build/cache", "--description", "Clean the cache")...)
	w := n.prompt()
	if !w.Above {
		t.Error("the prompt is not above other windows")
	}
	if w.Title != "nod" || w.Class != "nod" {
		t.Errorf("title %q, class %q: want nod", w.Title, w.Class)
	}
	n.armed()
	n.shot("approve")
	n.picture("approve", w)
	n.press("ctrl+Return")
	c.wants("allow", 0)
	n.noWindow()
}

// TestPromptsComeInTheMiddle has prompts of several sizes, one after the other: each used to come where the one before
// had been, so that a large one moved all later ones to an edge of the screen.
func TestPromptsComeInTheMiddle(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	var middles []image.Point
	for _, command := range []string{"make all", "make " + strings.Repeat("all ", 200), "make all"} {
		c := n.send(bash(command)...)
		n.prompt()
		n.armed()
		w := n.prompt()
		middles = append(middles, w.Area.Min.Add(w.Area.Max).Div(2))
		n.press("ctrl+d")
		c.wants("deny", 1)
		n.noWindow()
	}
	for _, m := range middles[1:] {
		if d := m.Sub(middles[0]); max(d.X, -d.X, d.Y, -d.Y) > 1 {
			t.Errorf("the middles of the prompts are %v", middles)
		}
	}
}

func TestApproveByClick(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.click(n.armed())
	c.wants("allow", 0)
	n.noWindow()
	n.shot("approve-answered")
}

func TestApproveEdit(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	const readme = "# shop\n\nRun the server:\n\n    shop serve\n"
	must(t, os.WriteFile(filepath.Join(n.project(), "README.md"), []byte(readme), 0o600))
	c := n.send("approve", "--tool", "Edit", "--agent", "claude-code", "--description", "Say how to choose the port",
		"--input", `{"file_path":"README.md","old_string":"Run the server:\n\n    shop serve\n",`+
			`"new_string":"Run the server on a port of your own:\n\n    shop serve --port 8080\n"}`)
	n.prompt()
	n.armed()
	n.shot("approve-edit")
	n.press("ctrl+Return")
	c.wants("allow", 0)
}

func TestDeny(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.press("ctrl+d") // works at once: no waiting for the affirmative
	c.wants("deny", 1)
	n.noWindow()
}

func TestDenyWithReason(t *testing.T) {
	t.Parallel()
	const reason = "keep the build, run make clean instead"
	n := start(t, settings)
	for _, key := range []string{"ctrl+Return", "Return", "ctrl+d"} { // none of them allows
		c := n.send(bash("rm -rf build")...)
		n.prompt()
		n.armed()
		// From the text: whole input, Deny, "Deny with reason…".
		n.after(func() { n.press("Tab", "Tab", "Tab", "space") })
		n.write("keep the build")
		n.after(func() { n.press("Escape") })
		n.armed()
		n.after(func() { n.press("Tab", "Tab", "Tab", "space") })
		n.write(", run make clean instead")
		n.armed() // the refusal: everything is drawn
		n.shot("deny-reason")
		n.press(key)
		out, status := c.result()
		if status != 1 || !strings.HasPrefix(out, "deny\n") || !strings.Contains(out, reason) {
			t.Errorf("%s: got %q, status %d: want deny with the reason, status 1", key, out, status)
		}
		n.noWindow()
	}
}

// TestHeldChordDeniesOne holds Ctrl+D down until the window has gone and come back with another prompt.
func TestHeldChordDeniesOne(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make first")...)
	n.prompt()
	n.armed()
	held := make(chan error)
	go func() { held <- n.Hold(3*time.Second, "ctrl+d") }()
	c.wants("deny", 1)
	n.noWindow()
	c = n.send(bash("make second")...)
	n.prompt()
	must(t, <-held)
	n.armed()
	c.pending()
	n.press("ctrl+d")
	c.wants("deny", 1)
}

func TestDismiss(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	n.shot("dismiss-before")
	n.press("Escape")
	out, status := c.result()
	if status != 4 || strings.HasPrefix(out, "allow") {
		t.Errorf("after Escape: %q, status %d, want status 4", out, status)
	}
	n.noWindow()
}

func TestEnterNeverApproves(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	n.press("Return", "KP_Enter", "space", "y", "1", "a")
	n.armed()
	c.pending()
	n.shot("enter-never-approves")
	n.press("ctrl+d")
	c.wants("deny", 1)
}

// TestKeysMeantForAnotherWindow types away while prompts open, as a user does who was typing into something
// else. Whatever the keys hit, they approve nothing.
func TestKeysMeantForAnotherWindow(t *testing.T) {
	t.Parallel()
	keys := []string{"Return", "KP_Enter", "space", "Tab", "shift+Tab", "y", "Y", "a", "o", "k", "1", "2", "Up", "Down",
		"Left", "Right", "Home", "End", "Page_Down", "BackSpace", "period", "comma",
		"shift+a", "ctrl+a", "ctrl+c", "ctrl+s", "alt+y"}
	n := start(t, settings)
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 0))
		var presses []string
		for range 50 {
			presses = append(presses, keys[random.IntN(len(keys))])
		}
		c := n.send(bash("make all")...)
		n.press(presses...)
		n.shot("keys-meant-for-another-window")
		var tried time.Time
		must(t, n.Screen.Await(n.ctx, "the prompt to close", func() (bool, error) {
			if time.Since(tried) < time.Second { // right after the keys, to close it may be meant for the prompt before
				left, err := n.left()
				return len(left) == 0, err
			}
			tried = time.Now()
			return !n.closePrompt(), nil
		}))
		_ = c.cmd.Process.Kill() // where the keys have put it off
		if out, status := c.result(); status == 0 || strings.Contains(out, "allow") {
			t.Fatalf("seed %d: keys %q approved: %q, status %d", seed, presses, out, status)
		}
		n.noWindow()
	}
}

// closePrompt closes the prompt as its title bar does, and reports whether there was one. It comes after the
// keys that were pressed before.
func (n *nod) closePrompt() bool {
	n.t.Helper()
	all, err := n.Screen.Windows()
	must(n.t, err)
	for _, w := range all {
		must(n.t, n.Screen.CloseWindow(w))
	}
	return len(all) > 0
}

func TestCloseDismisses(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	n.shot("close-before")
	n.closePrompt()
	if out, status := c.result(); status != 4 || strings.Contains(out, "allow") {
		t.Errorf("after closing the window: %q, status %d, want status 4", out, status)
	}
	n.noWindow()
}

func TestEarlyChordApprovesNothing(t *testing.T) {
	t.Parallel()
	n := start(t, slowToArm)
	c := n.send(bash("make all")...)
	n.prompt()
	n.press("ctrl+Return") // at once: the affirmative is not armed yet
	n.armed()
	c.pending()
	n.shot("early-chord")
	n.press("ctrl+d")
	c.wants("deny", 1)
}

func TestQueue(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	var calls []*call
	for _, command := range []string{"make first", "make second", "make third"} {
		c := n.send(append(bash(command), "--detach")...)
		id, status := c.result()
		if status != 0 {
			t.Fatalf("detached: status %d: %s", status, c.errout.String())
		}
		calls = append(calls, n.send("wait", strings.TrimSpace(id)))
	}
	n.prompt()
	n.armed()
	n.shot("queue")
	n.after(func() { n.press("ctrl+Return") })
	calls[0].wants("allow", 0)
	n.armed()
	n.after(func() { n.press("ctrl+Return") })
	calls[1].wants("allow", 0)
	n.armed() // before that, a press could be the second half of a double one and does not count
	n.press("ctrl+d")
	calls[2].wants("deny", 1)
	n.noWindow()
}

// shortly is the time-out of a request that nobody answers. A busy machine needs some of it to show the prompt.
const shortly = "8s"

// long is a command that does not fit the window. Its lines differ in length, so that a page looks unlike the last.
var long = strings.Repeat(strings.Join([]string{
	"echo a;", "echo a line that says little;", "echo more;", "echo a line that says a little more than the others;",
	"echo;", "echo something else altogether;", "echo b;", "echo a line of some length;",
}, "\\n")+"\\n", 8) + "rm -rf build"

// TestLongInputMustBeSeen lets a request that is longer than the window wait without scrolling: it never
// becomes possible to allow it, be it alone or after a short one in the same window. Scrolled through, it does.
func TestLongInputMustBeSeen(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	alone := n.send(bash(long, "--timeout", shortly)...)
	n.prompt()
	n.shot("long-input")
	n.neverArmed(alone)
	alone.wants("deny", 3)
	n.noWindow()

	short := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	next := n.send(bash(long, "--timeout", shortly)...)
	n.after(func() { n.press("ctrl+Return") })
	short.wants("allow", 0)
	n.shot("long-input-next")
	n.neverArmed(next)
	next.wants("deny", 3)
	n.noWindow()

	seen := n.send(bash(long)...)
	n.prompt()
	n.readToTheEnd()
	n.shot("long-input-seen")
	n.press("ctrl+Return")
	seen.wants("allow", 0)
}

// The same holds for what the user is to confirm.
func TestLongMessageMustBeSeen(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	message := strings.Repeat("Fine.\n\n", 80) + "And delete everything."
	alone := n.send("confirm", message, "--timeout", shortly, "--default", "no")
	n.prompt()
	n.shot("long-message")
	n.neverArmed(alone)
	alone.wants("no", 1)
	n.noWindow()

	seen := n.send("confirm", message)
	n.prompt()
	n.readToTheEnd()
	n.shot("long-message-seen")
	n.press("ctrl+Return")
	seen.wants("yes", 0)
}

// readToTheEnd pages through the prompt until the affirmative works. A page counts that has been on the screen
// once the window manager had placed the window: what came too early is read again, as a user would.
func (n *nod) readToTheEnd() {
	n.t.Helper()
	const pageTime = 2 * time.Second // in which a page appears, if there is another
	for works := false; !works; {
		before, err := n.Screen.Image()
		must(n.t, err)
		n.press("Page_Down")
		ctx, cancel := context.WithTimeout(n.ctx, pageTime)
		err = n.Screen.Await(ctx, "another page, or the affirmative", func() (bool, error) {
			if _, works, err = n.affirmative(); works || err != nil {
				return works, err
			}
			now, err := n.Screen.Image()
			return err == nil && changedPixels(before, now) >= layoutChange, err
		})
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && n.ctx.Err() == nil {
			n.press("Home")
			continue
		}
		must(n.t, err)
	}
}

// neverArmed fails the test if the affirmative works at any time before the call ends.
func (n *nod) neverArmed(c *call) {
	n.t.Helper()
	if n.everArmed(c) {
		n.armedEarly("before all of it was in view")
	}
}

// armedEarly fails the test, with a picture of its own, since something can be allowed that should not.
func (n *nod) armedEarly(why string) {
	n.t.Helper()
	name := n.named("armed-too-early")
	n.shot(name)
	n.t.Errorf("it can be allowed %s: build/shots/%s.png", why, name)
}

// everArmed waits until the affirmative works, or the call ends, and reports which.
func (n *nod) everArmed(c *call) bool {
	n.t.Helper()
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	go func() {
		<-c.ended
		cancel()
	}()
	err := n.Screen.Await(ctx, "the affirmative to work", func() (bool, error) {
		_, works, err := n.affirmative()
		return works, err
	})
	if !errors.Is(err, context.Canceled) {
		must(n.t, err)
	}
	return err == nil
}

// TestLastLineMustBeSeen has a mark on the last line of commands about as long as the window: when one can be
// allowed without scrolling, the mark is on the screen.
func TestLastLineMustBeSeen(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	for lines := 6; lines <= 14; lines += 2 {
		command := strings.Repeat(`echo a line;\n`, lines-1) + `echo p\u0430ypal` // a Cyrillic a, drawn on orange
		c := n.send(bash(command, "--timeout", shortly, "--session", fmt.Sprint(lines))...)
		n.prompt()
		n.shot("last-line")
		if n.everArmed(c) { // else it has timed out: to close the window now could hit the next prompt in it
			if !n.markShown() {
				n.armedEarly(fmt.Sprintf("though the last of its %d lines is not in view", lines))
			}
			n.closePrompt()
		}
		if out, status := c.result(); status == 0 {
			t.Errorf("%d lines: %q, status %d", lines, out, status)
		}
		n.noWindow()
	}
}

// markShown reports whether a character is on the screen that is drawn on orange because it looks like another.
func (n *nod) markShown() bool {
	n.t.Helper()
	orange := func(c color.RGBA) bool { return c.R >= 200 && c.G > c.B && c.R-c.B >= 24 && c.R-c.G <= 16 }
	_, count, err := n.Screen.Matching(n.prompt().Area, orange)
	must(n.t, err)
	return count >= 40 // of a cell of 8 x 17 pixels, less the character in it
}
