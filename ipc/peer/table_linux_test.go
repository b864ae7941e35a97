package peer

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
)

// started starts a program that says a line once it runs, and returns it as the table knows it.
func started(t *testing.T, program string, args ...string) (*exec.Cmd, api.Parent) {
	t.Helper()
	cmd := exec.Command(program, args...)
	in, err := cmd.StdinPipe() // its end ends what reads from it
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p, err := readProcess(int32(cmd.Process.Pid), time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, api.Parent{PID: p.PID, Exe: p.Exe, Started: p.Started}
}

// waiting starts a process that does nothing until it is killed.
func waiting(t *testing.T) (*exec.Cmd, api.Parent) {
	return started(t, "sh", "-c", "echo ready; exec cat")
}

// awaited says what AwaitEnd returned.
func awaited(ctx context.Context, ps ...api.Parent) <-chan bool {
	ended := make(chan bool, 1)
	go func() { ended <- Table{}.AwaitEnd(ctx, ps...) }()
	return ended
}

func TestEnd(t *testing.T) {
	_, other := waiting(t)
	cmd, p := waiting(t)
	if (Table{}).Ended(other, p) {
		t.Fatal("processes that run have ended")
	}
	ended := awaited(t.Context(), other, p)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !<-ended {
		t.Error("the wait ended without an end")
	}
	if !(Table{}).Ended(other, p) { // nobody has waited for it: it is a zombie
		t.Error("a zombie has not ended")
	}
	cmd.Wait()
	if !(Table{}).Ended(p) || !<-awaited(t.Context(), p) {
		t.Error("what is gone has not ended")
	}
}

// A process that has the id of one that ended is not that one.
func TestReusedID(t *testing.T) {
	_, p := waiting(t)
	p.Started = p.Started.Add(-time.Second / ticksPerSecond)
	if !(Table{}).Ended(p) {
		t.Error("it is taken for another with its id")
	}
	if !<-awaited(t.Context(), p) {
		t.Error("it is waited for in place of another with its id")
	}
}

func TestWaitIsCancelled(t *testing.T) {
	_, p := waiting(t)
	files := openFiles(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := awaited(ctx, p, p)
	cancel()
	if <-ended {
		t.Error("a process that runs has ended")
	}
	if now := openFiles(t); now > files {
		t.Errorf("%d files open, %d before", now, files)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// Without process file descriptors it takes a look now and then.
func TestPolledEnd(t *testing.T) {
	cmd, p := waiting(t)
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan bool, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- pollEnd(ctx, p) }()
		time.Sleep(3 * pollEvery)
		select {
		case got := <-ended:
			t.Fatalf("returned %v, though nothing has happened", got)
		default:
		}
		cancel()
		if <-ended {
			t.Error("a process that runs has ended")
		}
		go func() { ended <- pollEnd(t.Context(), p) }()
		synctest.Wait()
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if !<-ended {
			t.Error("the wait ended without an end")
		}
	})
}

func TestIsInline(t *testing.T) {
	script := t.TempDir() + "/script"
	if err := os.WriteFile(script, []byte("echo ready; read x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"dash", "bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			if _, line := started(t, shell, "-c", "echo ready; read x"); !(Table{}).IsInline(line) {
				t.Error("a line is none")
			}
			if _, s := started(t, shell, script, "-c"); (Table{}).IsInline(s) {
				t.Error("a script is a line")
			}
		})
	}
	if (Table{}).IsInline(api.Parent{}) {
		t.Error("nobody runs a line")
	}
}

func TestLeadsTerminal(t *testing.T) {
	if _, p := waiting(t); (Table{}).LeadsTerminal(p) {
		t.Error("a process without a session of its own leads a terminal")
	}
	cmd := exec.Command("script", "-qec", "echo $$; read x", "/dev/null") // runs a shell on a terminal of its own
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if !(Table{}).LeadsTerminal(api.Parent{PID: int32(pid)}) {
		t.Error("the shell of a terminal does not lead its session")
	}
}

func TestSelf(t *testing.T) {
	p := Self(nil)
	if p.PID != int32(os.Getpid()) || len(p.Parents) == 0 || p.Parents[0].PID != int32(os.Getppid()) {
		t.Fatalf("%+v", p)
	}
	if (Table{}).Ended(p.Parents...) {
		t.Error("our own parents have ended")
	}
}

func BenchmarkEnded(b *testing.B) {
	p := Self(nil)
	for b.Loop() {
		if (Table{}).Ended(p.Parents[0]) {
			b.Fatal("ended")
		}
	}
}
