//go:build unix

package dialogs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fyne.io/fyne/v2/test"
)

func TestBaseFileIsRegularAndModest(t *testing.T) {
	test.NewTempApp(t)
	dir := project(t, "large", strings.Repeat("x", maxBaseBytes+1))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "binary"), []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"pipe": "what is there is not a regular file", "/dev/zero": "what is there is not a regular file",
		"large": "the file there is too large to compare", "binary": "the file there is not a text",
		"/proc/self/environ": "nod cannot tell which file this is",
	} {
		if b := readBase(name, dir); b.problem != want || len(b.text) > maxBaseBytes {
			t.Errorf("%s: problem %q with %d bytes of text, want %q", name, b.problem, len(b.text), want)
		}
	}
}
