//go:build unix

package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"nod/e2e/interacttest"
	"nod/ipc"
	"nod/ipc/endpoint"
)

// instanceDir names, in the environment of a test's own processes, the folder in which to be the only instance.
const instanceDir = "NOD_TEST_INSTANCE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(instanceDir); dir != "" {
		if err := beInstance(dir); err != nil {
			fmt.Println(err)
		}
		return
	}
	os.Exit(m.Run())
}

// beInstance starts as nod-desktop does, once its standard input says so, and runs until its standard input ends.
func beInstance(dir string) error {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("here")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lock, err := claimInstance(ctx, dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	var raised atomic.Int32
	server, err := listenIn(dir, func() { raised.Add(1) })
	if err != nil {
		return err
	}
	served := make(chan error)
	go func() { served <- server.Serve(ctx) }()
	fmt.Println("running")
	_, _ = io.Copy(io.Discard, in)
	fmt.Println("raised", raised.Load())
	cancel()
	return <-served
}

// instanceProcess is a process of the test's that starts as nod-desktop does.
type instanceProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startInstance(t *testing.T, dir string) *instanceProcess {
	t.Helper()
	p := &instanceProcess{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), instanceDir+"="+dir)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.in.Close(); p.cmd.Wait() })
	if line := p.line(); line != "here" {
		t.Fatalf("the process says %q", line)
	}
	return p
}

// line is the next that the process says; empty when it has ended.
func (p *instanceProcess) line() string {
	p.out.Scan()
	return p.out.Text()
}

// Of two that start at once, a hundred times, exactly one runs, and the other one raises it.
func TestTwoStartsAtOnce(t *testing.T) {
	for i := range 100 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := runtimeDir(t)
			pair := []*instanceProcess{startInstance(t, dir), startInstance(t, dir)}
			for _, p := range pair {
				fmt.Fprintln(p.in)
			}
			said := []string{pair[0].line(), pair[1].line()}
			winner := slices.Index(said, "running")
			if winner < 0 {
				t.Fatalf("they say %q", said)
			}
			want := (&RunningError{PID: pair[winner].cmd.Process.Pid}).Error()
			pair[winner].in.Close()
			if raised := pair[winner].line(); said[1-winner] != want || raised != "raised 1" {
				t.Errorf("they say %q, the winner %q", said, raised)
			}
		})
	}
}

// Where the path is too long for a socket, a second start finds the first one by its port.
func TestSecondStartWhereThereIsNoSocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 120), "nod")
	if err := os.Mkdir(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := claimInstance(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	raised := false
	server, err := listenIn(dir, func() { raised = true })
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- server.Serve(ctx) }()
	_, err = claimInstance(t.Context(), dir)
	stop()
	if running, ok := errors.AsType[*RunningError](err); !ok || running.PID != os.Getpid() || !raised {
		t.Errorf("second start: %v, raised: %v", err, raised)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Nobody makes room for a second nod by deleting the first one's folder.
func TestSecondStartAfterTheFolderIsDeleted(t *testing.T) {
	dir := runtimeDir(t)
	if err := endpoint.Ensure(dir); err != nil {
		t.Fatal(err)
	}
	lock, err := claimInstance(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("impatient"))
	if second, err := claimInstance(ctx, dir); err == nil {
		second.Close()
		t.Error("a second one runs beside the first")
	}
}

// One that starts while the other one ends takes its place.
func TestStartWhileTheOtherEnds(t *testing.T) {
	dir := runtimeDir(t)
	first, err := claimInstance(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	claimed := make(chan error)
	go func() {
		second, err := claimInstance(t.Context(), dir)
		if err == nil {
			second.Close()
		}
		claimed <- err
	}()
	first.Close()
	if err := <-claimed; err != nil {
		t.Error(err)
	}
}

// A nod that hangs is not taken for one that was raised.
func TestSecondStartBesideAMuteFirstFails(t *testing.T) {
	dir := runtimeDir(t)
	first, err := claimInstance(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // its patience is at an end
	_, err = claimInstance(ctx, dir)
	if running, ok := errors.AsType[*RunningError](err); err == nil || ok {
		t.Errorf("second start: %v, %v; want an error that is no RunningError", err, running)
	}
}

// runtimeDir is a folder for an endpoint whose path is short enough for a socket.
func runtimeDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "nod")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	return filepath.Join(parent, "nod")
}

func listenIn(dir string, raise func()) (*ipc.Server, error) {
	return ipc.Listen(ipc.Config{
		Address: "127.0.0.1:0", Dir: dir, Version: "test", Log: slog.New(slog.DiscardHandler),
		Raise:  func(context.Context, bool) error { raise(); return nil },
		Broker: interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{}),
	})
}
