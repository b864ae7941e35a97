//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asksAboutTouch has the user asked about every touch.
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

// runs has Claude Code follow a script, in a terminal or without one.
func (c claudeCode) runs(n *nod, inTerminal bool, script []toolCall, args ...string) *claudeRun {
	n.t.Helper()
	return c.follows(n, newModel(script...), inTerminal, args...)
}

// follows has Claude Code do what a model says.
func (c claudeCode) follows(n *nod, m *model, inTerminal bool, args ...string) *claudeRun {
	n.t.Helper()
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
		if strings.Contains(line, "msg=settled") && !strings.Contains(line, "by=policy") &&
			!strings.Contains(line, "kind=notify") {
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
				r.hears("the user denied this")
				r.is(false, made)
				r.answers("ctrl+Return")
				r.hears("completed with no output")
				r.is(true, made)
				for i, file := range guarded {
					if i == 0 && !inTerminal && !tt.silence && strings.Contains(string(claude), "oldest") {
						r.hears("an allow in nod") // it refuses that itself
						r.is(false, file)
						continue
					}
					r.answers("ctrl+d")
					r.hears("the user denied this")
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

// Without a terminal a call that Claude Code lets pass is let pass, and one that it would ask about is asked about
// once. The oldest does not tell which is which: there nod asks about both.
func TestAgentClaudeCodeHeadless(t *testing.T) {
	eachClaudeCode(t, func(t *testing.T, claude claudeCode) {
		touch := commands("touch made.txt")
		t.Run("allowed by its own rule", func(t *testing.T) {
			r := claude.runs(claude.installedFor(t, settings), false, touch, "--allowedTools", "Bash(touch:*)")
			if strings.Contains(string(claude), "oldest") {
				r.answers("ctrl+Return")
			}
			r.hears("completed with no output")
			r.is(true, filepath.Join(r.project(), "made.txt"))
			r.asked()
		})
		t.Run("asked about", func(t *testing.T) {
			r := claude.runs(claude.installedFor(t, settings), false, append(touch, touch...))
			r.answers("Escape")
			r.hears("nobody decided")
			r.prompt()
			r.armed()
			r.after(func() { r.press("Tab", "Tab", "Tab", "space") })
			r.write("use make instead")
			r.blink()
			r.answers("ctrl+d")
			r.hears("use make instead")
			r.is(false, filepath.Join(r.project(), "made.txt"))
			r.asked()
		})
	})
}

// Subagents in the background keep their prompts while the main thread finishes and is told of one that has. The same
// command of two of them is two requests.
func TestAgentClaudeCodeSubagents(t *testing.T) { eachClaudeCode(t, testClaudeCodeSubagents) }

func testClaudeCodeSubagents(t *testing.T, claude claudeCode) {
	n := claude.installedFor(t, settings+"\nnotifications:\n  prompts: false\n")
	m := newModel()
	m.subagents = map[string][]toolCall{}
	for _, errand := range []string{"first errand", "second errand"} {
		m.script = append(m.script, toolCall{"Agent", map[string]any{"description": errand, "prompt": errand,
			"subagent_type": "general-purpose", "run_in_background": true}})
		m.subagents[errand] = commands("touch made.txt")
	}
	r := claude.follows(n, m, true, "--permission-mode", "default")
	r.hears("launched successfully")
	r.hears("launched successfully")
	must(t, n.AwaitNotices(n.ctx, 1)) // the main thread has finished
	r.prompt()
	r.armed()
	r.shot("claude-code-subagents")
	r.windows++
	r.press("ctrl+d")
	r.hears("the user denied this") // one subagent ends, of which the main thread is told
	r.prompt()
	r.shot("claude-code-subagent")
	r.answers("ctrl+Return")
	r.hears("completed with no output")
	r.is(true, filepath.Join(r.project(), "made.txt"))
	r.asked()
}

// A question is asked once, whatever the mode.
func TestAgentClaudeCodeQuestionModes(t *testing.T) { eachClaudeCode(t, testClaudeCodeQuestionModes) }

func testClaudeCodeQuestionModes(t *testing.T, claude claudeCode) {
	question := toolCall{"AskUserQuestion", map[string]any{"questions": []any{
		map[string]any{"question": "Which database?", "header": "Storage", "multiSelect": false, "options": databases},
	}}}
	for _, mode := range []string{"default", "plan", "bypassPermissions"} {
		t.Run(mode, func(t *testing.T) {
			r := claude.runs(claude.installedFor(t, settings), true, []toolCall{question}, "--permission-mode", mode)
			r.prompt()
			r.after(func() { r.press("2") }) // Postgres
			r.answers("ctrl+Return")
			r.hears("Postgres")
			r.asked()
		})
	}
}

// To be asked whether one may be asked helps nobody; but only the user names a server nod.
func TestAgentClaudeCodeOwnServer(t *testing.T) { eachClaudeCode(t, testClaudeCodeOwnServer) }

func testClaudeCodeOwnServer(t *testing.T, claude claudeCode) {
	confirm := toolCall{"mcp__nod__interact_confirm", map[string]any{"message": "Shall it go on?"}}
	add := func(n *nod) {
		n.told(n.launch(claude.command(n, "",
			"mcp", "add", "--scope", "user", "nod", "--", filepath.Join(bin, "nod"), "mcp")))
	}
	t.Run("the user's", func(t *testing.T) {
		n := claude.installedFor(t, settings)
		add(n)
		r := claude.runs(n, false, []toolCall{confirm})
		r.answers("ctrl+Return")
		r.hears("true")
		r.asked()
	})
	t.Run("the project's", func(t *testing.T) {
		n := claude.installedFor(t, settings)
		add(n)
		must(t, os.WriteFile(filepath.Join(n.project(), ".mcp.json"),
			fmt.Appendf(nil, `{"mcpServers": {"nod": {"command": %q}}}`, n.borrow(elicitorName)), 0o600))
		must(t, os.MkdirAll(filepath.Join(n.project(), ".claude"), 0o700))
		must(t, os.WriteFile(filepath.Join(n.project(), ".claude", "settings.local.json"),
			[]byte(`{"enableAllProjectMcpServers": true}`), 0o600))
		r := claude.runs(n, false, []toolCall{{"mcp__nod__setup", map[string]any{}}})
		r.answers("ctrl+d")
		r.hears("the user denied this")
		r.asked()
	})
}
