//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// ending makes a process of the test's wait for its end as nod-desktop does, and then hang.
const ending = "NOD_TEST_ENDING"

func TestMain(m *testing.M) {
	if os.Getenv(ending) != "" {
		ctx := untilSignal()
		fmt.Println("running")
		<-ctx.Done()
		fmt.Println("ending")
		select {}
	}
	os.Exit(m.Run())
}

// Each signal ends nod in order; a second one ends a nod that hangs at that.
func TestSignals(t *testing.T) {
	for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sent.String(), func(t *testing.T) {
			if signal.Ignored(sent) { // as under nohup: nod ignores it as well then
				t.Skip("this run ignores the signal")
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), ending+"=1")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			lines := bufio.NewScanner(out)
			for _, want := range []string{"running", "ending"} {
				if lines.Scan(); lines.Text() != want {
					t.Fatalf("it says %q, want %q", lines.Text(), want)
				}
				if err := cmd.Process.Signal(sent); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.Sys().(syscall.WaitStatus); !got.Signaled() || got.Signal() != sent {
				t.Errorf("after the second signal: %v", cmd.ProcessState)
			}
		})
	}
}

// Whoever started nod may stop reading what it prints: it goes on all the same.
func TestNobodyReads(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ending+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil { // it prints another line
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for { // until the signal counts, which ends it
		select {
		case <-ended:
			if got := cmd.ProcessState.Sys().(syscall.WaitStatus); got.Signal() != syscall.SIGTERM {
				t.Errorf("it ended by itself: %v", cmd.ProcessState)
			}
			return
		case <-time.After(10 * time.Millisecond):
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}
}
