//go:build linux

package e2e

import (
	"os/exec"
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
