package peer

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nod/api"
)

// running holds descriptors of processes that ran when they were last checked, by id and start time. A program that
// calls often is checked at each call, and a descriptor makes that one cheap system call.
var running = struct {
	sync.RWMutex // closing a descriptor takes the write lock
	fds          map[identity]int
}{fds: map[identity]int{}}

const maxRunning = 4 // agents that call often

type identity struct {
	pid int32
	at  int64 // Unix time in nanoseconds
}

// hasEnded is [isOver], but keeps a descriptor of a process that runs.
func hasEnded(p api.Parent) bool {
	key := identity{p.PID, p.Started.UnixNano()}
	if runs(key) {
		return false
	}
	running.Lock()
	defer running.Unlock()
	if fd, isKnown := running.fds[key]; isKnown {
		unix.Close(fd)
		delete(running.fds, key)
	}
	fd, err := unix.PidfdOpen(int(p.PID), 0) // first: whose the descriptor is does not change any more
	if isOver(p) {
		if err == nil {
			unix.Close(fd)
		}
		return true
	}
	if err == nil {
		if len(running.fds) >= maxRunning {
			for _, old := range running.fds {
				unix.Close(old)
			}
			clear(running.fds)
		}
		running.fds[key] = fd
	}
	return false
}

// runs reports whether there is a descriptor of a process that says that it runs.
func runs(key identity) bool {
	running.RLock()
	defer running.RUnlock()
	fd, isKnown := running.fds[key]
	return isKnown && !isReadable(fd)
}

// isOver checks the start time as well as the id. A process that can no longer be seen has ended.
func isOver(p api.Parent) bool {
	s, err := readStat(p.PID)
	return err != nil || s.isZombie || !timeOf(s.started).Equal(p.Started)
}

// isReadable reports whether a descriptor is readable. That of a process is once the process has ended.
func isReadable(fd int) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0
}

// awaitEnd waits in the runtime's poller, which costs a file descriptor but no thread.
func awaitEnd(ctx context.Context, p api.Parent) bool {
	fd, err := unix.PidfdOpen(int(p.PID), 0)
	if err != nil {
		return pollEnd(ctx, p)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return pollEnd(ctx, p)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if isOver(p) { // only now: whose the descriptor is does not change any more
		return true
	}
	if !awaitReadable(ctx, f) {
		return ctx.Err() == nil && pollEnd(ctx, p)
	}
	return true
}

// awaitReadable waits until [isReadable].
func awaitReadable(ctx context.Context, f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) }) // wakes the read below
	defer stop()
	readable := false
	_ = conn.Read(func(fd uintptr) bool {
		readable = isReadable(int(fd))
		return readable
	})
	return readable
}

// arguments returns the first arguments of a process, or none if they cannot be read.
func arguments(pid int32) []string {
	fd, err := unix.Open(procPath(pid, "cmdline"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var buf [4096]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil || n <= 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00")
}

func leadsTerminal(pid int32) bool {
	s, err := readStat(pid)
	return err == nil && s.session == pid && s.terminal != 0
}
