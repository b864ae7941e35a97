//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// settlesAs fails the test unless the history holds these outcomes of calls of tools, and no others, in their order.
func (n *nod) settlesAs(want ...string) {
	n.t.Helper()
	log, err := os.ReadFile(n.logPath())
	must(n.t, err)
	var got []string
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "msg=settled") && strings.Contains(line, "kind=approve") {
			_, outcome, _ := strings.Cut(line, "outcome=")
			got = append(got, strings.Fields(outcome)[0])
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		n.t.Errorf("settled as %q, want %q:\n%s", got, want, log)
	}
}

// Whoever is asked about a call decides it: what is allowed in nod happens. Where Claude Code would refuse it all the
// same nobody is asked.
func TestAgentClaudeCodeEffect(t *testing.T) { eachClaudeCode(t, testClaudeCodeEffect) }

func testClaudeCodeEffect(t *testing.T, claude claudeCode) {
	isOldest := strings.Contains(string(claude), "oldest")
	for _, tt := range []struct {
		mode       string
		inTerminal bool
		flagged    bool   // the classifier refuses the change of a protected file
		refused    string // why nobody is asked about it; empty: they are
	}{
		{mode: "dontAsk", inTerminal: true, refused: "refuses to change it in the mode dontAsk"},
		{mode: "dontAsk", refused: "refuses to change it in the mode dontAsk"},
		{mode: "default", inTerminal: true},
		{mode: "default", refused: map[bool]string{true: "refuses to change it with -p"}[isOldest]},
		{mode: "acceptEdits", refused: map[bool]string{true: "refuses to change it with -p"}[isOldest]},
		{mode: "plan", refused: map[bool]string{true: "refuses to change it with -p"}[isOldest]},
		{mode: "auto", inTerminal: true},
		{mode: "auto"},
		{mode: "auto", flagged: true, refused: "denied by the Claude Code auto mode classifier"},
		{mode: "bypassPermissions"},
	} {
		name := tt.mode
		if !tt.inTerminal {
			name += " headless"
		}
		if tt.flagged {
			name += " flagged"
		}
		if tt.flagged && isOldest {
			continue // it asks its classifier last, when the user has allowed the change
		}
		t.Run(name, func(t *testing.T) {
			n := claude.installedFor(t, asksAboutTouch)
			hook := filepath.Join(n.project(), ".git", "hooks", "pre-commit")
			m := newModel(append(commands("touch made.txt"), writes(hook))...)
			if tt.flagged {
				m.flagged = hook
			}
			r := claude.follows(n, m, tt.inTerminal, "--permission-mode", tt.mode)
			r.answers("ctrl+Return")
			r.hears("completed with no output")
			r.is(true, filepath.Join(n.project(), "made.txt"))
			if tt.refused == "" {
				r.answers("ctrl+Return")
				r.hears("created successfully")
			} else {
				r.hears(tt.refused)
			}
			r.is(tt.refused == "", hook)
			r.asked()
			r.settlesAs("allowed", map[bool]string{true: "allowed", false: "denied"}[tt.refused == ""])
		})
	}
}

// Under approval policy never Codex refuses what wants to leave its sandbox, and rm with -f: nobody is asked about
// those, and what a rule asks about otherwise happens when it is allowed.
func TestAgentCodexNever(t *testing.T) {
	const rule = settings + "\npolicy:\n  rules:\n    - {id: made, effect: ask, tool: Bash, run: [touch, rm]}\n"
	for name, tt := range map[string]struct {
		call   responsesCall
		reads  string
		asked  bool
		settle string
	}{
		"in the sandbox": {codexRuns("touch made.txt"), "exited with code 0", true, "allowed"},
		"escalated":      {codexEscalates("touch made.txt"), "Codex lets nothing leave its sandbox", false, "denied"},
		"rm with -f":     {codexRuns("rm -fr build"), "Codex refuses rm with -f", false, "denied"},
	} {
		for _, args := range [][]string{{"exec", "--skip-git-repo-check"}, {"-a", "never"}} {
			t.Run(name+" "+args[0], func(t *testing.T) {
				program := released(t, "codex")
				n := startDesktop(t)
				n.writeConfig(rule)
				n.startNod()
				n.launch(n.program("nod", "agents", "install", "codex", "--yes")).result()
				m := n.codexModel(tt.call)
				cmd := n.codex(program, append(args, "--dangerously-bypass-hook-trust", "do it")...)
				var finished func()
				if args[0] == "exec" {
					c := n.launch(cmd)
					finished = func() { c.result() }
				} else {
					term := n.terminal(cmd)
					finished = func() { term.shows("all done") }
				}
				if tt.asked {
					n.prompt()
					n.armed()
					n.press("ctrl+Return")
				}
				finished()
				n.reads(m, tt.reads)
				n.neverAWindow()
				n.settlesAs(tt.settle)
			})
		}
	}
}
