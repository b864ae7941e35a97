package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

type outcome struct {
	started, ended bool
	status         int
	why            string
}

func (r *run) listen(serve func(*os.File)) (o outcome) {
	raw, err := r.control.SyscallConn()
	if err != nil {
		return o
	}
	message, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	for {
		n, m := 0, 0
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			n, m, _, _, failed = unix.Recvmsg(int(fd), message, rights, unix.MSG_CMSG_CLOEXEC)
			return failed != unix.EAGAIN && failed != unix.EINTR
		})
		if err != nil || failed != nil || n == 0 {
			return o
		}
		switch message[0] {
		case saysListening:
			if l, err := listener(rights[:m]); err == nil {
				defer l.Close()
				go func() {
					if awaitConnection(l) {
						serve(l)
					}
				}()
			}
		case saysStarted:
			o.started = true
		case saysEnded:
			o.ended = n > 1
			if o.ended {
				o.status, o.why = int(message[1]), string(message[2:n])
			}
		}
	}
}

func awaitConnection(listener *os.File) bool {
	raw, err := listener.SyscallConn()
	if err != nil {
		return false
	}
	return nil == raw.Read(func(fd uintptr) bool {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0
	})
}

func listener(rights []byte) (*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("receive a listener: %d messages: %w", len(messages), cmp.Or[error](err, unix.EBADMSG))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("receive a listener: %d files: %w", len(fds), cmp.Or[error](err, unix.EBADMSG))
	}
	err = unix.SetNonblock(fds[0], true) // or the poller could not wait for it
	return os.NewFile(uintptr(fds[0]), "proxy"), err
}

// unstarted wraps the reason why a command is not started although its sandbox could be built.
type unstarted struct{ error }

// Unwrap returns the reason itself.
func (u unstarted) Unwrap() error { return u.error }

func (r *run) forward(hold func() error, signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	if hold != nil {
		if err := hold(); err != nil {
			cancel(unstarted{err})
			return
		}
	}
	_, _ = r.control.Write([]byte{goAhead})
	for s := range signals {
		if n, ok := s.(syscall.Signal); ok {
			_, _ = r.control.Write([]byte{byte(n)})
		}
	}
}

func (r *run) result(ctx context.Context, o outcome, err error) (int, error) {
	switch {
	case errors.As(context.Cause(ctx), &unstarted{}):
		return 0, context.Cause(ctx)
	case ctx.Err() != nil:
		return 128 + int(unix.SIGKILL), fmt.Errorf("ended in the sandbox: %w", context.Cause(ctx))
	case o.started && o.ended && o.why != "":
		return o.status, fmt.Errorf("ended in the sandbox: %s", o.why)
	case o.ended && o.why != "": // the command itself could not be started
		return o.status, errors.New(o.why)
	case o.ended:
		return o.status, nil
	}
	reason, _, _ := strings.Cut(strings.TrimSpace(r.errors.String()), "\n")
	if reason == "" && err != nil {
		reason = err.Error()
	}
	if o.started {
		return 128 + int(unix.SIGKILL), fmt.Errorf("the sandbox ended before the command: %s", reason)
	}
	return 0, explain(errors.New(reason))
}

var errGone = errors.New("the program that started it has ended")

func watch(ctx context.Context, pid int, cancel context.CancelCauseFunc) error {
	if pid == 0 {
		return nil
	}
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	go func() {
		defer unix.Close(fd)
		for ctx.Err() == nil {
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, err := unix.Poll(poll, 100); n > 0 || err != nil && err != unix.EINTR {
				cancel(errGone)
				return
			}
		}
	}()
	return nil
}

func (r *run) sendPlan(plan plan) error {
	text, err := json.Marshal(plan)
	if err == nil {
		err = fill(r.plan, text)
	}
	if err == nil {
		_, err = r.control.Write([]byte{goAhead})
	}
	return err
}

func memory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("write the %s of a sandbox: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func fill(file *os.File, text []byte) error {
	if _, err := file.WriteAt(text, 0); err != nil { // unlike Write, it leaves the readers' offset at the start
		return fmt.Errorf("write the %s of a sandbox: %w", file.Name(), err)
	}
	return nil
}
