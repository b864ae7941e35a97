package hooks_test

import (
	"os"
	"testing"
)

// TestMain keeps the rules that whoever runs the tests has in their own agents out of them.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "nod-hooks-")
	if err != nil {
		panic(err)
	}
	for _, variable := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		if err := os.Setenv(variable, home); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(status)
}
