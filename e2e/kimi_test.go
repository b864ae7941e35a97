//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// kimiCommand prepares Kimi Code to talk to a model of ours and nobody else.
func (n *nod) kimiCommand(model string, args ...string) *exec.Cmd {
	n.t.Helper()
	config := filepath.Join(n.Home(), ".kimi-code", "config.toml")
	if _, err := os.Stat(config); err != nil {
		must(n.t, os.MkdirAll(filepath.Dir(config), 0o700))
		must(n.t, os.WriteFile(config, fmt.Appendf(nil, `default_model = "test"
telemetry = false
[providers.test]
type = "openai"
base_url = %q
api_key = "x"
[models.test]
provider = "test"
model = "test"
max_context_size = 200000
`, model+"/v1"), 0o600))
	}
	cmd := n.onNode(released(n.t, "kimi"), args...)
	cmd.Env = append(cmd.Env, "KIMI_DISABLE_TELEMETRY=1", "KIMI_CODE_NO_AUTO_UPDATE=1")
	return cmd
}

// kimiAsks is what Kimi Code's own prompt says, kimiTrusts what it asks at its first start in a folder.
const (
	kimiAsks   = "Run this command?"
	kimiTrusts = "Trust this folder?"
)

// kimiBegins has Kimi Code trust the folder, and asks it for something: it takes no first request for its terminal
// from the command line.
func (s *chatSession) kimiBegins() {
	s.nod.t.Helper()
	s.shows(kimiTrusts)
	s.says("Enter", kimiTrusts)
	s.shows("No session yet")
	s.asks("do it", "> ")
}

// Without nod Kimi Code asks in its terminal, which is what nod leaves it to when it has no opinion.
func TestAgentKimiAlone(t *testing.T) {
	makeIt := toolCall{"Bash", map[string]string{"command": "touch made.txt", "description": "Makes it"}}
	s := chatAlone(t, (*nod).kimiCommand, nil, makeIt)
	s.kimiBegins()
	s.shows(kimiAsks)
	s.made(false)
	s.says("Enter", kimiAsks)
	s.finished()
	s.made(true)
	s.reads(s, "Command executed successfully")
}
