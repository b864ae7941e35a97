//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// agentName is the name of the program that stands in for a coding agent: nod shows it as the one who asks.
// It is this test's own binary under that name.
const agentName = "claude"

// agent prepares the agent to run a command.
func (n *nod) agent(args ...string) *exec.Cmd {
	n.t.Helper()
	return n.inProject(n.Command(n.borrow(agentName), args...))
}

// borrow makes this test's own binary available under another name, and returns its path.
func (n *nod) borrow(name string) string {
	n.t.Helper()
	path := filepath.Join(n.Home(), ".local", "bin", name)
	if _, err := os.Stat(path); err != nil {
		self, err := os.Executable()
		must(n.t, err)
		must(n.t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(n.t, copyProgram(self, path))
	}
	return path
}

// copyProgram makes the program at from available at to. A symbolic link would not do: the kernel tells of
// a process where its program really is.
func copyProgram(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeProgram(to, string(text))
}

// writeProgram makes a program. No test starts one meanwhile: its process would, until it is that program, have this
// one open for writing, and the kernel refuses to run such a program.
func writeProgram(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o700)
}

// TestWrittenProgramsRun writes programs, and runs them at once, while other tests start theirs.
func TestWrittenProgramsRun(t *testing.T) {
	t.Parallel()
	var others sync.WaitGroup
	ended := make(chan struct{})
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					_ = exec.Command("true").Run()
				}
			}
		})
	}
	defer others.Wait()
	defer close(ended)
	for i := range 200 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		must(t, writeProgram(path, "#!/bin/sh\n"))
		if err := exec.Command(path).Run(); err != nil {
			t.Fatalf("program %d: %v", i, err)
		}
	}
}

// beAgent runs a command and returns its exit status. Like a coding agent it does nothing to have the command die with
// it.
func beAgent(args []string) int {
	if args[0] == filming {
		if err := playAgent(args[1], args[2], args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // which reach the command as well, and are for it
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	return cmd.ProcessState.ExitCode()
}
