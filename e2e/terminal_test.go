//go:build linux

package e2e

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// terminal is a terminal in which a program runs that wants one: a window of tmux that nobody sees.
type terminal struct {
	t       *testing.T
	ctx     context.Context
	socket  string
	changed chan struct{} // has a signal after the program wrote something; closed when there is no terminal
}

// terminal starts a program in a terminal of its own.
func (n *nod) terminal(cmd *exec.Cmd) *terminal {
	n.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		n.t.Skip("tmux is missing: install it to test agents in a terminal")
	}
	term := &terminal{t: n.t, ctx: n.ctx, socket: filepath.Join(n.Home(), "tmux.socket"), changed: make(chan struct{}, 1)}
	config := filepath.Join(n.Home(), "tmux.conf")
	must(n.t, os.WriteFile(config, []byte("set -g remain-on-exit on\n"), 0o600)) // to see the last words of what ends
	start := term.tmux(append([]string{"-f", config, "new-session", "-d", "-x", "140", "-y", "50"}, cmd.Args...)...)
	start.Env, start.Dir = append(cmd.Env, "TERM=xterm-256color", "SHELL=/bin/sh"), cmd.Dir
	if out, err := start.CombinedOutput(); err != nil {
		n.t.Fatalf("tmux: %v: %s", err, out)
	}
	n.t.Cleanup(func() {
		if n.t.Failed() {
			n.t.Logf("the terminal:\n%s", term.text())
		}
		_ = term.tmux("kill-server").Run()
	})
	term.watch()
	return term
}

func (t *terminal) tmux(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", t.socket}, args...)...)
}

// watch has tmux tell whenever the program writes something.
func (t *terminal) watch() {
	t.t.Helper()
	cmd := t.tmux("-C", "attach-session", "-f", "ignore-size,read-only")
	_, err := cmd.StdinPipe() // tmux leaves when it ends
	must(t.t, err)
	out, err := cmd.StdoutPipe()
	must(t.t, err)
	must(t.t, cmd.Start())
	go func() {
		defer close(t.changed)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			select {
			case t.changed <- struct{}{}:
			default:
			}
		}
		_ = cmd.Wait()
	}()
}

// text is what the terminal shows now.
func (t *terminal) text() string {
	out, err := t.tmux("capture-pane", "-p").Output()
	must(t.t, err)
	return string(out)
}

// shows waits until the terminal shows a text.
func (t *terminal) shows(text string) {
	t.t.Helper()
	for now := t.text(); !strings.Contains(now, text); now = t.text() {
		if strings.Contains(now, "Pane is dead") {
			t.t.Fatalf("the program in the terminal ended without showing %q", text)
		}
		select {
		case <-t.changed:
		case <-t.ctx.Done():
			t.t.Fatalf("the terminal never showed %q", text)
		}
	}
}

// keys types, in the names that tmux has for keys.
func (t *terminal) keys(keys ...string) {
	t.t.Helper()
	must(t.t, t.tmux(append([]string{"send-keys"}, keys...)...).Run())
}

// says presses a key that answers a prompt until the prompt is gone: an agent may not listen in its first moment.
func (t *terminal) says(key, prompt string) {
	t.t.Helper()
	for again := time.NewTicker(time.Second); strings.Contains(t.text(), prompt); {
		t.keys(key)
		select {
		case <-again.C:
		case <-t.ctx.Done():
			t.t.Fatalf("the prompt %q stays", prompt)
		}
	}
}
