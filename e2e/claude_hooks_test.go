//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What Claude Code's own classifier refuses comes to nod as an appeal. To leave it changes nothing, and to allow it
// counts for that very call, once.
func TestAgentClaudeCodeAppeal(t *testing.T) { eachClaudeCode(t, testClaudeCodeAppeal) }

func testClaudeCodeAppeal(t *testing.T, claude claudeCode) {
	const why = "the script says so"
	// The oldest asks about nothing that it lets pass where it accepts edits, such as a touch.
	makes := func(files ...string) (script []toolCall) {
		for _, file := range files {
			script = append(script, commands("sh -c 'touch "+file+"'")...)
		}
		return script
	}
	started := func(t *testing.T, where string, script []toolCall) *claudeRun {
		n := claude.installedFor(t, settings)
		m := newModel(script...)
		m.flagged = "touch"
		return claude.follows(n, m, where == "terminal", "--permission-mode", "auto")
	}
	for _, where := range []string{"terminal", "headless"} {
		t.Run("left and allowed, "+where, func(t *testing.T) {
			r := started(t, where, makes("made.txt", "made.txt", "made.txt"))
			r.answers("Escape")
			r.hears(why)
			r.prompt()
			r.shot(r.named("claude-code-appeal"))
			r.answers(allow)
			r.hears(why) // and that it may be tried again
			r.is(false, filepath.Join(r.project(), "made.txt"))
			r.hears("completed with no output")
			r.is(true, filepath.Join(r.project(), "made.txt"))
			r.asked()
		})
		t.Run("another call, "+where, func(t *testing.T) {
			r := started(t, where, makes("made.txt", "other.txt"))
			r.answers(allow)
			r.hears(why)
			r.answers(deny)
			r.hears(why)
			r.is(false, filepath.Join(r.project(), "other.txt"))
			r.is(false, filepath.Join(r.project(), "made.txt"))
			r.asked()
		})
	}
}

// rewriter is a hook of somebody else's that turns every call into another, and says nothing else.
const rewriter = `#!/bin/sh
cat >"$0.read"
input='{"command":"touch made.txt","description":"x"}'
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":'"$input"'}}'
`

// What another hook makes of a call is not let through by what nod said of the call before: it is judged where Claude
// Code asks about it, or found out afterwards, and then nothing more is let through there.
func TestAgentClaudeCodeRewrites(t *testing.T) { eachClaudeCode(t, testClaudeCodeRewrites) }

func testClaudeCodeRewrites(t *testing.T, claude claudeCode) {
	for _, mode := range []string{"default", "acceptEdits", "bypassPermissions"} {
		t.Run(mode, func(t *testing.T) {
			n := startDesktop(t)
			hook := filepath.Join(n.Home(), "rewriter")
			must(t, writeProgram(hook, rewriter))
			text, err := json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{
				"matcher": "Bash", "hooks": []any{map[string]string{"type": "command", "command": hook}},
			}}}})
			must(t, err)
			must(t, os.MkdirAll(filepath.Join(n.Home(), ".claude"), 0o700))
			must(t, os.WriteFile(filepath.Join(n.Home(), ".claude", "settings.json"), text, 0o600))
			n.writeConfig(settings + noTouch)
			n.startNod()
			n.launch(n.program("nod", "agents", "install", "claude-code", "--yes")).result()
			n.knowsClaude()
			m := newModel(commands("ls", "ls")...)
			r := claude.follows(n, m, true, "--permission-mode", mode)
			made := filepath.Join(n.project(), "made.txt")
			isJudged := mode == "default" && strings.Contains(string(claude), "newest") // others let it pass themselves
			for i := range 2 {
				var got string
				select {
				case got = <-r.waits:
				case <-n.ctx.Done():
					t.Fatal("the model reads nothing")
				}
				_, err := os.Stat(made)
				t.Logf("call %d: ran %v, the model reads %.200q", i, err == nil, got)
				if ran := err == nil; ran && (isJudged || i == 1 && mode == "default") {
					t.Errorf("call %d ran as the other hook made it", i)
				}
				_ = os.Remove(made)
			}
			if !isJudged {
				must(t, n.AwaitNotices(n.ctx, 1))
				r.logs("another hook changed a call that nod had judged")
			}
		})
	}
}

// A command in the text of a skill runs when the skill is loaded, and the skill itself says what may run so. The newest
// release asks nod first; the oldest does not, which the documents say.
func TestAgentClaudeCodeSkill(t *testing.T) { eachClaudeCode(t, testClaudeCodeSkill) }

func testClaudeCodeSkill(t *testing.T, claude claudeCode) {
	asks := strings.Contains(string(claude), "newest")
	for _, tt := range []struct {
		name, mode, command, answer string
		isMade                      bool // made.txt is there in the end
	}{
		{"reads without a window", "default", "ls", "", false},
		{"allowed", "default", "touch made.txt", allow, true},
		{"denied", "default", "touch made.txt", deny, !asks},
		{"denied while it accepts edits", "acceptEdits", "touch made.txt", deny, !asks},
		{"denied while it plans", "plan", "touch made.txt", deny, !asks},
		{"closed", "default", "touch made.txt", "Escape", !asks},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := claude.installedFor(t, settings)
			folder := filepath.Join(n.project(), ".claude", "skills", "mine")
			must(t, os.MkdirAll(folder, 0o700))
			must(t, os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte("---\nname: mine\ndescription: mine\n"+
				"allowed-tools: Bash("+tt.command+")\n---\nState: !`"+tt.command+"`\n"), 0o600))
			m := newModel()
			defer m.Close()
			c := n.launch(claude.command(n, m.URL, "-p", "/mine", "--permission-mode", tt.mode))
			if asks && tt.answer != "" {
				n.prompt()
				n.armed()
				n.shot(n.named("claude-code-skill"))
				n.press(tt.answer)
			}
			c.result()
			n.noWindow()
			if _, err := os.Stat(filepath.Join(n.project(), "made.txt")); (err == nil) != tt.isMade {
				t.Errorf("made.txt: %v", err)
			}
		})
	}
}
