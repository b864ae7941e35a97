package claude

import (
	"encoding/json"
	"testing"

	"nod/ipc/hooks"
)

// What Claude Code may hand over in other words is not to run in the sandbox: nod would not know it again, and run it
// outside.
func TestRewrittenCommandsAreNotContained(t *testing.T) {
	for command, want := range map[string]bool{
		"make test": true, "make > null.txt": true, "make >nul.txt": true, "make 2>/dev/null": true, "echo nul": true,
		"make 2>nul": false, "make >nul; rm x": false, "make &>> \tNUL | cat": false, "make >nul&": false,
		"(make >Nul)":     false,
		"make >nul\nrm x": false, "make >nul\u00a0": false,
	} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Payload{ToolName: "Bash", ToolInput: input}.Step(hooks.Call{Event: "PreToolUse", Shell: true})
		if got := s.Command == command; err != nil || got != want || !got && s.Command != "" {
			t.Errorf("%q is contained: %v as %q, %v", command, got, s.Command, err)
		}
	}
}
