//go:build linux

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// chatSession is an agent in a terminal whose model speaks chat completions, in the middle of what it has it do.
type chatSession struct {
	*nod
	*terminal
	*transcript
}

// chatAlone starts an agent in a terminal without nod, and has its model begin.
func chatAlone(t *testing.T, command func(*nod, string, ...string) *exec.Cmd, args []string,
	script ...toolCall) *chatSession {
	t.Helper()
	n := startDesktop(t)
	m := newChatModel(script)
	t.Cleanup(m.Close)
	return &chatSession{n, n.terminal(command(n, m.URL, args...)), &m.transcript}
}

// chatWithNod is chatAlone with nod, which has set the agent up, running or not.
func chatWithNod(t *testing.T, agent, config string, isUp bool, command func(*nod, string, ...string) *exec.Cmd,
	args []string, script ...toolCall) *chatSession {
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
	return &chatSession{n, n.terminal(command(n, m.URL, args...)), &m.transcript}
}

// finished waits until the model has had its last word.
func (s *chatSession) finished() { s.nod.t.Helper(); s.shows("all done") }

// asks writes a request for the agent until it is there, and sends it: an agent may not listen in its first moment.
func (s *chatSession) asks(text, prompt string) {
	s.nod.t.Helper()
	for again := time.NewTicker(time.Second); !strings.Contains(s.text(), prompt+text); {
		s.keys("C-u", text)
		select {
		case <-again.C:
		case <-s.nod.ctx.Done():
			s.nod.t.Fatalf("%q cannot be typed", text)
		}
	}
	s.keys("Enter")
}

// onNode prepares an agent that wants the Node.js that make test-agents installs beside it.
func (n *nod) onNode(program string, args ...string) *exec.Cmd {
	n.t.Helper()
	node := released(n.t, "node")
	cmd := n.inProject(n.Command(program, args...))
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(node)+":/usr/local/bin:/usr/bin:/bin")
	return cmd
}
