//go:build linux

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// lettaCommand prepares Letta Code to keep everything here and to talk to a model of ours and nobody else.
func (n *nod) lettaCommand(model string, args ...string) *exec.Cmd {
	n.t.Helper()
	cmd := n.onNode(released(n.t, "letta"),
		append([]string{"--backend", "local", "--model", "lmstudio/test", "--new-agent"}, args...)...)
	cmd.Env = append(cmd.Env, "LMSTUDIO_BASE_URL="+model+"/v1", "LETTA_CODE_TELEM=0", "LETTA_SKIP_KEYCHAIN_CHECK=1",
		"DISABLE_AUTOUPDATER=1")
	return cmd
}

// lettaAsks is what Letta Code's own prompt says.
const lettaAsks = "Run this command?"

// Without nod Letta Code asks in its terminal once it is told to, which is what nod leaves it to when it has no
// opinion.
func TestAgentLettaAlone(t *testing.T) {
	makeIt := toolCall{"Bash", map[string]string{"command": "touch made.txt", "description": "Makes it"}}
	s := chatAlone(t, (*nod).lettaCommand, []string{"--permission-mode", "standard"}, makeIt)
	s.shows("standard (request approval)")
	s.asks("do it", "› ")
	s.shows(lettaAsks)
	s.made(false)
	s.says("Enter", lettaAsks)
	s.finished()
	s.made(true)
	s.reads(s, "completed")
}

// lettaRuns is what the model has Letta Code do.
var lettaRuns = toolCall{"Bash", map[string]string{"command": "touch made.txt", "description": "Makes it"}}

// letta is Letta Code in a terminal, set up for nod by nod itself and told to ask, in the middle of what its model has
// it do.
func letta(t *testing.T, config string, isUp bool) *aloneSession {
	t.Helper()
	return chatWithNod(t, "letta", config, isUp, (*nod).lettaCommand, []string{"--permission-mode", "standard"}, lettaRuns)
}

// begins waits until Letta Code listens, and has it begin.
func (s *aloneSession) lettaBegins() {
	s.nod.t.Helper()
	s.shows("standard (request approval)")
	s.asks("do it", "› ")
}

// Letta Code asks nod before it asks in its terminal.
func TestAgentLetta(t *testing.T) {
	t.Run("allowed", func(t *testing.T) {
		s := letta(t, settings, true)
		s.lettaBegins()
		s.prompt()
		s.armed()
		s.made(false)
		s.shot("letta")
		s.press("ctrl+Return")
		s.finished()
		s.made(true)
	})
	t.Run("denied with a reason", func(t *testing.T) {
		s := letta(t, settings, true)
		s.lettaBegins()
		s.prompt()
		s.armed()
		s.after(func() { s.press("Tab", "Tab", "Tab", "space") })
		s.write("use make instead")
		s.blink()
		s.press("ctrl+d")
		s.finished()
		s.made(false)
		s.reads(s, "use make instead")
	})
	t.Run("closed", func(t *testing.T) {
		s := letta(t, settings, true)
		s.lettaBegins()
		s.prompt()
		s.press("Escape")
		s.lettaAsksItself()
	})
	t.Run("nod killed in the middle", func(t *testing.T) {
		s := letta(t, settings, true)
		s.lettaBegins()
		s.prompt()
		must(t, s.cmd.Process.Kill())
		<-s.ended
		s.lettaAsksItself()
	})
	t.Run("away", func(t *testing.T) {
		s := letta(t, settings, false)
		s.lettaBegins()
		s.lettaAsksItself()
	})
	t.Run("away and strict", func(t *testing.T) {
		s := letta(t, settings+"\nagents:\n  strict: [letta]\n", false)
		s.lettaBegins()
		s.finished()
		s.made(false)
		s.reads(s, "nod start")
	})
}

// lettaAsksItself fails the test unless Letta Code asks in its terminal, and heeds what is said there.
func (s *aloneSession) lettaAsksItself() {
	s.nod.t.Helper()
	s.shows(lettaAsks)
	s.made(false)
	s.says("Enter", lettaAsks)
	s.finished()
	s.made(true)
}

// Without being told to, Letta Code asks nobody; nod's rules hold there, too.
func TestAgentLettaUnrestricted(t *testing.T) {
	const rule = "\npolicy:\n  rules:\n    - {id: no-touch, effect: deny, command: touch made.txt}\n"
	s := chatWithNod(t, "letta", settings+rule, true, (*nod).lettaCommand, nil, lettaRuns)
	s.shows("Press / for commands")
	s.asks("do it", "› ")
	s.finished()
	s.made(false)
	s.neverAWindow()
	s.reads(s, "no-touch")
}

// The hook of an agent that goes by how hooks end says that nobody decided, however it comes to that.
func TestLettaHookWithoutADecision(t *testing.T) {
	t.Parallel()
	const payload = `{"event_type":"PermissionRequest","working_directory":"/","tool_name":"Bash",` +
		`"tool_input":{"command":"make all"}}`
	hook := func(n *nod) *call {
		cmd := n.agent(filepath.Join(bin, "nod"), "hook", "letta")
		cmd.Stdin = strings.NewReader(payload)
		return n.launch(cmd)
	}
	for name, test := range map[string]struct {
		happens func(*nod, *call)
		status  int
	}{
		"allowed": {func(n *nod, _ *call) { n.armed(); n.press("ctrl+Return") }, 0},
		"denied":  {func(n *nod, _ *call) { n.armed(); n.press("ctrl+d") }, 2},
		"closed":  {func(n *nod, _ *call) { n.press("Escape") }, 1},
		"nod is killed": {func(n *nod, _ *call) {
			must(n.t, n.cmd.Process.Kill())
			<-n.ended
			n.noWindow() // of the one that was killed
			n.startNod()
			n.prompt()
			n.press("Escape")
		}, 1},
		"interrupted": {func(n *nod, c *call) { must(n.t, syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT)) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, settings)
			c := hook(n)
			n.prompt()
			test.happens(n, c)
			if out, status := c.result(); status != test.status || out != "" {
				t.Errorf("status %d, want %d: %q", status, test.status, out)
			}
		})
	}
	t.Run("check", func(t *testing.T) {
		n := start(t, settings)
		n.launch(n.program("nod", "agents", "install", "letta", "--yes")).result()
		const ok = "ok  a test call went through the hook"
		if out, _ := n.launch(n.program("nod", "agents", "check", "letta")).result(); !strings.Contains(out, ok) {
			t.Error(out)
		}
	})
	t.Run("away", func(t *testing.T) {
		n := startDesktop(t)
		if out, status := hook(n).result(); status != 1 || out != "" {
			t.Errorf("status %d: %q", status, out)
		}
	})
}
