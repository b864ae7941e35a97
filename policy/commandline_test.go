//go:build unix

package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// What a shell command means for the decision.
func TestCommandLines(t *testing.T) {
	home := tree(t)
	places := Places{Home: home, Own: []string{filepath.Join(home, ".config", "nod")}}
	if err := os.WriteFile(filepath.Join(home, "src", "shop", "server.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	anywhere := Policy{AutoAllow: []Class{ReadOnly}}
	bounded := Policy{AutoAllow: []Class{ReadOnly}, TrustedRoots: []string{"~/src"}}
	allowed := func(command string) Policy {
		return Policy{Rules: []Rule{{ID: "r", Effect: Allow, Tool: "Bash", Command: command}}}
	}
	tests := []struct {
		name    string
		policy  Policy
		command string
		effect  Effect
		rule    string
	}{
		{"reads", anywhere, "cat a.go | grep func", Allow, "class:read_only"},
		{"reads above", anywhere, "ls -la ..", Allow, "class:read_only"},
		{"writes", anywhere, "touch b.go", Ask, ""},
		{"reads and writes", anywhere, "cat a.go && rm a.go", Ask, ""},
		{"reads a secret", anywhere, "cat ~/.ssh/id_rsa", Ask, "builtin:secrets"},
		{"reads a secret by its pattern", anywhere, "cat *.pem", Ask, "builtin:secrets"},
		{"reads a secret among others", anywhere, "cat *", Ask, "builtin:secrets"},
		{"reads secrets that it looks for", anywhere, "find . -name .env -exec cat {} +", Ask, "builtin:secrets"},
		{"looks at folders, where a file keeps secrets", anywhere, "ls -d */", Allow, "class:read_only"},
		{"looks at all, secrets too", anywhere, "ls -d *", Ask, "builtin:secrets"},
		{"looks for secrets", anywhere, "find . -name .env", Allow, "class:read_only"},
		{"reads secrets that a pipe names", anywhere, "find . -regex '.*/\\.env' | xargs cat", Ask, "builtin:secrets"},
		{"reads secrets whose names stand in", anywhere, "cat $(find . -iname '*.PEM')", Ask, "builtin:secrets"},
		{"reads what it looks for", anywhere, "find . -not -name .env -name '*.go' | xargs cat", Allow, "class:read_only"},
		{"reads nod's own files", anywhere, "cat ~/.config/nod/config.yaml", Ask, "builtin:secrets"},
		{"reads all of home", anywhere, "grep -r x ~", Ask, "builtin:secrets"},
		{"reads a device", anywhere, "cat /proc/self/environ", Ask, ""},
		{"reads of the machine", anywhere, "head -5 /proc/cpuinfo", Allow, "class:read_only"},
		{"reads of the machine by a way around", anywhere, "cat /proc/self/../cpuinfo", Ask, ""},
		{"git without trust", anywhere, "git status", Ask, ""},
		{"git in a trusted folder", bounded, "git status", Allow, "class:read_only"},
		{"inside", bounded, "cat a.go", Allow, "class:read_only"},
		{"outside", bounded, "cat /usr/share/dict/words", Ask, "builtin:outside"},
		{"out through a link", bounded, "cat ../link/secret", Ask, "builtin:outside"},
		{"unreadable", allowed("ls && ("), "ls && (", Ask, "builtin:shell"},
		{"drives the screen", allowed("xdotool key Return"), "xdotool key Return", Ask, "builtin:screen"},
		{"types into another prompt", allowed("tmux send-keys y Enter"), "tmux send-keys y Enter", Ask, "builtin:screen"},
		{"changes nod's own files", allowed("touch ~/.config/nod/x"), "touch ~/.config/nod/x", Ask, "builtin:own_files"},
		{
			"changes them after cd", allowed("cd ../../.config && touch nod/x"), "cd ../../.config && touch nod/x", Ask,
			"builtin:own_files",
		},
		{
			"changes a git hook", allowed("echo x > .git/hooks/pre-commit"), "echo x > .git/hooks/pre-commit", Ask,
			"builtin:guarded",
		},
		{"exactly what a rule allows", allowed("make test"), "make test", Allow, "r"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Compile(tt.policy, places)
			if err != nil {
				t.Fatal(err)
			}
			call := bash(tt.command)
			call.CWD = filepath.Join(home, "src", "shop")
			if d := Decide(call, p, testNow); d.Effect != tt.effect || d.Rule != tt.rule {
				t.Errorf("%q: %s by %q (%s), want %s by %q", tt.command, d.Effect, d.Rule, d.Reason, tt.effect, tt.rule)
			}
		})
	}
}

// A rule about a class that asks or denies holds for command lines by what they do; one that allows does not.
func TestClassesOfCommandLines(t *testing.T) {
	for command, class := range map[string]Class{
		"rm x": Destructive, "ls | xargs rm": Destructive, "find . | parallel rm": Destructive, "gzip a": Destructive,
		"find . -delete": Destructive, "tar --remove-files -cf a.tar b": Destructive, "sh -c 'zip -m a.zip b'": Destructive,
		"git clean -fd": Destructive, "curl https://example.org": Network,
		"make": Unknown, "touch x": Unknown,
	} {
		for _, effect := range []Effect{Allow, Ask, Deny} {
			for _, ruled := range []Class{Destructive, Network} {
				rules := []Rule{{ID: "r", Effect: effect, Class: ruled}}
				p, err := Compile(Policy{Rules: rules}, Places{Home: "/home/u"})
				if err != nil {
					t.Fatal(err)
				}
				want := Ask
				if ruled == class && effect == Deny {
					want = Deny
				}
				if d := Decide(bash(command), p, testNow); d.Effect != want {
					t.Errorf("%s all that is %s: %s is %s, want %s", effect, ruled, command, d.Effect, want)
				}
			}
		}
	}
}

// git remote -v passes where no address holds a password or token.
func TestAddressesOfRemotes(t *testing.T) {
	home := tree(t)
	shop := filepath.Join(home, "src", "shop")
	p, err := Compile(Default(), Places{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]Effect{
		"git@example.org:a/shop.git": Allow, "https://user:secret@example.org/a/shop": Ask,
	} {
		for name, text := range map[string]string{
			"HEAD": "ref: refs/heads/main\n", "objects/x": "", "refs/x": "",
			"config": "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = " + address + "\n",
		} {
			file := filepath.Join(shop, ".git", name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, command := range []string{"git remote -v", "git remote get-url origin", "git config remote.origin.url"} {
			call := bash(command)
			call.CWD = shop
			if d := Decide(call, p, testNow); d.Effect != want {
				t.Errorf("%s of %s: %s, %s", command, address, d.Effect, d.Reason)
			}
		}
	}
}

// git reflog passes where no command in it was given a password or token.
func TestAddressesInReflog(t *testing.T) {
	home := tree(t)
	project := newProject(t, home)
	p := compileIn(t, Default(), Places{Home: home})
	for text, want := range map[string]Effect{
		"": Allow, "pull ssh://git@example.org/a: Fast-forward": Allow, "commit: ask a@b.c? :-@": Allow,
		"pull https://user:secret@example.org/a HEAD: Fast-forward": Ask, "pull https://secret@example.org/a": Ask,
	} {
		if err := os.MkdirAll(filepath.Join(project, ".git/logs"), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(project, ".git/logs/HEAD"), text)
		for _, command := range []string{"git reflog", "git reflog show main", "git log -g", "git log --walk-reflogs -3"} {
			call := bash(command)
			call.CWD = project
			if d := Decide(call, p, testNow); d.Effect != want {
				t.Errorf("%s with %q: %s, %s", command, text, d.Effect, d.Reason)
			}
		}
	}
}

// Only what an agent that nod knows hands to a POSIX shell, with nothing beside it, is read.
func TestOnlyPlainShellsAreRead(t *testing.T) {
	p := compiled(t, Policy{AutoAllow: []Class{ReadOnly}})
	call := func(agent, tool, input string) Call {
		return Call{Agent: agent, Tool: tool, CWD: "/home/u/src", Input: ReadInput(json.RawMessage(input))}
	}
	tests := map[string]struct {
		call Call
		want Effect
	}{
		"plain":            {call("claude-code", "Bash", `{"command":"ls","description":"List"}`), Allow},
		"another agent":    {call("gemini-cli", "run_shell_command", `{"command":"ls"}`), Allow},
		"no agent":         {call("", "Bash", `{"command":"ls"}`), Ask},
		"unknown agent":    {call("mallory", "Bash", `{"command":"ls"}`), Ask},
		"PowerShell":       {call("claude-code", "PowerShell", `{"command":"ls"}`), Ask},
		"a watcher":        {call("claude-code", "Monitor", `{"command":"ls"}`), Ask},
		"look-alike":       {call("claude-code", "bash", `{"command":"ls"}`), Ask},
		"with environment": {call("claude-code", "Bash", `{"command":"ls","env":{"LD_PRELOAD":"x"}}`), Ask},
		"declared stricter": {
			Call{Agent: "claude-code", Tool: "Bash", Declared: Execute, Input: ReadInput(json.RawMessage(`{"command":"ls"}`))},
			Ask,
		},
		"argument vector": {call("codex", "Bash", `{"command":["ls"]}`), Ask},
		"said twice":      {call("claude-code", "Bash", `{"command":"ls","command":"rm x"}`), Ask},
	}
	for name, tt := range tests {
		if d := Decide(tt.call, p, testNow); d.Effect != tt.want {
			t.Errorf("%s: %s (%s), want %s", name, d.Effect, d.Reason, tt.want)
		}
	}
}
