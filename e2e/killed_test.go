//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The released agents, killed while their hooks wait: the prompt goes with the agent, however it started the hook.
func TestAgentKilled(t *testing.T) {
	claude := claudeCode(installed(t, filepath.Join("claude-code-newest", "bin", "claude.exe")))
	for name, start := range map[string]func(t *testing.T) *nod{
		"Claude Code": func(t *testing.T) *nod { return claude.inTerminal(t, settings, true, makeIt).nod },
		"Codex": func(t *testing.T) *nod {
			return codexInTerminal(t, settings, true, codexEscalates("touch made.txt")).nod
		},
		"Gemini CLI": func(t *testing.T) *nod {
			s := newGemini(t, settings, true, true, geminiRuns("touch made.txt"))
			s.headless()
			return s.nod
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t)
			n.prompt()
			n.armed()
			must(t, syscall.Kill(n.hooked(), syscall.SIGKILL))
			n.noWindow()
			n.logs("outcome=cancelled")
			if _, err := os.Stat(filepath.Join(n.project(), "made.txt")); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

// hooked finds the process whose hook waits: the nearest above it that is no shell.
func (n *nod) hooked() int {
	n.t.Helper()
	hooks, err := filepath.Glob("/proc/[0-9]*/exe")
	must(n.t, err)
	for _, link := range hooks {
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(link), "cwd"))
		if exe, _ := os.Readlink(link); filepath.Base(exe) != "nod" || !strings.Contains(string(args), "\x00hook\x00") ||
			cwd != n.project() {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		must(n.t, err)
		for pid = n.parent(pid); slices.Contains([]string{"sh", "bash", "dash", "zsh"}, n.exe(pid)); {
			pid = n.parent(pid)
		}
		n.t.Logf("process %d, %s", pid, n.exe(pid))
		return pid
	}
	n.t.Fatal("no hook waits")
	return 0
}

// parent is the parent of a process.
func (n *nod) parent(pid int) int {
	n.t.Helper()
	_, after, _ := strings.Cut(n.proc(pid, "stat"), ") ")
	parent, err := strconv.Atoi(strings.Fields(after)[1])
	must(n.t, err)
	return parent
}

// exe is the name of a process's program.
func (n *nod) exe(pid int) string {
	n.t.Helper()
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	must(n.t, err)
	return filepath.Base(path)
}
