//go:build linux

package desktop

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
)

// launcher starts programs and ends them. Each runs in a process group of its own, so that its children
// end with it, and gets a SIGKILL from the kernel should this process die first. The kernel ties that to
// the thread that started the program, so one locked thread starts them all and lives to the end.
type launcher struct {
	starts chan start

	mu      sync.Mutex // guards running
	running []program  // in the order of their starts
}

type start struct {
	cmd *exec.Cmd
	err chan<- error
}

type program struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

func newLauncher() *launcher {
	l := &launcher{starts: make(chan start)}
	go l.serve()
	return l
}

func (l *launcher) serve() {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
	for s := range l.starts {
		s.err <- s.cmd.Start()
	}
}

// launch starts cmd and returns a channel that is closed when it has ended.
func (l *launcher) launch(cmd *exec.Cmd) (<-chan struct{}, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	err := make(chan error)
	l.starts <- start{cmd, err}
	if err := <-err; err != nil {
		return nil, err
	}
	p := program{cmd, make(chan struct{})}
	l.mu.Lock()
	l.running = append(l.running, p)
	l.mu.Unlock()
	go func() {
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
		l.forget(p)
		close(p.ended)
	}()
	return p.ended, nil
}

// forget drops a program that has ended, unless children of its group have stayed: the system gives its number to
// another process sooner or later, which must not be killed in its place.
func (l *launcher) forget(p program) {
	if syscall.Kill(-p.cmd.Process.Pid, 0) == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = slices.DeleteFunc(l.running, func(other program) bool { return other.cmd == p.cmd })
}

// find returns the program of that name that was started last.
func (l *launcher) find(name string) (program, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range slices.Backward(l.running) {
		if p.cmd.Args[0] == name {
			return p, nil
		}
	}
	return program{}, fmt.Errorf("%s does not run", name)
}

// close kills all programs, the last started first.
func (l *launcher) close() {
	l.mu.Lock()
	running := slices.Clone(l.running)
	l.mu.Unlock()
	for _, p := range slices.Backward(running) {
		p.kill()
	}
	close(l.starts)
}

// kill ends the program's group. A group whose leader has ended is killed too: children may have stayed.
func (p program) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // fails when nothing is left of the group
	<-p.ended
}
