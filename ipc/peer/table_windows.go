package peer

import (
	"context"

	"golang.org/x/sys/windows"

	"nod/api"
)

// open returns a handle of the process; ended when it has ended or its id was given to another.
func open(p api.Parent) (h windows.Handle, ended bool) {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(p.PID))
	if err != nil {
		return 0, true
	}
	var created, exited, kernel, user windows.Filetime
	err = windows.GetProcessTimes(h, &created, &exited, &kernel, &user)
	if err != nil || created.Nanoseconds()/1e6 != p.Started.UnixMilli() {
		windows.CloseHandle(h)
		return 0, true
	}
	return h, false
}

// hasEnded looks at the start as well as at the id. A process that nobody can see any longer has ended.
func hasEnded(p api.Parent) bool {
	h, ended := open(p)
	if ended {
		return true
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err != nil || event == windows.WAIT_OBJECT_0
}

// awaitEnd waits for either of two handles: the process's, or that of an event with which ctx ends the wait.
func awaitEnd(ctx context.Context, p api.Parent) bool {
	h, ended := open(p)
	if ended {
		return true
	}
	defer windows.CloseHandle(h)
	wake, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return pollEnd(ctx, p)
	}
	defer windows.CloseHandle(wake)
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_ = windows.SetEvent(wake)
	})
	defer func() {
		if !stop() {
			<-woken // before the event is closed
		}
	}()
	event, err := windows.WaitForMultipleObjects([]windows.Handle{h, wake}, false, windows.INFINITE)
	if err != nil {
		return pollEnd(ctx, p)
	}
	return event == windows.WAIT_OBJECT_0
}
