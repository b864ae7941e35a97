package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"nod/changes"
	"nod/ipc/remote"
	"nod/policy/config"
)

// Command returns the command that runs nod relay --stdio on a machine, as the user, with the user's own ssh and keys.
// A relay that it starts knows its desk from the beginning, so that no stranger can connect first. It fails if the
// machine's name is not valid.
func Command(m config.Machine, desk remote.Key) ([]string, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	there := []string{m.Host, "nod", "relay", "--stdio", "--desk", desk.String()}
	if m.Kind == config.MachineSSH {
		// Whatever the user's configuration of ssh says, nothing is asked on a terminal that the user does not see, nothing
		// of this machine is forwarded to the other one, and nothing else prevents the connection.
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

// How long a carrier waits before it runs the command again; it doubles after each failure.
const (
	firstWait = time.Second
	lastWait  = 30 * time.Second
)

// carrier runs a command again whenever it ends. It implements [Carrier].
type commandCarrier struct {
	start   func() (transport, error)
	changed func()
	retry   changes.Signal // somebody waits for the connection

	mu    sync.Mutex // guards state
	state remote.State
}

type transport interface {
	net.Conn
	// problem returns why it ended, in words for the user, once it was closed. It is empty if it did not fail.
	problem() string
}

// NewCommandCarrier returns a carrier that runs a command of [Command]. changed is called whenever the command has
// ended. It must not block.
func NewCommandCarrier(command []string, log *slog.Logger, changed func()) Carrier {
	return newCommandCarrier(func() (transport, error) { return start(command, log) }, changed)
}

func newCommandCarrier(start func() (transport, error), changed func()) *commandCarrier {
	return &commandCarrier{
		start: start, changed: changed, retry: changes.NewSignal(), state: remote.State{Since: time.Now()},
	}
}

// Run implements [Carrier].
func (c *commandCarrier) Run(ctx context.Context, serve func(context.Context, net.Conn) error) error {
	for wait := firstWait; ctx.Err() == nil; {
		began := time.Now()
		c.connect(ctx, serve)
		if time.Since(began) > lastWait { // it was up
			wait = firstWait
		}
		select {
		case <-ctx.Done():
		case <-c.retry:
			wait = firstWait
		case <-time.After(wait):
			wait = min(2*wait, lastWait)
		}
	}
	return nil
}

// connect runs the command once, for as long as the connection holds.
func (c *commandCarrier) connect(ctx context.Context, serve func(context.Context, net.Conn) error) {
	conn, err := c.start()
	if err != nil {
		c.failed(err.Error())
		return
	}
	err = serve(ctx, conn)
	_ = conn.Close()
	problem := conn.problem()
	if ctx.Err() == nil {
		c.failed(cmp.Or(problemOf(err), problem))
	}
}

func (c *commandCarrier) failed(problem string) {
	c.mu.Lock()
	c.state.Problem = problem
	c.mu.Unlock()
	c.changed()
}

// State implements [Carrier].
func (c *commandCarrier) State() remote.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Wake implements [Carrier].
func (c *commandCarrier) Wake(remote.Key) { c.retry.Send() }

// process is a running command. It implements [transport].
type process struct {
	net.Conn // [Bare]
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      io.ReadCloser
	stderr   tail
	log      *slog.Logger
}

func start(command []string, log *slog.Logger) (transport, error) {
	p := &process{Conn: Bare, cmd: exec.Command(command[0], command[1:]...), log: log}
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
		log.Error("a connection command does not start", "command", command, "err", err)
		return nil, errors.New(problemNotInstalled)
	}
	return p, nil
}

// Read implements [io.Reader].
func (p *process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write implements [io.Writer].
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close implements [io.Closer]. The command ends on its own once its input has ended.
func (p *process) Close() error {
	_, _ = p.in.Close(), p.out.Close() // they may be closed already
	return nil
}

// problem implements [transport]. It waits for the command to end, and kills it if that takes too long.
func (p *process) problem() string {
	kill := time.AfterFunc(endTime, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	err := p.cmd.Wait()
	said := strings.TrimSpace(string(p.stderr)) // nothing more is written to it
	if err != nil || said != "" {
		p.log.Info("a connection command ended", "command", p.cmd.Args, "err", err, "said", said)
	}
	return problemSaid(filepath.Base(p.cmd.Args[0]), p.cmd.ProcessState.ExitCode(), said)
}

// tail is the end of what was written to it.
type tail []byte

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	all := append(*t, b...)
	*t = all[max(0, len(all)-maxStderr):]
	return len(b), nil
}
