package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"nod/api"

	"nod/ipc/client"
)

// nod pending --follow prints what is pending and then what happens, at the next nod-desktop as well, until it is quit.
func TestFollow(t *testing.T) {
	for _, isJSON := range []bool{false, true} {
		t.Run(fmt.Sprint("json ", isJSON), func(t *testing.T) {
			runtime, err := os.MkdirTemp("", "nod") // a socket's address has no more than 104 bytes on some systems
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(runtime) })
			t.Setenv("XDG_RUNTIME_DIR", runtime)
			t.Setenv("HOME", t.TempDir())
			t.Setenv("NOD_TEST_HUMAN", "silent")
			desktop := startProgram(t, "nod-desktop")
			args := []string{"pending", "--follow"}
			if isJSON {
				args = append(args, "--json")
			}
			lines, complaints, ended := runFollowing(t, args...)
			for range 2 {
				id := detach(t)
				expectLine(t, lines, isJSON, api.Pending, id, complaints)
				withdraw(t, id)
				expectLine(t, lines, isJSON, api.Withdrawn, id, complaints)
				desktop.Process.Kill()
				desktop.Wait()
				desktop = startProgram(t, "nod-desktop")
			}
			id := detach(t) // the last nod-desktop is there
			for lines.Scan() && !strings.Contains(lines.Text(), id) {
			}
			desktop.Process.Signal(syscall.SIGTERM)
			if status := <-ended; status != int(exitUnreachable) || !strings.Contains(complaints.String(), "nod-desktop quit") {
				t.Errorf("status %d: %s", status, complaints)
			}
		})
	}
}

// startProgram starts a program, and waits until it says something.
func startProgram(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if !bufio.NewScanner(out).Scan() {
		t.Fatalf("%s ended without a word", name)
	}
	return cmd
}

// runFollowing runs nod, and returns what it prints as it comes.
func runFollowing(t *testing.T, args ...string) (out *bufio.Scanner, complaints *bytes.Buffer, ended chan int) {
	t.Helper()
	reads, writes := io.Pipe()
	complaints, ended = new(bytes.Buffer), make(chan int, 1)
	c := &console{in: strings.NewReader(""), out: writes, err: complaints}
	root := newRoot(c)
	root.SetArgs(args)
	go func() {
		cmd, err := root.ExecuteContextC(t.Context())
		ended <- c.conclude(t.Context(), cmd, err)
		writes.Close()
	}()
	return bufio.NewScanner(reads), complaints, ended
}

// detach asks a question that nobody waits for, and returns its id.
func detach(t *testing.T) string {
	t.Helper()
	cl, err := client.Discover()
	if err != nil {
		t.Fatal(err)
	}
	_, err = cl.Ask(t.Context(), api.AskRequest{Ask: api.Ask{Question: "?"}, Common: api.Common{Detach: true}})
	p, ok := err.(*client.Pending)
	if !ok {
		t.Fatal(err)
	}
	return p.ID
}

func withdraw(t *testing.T, id string) {
	t.Helper()
	cl, err := client.Discover()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cl.Withdraw(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// expectLine reads lines until one is about request id, which says what became of it.
func expectLine(
	t *testing.T, lines *bufio.Scanner, isJSON bool, status api.Outcome, id string, complaints *bytes.Buffer,
) {
	t.Helper()
	want := fmt.Sprintf("%-11s  %-7s  %s", status, api.KindAsk, id)
	if isJSON {
		want = fmt.Sprintf(`{"id":%q,"kind":"ask","status":%q`, id, status)
	}
	for lines.Scan() {
		if text := lines.Text(); strings.Contains(text, id) {
			if !strings.HasPrefix(text, want) {
				t.Errorf("got %s, want %s", text, want)
			}
			return
		}
	}
	t.Fatalf("the output ended: %v: %s", lines.Err(), complaints)
}
