//go:build linux

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// chatSession is an agent whose model speaks chat completions, in the middle of what it has it do.
type chatSession struct {
	*nod
	*transcript
	command func(args ...string) *exec.Cmd
}

// chatAgent is an agent whose model speaks chat completions.
type chatAgent struct {
	name    string // as nod knows it
	command func(n *nod, model string, args ...string) *exec.Cmd
}

// start sets the agent up for nod, by nod itself, and to talk to a model of ours.
func (a chatAgent) start(t *testing.T, config string, isUp, gate bool, script ...toolCall) *chatSession {
	t.Helper()
	released(t, "node")
	n := startDesktop(t)
	n.writeConfig(config)
	if isUp {
		n.startNod()
	}
	m := newChatModel(script)
	t.Cleanup(m.Close)
	s := &chatSession{n, &m.transcript, func(args ...string) *exec.Cmd { return a.command(n, m.URL, args...) }}
	s.command() // writes the settings that nod finds
	install := []string{"agents", "install", a.name, "--yes"}
	if gate {
		install = append(install, "--only-gate")
	}
	if out, status := n.launch(n.program("nod", install...)).result(); status != 0 {
		t.Fatalf("status %d: %s", status, out)
	}
	return s
}

// aloneSession is an agent in a terminal without nod, in the middle of what its model has it do.
type aloneSession struct {
	*nod
	*terminal
	*transcript
}

// chatAlone starts an agent in a terminal without nod, and has its model begin.
func chatAlone(
	t *testing.T, command func(*nod, string, ...string) *exec.Cmd, args []string, script ...toolCall,
) *aloneSession {
	t.Helper()
	n := startDesktop(t)
	m := newChatModel(script)
	t.Cleanup(m.Close)
	return &aloneSession{n, n.terminal(command(n, m.URL, args...)), &m.transcript}
}

// chatWithNod is chatAlone with nod, which has set the agent up, running or not.
func chatWithNod(t *testing.T, agent, config string, isUp bool, command func(*nod, string, ...string) *exec.Cmd,
	args []string, script ...toolCall) *aloneSession {
	t.Helper()
	n := startDesktop(t)
	n.writeConfig(config)
	if isUp {
		n.startNod()
	}
	if out, status := n.launch(n.program("nod", "agents", "install", agent, "--yes")).result(); status != 0 {
		t.Fatalf("status %d: %s", status, out)
	}
	m := newChatModel(script)
	t.Cleanup(m.Close)
	return &aloneSession{n, n.terminal(command(n, m.URL, args...)), &m.transcript}
}

// finished waits until the model has had its last word.
func (s *aloneSession) finished() { s.nod.t.Helper(); s.shows("all done") }

// headless runs the agent to its end without a terminal.
func (s *chatSession) headless(args ...string) *call {
	s.t.Helper()
	return s.launch(s.command(args...))
}

// done fails the test unless a headless turn ends as the model meant it to.
func (s *chatSession) done(c *call) {
	s.t.Helper()
	if out, status := c.result(); status != 0 || !strings.Contains(out, "all done") {
		s.t.Fatalf("status %d: %s\n%s", status, out, c.errout.String())
	}
}

// allows presses Allow in nod's window.
func (n *nod) allows() {
	n.t.Helper()
	n.prompt()
	n.armed()
	n.press("ctrl+Return")
}

// denies gives a reason in nod's window, and denies.
func (n *nod) denies(reason string) {
	n.t.Helper()
	n.prompt()
	n.armed()
	n.after(func() { n.press("Tab", "Tab", "Tab", "space") })
	n.write(reason)
	n.blink()
	n.press("ctrl+d")
}

// closes closes nod's window without a decision.
func (n *nod) closes() {
	n.t.Helper()
	n.prompt()
	n.press("Escape")
}

// picksPostgres answers the one question in nod's window with its second option.
func (n *nod) picksPostgres() {
	n.t.Helper()
	n.prompt()
	n.after(func() { n.press("2") })
	n.armed()
	n.press("ctrl+Return")
}

// asks writes a request for the agent until it is there, and sends it: an agent may not listen in its first moment.
func (t *terminal) asks(text, prompt string) {
	t.t.Helper()
	for again := time.NewTicker(time.Second); !strings.Contains(t.text(), prompt+text); {
		t.keys("C-u", text)
		select {
		case <-again.C:
		case <-t.ctx.Done():
			t.t.Fatalf("%q cannot be typed", text)
		}
	}
	t.keys("Enter")
}

// onNode prepares an agent that wants the Node.js that make test-agents installs beside it.
func (n *nod) onNode(program string, args ...string) *exec.Cmd {
	n.t.Helper()
	node := released(n.t, "node")
	cmd := n.inProject(n.Command(program, args...))
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(node)+":/usr/local/bin:/usr/bin:/bin")
	return cmd
}

// Rules about the one command that changes something.
const (
	noTouch  = "\npolicy:\n  rules:\n    - {id: no-touch, effect: deny, command: touch made.txt}\n"
	askTouch = "\npolicy:\n  rules:\n    - {id: ask-touch, effect: ask, command: touch made.txt}\n"
)
