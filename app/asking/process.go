package asking

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"time"

	"nod/app/desktop"
	"nod/ipc/operator"
	"nod/ownfile/ownprocess"
)

type process struct {
	pid     int
	session *operator.Session
	hangUp  func() // closes nod's end of the connection, so that the process ends on its own
	kill    func() // ends it immediately
	usage   func() usage
	exited  <-chan error // receives once how it ended
}

// usage is how long a process ran and waited for a processor, as far as the system reports it.
type usage struct {
	ran    time.Duration // its first thread, which has the windows
	waited time.Duration // its threads for a processor, in all
}

// stopwatch returns a function that returns how much time the process has had to work since. Time spent waiting for a
// processor does not count, so that windows on a busy machine do not seem to hang.
func (p *process) stopwatch() func() time.Duration {
	began, before := time.Now(), p.usage()
	return func() time.Duration {
		now := p.usage()
		return max(now.ran-before.ran, time.Since(began)-(now.waited-before.waited))
	}
}

// leastPatience is the shortest wait between two checks of that time.
const leastPatience = 100 * time.Millisecond

// ping makes the windows handle an event. It fails if they do not within [pingPatience].
func (p *process) ping(ctx context.Context) error {
	for had := p.stopwatch(); ; {
		err := p.session.Ping(ctx, max(pingPatience-had(), leastPatience))
		if err == nil || had() >= pingPatience {
			return err
		}
	}
}

// end ends the process, immediately if why says that it hangs. It returns why the process ended, or nil if nod wanted
// it to.
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
	case exited && failed.ExitCode() == operator.ExitDisplayLost:
		return errDisplayLost
	case exited && failed.ExitCode() == operator.ExitVersion:
		return operator.ErrVersion
	case why == nil:
		return nil
	case exit != nil:
		return fmt.Errorf("%w: %w", why, exit)
	}
	return why
}

// cacheTime is how long Fyne caches what it has drawn, such as each line of a long text.
const cacheTime = 20 * time.Second

// startWindows starts a windows process that op serves. It does not wait for the process to connect.
func (d *Desk) startWindows(ctx context.Context, op operator.Operator) (*process, error) {
	env, err := displayEnv(ctx)
	if err != nil {
		return nil, err
	}
	conn, in, out, err := ownprocess.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the windows: %w", err)
	}
	said, stderr := io.Pipe()
	cmd := exec.Command(d.cfg.Dialogs)
	cmd.Env = slices.Concat(os.Environ(), env, []string{"FYNE_CACHE=" + cacheTime.String()})
	cmd.SysProcAttr, cmd.WaitDelay = ownprocess.OwnGroup(), endPatience
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, stderr
	err = cmd.Start()
	_, _ = in.Close(), out.Close() // the same file, or two
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the windows: %w", err), conn.Close())
	}
	session := operator.Serve(conn, conn, op, d.cfg.Version, d.log)
	go logLines(said, d.log)
	exited := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = stderr.Close()
		select {
		case <-session.Done: // all that it said has been read
		case <-time.After(endPatience):
		}
		exited <- err
	}()
	return &process{
		pid: cmd.Process.Pid, session: session, exited: exited,
		hangUp: func() { _ = conn.CloseWrite() },
		kill:   func() { _ = cmd.Process.Kill() },
		usage:  func() usage { return usageOf(cmd.Process.Pid) },
	}, nil
}

// maxLogLine limits a line of the windows process in the log, in bytes.
const maxLogLine = 4096

// logLines copies the standard error of the windows process into the log.
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
