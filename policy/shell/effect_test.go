package shell

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/policy/shell/language"
)

// builtins are the accepted programs that are part of the shells.
var builtins = language.Words("echo true false pwd cd type command printf test set wait exit")

// TestNothingChanges runs every accepted sample with bash in a scratch folder and sees no file change, but
// .git/index, which git refreshes when it looks.
func TestNothingChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of programs")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := scratch(t)
	before := fingerprint(t, dir)
	missing := map[string]bool{}
	ran := 0
	for _, command := range accepted(t) {
		if lacks := lacking(command); lacks != "" {
			missing[lacks] = true
			continue
		}
		ran++
		run(t, bash, dir, command)
		after := fingerprint(t, dir)
		if change := changed(before, after); change != "" {
			t.Errorf("%q changed %s", command, change)
			before = after
		}
	}
	t.Logf("ran %d commands; skipped those with a missing program: %q", ran, keysOf(missing))
}

func run(t *testing.T, bash, dir, command string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "-c", command)
	cmd.Dir = filepath.Join(dir, "work")
	cmd.Env = scratchEnv(dir)
	_ = cmd.Run() // grep fails when nothing matches; only the effect counts here
	if ctx.Err() != nil {
		t.Errorf("%q does not end", command)
	}
}

// scratchEnv is the environment of the commands: a home of their own and no settings from outside.
func scratchEnv(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "LC_ALL=C.UTF-8",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat", "TMPDIR=" + filepath.Join(dir, "tmp")}
}

// scratch makes a folder with the files that the samples name: work is a git repository, home a home folder.
func scratch(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"home/src/x": "x\n", "tmp/.keep": "",
		"work/a.txt": "a:1,x\nb:2,y\nfoo:3,z\n", "work/b.txt": "a:1,x\nc:4,w\n", "work/names.txt": "anna\nbob\n",
		"work/file": "x;y\n", "work/f": "one\n", "work/x": "x\n", "work/README.md": "# read me\n",
		"work/main.go": "package main\n\nfunc main() {}\n", "work/a.bin": "\x00\x01binary text\x02",
		"work/data.json": `{"name":"n","env":"e","items":[{"name":"x"}],"a b":1}` + "\n", "work/a b": "blank\n",
		"work/src/main.go": "package src // foo\n", "work/src/a": "a\n",
		"work/internal/x.go": "package internal // TODO\n", "work/-odd": "odd\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if git, err := exec.LookPath("git"); err == nil {
		makeRepository(t, git, dir)
	}
	return dir
}

func makeRepository(t testing.TB, git, dir string) {
	t.Helper()
	for _, line := range []string{
		"init -q -b main", "config user.name n", "config user.email n@example.org", "remote add origin https://example.org/x",
		"add -A", "commit -q -m one", "tag v1", "commit -q --allow-empty -m two", "branch feature",
	} {
		cmd := exec.Command(git, strings.Fields(line)...)
		cmd.Dir = filepath.Join(dir, "work")
		cmd.Env = scratchEnv(dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", line, err, out)
		}
	}
}

// lacking names a program of the command that this machine does not have.
func lacking(command string) string {
	for _, name := range Analyze(command).Programs {
		if _, err := exec.LookPath(name); err != nil && !builtins.Has(name) {
			return name
		}
	}
	return ""
}

// fingerprint maps every path below dir to its kind, mode, time of change and content.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || name == filepath.FromSlash("work/.git/index") {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if entry.IsDir() {
			out[name] = info.Mode().String() // git makes and removes index.lock, which touches the folder's time
			return nil
		}
		data, err := os.ReadFile(path)
		out[name] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime().UnixNano(), sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func changed(before, after map[string]string) string {
	var names []string
	for name, was := range before {
		if after[name] != was {
			names = append(names, name)
		}
	}
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func keysOf(set map[string]bool) []string {
	var out []string
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// TestDangerIsReal runs samples that must never be accepted and sees that they do what their reason says, so
// that the tables are not strict about ghosts.
func TestDangerIsReal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	for _, tt := range []struct{ shell, program, command string }{
		{"bash", "tree", "tree -Lo 1 out"},
		{"bash", "uniq", "uniq a.txt out"},
		{"bash", "xxd", "xxd a.txt out"},
		{"bash", "sort", "sort -uo out a.txt"},
		{"bash", "sed", "sed -n '1w out' a.txt"},
		{"bash", "find", "find . -fprint out"},
		{"bash", "git", "git diff --output=out HEAD~1"},
		{"bash", "git", "git branch -v out"},
		{"dash", "touch", "echo &>/dev/null touch out"},
		{"bash", "touch", "printf -v 'x[$(touch out)]' 1"},
		{"zsh", "touch", "printf %d 'PATH[$(touch out)]'"},
		{"zsh", "touch", "echo =(touch out)"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			shell, err := exec.LookPath(tt.shell)
			if _, missing := exec.LookPath(tt.program); errors.Join(err, missing) != nil {
				t.Skip("program missing")
			}
			if harmless(Analyze(tt.command), true) {
				t.Error("accepted")
			}
			dir := scratch(t)
			before := fingerprint(t, dir)
			cmd := exec.Command(shell, "-c", tt.command)
			cmd.Dir, cmd.Env = filepath.Join(dir, "work"), scratchEnv(dir)
			out, _ := cmd.CombinedOutput()
			if changed(before, fingerprint(t, dir)) == "" {
				t.Errorf("changed nothing; it said %s", bytes.TrimSpace(out))
			}
		})
	}
}
