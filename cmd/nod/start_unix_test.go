//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"nod/ipc/programs"
)

// A program that becomes ready is noticed although another start has put its own file in the place of the first one's.
func TestTwoStartsAtOnce(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ready := make(chan error, 1)
	go func() {
		script := `read url < "$0"; echo "$1$url"; read end < "$0"`
		s, err := launch(t.Context(), time.Minute, "nod-desktop", "/bin/sh", "-c", script, pipe, programs.ReadyLine)
		if err == nil && s.URL != "here" {
			t.Errorf("ready at %q", s.URL)
		}
		ready <- err
	}()
	tell, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once the program runs
	if err != nil {
		t.Fatal(err)
	}
	defer tell.Close()
	other, err := createOutput("nod-desktop")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := tell.WriteString("here\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-ready; err != nil {
		t.Error(err)
	}
}
