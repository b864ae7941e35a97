package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What settings of agents and editors run is guarded, and what they only mention is not.
func TestWhatAgentsRunIsGuarded(t *testing.T) {
	project := t.TempDir()
	for name, text := range map[string]string{
		".claude/settings.json": `{"permissions": {"allow": ["Edit(src/plain.go)"]}, "apiKeyHelper": "tools/key.sh",
			"hooks": {"PreToolUse": [{"hooks": [{"type": "command",
				"command": "\"$CLAUDE_PROJECT_DIR\"/scripts/check.sh --strict"}]}]}}`,
		".claude/settings.local.json": `{"statusLine": {"command": "${PROJECT_DIR}/scripts/line.sh"}}`,
		".mcp.json":                   `{"servers": {"x": {"command": "node", "args": ["tools/server.js", "--at=./src"]}}}`,
		".codex/config.toml":          "notify = ['python3', 'tools/notify.py']\n[y]\ncommand = '" + project + "/tools/y'\n",
		"opencode.jsonc":              "{ // a comment\n\"mcp\": {\"z\": {\"command\": [\"bun\", \"./link.ts\"]}},}",
		".cursor/hooks.json":          `{"hooks": {"stop": [{"command": "sh -c 'cd . && scripts/stop.sh'"}]}}`,
		".vscode/tasks.json":          "\ufeff" + `{"tasks": [{"command": "${workspaceFolder}/tools/task"}]}`,
		".vscode/launch.json":         `{"configurations": [{"args": ["src/plain.go"]}]}`,
		".gemini/settings.json":       `{"a": `,
		".qwen/settings.json":         strings.Repeat("[", maxSettings),
		"src/plain.go":                "", "tools/key.sh": "", "scripts/check.sh": "", "scripts/line.sh": "",
		"tools/server.js": "",
		"tools/notify.py": "", "tools/y": "", "real.ts": "", "scripts/stop.sh": "", "tools/task": "", "other.sh": "",
	} {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real.ts", filepath.Join(project, "link.ts")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSettings(".codex/config.toml", []byte(strings.Repeat("a.", maxNested+1)+"a = 1")); err != errNested {
		t.Error(err)
	}
	isGuarded, _ := GuardedIn(project)
	for name, want := range map[string]bool{
		"tools/key.sh": true, "scripts/check.sh": true, "scripts/line.sh": true, "tools/server.js": true,
		"tools/notify.py": true, "tools/y": true, "link.ts": true, "real.ts": true, "scripts/stop.sh": true,
		"tools/task": true, "src/plain.go": false, "src": false, "other.sh": false, "tools": false,
	} {
		if got := isGuarded(filepath.Join(project, name), false); got != want {
			t.Errorf("%s: guarded %t, want %t", name, got, want)
		}
	}
}
