package peer

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"nod/api"
)

// zombie is the state of a process that has ended, and whose parent has not asked how: SZOMB of <sys/proc.h>.
const zombie = 5

// hasEnded looks at the start as well as at the id. A process that nobody can see any longer has ended.
func hasEnded(p api.Parent) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", int(p.PID))
	if err != nil || info.Proc.P_stat == zombie {
		return true
	}
	started := info.Proc.P_starttime
	return time.Unix(started.Sec, int64(started.Usec)*1000).UnixMilli() != p.Started.UnixMilli()
}

// awaitEnd waits for either of two events: the process's end, or one of its own with which ctx ends the wait.
func awaitEnd(ctx context.Context, p api.Parent) bool {
	queue, err := unix.Kqueue()
	if err != nil {
		return pollEnd(ctx, p)
	}
	defer unix.Close(queue)
	var end, wake unix.Kevent_t
	unix.SetKevent(&end, int(p.PID), unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	end.Fflags = unix.NOTE_EXIT
	unix.SetKevent(&wake, 0, unix.EVFILT_USER, unix.EV_ADD)
	if _, err := unix.Kevent(queue, []unix.Kevent_t{end, wake}, nil, nil); err != nil || hasEnded(p) {
		return pollEnd(ctx, p) // at once, when it has
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		wake.Flags, wake.Fflags = 0, unix.NOTE_TRIGGER
		_, _ = unix.Kevent(queue, []unix.Kevent_t{wake}, nil, nil)
	})
	defer func() {
		if !stop() {
			<-woken // before the queue is closed
		}
	}()
	for {
		var happened [1]unix.Kevent_t
		switch n, err := unix.Kevent(queue, nil, happened[:], nil); {
		case err == unix.EINTR || err == nil && n == 0:
		case err != nil:
			return pollEnd(ctx, p)
		default:
			return happened[0].Filter == unix.EVFILT_PROC
		}
	}
}
