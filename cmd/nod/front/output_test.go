package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// printing runs a script whose output goes to one file, or to two, and returns what they hold.
func printing(t *testing.T, script string, isOne bool) (o *output, stdout, stderr string) {
	t.Helper()
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	if isOne {
		files[1] = files[0]
	}
	o, err := newOutput(files[0], files[1])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout, cmd.Stderr = o.stdout, o.stderr
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	o.end()
	var texts [2]string
	for i, f := range files {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return o, texts[0], texts[1]
}

// What a command prints arrives whole and in order, and says whether the sandbox may be why the command failed.
func TestOutput(t *testing.T) {
	const many = "i=0; while [ $i -lt 3000 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done"
	_, one, _ := printing(t, many, true)
	_, out, errs := printing(t, many, false)
	lines := strings.Split(strings.TrimSpace(one), "\n")
	if len(lines) != 6000 || lines[0] != "out0" || lines[1] != "err0" || lines[5999] != "err2999" {
		t.Errorf("%d lines in one file, or not in order", len(lines))
	}
	if strings.Count(out, "\n") != 3000 || strings.Count(errs, "\n") != 3000 || !strings.HasSuffix(out, "out2999\n") {
		t.Errorf("%d and %d bytes in two files", len(out), len(errs))
	}
	for script, want := range map[string]bool{
		"echo '--- FAIL: TestTotal (0.00s)'; echo 'got 3, want 4' >&2": false,
		"echo \"touch: cannot touch 'x': Read-only file system\" >&2":  true,
		"echo 'Error: EACCES: permission denied, open'":                true,
		"echo 'dial tcp: lookup db: no such host'":                     true,
		"echo Connection ref; echo used":                               false,
	} {
		if o, _, _ := printing(t, script, true); o.suspects.Load() != want {
			t.Errorf("%s: suspected %v, want %v", script, !want, want)
		}
	}
}

// A sign may come in pieces.
func TestSignInPieces(t *testing.T) {
	o := &output{}
	l := listener{output: o}
	for _, piece := range strings.Split("a line\nConnection| |refu|sed", "|") {
		if _, err := l.Write([]byte(piece)); err != nil || o.suspects.Load() != (piece == "sed") {
			t.Errorf("after %q: suspected %v, %v", piece, o.suspects.Load(), err)
		}
	}
}

// A command that writes to the terminal goes on doing so.
func TestOutputToTerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	o, err := newOutput(null, null)
	if err != nil {
		t.Fatal(err)
	}
	if o.stdout != null || o.stderr != null {
		t.Error("what is printed to a device is copied")
	}
	o.end()
}
