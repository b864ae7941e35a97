package registry

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"nod/agents/agent"
)

// hookOf is a settings file of an organization that runs nod itself.
const hookOf = `{"allowManagedHooksOnly": true, "hooks": {"PreToolUse": [{"hooks": [` +
	`{"type": "command", "command": "/usr/bin/nod hook claude-code"}]}]}}`

// A setting, a flag or a variable that keeps an agent from running nod's hooks is told with its place, and one that
// does not is not.
func TestSwitchedOff(t *testing.T) {
	type files map[string]string
	const (
		user, local, managed = "~/.claude/settings.json", "p/.claude/settings.local.json",
			"root/etc/claude-code/managed-settings.json"
		off, on = `{"disableAllHooks": true}`, `{"disableAllHooks": false}`
	)
	for _, test := range []struct {
		agent string
		files files
		args  string
		env   string
		want  string // empty: nothing
	}{
		{agent: "claude-code"},
		{agent: "claude-code", files: files{local: on, managed: `{`, "p/.claude/settings.json": "[]"}},
		{agent: "claude-code", files: files{"p/.claude/settings.json": "\ufeff// a\n" + off}, want: "(disableAllHooks)"},
		{agent: "claude-code", files: files{user: strings.Replace(hookOf, "allowManagedHooksOnly", "disableAllHooks", 1)},
			want: "in " + user + " (disableAllHooks): nod isn't asked. Remove that key."},
		{agent: "claude-code", files: files{local: off}, want: local},
		{agent: "claude-code", files: files{local: off, managed: on}},
		{agent: "claude-code", files: files{"p/.claude/settings.json": off, local: on}},
		{agent: "claude-code", files: files{"p/.claude/settings.json": `{"allowManagedHooksOnly": true}`}},
		{agent: "claude-code", files: files{managed: `{"allowManagedHooksOnly": true}`}, want: "(allowManagedHooksOnly)"},
		{agent: "claude-code", files: files{managed: hookOf, local: off}},
		{agent: "claude-code", files: files{managed: strings.Replace(hookOf, "allowManagedHooksOnly", "disableAllHooks", 1)},
			want: "(disableAllHooks)"},
		{agent: "claude-code", files: files{"root/etc/claude-code/managed-settings.d/a.json": off, managed: on},
			want: "managed-settings.d"},
		{agent: "claude-code", files: files{managed: `{"strictPluginOnlyCustomization": ["skills", "hooks"]}`},
			want: "(strictPluginOnlyCustomization)"},
		{agent: "claude-code", files: files{managed: `{"strictPluginOnlyCustomization": ["skills"]}`}},
		{agent: "claude-code", args: "claude --bare", want: "Process 7 was started with --bare"},
		{agent: "claude-code", args: "claude -- --bare"},
		{agent: "claude-code", args: "claude --settings " + off, want: "in --settings (disableAllHooks)"},
		{agent: "claude-code", files: files{"p/s.json": off}, args: "claude --settings=s.json", want: "s.json"},
		{agent: "claude-code", args: "claude --setting-sources project,local", want: "--setting-sources"},
		{agent: "claude-code", args: "claude --setting-sources=user,project"},
		{agent: "claude-code", env: "CLAUDE_CODE_SAFE_MODE", want: "by CLAUDE_CODE_SAFE_MODE in the environment"},
		{agent: "gemini-cli", files: files{"p/.gemini/settings.json": `{"hooksConfig": {"enabled": false}}`},
			want: "(hooksConfig.enabled)"},
		{agent: "gemini-cli", files: files{"p/.gemini/settings.json": `{"hooksConfig": {"disabled": ["x", "nod"]}}`,
			"root/etc/gemini-cli/settings.json": `{"hooksConfig": {"disabled": []}}`}, want: "(hooksConfig.disabled)"},
		{agent: "gemini-cli", files: files{"p/.gemini/settings.json": `{"hooksConfig": {"disabled": ["x"]}}`}},
		{agent: "qwen-code", files: files{"p/.qwen/settings.json": off}, want: "(disableAllHooks)"},
		{agent: "qwen-code", args: "node /usr/bin/qwen --safe-mode", want: "--safe-mode"},
		{agent: "codex", files: files{"~/.codex/config.toml": "[features]\nhooks = false\n"}, want: "(features.hooks)"},
		{agent: "codex", files: files{"~/.codex/config.toml": "[features]\nhooks = false\n",
			"p/.codex/config.toml": "features.hooks = true\n"}},
		{agent: "codex", files: files{"root/etc/codex/requirements.toml": "allow_managed_hooks_only = true\n"},
			want: "(allow_managed_hooks_only)"},
		{agent: "codex", args: "codex --disable hooks", want: "--disable"},
		{agent: "codex", args: "codex --disable web_search"},
		{agent: "copilot-cli", files: files{"p/.github/copilot/settings.json": off}, want: "(disableAllHooks)"},
		{agent: "opencode", args: "opencode run --pure", want: "--pure"},
		{agent: "opencode", env: "OPENCODE_PURE", want: "OPENCODE_PURE"},
		{agent: "letta", files: files{"p/.letta/settings.json": `{"hooks": {"disabled": true}}`,
			"p/.letta/settings.local.json": `{"hooks": {"disabled": false}}`}, want: "(hooks.disabled)"},
	} {
		a, err := Find(All(), test.agent)
		if err != nil {
			t.Fatal(err)
		}
		m := machine(t)
		folder := t.TempDir()
		m.Root, m.Dir = filepath.Join(folder, "root"), filepath.Join(folder, "p")
		m.Env = func(name string) string { return map[string]string{test.env: "1"}[name] }
		if test.args != "" {
			m.Sessions = func(string) []agent.Session {
				return []agent.Session{{PID: 7, Dir: m.Dir, Args: strings.Fields(strings.ReplaceAll(test.args, `": `, `":`)),
					Env: func(string) string { return "" }}}
			}
		}
		install(t, a, m, false)
		for name, text := range test.files {
			path := filepath.Join(folder, name)
			if below, ok := strings.CutPrefix(name, "~/"); ok {
				path = filepath.Join(m.Home, below)
			}
			write(t, path, text)
		}
		s, err := a.Status(m)
		said := ""
		if err := errors.Join(s.Off...); err != nil {
			said = err.Error()
		}
		if err != nil || (said == "") != (test.want == "") || !strings.Contains(said, test.want) {
			t.Errorf("%s, %v %s %s: %q, %v, want %q", test.agent, test.files, test.args, test.env, said, err, test.want)
		}
	}
}

// A version is read from the npm package that has the program as its command, and from no other; else the program says
// it.
func TestVersion(t *testing.T) {
	for _, test := range []struct{ manifest, want string }{
		{`{"version": "1.0.7", "bin": {"copilot": "./bin/copilot"}}`, "1.0.7"},
		{`{"version": "1.0.7", "bin": "bin/copilot"}`, "1.0.7"},
		{`{"version": "1.0.7", "bin": {"other": "bin/other"}}`, "2.0.102"},
		{`{"version": "newest", "bin": "bin/copilot"}`, "2.0.102"},
		{`{`, "2.0.102"},
	} {
		m, folder := machine(t), t.TempDir()
		program := filepath.Join(folder, "bin", "copilot")
		write(t, program, "")
		write(t, filepath.Join(folder, "package.json"), test.manifest)
		m.Look = func(string) (string, error) { return program, nil }
		m.Run = func(string, ...string) (string, error) {
			return "GitHub Copilot CLI 2.0.102.\nRun 'copilot update'.", nil
		}
		a, err := Find(All(), "copilot-cli")
		if err != nil {
			t.Fatal(err)
		}
		if s, err := a.Status(m); err != nil || s.Version != test.want {
			t.Errorf("%s: %q, %v, want %q", test.manifest, s.Version, err, test.want)
		}
	}
}
