package agent

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestRunOf(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/nod hook a":                       "/usr/bin/nod",
		"nod hook a":                                "nod",
		"'/my tools/nod' hook a":                    "/my tools/nod",
		`'/it'\''s/nod' hook a`:                     "/it's/nod",
		`'C:\Program Files\nod\nod.exe' hook a`:     `C:\Program Files\nod\nod.exe`,
		"'/$HOME/`x`/ü/nod' hook a":                 "/$HOME/`x`/ü/nod",
		"~/bin/nod hook a":                          "~/bin/nod",
		"$HOME/bin/nod hook a":                      "~/bin/nod",
		"${HOME}/bin/nod hook a":                    "~/bin/nod",
		"/usr/bin/nod hook b":                       "",
		" hook a":                                   "",
		"rm -rf /; /x/nod hook a":                   "",
		"'/a'; rm '/nod' hook a":                    "",
		"/x/$(rm)/nod hook a":                       "",
		"~/$(rm)/nod hook a":                        "",
		"sh${IFS}/nod hook a":                       "",
		"'/a/nod hook a":                            "",
		"/a b/nod hook a":                           "",
		"FOO=1 /x/nod hook a":                       "",
		"/usr/bin/nod hook a --loud":                "",
		`"/double quoted/nod" hook a`:               "",
		"'/usr/bin/nod' hook a":                     "", // not as nod quotes
		"/usr/bin/nod\n/bin/evil/nod hook a":        "",
		strings.Repeat("/long", 60) + "/nod hook a": strings.Repeat("/long", 60) + "/nod",
	} {
		if r, ok := RunOf(line, "a"); ok != (want != "") || r.Nod != want || ok && r.line != line {
			t.Errorf("%q: %+v, %v, want %q", line, r, ok, want)
		}
	}
}

// FuzzRunOf makes sure that a line is known only as what a shell runs: one command with two arguments.
func FuzzRunOf(f *testing.F) {
	if runtime.GOOS == "windows" {
		f.Skip("there is no shell")
	}
	for _, s := range []string{"/a/nod", "'/a b/nod'", `'it'\''s'`, "~/nod", "$HOME/x", "a;b", "é", "'a'b'", "\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		r, ok := RunOf(word+" hook a", "a")
		if !ok || strings.ContainsRune(word, 0) {
			return
		}
		cmd := exec.Command("/bin/sh", "-c", `printf '%s\n' `+r.line)
		cmd.Env = []string{"HOME=/h"}
		want := r.Nod
		if below, home := strings.CutPrefix(want, "~/"); home {
			want = "/h/" + below
		}
		if out, err := cmd.Output(); err != nil || string(out) != want+"\nhook\na\n" {
			t.Errorf("%q is %q to a shell (%v), and %q to nod", word, out, err, want)
		}
	})
}

func TestCommandIsReadAsItIsWritten(t *testing.T) {
	for _, nod := range []string{
		"/a/nod", "/a b/nod", "/it's/nod", "''", "/\u00fc\u4e2d/$x`y`\"z\\/nod", "~/x/nod", `C:\n\nod.exe`,
	} {
		if r, ok := RunOf(Command(nod, "a"), "a"); !ok || r.Nod != nod {
			t.Errorf("%q: %+v, %v", nod, r, ok)
		}
	}
}

// A command that does not end is ended.
func TestAProbeThatHangs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	nod := filepath.Join(t.TempDir(), "nod")
	if err := os.WriteFile(nod, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
	defer cancel()
	r, _ := RunOf(Command(nod, "a"), "a")
	if err := isNod(ctx, r); !errors.Is(err, late) {
		t.Errorf("err = %v", err)
	}
}

func TestCanRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file's name says whether it is a program")
	}
	folder := t.TempDir()
	for name, mode := range map[string]os.FileMode{"plain": 0o600, "program": 0o700} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"plain": "is not executable", "program": "", "gone": "does not exist", ".": "is not a program",
		"plain/below": "not a directory",
	} {
		err := canRun(filepath.Join(folder, name))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
