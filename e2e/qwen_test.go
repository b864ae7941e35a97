//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// qwenCommand prepares Qwen Code to talk to a model of ours and nobody else.
func (n *nod) qwenCommand(model string, args ...string) *exec.Cmd {
	n.t.Helper()
	settings := filepath.Join(n.Home(), ".qwen", "settings.json")
	if _, err := os.Stat(settings); err != nil {
		must(n.t, os.MkdirAll(filepath.Dir(settings), 0o700))
		must(n.t, os.WriteFile(settings, []byte(`{
  "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}},
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}
}
`), 0o600))
	}
	cmd := n.onNode(released(n.t, "qwen"), args...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+model+"/v1", "OPENAI_API_KEY=x", "OPENAI_MODEL=test",
		"QWEN_CODE_NO_RELAUNCH=true")
	return cmd
}

// qwenRuns asks for a command as Qwen Code's model does.
func qwenRuns(command string) toolCall {
	return toolCall{"run_shell_command", map[string]any{
		"command": command, "description": "As the script says", "is_background": false}}
}

// qwenAsks is what Qwen Code's own prompt says.
const qwenAsks = "Allow execution of"

// Without nod Qwen Code asks in its terminal, which is what nod leaves it to when it has no opinion.
func TestAgentQwenAlone(t *testing.T) {
	args := []string{"--approval-mode", "default", "-i", "do it"}
	s := chatAlone(t, (*nod).qwenCommand, args, qwenRuns("touch made.txt"))
	s.shows(qwenAsks)
	s.made(false)
	s.says("Enter", qwenAsks)
	s.finished()
	s.made(true)
	s.reads(s, "Exit Code: 0")
}
