package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RunningError means that nod-desktop runs already, and that it was asked to show itself.
type RunningError struct{ PID int }

func (e *RunningError) Error() string {
	return fmt.Sprintf("nod is already running (pid %d); raised it", e.PID)
}

// instancePatience is how long the running instance may take to answer a second start.
const instancePatience = 2 * time.Second

// errLocked means that another process holds the lock.
var errLocked = errors.New("locked by another process")

// instance is the only running nod-desktop of this user. It holds a lock for as long as the process lives,
// however it ends, and listens for further starts, which raise it instead of running. That is all a
// connection can do: it carries no command.
type instance struct {
	lock     *os.File
	listener net.Listener
	done     sync.WaitGroup
}

// claimInstance makes this process the only instance in the folder dir. When another one runs it raises
// that one and returns a [*RunningError].
func claimInstance(ctx context.Context, dir string) (*instance, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "instance.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("single instance: %w", err)
	}
	err = lockFile(lock)
	if errors.Is(err, errLocked) {
		lock.Close()
		return nil, raiseOther(ctx, dir)
	}
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("single instance: lock %s: %w", lock.Name(), err)
	}
	listener, err := listenInstance(ctx, dir)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &instance{lock: lock, listener: listener}, nil
}

func listenInstance(ctx context.Context, dir string) (net.Listener, error) {
	path := instanceSocket(dir)
	// Whoever holds the lock owns the socket: what lies there was left by a process that died.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("single instance: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("single instance: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil { // the folder is 0700 already; this is the second lock on the door
		listener.Close()
		return nil, fmt.Errorf("single instance: %w", err)
	}
	return listener, nil
}

func instanceSocket(dir string) string { return filepath.Join(dir, "instance.sock") }

// serve calls raise whenever nod is started again, until Close.
func (i *instance) serve(raise func()) {
	i.done.Go(func() {
		for {
			conn, err := i.listener.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(instancePatience))
			fmt.Fprintln(conn, os.Getpid())
			conn.Close()
			raise()
		}
	})
}

// Close lets another instance start.
func (i *instance) Close() error {
	err := i.listener.Close()
	i.done.Wait()
	return errors.Join(err, i.lock.Close())
}

// raiseOther connects to the running instance, which raises it, and returns a [*RunningError].
func raiseOther(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, instancePatience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", instanceSocket(dir))
	if err != nil {
		return fmt.Errorf("nod is already running but does not answer (%w); end it and start again", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(instancePatience))
	line, err := bufio.NewReader(io.LimitReader(conn, 32)).ReadString('\n')
	if err != nil {
		return fmt.Errorf("nod is already running but does not answer (%w); end it and start again", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return fmt.Errorf("nod is already running but answers %q; end it and start again", line)
	}
	return &RunningError{PID: pid}
}
