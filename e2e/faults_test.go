//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nod/e2e/desktop"
)

// endTime is how long nod may take to end when it is told to. It gives its windows three seconds to end by themselves.
const endTime = 15 * time.Second

// endsOrderly sends nod a signal and fails the test unless it ends soon, without an error, and leaves nothing behind.
func (n *nod) endsOrderly(s syscall.Signal) {
	n.t.Helper()
	must(n.t, n.cmd.Process.Signal(s))
	select {
	case <-n.ended:
	case <-time.After(endTime):
		n.t.Fatalf("nod-desktop runs on, %v after %v", endTime, s)
	}
	if !n.cmd.ProcessState.Success() {
		n.t.Errorf("nod-desktop, after %v: %v", s, n.cmd.ProcessState)
	}
	left, err := os.ReadDir(filepath.Join(n.Runtime(), "nod"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		n.t.Error(err)
	}
	for _, file := range left {
		if file.Type() == os.ModeSocket || file.Name() == "endpoint.json" {
			n.t.Errorf("%s is left behind", file.Name())
		}
	}
	if words := n.lastWords(); words != "" {
		n.t.Errorf("after %v: %s", s, words)
	}
}

// TestSignalsEndOrderly ends nod by signals with a window open, several times each, for what goes wrong in every
// third run only.
func TestSignalsEndOrderly(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(s) { // as under nohup: nod ignores it as well then
				t.Skip("this run ignores the signal")
			}
			n := startDesktop(t)
			n.writeConfig(settings)
			for range 5 {
				n.startNod()
				c := n.send(bash("make all")...)
				n.prompt()
				n.endsOrderly(s)
				if out, status := c.result(); status == 0 || strings.Contains(out, "allow") {
					t.Errorf("after %v: %q, status %d", s, out, status)
				}
				n.noWindow()
			}
		})
	}
}

func TestSignalOnAnotherWorkspace(t *testing.T) {
	t.Parallel()
	everyManager(t, func(t *testing.T, n *nod) {
		c := n.send(bash("make all")...)
		n.prompt()
		n.armed() // it has been looked at, and is left only then
		n.workspace(1)
		n.unseen()
		must(t, c.cmd.Process.Kill())
		n.launch(n.program("nod", bash("make more")...))
		n.pendingIs(1)
		n.endsOrderly(syscall.SIGTERM)
	})
}

// TestSessionBusDies kills the session bus: nod goes on without a tray icon.
func TestSessionBusDies(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	must(t, n.Kill(desktop.SessionBus))
	for range 3 { // each changes the icon, twice
		n.alive()
	}
	n.send("notify", "Nobody can see this").result()
	n.alive()
	n.endsOrderly(syscall.SIGTERM)
}

// TestSessionBusHangs stops the session bus without ending it: requests are answered and windows work all the same.
func TestSessionBusHangs(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	must(t, n.Freeze(desktop.SessionBus))
	defer func() { must(t, n.Thaw(desktop.SessionBus)) }()
	for range 5 {
		n.alive()
	}
	notice := n.send("notify", "Nobody can see this")
	n.alive()
	if _, status := notice.result(); status != 1 {
		t.Errorf("a notification on a bus that hangs: status %d, want 1: not sent", status)
	}
	n.endsOrderly(syscall.SIGTERM)
}

// TestDeletedSocketsComeBack deletes what callers find nod by.
func TestDeletedSocketsComeBack(t *testing.T) {
	t.Parallel()
	folder := func(n *nod) string { return filepath.Join(n.Runtime(), "nod") }
	for name, remove := range map[string]func(n *nod) error{
		"socket":   func(n *nod) error { return os.Remove(filepath.Join(folder(n), "nod.sock")) },
		"endpoint": func(n *nod) error { return os.Remove(filepath.Join(folder(n), "endpoint.json")) },
		"folder": func(n *nod) error { // in one step: nod puts back what is deleted before the rest is
			return errors.Join(os.Rename(folder(n), folder(n)+".old"), os.RemoveAll(folder(n)+".old"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, settings)
			must(t, remove(n))
			n.reachable()
			n.alive()
			out, err := n.program("nod-desktop", "--background").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "already running") {
				t.Errorf("a second start: %v, %q", err, out)
			}
		})
	}
}

// reachable waits until nod can be reached again, for no longer than a few seconds.
func (n *nod) reachable() {
	n.t.Helper()
	for begin := time.Now(); time.Since(begin) < endTime; <-time.After(100 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(n.Runtime(), "nod", "nod.sock")); err != nil {
			continue
		}
		if _, status := n.send("status").result(); status == 0 {
			return
		}
	}
	n.t.Fatalf("nod cannot be reached, %v after what callers find it by was deleted", endTime)
}

// TestTwoStartsAtOnce starts nod twice at once, a hundred times: one runs, the other says that it raised that one.
func TestTwoStartsAtOnce(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	n.writeConfig(settings)
	for i := range 100 {
		type started struct {
			cmd      *exec.Cmd
			ended    <-chan struct{}
			out, err bytes.Buffer
		}
		var both [2]started
		for k := range both {
			s := &both[k]
			s.cmd = n.program("nod-desktop", "--background")
			s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.err
			var err error
			s.ended, err = n.Launch(s.cmd)
			must(t, err)
		}
		var loser, winner *started
		select {
		case <-both[0].ended:
			loser, winner = &both[0], &both[1]
		case <-both[1].ended:
			loser, winner = &both[1], &both[0]
		case <-time.After(patience):
			t.Fatalf("try %d: both run", i)
		}
		said := loser.out.String() + loser.err.String()
		if !loser.cmd.ProcessState.Success() || !strings.Contains(said, "raised it") {
			t.Errorf("try %d: the second start: %v, %q: want that it raised the first", i, loser.cmd.ProcessState, said)
		}
		select {
		case <-winner.ended:
			t.Fatalf("try %d: neither runs: %q", i, winner.out.String()+winner.err.String())
		default:
		}
		must(t, winner.cmd.Process.Signal(syscall.SIGTERM))
		select {
		case <-winner.ended:
		case <-time.After(endTime):
			t.Fatalf("try %d: nod-desktop runs on after SIGTERM", i)
		}
	}
}

// windowsProcess is the process with the windows: the test needs one.
func (n *nod) windowsProcess() int {
	n.t.Helper()
	pid := n.dialogs()
	if pid == 0 {
		n.t.Fatal("no process nod-dialogs, though a window is open")
	}
	return pid
}

// another waits until the prompt is shown by another process than the one that had it.
func (n *nod) another(than int) int {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "the prompt to come back", func() (bool, error) {
		all, err := n.Screen.Windows()
		return slices.ContainsFunc(all, func(w desktop.Window) bool {
			return w.Title == promptTitle && w.PID != than && w.Active
		}), err
	}))
	n.prompt()
	return n.windowsProcess()
}

// TestKilledWindowsComeBack kills the windows with two prompts pending: they come back, not armed yet, and each
// caller gets its own answer.
func TestKilledWindowsComeBack(t *testing.T) {
	t.Parallel()
	n := start(t, slowToArm)
	first := n.send(bash("make first")...)
	n.prompt()
	second := n.send("ask", "Which one?", "--option", "a", "--option", "b")
	n.pendingIs(2)
	n.armed()
	old := n.windowsProcess()
	must(t, syscall.Kill(old, syscall.SIGKILL))
	n.another(old)
	n.press("ctrl+Return") // too early: the prompt has just come back
	first.pending()
	n.armed()
	n.shot("windows-killed")
	n.after(func() { n.press("ctrl+Return") })
	first.wants("allow", 0)
	n.armed()
	n.after(func() { n.press("2") })
	n.affirm()
	second.wants("b", 0)
	n.noWindow()
	n.logs("the windows died")
}

// TestHungWindowsAreReplaced stops the windows without ending them.
func TestHungWindowsAreReplaced(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	old := n.windowsProcess()
	must(t, syscall.Kill(old, syscall.SIGSTOP))
	defer syscall.Kill(old, syscall.SIGKILL)
	n.another(old)
	c.pending()
	n.affirm()
	c.wants("allow", 0)
	n.noWindow()
	n.logs("the windows died")
}

// TestFrozenWindowApprovesNothing freezes the windows as the second prompt takes the first one's place. What a user
// presses meanwhile is meant for what they still see.
func TestFrozenWindowApprovesNothing(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	first := n.send(bash("make first")...)
	n.prompt()
	second := n.send(bash("make second")...)
	n.pendingIs(2)
	n.armed()
	windows := n.windowsProcess()
	n.press("ctrl+Return")
	first.wants("allow", 0)
	must(t, syscall.Kill(windows, syscall.SIGSTOP))
	n.press("ctrl+Return")
	n.send(bash("make third", "--timeout", "2s")...).wants("deny", 3) // longer than a prompt takes to arm
	// On a busy machine nod may have ended them by now.
	if err := syscall.Kill(windows, syscall.SIGCONT); err != syscall.ESRCH {
		must(t, err)
	}
	n.armed()
	second.pending()
	n.press("ctrl+d")
	second.wants("deny", 1)
}

// TestAPromptTheWindowsDieOf kills the windows twice with one prompt on screen: then that prompt alone ends undecided,
// and says why, and what waits behind it is asked about.
func TestAPromptTheWindowsDieOf(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	other := n.send(bash("make other")...)
	n.pendingIs(2)
	for i := range 2 {
		old := n.windowsProcess()
		must(t, syscall.Kill(old, syscall.SIGKILL))
		if i == 0 {
			n.another(old)
		}
	}
	out, status := c.result()
	if status == 0 || strings.Contains(out, "allow") || !strings.Contains(out+c.errout.String(), "windows failed") {
		t.Errorf("after two deaths: %q, status %d, stderr %q", out, status, c.errout.String())
	}
	must(t, n.AwaitNotices(n.ctx, 1))
	other.pending()
	n.prompt()
	n.armed()
	n.press("ctrl+Return")
	other.wants("allow", 0)
	n.alive()
}

// TestDisplayGoesAndComesBack kills the display with a prompt open. The request waits, and is shown on the next one.
// It runs alone: another test's display could get the number of the one that is gone.
func TestDisplayGoesAndComesBack(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	must(t, n.Kill(desktop.XServer))
	other := n.send(bash("make other", "--timeout", "2s")...)
	if out, status := other.result(); status == 0 || strings.Contains(out, "allow") {
		t.Errorf("without a display: %q, status %d", out, status)
	}
	select {
	case <-n.ended:
		t.Fatalf("nod-desktop ended with the display: %v", n.cmd.ProcessState)
	default:
	}
	c.pending()
	must(t, n.ReviveX(n.ctx))
	n.prompt()
	n.shot("display-back")
	n.affirm()
	c.wants("allow", 0)
	n.noWindow()
	_, err := n.TrayIcon(n.ctx)
	must(t, err)
}

// TestTrayProcessNeedsNoDisplay looks at what the tray process has open and loaded, idle and with a prompt on screen.
func TestTrayProcessNeedsNoDisplay(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	n.light()
	c := n.send(bash("make all")...)
	n.prompt()
	n.light()
	n.press("ctrl+d")
	c.wants("deny", 1)
}

// light fails the test if the tray process has OpenGL loaded, or a connection to the display.
func (n *nod) light() {
	n.t.Helper()
	for line := range strings.Lines(n.proc(n.cmd.Process.Pid, "maps")) {
		if strings.Contains(line, "libGL") || strings.Contains(line, "libX11") || strings.Contains(line, "gallium") {
			n.t.Errorf("the tray process has loaded %s", line)
			break
		}
	}
	sockets := n.displaySockets()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", n.cmd.Process.Pid))
	must(n.t, err)
	for _, f := range files {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", n.cmd.Process.Pid, f.Name()))
		if err == nil && sockets[target] {
			n.t.Errorf("the tray process has a connection to the display: %s", target)
		}
	}
}

// displaySockets are the ends of the display's connections that are not the display's own, as /proc names them.
func (n *nod) displaySockets() map[string]bool {
	n.t.Helper()
	out, err := exec.Command("ss", "-xHn").Output() // netid state recv-q send-q address port peer port
	if errors.Is(err, exec.ErrNotFound) {
		n.t.Log("ss (package iproute2) is missing: connections are not looked at")
		return nil
	}
	must(n.t, err)
	ends := map[string]bool{}
	_, number, _ := strings.Cut(n.Session()[0], ":")
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) >= 8 && strings.HasSuffix(fields[4], ".X11-unix/X"+number) {
			ends["socket:["+fields[7]+"]"] = true
		}
	}
	return ends
}

// TestIdleWindowsEnd waits until the windows have been idle for as long as they are kept.
func TestIdleWindowsEnd(t *testing.T) {
	t.Parallel()
	n := start(t, settings+"prompt:\n  keep_ready: 2s\n")
	n.alive()
	for n.dialogs() != 0 {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-n.ctx.Done():
			t.Fatal("the windows are kept though nobody has needed them")
		}
	}
	if words := n.lastWords(); words != "" {
		t.Errorf("an idle end is no death: %s", words)
	}
	n.alive()
}
