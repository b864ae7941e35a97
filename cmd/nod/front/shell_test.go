//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nod/sandbox/expected"
)

// line is what Claude Code has a shell run for a command that has no quotes in it.
func line(command string) string {
	return `{ shopt -u extglob; } >/dev/null 2>&1 || true && eval '` + command + `' < /dev/null` +
		` && pwd -P >| /tmp/claude-1-cwd`
}

// An agent's commands run as they are, but for those that nod-desktop has said run in the sandbox, and what cannot be
// told from these: whether nod-desktop runs, has died or was never there.
func TestShell(t *testing.T) {
	for name, tt := range map[string]struct {
		expected []string
		old      bool // they are expected no more
		agent    string
		line     string
		want     string
		status   int
	}{
		"a command":           {line: line("echo $NOD_SHELL"), want: "number"},
		"a hook":              {line: "echo $NOD_SHELL", want: "number"},
		"its status":          {line: line("exit 7"), status: 7},
		"another expected":    {expected: []string{"ls"}, line: line("echo a"), want: "a\n"},
		"without nod-desktop": {expected: []string{"echo a"}, line: line("echo a"), status: exitNotRun},
		"long ago":            {expected: []string{"echo a"}, old: true, line: line("echo a"), want: "a\n"},
		"a hook meanwhile": {
			expected: []string{"echo a"}, agent: "claude-code_2-1-330_harness", line: "echo b", want: "b\n",
		},
		"unreadable": {
			expected: []string{"ls"}, agent: "claude-code_9-0-0_agent", line: "eval 'echo a'", status: exitNotRun,
		},
		"unreadable, none": {agent: "claude-code_9-0-0_agent", line: "eval 'echo a'", want: "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			runtime := t.TempDir()
			folder := filepath.Join(runtime, "nod")
			if err := os.Chmod(runtime, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, command := range tt.expected {
				r := &expected.Run{Command: command, Details: []byte("{}"), At: time.Now()}
				if err := expected.Note(folder, r); err != nil {
					t.Fatal(err)
				}
			}
			noted, _ := filepath.Glob(filepath.Join(folder, "runs", "*"))
			for _, path := range noted {
				if past := time.Now().Add(-expected.Lasts); tt.old {
					if err := os.Chtimes(path, past, past); err != nil {
						t.Fatal(err)
					}
				}
			}
			out, status := nod(t, runtime, []string{"AI_AGENT=" + tt.agent}, "", "-c", tt.line)
			var id int
			if _, err := fmt.Sscan(out, &id); tt.want == "number" && err == nil && id > 1 {
				tt.want = out
			}
			if out != tt.want || status != tt.status {
				t.Errorf("status %d, %q; want %d, %q", status, out, tt.status, tt.want)
			}
			if strings.Contains(tt.agent, "9-0-0") && expected.HasSeen(folder, "9.0.0") {
				t.Error("a release whose commands cannot be read counts as seen")
			}
		})
	}
}

// A release that hands its commands over in a form that nod reads is known from then on.
func TestShellSeesReleases(t *testing.T) {
	runtime := t.TempDir()
	folder := filepath.Join(runtime, "nod")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	nod(t, runtime, []string{"AI_AGENT=claude-code_2-9-1_agent"}, "", "-c", line("true"))
	if !expected.HasSeen(folder, "2.9.1") || expected.HasSeen(folder, "2.9.2") {
		t.Error("seen are other releases than came")
	}
}

// What is not a command to run in the sandbox is for nod-cli, which has the help and the complaints.
func TestOwnCommand(t *testing.T) {
	for args, want := range map[string]string{
		"run -- a -b": "a -b", "run a -- -b": "a -- -b", "run -- -a": "-a", "run -- --": "--",
		"run": "", "run --": "", "run -h": "", "run --help -- a": "", "run --outside -- a": "", "hook a": "", "a run": "",
	} {
		if is := strings.Join(ownCommand(strings.Fields(args)), " "); is != want {
			t.Errorf("%s: %q, want %q", args, is, want)
		}
	}
}
