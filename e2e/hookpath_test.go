//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Hooks outlive what they were installed from: a checkout's programs that are gone, and a nod that became another one.
func TestHooksOutliveACheckout(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	n.writeConfig(settings + "\npolicy:\n  rules: [{id: no, effect: deny, tool: Bash}]\n")
	checkout := filepath.Join(n.Home(), "src", "nod", "bin")
	must(t, os.MkdirAll(checkout, 0o700))
	must(t, os.WriteFile(filepath.Join(checkout, "..", "go.mod"), []byte("module nod\n"), 0o600))
	for _, name := range []string{"nod", "nod-cli", "nod-desktop", "nod-dialogs"} {
		program, err := os.ReadFile(filepath.Join(bin, name))
		must(t, err)
		must(t, writeProgram(filepath.Join(checkout, name), string(program)))
	}
	own := n.nodForHooks()
	hook := func(want string) {
		t.Helper()
		cmd := n.inProject(n.Command(own, "hook", "claude-code"))
		cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash",` +
			`"tool_input":{"command":"make"}}`)
		if out, status := n.launch(cmd).result(); status != 0 || !strings.Contains(out, want) {
			t.Errorf("the hook ends with status %d and says %q, want %q", status, out, want)
		}
	}
	install := n.inProject(n.Command(filepath.Join(checkout, "nod"), "agents", "install", "claude-code", "--yes"))
	if out, status := n.launch(install).result(); status != 0 || !strings.Contains(out, own+" hook claude-code") {
		t.Fatalf("status %d: %s", status, out)
	}

	// nod-desktop has the hooks run its own nod.
	must(t, writeProgram(own, "#!/bin/sh\necho an earlier nod\n"))
	n.startProgram(n.inProject(n.Command(filepath.Join(checkout, "nod-desktop"), "--background")))
	want, err := os.ReadFile(filepath.Join(bin, "nod"))
	must(t, err)
	for {
		got, err := os.ReadFile(own)
		if must(t, err); bytes.Equal(got, want) {
			break
		}
		select {
		case <-n.ctx.Done():
			t.Fatal("the copy of nod was not renewed")
		case <-time.After(100 * time.Millisecond):
		}
	}
	hook(`"permissionDecision":"deny"`)
	must(t, os.RemoveAll(filepath.Dir(checkout)))
	hook(`"permissionDecision":"deny"`)
}

// nodForHooks is the copy of nod that hooks run when nod is in a place that may go away, as it is in these tests.
func (n *nod) nodForHooks() string {
	return filepath.Join(n.Home(), ".local", "share", "nod", "bin", "nod")
}

// A user is told that hooks point nowhere, and no longer once they are repaired.
func TestHooksThatPointNowhere(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	n.writeConfig(settings)
	n.launch(n.program("nod", "agents", "install", "codex", "--yes")).result()
	path := filepath.Join(n.Home(), ".codex", "hooks.json")
	own := n.nodForHooks()
	n.spoil(path, own, "/gone/src/nod/bin/nod")
	n.startNod()
	must(t, n.AwaitNotices(n.ctx, 1))
	notices, err := n.Notices()
	must(t, err)
	const want = "Codex: the hooks run a nod command that doesn't exist, so they don't ask nod. " +
		"Repair them in nod's settings, under Agents."
	if len(notices) != 1 || html.UnescapeString(notices[0].Body) != want {
		t.Errorf("notices %+v, want %q", notices, want)
	}
	traySays := func(want string) {
		t.Helper()
		must(t, n.Screen.Await(n.ctx, fmt.Sprintf("the tray to say %q", want), func() (bool, error) {
			menu, err := n.TrayMenu()
			return err == nil && menu[0].Label == want, err
		}))
	}
	traySays("Hooks that don't reach nod: Codex. See Agents in the settings")

	out, code := n.launch(n.program("nod", "agents", "install", "--yes", "codex")).result()
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "/gone") {
		t.Errorf("not repaired: %v, status %d: %s", err, code, out)
	}
	must(t, n.PickFromTray(n.ctx, "Settings…"))
	n.window(settingsTitle)
	must(t, n.Press("Escape"))
	traySays("No requests waiting")
}
