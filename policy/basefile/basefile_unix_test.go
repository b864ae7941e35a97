//go:build unix

package basefile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestReadTakesRegularAndModestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"large": strings.Repeat("x", MaxBytes+1), "binary": "a\x00b", "text": "hello\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	for name, want := range map[string]string{
		"pipe": notRegular, "/dev/zero": notRegular, ".": notRegular, "large": TooLarge, "binary": notText,
		"/proc/self/environ": lost, "text": "", "missing": "",
	} {
		f := Read(name, dir)
		if f.Problem != want || len(f.Text) > MaxBytes {
			t.Errorf("%s: problem %q with %d bytes of text, want %q", name, f.Problem, len(f.Text), want)
		}
		if want != "" && !slices.Contains(Problems, f.Problem) {
			t.Errorf("%s: %q is not among the problems", name, f.Problem)
		}
	}
	if f := Read("text", dir); f.Text != "hello\n" || !f.Exists {
		t.Errorf("a text: %+v", f)
	}
	if f := Read("missing", dir); f.Exists {
		t.Errorf("no file: %+v", f)
	}
}
