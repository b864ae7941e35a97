//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An address that an MCP server wants opened, as Claude Code's hook passes it on, is shown first, and opened once the
// user agrees, not before. Its letters are not those of the name that it passes for.
func TestElicitedAddress(t *testing.T) {
	t.Parallel()
	const payload = `{"session_id":"s","mode":"url","mcp_server_name":"crm","message":"Log in",` +
		`"hook_event_name":"Elicitation","url":"http://gооgle.example/login?next=/a"}`
	for _, tt := range []struct{ name, key, reply, opened string }{
		{"opened", "ctrl+Return", `"action":"accept"`, "http://g%D0%BE%D0%BEgle.example/login?next=/a\n"},
		{"declined", "ctrl+d", `"action":"decline"`, ""},
		{"closed", "Escape", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := startDesktop(t)
			folder, opened := n.browser()
			n.writeConfig(settings)
			program := n.program("nod-desktop", "--background")
			program.Env = append(program.Env, "PATH="+folder+":"+os.Getenv("PATH"))
			n.startProgram(program)
			cmd := n.agent(filepath.Join(bin, "nod"), "hook", "claude-code")
			cmd.Stdin = strings.NewReader(payload)
			c := n.launch(cmd)
			n.prompt()
			n.armed()
			n.shot("elicited-address")
			if before := opened(); before != "" {
				t.Errorf("opened before anybody agreed: %s", before)
			}
			n.press(tt.key)
			out, status := c.result()
			if status != 0 || !strings.Contains(out, tt.reply) || tt.reply == "" && out != "" {
				t.Errorf("status %d: %q, want %s", status, out, tt.reply)
			}
			if got := opened(); got != tt.opened {
				t.Errorf("opened %q, want %q", got, tt.opened)
			}
		})
	}
}

// browser makes a folder with a way to open an address that only takes note of it.
func (n *nod) browser() (folder string, opened func() string) {
	n.t.Helper()
	folder = n.t.TempDir()
	log := filepath.Join(folder, "opened")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$1\" >>%s\n", log)
	must(n.t, writeProgram(filepath.Join(folder, "xdg-open"), script))
	return folder, func() string {
		n.t.Helper()
		text, err := os.ReadFile(log)
		if !os.IsNotExist(err) {
			must(n.t, err)
		}
		return string(text)
	}
}
