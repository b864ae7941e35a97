//go:build linux

package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// diagnosis is what nod doctor --json says.
type diagnosis struct {
	Errors   int `json:"errors"`
	Findings []struct {
		ID, Status, Detail string
		Fix                *struct{ Command, Window string }
	} `json:"findings"`
}

// withClaude prepares one of nod's programs where there is a program that says that it is Claude Code.
func (n *nod) withClaude(name string, args ...string) *exec.Cmd {
	n.t.Helper()
	folder := filepath.Join(n.Home(), "bin")
	must(n.t, os.MkdirAll(folder, 0o700))
	must(n.t, writeProgram(filepath.Join(folder, "claude"), "#!/bin/sh\necho 1.0.0\n"))
	cmd := n.program(name, args...)
	cmd.Env = append(cmd.Env, "PATH="+folder+":"+os.Getenv("PATH"))
	return cmd
}

// finds fails the test unless nod doctor finds these wrong, by their ids, and nothing else.
func (n *nod) finds(what string, cmd *exec.Cmd, want ...string) {
	n.t.Helper()
	out, status := n.launch(cmd).result()
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		n.t.Fatalf("%s: %v:\n%s", what, err, out)
	}
	if want := min(d.Errors, 1); status != want {
		n.t.Errorf("%s: exit status %d for %d errors", what, status, d.Errors)
	}
	wrong := map[string]string{}
	for _, f := range d.Findings {
		if f.Status == "ok" {
			continue
		}
		wrong[f.ID] = f.Status + ": " + f.Detail
		if f.Fix == nil || f.Fix.Command+f.Fix.Window == "" {
			n.t.Errorf("%s: %q says nothing of what mends it: %s", what, f.ID, f.Detail)
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(wrong)); !slices.Equal(got, want) {
		n.t.Errorf("%s: %q are wrong, want %q: %q", what, got, want, wrong)
	}
}

// mend runs the commands that nod doctor names for these findings, and says yes to what they ask.
func (n *nod) mend(ids ...string) {
	n.t.Helper()
	out, _ := n.launch(n.withClaude("nod", "doctor", "--json")).result()
	var d diagnosis
	must(n.t, json.Unmarshal([]byte(out), &d))
	for _, f := range d.Findings {
		if f.Fix == nil || !slices.Contains(ids, f.ID) {
			continue
		}
		cmd := n.withClaude("nod")
		cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(cmd.Path)+":"+filepath.Join(n.Home(), "bin")+":"+os.Getenv("PATH"))
		cmd.Path, cmd.Args, cmd.Stdin = "/bin/sh", []string{"sh", "-c", f.Fix.Command}, strings.NewReader("y\n")
		if out, status := n.launch(cmd).result(); status != 0 {
			n.t.Errorf("%s: exit status %d:\n%s", f.Fix.Command, status, out)
		}
	}
}

// nod doctor finds nothing wrong with a desktop in order, then all that is broken at once, and names commands that mend
// it; and again once nod-desktop is gone, too.
func TestDoctor(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	doctor := func(args ...string) *exec.Cmd {
		return n.withClaude("nod", append([]string{"doctor", "--json"}, args...)...)
	}
	n.launch(n.withClaude("nod", "agents", "install", "claude-code", "--yes")).result()
	n.finds("all in order", doctor())

	data := filepath.Join(n.Home(), ".local", "share", "nod")
	must(t, n.StopPanel(n.ctx))
	must(t, n.StopNotifications(n.ctx))
	must(t, os.Chmod(filepath.Dir(n.configPath()), 0o777))
	must(t, os.Chmod(filepath.Join(data, "nod.db"), 0o644))
	must(t, os.WriteFile(n.configPath(), []byte("look:\n  colour: red\n"), 0o600))
	n.spoil(filepath.Join(n.Home(), ".claude", "settings.json"), n.nodForHooks(), "/gone/nod")
	entry := filepath.Join(n.Config(), "autostart", "io.nod.Desktop.desktop")
	must(t, os.MkdirAll(filepath.Dir(entry), 0o700))
	must(t, os.WriteFile(entry, []byte("[Desktop Entry]\nTryExec=/gone/nod-desktop\nX-Nod-Managed=true\n"), 0o644))
	n.finds("much is broken", doctor(), "tray", "notifications", "files", "policy", "agent-claude-code", "autostart")
	n.mend("files", "agent-claude-code", "autostart")
	n.finds("what has a command is mended", doctor(), "tray", "notifications", "policy")

	must(t, os.WriteFile(n.configPath(), []byte(settings), 0o600))
	must(t, n.cmd.Process.Kill())
	<-n.ended
	must(t, os.WriteFile(filepath.Join(data, "nod.db"), []byte("this is no database"), 0o600))
	blind := doctor()
	blind.Env = append(blind.Env, "DISPLAY="+noDisplay)
	n.finds("nod-desktop was killed, its history and the display are gone", blind,
		"nod-desktop", "endpoint", "history", "display")
	n.mend("endpoint")
	n.finds("the same without what it left", doctor(), "nod-desktop", "history", "tray", "notifications")

	if out, status := n.launch(n.program("nod", "uninstall", "--purge", "--yes")).result(); status != 0 {
		t.Errorf("nod uninstall --purge: exit status %d:\n%s", status, out)
	}
	for _, folder := range []string{filepath.Dir(n.configPath()), data, filepath.Dir(n.logPath())} {
		if left, err := os.ReadDir(folder); err == nil {
			t.Errorf("nod uninstall --purge left %s: %v", folder, left)
		}
	}
}

// spoil replaces a text in a file.
func (n *nod) spoil(path, old, new string) {
	n.t.Helper()
	text, err := os.ReadFile(path)
	must(n.t, err)
	if !strings.Contains(string(text), old) {
		n.t.Fatalf("%s has no %q:\n%s", path, old, text)
	}
	must(n.t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, new)), 0o600))
}
