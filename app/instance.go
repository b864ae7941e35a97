package app

import (
	"context"
	"fmt"
	"time"

	"nod/ipc/client"
	"nod/ipc/endpoint"

	"github.com/gofrs/flock"
)

// RunningError means that another nod-desktop is running, which was asked to show itself.
type RunningError struct{ PID int }

func (e *RunningError) Error() string {
	return fmt.Sprintf("nod is already running (pid %d); raised it", e.PID)
}

const (
	claimTimeout  = 10 * time.Second      // how long another nod-desktop may take to start, to answer or to end
	claimInterval = 50 * time.Millisecond // between two looks at whether it does
)

// claimInstance makes this process the only nod-desktop that publishes its endpoint in the folder dir while the
// returned lock is open. If another one runs, claimInstance raises it and returns a [*RunningError]. It waits for one
// that is starting or ending.
func claimInstance(ctx context.Context, dir string) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, claimTimeout, fmt.Errorf("no answer within %s", claimTimeout))
	defer cancel()
	lock := endpoint.InstanceLock(dir)
	for {
		locked, err := lock.TryLock()
		switch {
		case err != nil:
			return nil, fmt.Errorf("make sure that nod runs only once: lock %s: %w: set XDG_RUNTIME_DIR to a folder on this "+
				"machine", lock.Path(), err)
		case locked:
			return lock, nil
		}
		pid, err := raiseRunning(ctx, dir)
		if err == nil {
			return nil, &RunningError{PID: pid}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("nod is already running but does not answer (%w): end nod-desktop and start it again", err)
		case <-time.After(claimInterval):
		}
	}
}

// raiseRunning raises the nod-desktop that is published in dir, and returns its process ID.
func raiseRunning(ctx context.Context, dir string) (pid int, err error) {
	e, err := endpoint.Read(dir)
	if err != nil {
		return 0, err
	}
	c := client.Client{Endpoint: e}
	return e.PID, c.Raise(ctx, false)
}
