//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asksAboutTouch has the person asked about every touch.
const asksAboutTouch = settings + `
policy:
  auto_allow: [read_only]
  rules:
    - id: touch
      effect: ask
      tool: Bash
      run: [touch]
`

// claudeRun is Claude Code at work, whose model goes on only when the test has received what a tool said.
type claudeRun struct {
	*nod
	*model
	windows int // that were answered
}

// installedFor starts nod and sets Claude Code up for it.
func (c claudeCode) installedFor(t *testing.T, config string) *nod {
	t.Helper()
	n := startDesktop(t)
	must(t, os.MkdirAll(filepath.Join(n.project(), ".git", "hooks"), 0o700))
	n.writeConfig(config)
	n.startNod()
	n.launch(n.program("nod", "agents", "install", "claude-code", "--yes")).result()
	n.knowsClaude()
	return n
}

// runs starts Claude Code in a terminal or without one.
func (c claudeCode) runs(n *nod, inTerminal bool, script []toolCall, args ...string) *claudeRun {
	n.t.Helper()
	m := newModel(script...)
	m.waits = make(chan string)
	n.t.Cleanup(m.Close)
	if inTerminal {
		n.terminal(c.command(n, m.URL, append(args, "do it")...))
	} else {
		c.headless(n, m.URL, args...)
	}
	return &claudeRun{n, m, 0}
}

// answers waits for a window, and answers it: ctrl+d denies, Escape closes it, ctrl+Return allows.
func (r *claudeRun) answers(key string) {
	r.t.Helper()
	r.windows++
	r.prompt()
	r.armed()
	r.press(key)
	r.noWindow()
}

// hears receives what the next tool said.
func (r *claudeRun) hears(want string) {
	r.t.Helper()
	select {
	case got := <-r.waits:
		if !strings.Contains(got, want) {
			r.t.Errorf("the model reads %q, want %q", got, want)
		}
	case <-r.ctx.Done():
		r.t.Fatalf("the model never reads %q", want)
	}
}

// asked fails the test unless the windows that were answered were all.
func (r *claudeRun) asked() {
	r.t.Helper()
	r.neverAWindow()
	log, err := os.ReadFile(r.logPath())
	must(r.t, err)
	got := 0
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "msg=settled") && !strings.Contains(line, "by=policy") && !strings.Contains(line, "kind=notify") {
			got++
		}
	}
	if got != r.windows {
		r.t.Errorf("%d windows, want %d:\n%s", got, r.windows, log)
	}
}

// is fails the test unless a file is there, or is not.
func (r *claudeRun) is(there bool, path string) {
	r.t.Helper()
	if _, err := os.Stat(path); (err == nil) != there {
		r.t.Errorf("%s is there: %v, want %v", path, err == nil, there)
	}
}

func writes(path string) toolCall {
	return toolCall{"Write", map[string]string{"file_path": path, "content": "x\n"}}
}

// What a rule asks about, and what nod always asks about, is asked about in every mode, and happens only when it is
// allowed. What no rule speaks of is left to the mode, unless nod shall ask more.
func TestAgentClaudeCodeModes(t *testing.T) { eachClaudeCode(t, testClaudeCodeModes) }

func testClaudeCodeModes(t *testing.T, claude claudeCode) {
	const more = "\nagents:\n  ask_more: true\n"
	for _, tt := range []struct {
		mode, config string
		edits        bool // pass without asking
		silence      bool // is as good as an allow
	}{
		{"default", "", false, false},
		{"acceptEdits", "", true, false},
		{"acceptEdits", more, false, false},
		{"plan", "", false, false},
		{"auto", "", true, true},
		{"bypassPermissions", "", true, true},
		{"bypassPermissions", more, false, true},
	} {
		for name, inTerminal := range map[string]bool{"terminal": true, "headless": false} {
			if tt.config == more {
				name = "ask more " + name
			}
			t.Run(tt.mode+" "+name, func(t *testing.T) {
				n := claude.installedFor(t, asksAboutTouch+tt.config)
				edit, made := filepath.Join(n.project(), "edit.txt"), filepath.Join(n.project(), "made.txt")
				guarded := []string{
					filepath.Join(n.project(), ".git", "hooks", "pre-commit"),
					filepath.Join(filepath.Dir(n.configPath()), "new.yaml"), // it does not write over what it has not read
				}
				const touch = "touch made.txt"
				script := append(commands(touch, touch, touch), writes(guarded[0]), writes(guarded[1]), writes(edit))
				if !tt.silence {
					script = script[1:]
				}
				r := claude.runs(n, inTerminal, script, "--permission-mode", tt.mode)
				if tt.silence {
					r.answers("Escape")
					r.hears("nobody decided")
				}
				r.answers("ctrl+d")
				r.hears("the person denied this")
				r.is(false, made)
				r.answers("ctrl+Return")
				r.hears("completed with no output")
				r.is(true, made)
				for _, file := range guarded {
					r.answers("ctrl+d")
					r.hears("the person denied this")
					r.is(false, file)
				}
				if !tt.edits {
					r.answers("ctrl+Return")
				}
				r.hears("created successfully")
				r.is(true, edit)
				r.asked()
			})
		}
	}
}
