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
	"time"

	"nod/app/desktop"
	"nod/ipc/operator"
)

// process is a windows process that was started.
type process struct {
	pid     int
	session *operator.Session
	hangUp  func()       // closes nod's end of the connection, at which the process ends by itself
	kill    func()       // ends it at once
	exited  <-chan error // receives once how it ended
}

// end ends the process, at once when why says that it hangs, and returns why it ended: nil when nod wanted it to.
func (p *process) end(why error) error {
	if why == nil {
		p.hangUp()
	} else if !errors.Is(why, errEnded) {
		p.kill()
	}
	var exit error
	select {
	case exit = <-p.exited:
	case <-time.After(endPatience):
		p.kill()
		exit = <-p.exited
	}
	p.session.Close()
	failed, exited := errors.AsType[*exec.ExitError](exit)
	switch {
	case exited && failed.ExitCode() == operator.ExitNoDisplay:
		return fmt.Errorf("%w: the display server refused nod; check DISPLAY and XAUTHORITY", desktop.ErrNoDisplay)
	case exited && failed.ExitCode() == operator.ExitVersion:
		return operator.ErrVersion
	case why == nil:
		return nil
	case exit != nil:
		return fmt.Errorf("%w: %w", why, exit)
	}
	return why
}

// startWindows starts a windows process. It returns before that has introduced itself.
func (p *program) startWindows(ctx context.Context) (*process, error) {
	env, err := displayEnv(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(p.dialogs)
	cmd.Env, cmd.SysProcAttr, cmd.WaitDelay = append(os.Environ(), env...), ownGroup(), endPatience
	out, stdout := io.Pipe()
	said, stderr := io.Pipe()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the windows: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the windows: %w", err), in.Close())
	}
	session := operator.Serve(out, in, operatorAPI{p.windows, p}, p.opts.Version, p.log)
	go logLines(said, p.log)
	exited := make(chan error, 1)
	go func() {
		err := cmd.Wait() // all that it said has been read
		_, _ = stdout.Close(), stderr.Close()
		exited <- err
	}()
	return &process{
		pid: cmd.Process.Pid, session: session, exited: exited,
		hangUp: func() { _ = in.Close() },
		kill:   func() { _ = cmd.Process.Kill() },
	}, nil
}

// maxLogLine is how much of a line of the windows process goes into one of the log, in bytes.
const maxLogLine = 4096

// logLines takes what the windows process says on its standard error into nod's log, until that ends.
func logLines(said io.Reader, log *slog.Logger) {
	lines := bufio.NewReaderSize(said, maxLogLine)
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		log.Info("windows", "says", string(line))
	}
}
