package agent

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestIs has an agent be what its command leads to, and nothing else that bears its name.
func TestIs(t *testing.T) {
	home := t.TempDir()
	make := func(path string) string {
		path = filepath.Join(home, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o700)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(target, path string) string {
		path = filepath.Join(home, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link(make(".local/share/claude/versions/2.1.330"), ".local/bin/claude")
	old := make(".local/share/claude/versions/2.1.329")
	inPath := link(make("lib/node_modules/@openai/codex/bin/codex.js"), "bin/codex")
	native := make("lib/node_modules/@openai/codex-linux-x64/vendor/x86_64/codex/codex")
	plain := make(".nvm/versions/node/v22.1.0/bin/crush")
	m := Machine{Home: home, Look: func(name string) (string, error) {
		if name == "codex" {
			return inPath, nil
		}
		return "", errors.New("not in the PATH")
	}}
	for _, tt := range []struct {
		program, exe string
		want         bool
	}{
		{"claude", filepath.Join(home, ".local/share/claude/versions/2.1.330"), true},
		{"claude", old, true},
		{"claude", old + " (deleted)", true},
		{"codex", native, true},
		{"crush", plain, true},

		{"claude", make("elsewhere/claude"), false},
		{"claude", make("elsewhere/.local/share/claude/versions/2.1.330"), false},
		{"claude", make(".local/share/claude/versions/2.1.330.d/claude"), false},
		{"claude", make(".local/share/claude/versions/evil"), false},
		{"claude", make(".local/bin/claude-evil"), false},
		{"claude", native, false},
		{"codex", make("lib/node_modules/@openai/codex/vendor/node"), false},
		{"codex", make("lib/node_modules/codex"), false},
		{"codex", make("project/node_modules/@openai/codex/codex"), false},
		{"codex", "/usr/bin/node", false},
		{"crush", make(".nvm/versions/node/v22.1.0/bin/node"), false},
		{"", "", false},
		{"", "/usr/bin/node", false},
		{"gone", filepath.Join(home, ".local/bin/gone"), false},
	} {
		if got := (Agent{Program: tt.program}).Is(m, tt.exe); got != tt.want {
			t.Errorf("%s is %s: %v, want %v", tt.exe, tt.program, got, tt.want)
		}
	}
}

// A program that leaves another one running, which has its output open, tells its version all the same.
func TestVersionOfWhatLeavesAProgram(t *testing.T) {
	dir := t.TempDir()
	program, script := filepath.Join(dir, "agent"), "#!/bin/sh\nread line <'"+dir+"/pipe' &\necho agent 1.2.3\n"
	if err := exec.Command("mkfifo", dir+"/pipe").Run(); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if v := (Machine{Run: output}).version(program); v != "1.2.3" {
		t.Errorf("version %q", v)
	}
	pipe, err := os.OpenFile(dir+"/pipe", os.O_RDWR, 0) // ends the other
	if err := errors.Join(err, pipe.Close()); err != nil {
		t.Error(err)
	}
}
