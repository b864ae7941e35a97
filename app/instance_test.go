package app

import (
	"errors"
	"net"
	"os"
	"testing"
)

func TestSecondStartRaisesTheFirst(t *testing.T) {
	dir := t.TempDir()
	first, err := claimInstance(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	raised := make(chan struct{}, 1)
	first.serve(func() { raised <- struct{}{} })

	_, err = claimInstance(t.Context(), dir)
	var running *RunningError
	if !errors.As(err, &running) {
		t.Fatalf("second start: %v, want a RunningError", err)
	}
	if running.PID != os.Getpid() {
		t.Errorf("second start names pid %d, want %d", running.PID, os.Getpid())
	}
	<-raised

	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := claimInstance(t.Context(), dir)
	if err != nil {
		t.Fatalf("start after the first has ended: %v", err)
	}
	third.Close()
}

func TestStartOverALeftSocket(t *testing.T) {
	dir := t.TempDir()
	left, err := net.Listen("unix", instanceSocket(dir))
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false) // as a process that was killed leaves it
	left.Close()

	i, err := claimInstance(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	info, err := os.Stat(instanceSocket(dir))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("socket has mode %v, want 0600", info.Mode().Perm())
	}
}

func TestSecondStartBesideAMuteFirstFails(t *testing.T) {
	dir := t.TempDir()
	first, err := claimInstance(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	first.listener.Close() // it hangs: the lock is held and nobody answers
	defer first.lock.Close()

	_, err = claimInstance(t.Context(), dir)
	var running *RunningError
	if err == nil || errors.As(err, &running) {
		t.Errorf("second start: %v, want an error that is no RunningError", err)
	}
}
