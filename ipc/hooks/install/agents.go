package install

import (
	"bytes"
	_ "embed"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// claudeCode: the events that decide, and, without making Claude Code wait, those that tell that the
// terminal was quicker.
var claudeCode = Agent{
	Name: "claude-code", Title: "Claude Code", program: "claude",
	file: func(m Machine) file {
		h := hooks{agent: "claude-code", timeout: HookTimeout, events: []event{
			{name: "PermissionRequest"}, {name: "PreToolUse"}, {name: "Elicitation"},
			{name: "PostToolUse", async: true}, {name: "PostToolUseFailure", async: true},
			{name: "PermissionDenied", async: true},
			{name: "Notification", async: true}, {name: "Stop", async: true},
			{name: "UserPromptSubmit", async: true}, {name: "SessionEnd", async: true},
		}}
		return h.file(filepath.Join(folder(m, "CLAUDE_CONFIG_DIR", ".claude"), "settings.json"))
	},
}

// codex fails on an event that it does not know, so the list holds only what it has had for long.
var codex = Agent{
	Name: "codex", Title: "Codex", program: "codex",
	file: func(m Machine) file {
		h := hooks{agent: "codex", timeout: HookTimeout, events: []event{
			{name: "PermissionRequest"}, {name: "PreToolUse"}, {name: "PostToolUse"}, {name: "Stop"}, {name: "UserPromptSubmit"},
		}}
		return h.file(filepath.Join(folder(m, "CODEX_HOME", ".codex"), "hooks.json"))
	},
	after: "Codex runs new hooks only after you have trusted them: start codex, type /hooks and trust nod's.",
}

// geminiCLI counts time-outs in milliseconds.
var geminiCLI = Agent{
	Name: "gemini-cli", Title: "Gemini CLI", program: "gemini",
	file: func(m Machine) file {
		h := hooks{agent: "gemini-cli", timeout: HookTimeout * 1000, named: true, events: []event{
			{name: "BeforeTool"}, {name: "AfterTool"}, {name: "BeforeAgent"}, {name: "AfterAgent"},
			{name: "Notification"}, {name: "SessionEnd"},
		}}
		return h.file(filepath.Join(m.Home, ".gemini", "settings.json"))
	},
	gate: func(m Machine) file { return whole(GeminiGate(m.Home), func(string) []byte { return geminiPolicy }) },
}

// GeminiGate is the path of the policy file that switches Gemini CLI's own prompt off. While it exists, nod
// is the only gate, and must deny what nobody allowed.
func GeminiGate(home string) string { return filepath.Join(home, ".gemini", "policies", "nod.toml") }

//go:embed gemini.toml
var geminiPolicy []byte

//go:embed opencode.js
var opencodePlugin string

var opencode = Agent{
	Name: "opencode", Title: "opencode", program: "opencode",
	file: func(m Machine) file {
		path := filepath.Join(folder(m, "XDG_CONFIG_HOME", ".config"), "opencode", "plugins", "nod.js")
		return whole(path, func(nod string) []byte {
			return []byte(strings.ReplaceAll(opencodePlugin, `"NOD"`, strconv.Quote(nod)))
		})
	},
	after: `opencode asks only for what its own settings say "ask" to: see "permission" in opencode.json.`,
}

// marker is in every file that is nod's own.
const marker = "written by nod"

// whole is a file that nod writes and removes as a whole. A file of that name that is somebody else's stays.
func whole(path string, text func(nod string) []byte) file {
	foreign := func(b []byte) error {
		if len(b) > 0 && !bytes.Contains(b, []byte(marker)) {
			return fmt.Errorf("is not nod's: move it away first")
		}
		return nil
	}
	return file{
		path: path,
		install: func(before []byte, nod string) ([]byte, error) {
			if err := foreign(before); err != nil {
				return nil, err
			}
			return text(nod), nil
		},
		uninstall: func(before []byte) ([]byte, error) {
			if foreign(before) != nil {
				return before, nil
			}
			return nil, nil
		},
		installed: func(b []byte, nod string) bool {
			return bytes.Contains(b, []byte(marker)) && (nod == "" || bytes.Equal(b, text(nod)))
		},
	}
}
