package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/agents/agent"
)

// With nod's hooks goes what has Claude Code hand its commands to nod, and nothing else.
func TestUninstallWithPrefix(t *testing.T) {
	for _, before := range []string{
		"", `{}`, `{"model": "x"}`, "{\n  // mine\n  \"env\": {\n    \"A\": \"1\"\n  }\n}\n", `{"env": {}}`,
	} {
		m := agent.Machine{Home: t.TempDir(), Nod: "/usr/bin/nod", Env: func(string) string { return "" }}
		path := filepath.Join(m.Home, ".claude", "settings.json")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		apply := func(all []agent.Change, err error) string {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range all {
				if err := c.Apply(); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			return strings.Join(strings.Fields(string(text)), "")
		}
		apply(Agent.Install(m, false))
		if now := apply(Agent.Contain(m, true)); !strings.Contains(now, `"CLAUDE_CODE_SHELL_PREFIX":"/usr/bin/nod-c"`) {
			t.Errorf("%q: no prefix in %s", before, now)
		}
		if left := apply(Agent.Uninstall(m)); left != strings.Join(strings.Fields(before), "") {
			t.Errorf("%q leaves %s", before, left)
		}
	}
}
