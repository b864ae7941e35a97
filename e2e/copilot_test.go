//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// copilotCommand prepares Copilot CLI to talk to a model of ours and nobody else. It unpacks itself where caches
// are, which takes seconds: all tests share that.
func (n *nod) copilotCommand(model string, args ...string) *exec.Cmd {
	n.t.Helper()
	program := released(n.t, "copilot")
	trusted, err := json.Marshal(map[string]any{"trustedFolders": []string{n.project()}})
	must(n.t, err)
	must(n.t, os.MkdirAll(filepath.Join(n.Home(), ".copilot"), 0o700))
	must(n.t, os.WriteFile(filepath.Join(n.Home(), ".copilot", "config.json"), trusted, 0o600))
	cmd := n.onNode(program, args...)
	cmd.Env = append(cmd.Env, "COPILOT_PROVIDER_BASE_URL="+model+"/v1", "COPILOT_PROVIDER_TYPE=openai",
		"COPILOT_PROVIDER_API_KEY=x", "COPILOT_MODEL=test", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
		"XDG_CACHE_HOME="+filepath.Join(filepath.Dir(filepath.Dir(program)), ".cache"))
	return cmd
}

// copilotAsks is what Copilot CLI's own prompt says.
const copilotAsks = "Do you want to run this command?"

// Without nod Copilot CLI asks in its terminal, which is what nod leaves it to when it has no opinion.
func TestAgentCopilotAlone(t *testing.T) {
	makeIt := toolCall{"bash", map[string]string{"command": "touch made.txt", "description": "Makes it"}}
	s := chatAlone(t, (*nod).copilotCommand, []string{"-i", "do it"}, makeIt)
	s.shows(copilotAsks)
	s.made(false)
	s.says("Enter", copilotAsks)
	s.finished()
	s.made(true)
	s.reads(s, "exit code 0")
}
