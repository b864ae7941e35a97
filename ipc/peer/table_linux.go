package peer

import (
	"context"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nod/api"
)

// hasEnded looks at the start as well as at the id. A process that nobody can see any longer has ended.
func hasEnded(p api.Parent) bool {
	s, err := readStat(p.PID)
	return err != nil || s.isZombie || !timeOf(s.started).Equal(p.Started)
}

// awaitEnd has the runtime's poller wait, so that it costs a file descriptor and no thread.
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
	if hasEnded(p) { // only now: whose the descriptor is does not change any more
		return true
	}
	if !awaitReadable(ctx, f) {
		return ctx.Err() == nil && pollEnd(ctx, p)
	}
	return true
}

// awaitReadable waits until there is something to read: of a process, its end.
func awaitReadable(ctx context.Context, f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) }) // wakes the read below
	defer stop()
	readable := false
	_ = conn.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		readable = err == nil && n > 0
		return readable
	})
	return readable
}

// arguments returns the first arguments of a process; none when they cannot be read.
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
