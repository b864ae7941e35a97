//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A command can write anything to the file with its shell's folder: only a folder is passed on, and nobody waits.
func TestPassFolder(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	passed := func() string {
		passFolder(from, to)
		text, _ := os.ReadFile(to)
		return string(text)
	}
	if err := syscall.Mkfifo(from, 0o600); err != nil {
		t.Fatal(err)
	}
	if is := passed(); is != "" {
		t.Errorf("a pipe passes %q", is)
	}
	for text, want := range map[string]string{dir + "\n": dir + "\n", from + "\n": "", "a\n": "", dir + "\n/\n": ""} {
		_, _ = os.Remove(from), os.Remove(to)
		if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if is := passed(); is != want {
			t.Errorf("%q passes %q", text, is)
		}
	}
}
