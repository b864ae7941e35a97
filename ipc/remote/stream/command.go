package stream

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"nod/ipc/remote"
	"nod/policy/config"
)

// RelayArgs are the arguments of nod that reach the relay of a machine. One that they start knows from its first moment
// which desk it is for: no stranger comes first.
func RelayArgs(desk remote.Key) []string {
	return []string{"relay", "--stdio", "--desk", desk.String()}
}

// Command is what runs nod on a machine, with those arguments. The error says that the machine's name is none.
func Command(m config.Machine, args ...string) ([]string, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	there := append([]string{m.Host, "nod"}, args...)
	if m.Kind == config.MachineSSH {
		// Whatever the person's configuration of ssh says: nothing is asked on a terminal that nobody sees, nothing of this
		// machine is lent to the other one, and nothing else keeps the connection from coming up.
		return append([]string{
			"ssh", "-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ClearAllForwardings=yes", "-o", "ConnectTimeout=15",
			"-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "-o", "RemoteCommand=none", "--",
		}, there...), nil
	}
	return append([]string{m.Kind, "exec", "-i"}, there...), nil
}

const (
	endTime   = 2 * time.Second // that a command has to end by itself
	maxStderr = 8 << 10         // bytes that are kept of what it said last
)

// process is a command that runs. It implements [transport].
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr tail
	log    *slog.Logger
	close  func()
}

// start runs the command.
func start(command []string, log *slog.Logger) (transport, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), log: log}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = endTime // what it has started may hold on to its standard error
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("run %s: %w", command[0], err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("run %s: %w", command[0], err)
	}
	if err := p.cmd.Start(); err != nil {
		log.Error("the command of a line does not start", "command", command, "err", err)
		return nil, errors.New(problemNotInstalled)
	}
	p.close = sync.OnceFunc(func() {
		_ = p.in.Close()
		_ = p.out.Close()
	})
	return p, nil
}

// Read implements [io.Reader].
func (p *process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write implements [io.Writer].
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close implements [io.Closer]: the command ends by itself when nobody talks to it.
func (p *process) Close() error {
	p.close()
	return nil
}

// Problem implements [transport]. It waits for the command to end, and ends it when that takes too long.
func (p *process) Problem() string {
	kill := time.AfterFunc(endTime, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	err := p.cmd.Wait()
	said := p.stderr.String()
	if err != nil || said != "" {
		p.log.Info("the command of a line has ended", "command", p.cmd.Args, "err", err, "said", said)
	}
	return problemOf(filepath.Base(p.cmd.Args[0]), p.cmd.ProcessState.ExitCode(), said)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxStderr):]
	return len(b), nil
}

// String is what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
