package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"
	"github.com/gofrs/flock"

	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/ownfile"
)

// places are the paths of a relay's files.
type places struct {
	dir   string // where the endpoint is published
	key   string
	desks string
	spool string
	lock  string
}

func locate() (places, error) {
	data, dataErr := ownfile.In(xdg.DataHome, "")
	state, stateErr := ownfile.In(xdg.StateHome, "")
	dir, err := endpoint.Dir()
	return places{
		dir: dir, key: filepath.Join(data, "relay.key"), desks: filepath.Join(data, "desks.json"),
		spool: filepath.Join(state, "relay.jsonl"), lock: filepath.Join(state, "relay.lock"),
	}, cmp.Or(dataErr, stateErr, err)
}

// runningError means that another nod already takes the requests of this user's agents.
type runningError struct {
	pid     int
	isRelay bool
}

func (e *runningError) Error() string {
	if e.isRelay {
		return fmt.Sprintf("a relay is already running (pid %d): to stop it, run: nod stop", e.pid)
	}
	return fmt.Sprintf("nod-desktop is running here (pid %d), so this machine has a desk of its own: "+
		"to have other desks answer, quit it first", e.pid)
}

const (
	claimTimeout  = 5 * time.Second       // how long another nod may take to start, to answer or to end
	claimInterval = 50 * time.Millisecond // between two looks at whether it does
)

// claim makes this process the only nod that takes the requests of this user's agents while the returned locks are
// held; however the process ends, they are released. claim waits for another nod that does not answer, which may be
// about to end.
func claim(ctx context.Context, at places) (locks, error) {
	if err := os.MkdirAll(filepath.Dir(at.lock), 0o700); err != nil {
		return nil, fmt.Errorf("make the relay's folder: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	for {
		held, err := lockAll(at)
		if held != nil || err != nil {
			return held, err
		}
		err = whoRuns(ctx, at.dir)
		if _, running := errors.AsType[*runningError](err); running {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(claimInterval):
		}
	}
}

// lockAll takes both locks, or none if another process has one: the lock of nod-desktop, and that of the folder with
// the relay's data, which a relay with another runtime folder may use, too.
func lockAll(at places) (held locks, err error) {
	for _, lock := range []*flock.Flock{endpoint.InstanceLock(at.dir), flock.New(at.lock, flock.SetPermissions(0o600))} {
		locked, err := lock.TryLock()
		if err == nil && locked {
			held = append(held, lock)
			continue
		}
		held.release()
		if err != nil {
			return nil, fmt.Errorf("check that nod runs only once: lock %s: %w", lock.Path(), err)
		}
		return nil, nil
	}
	return held, nil
}

// locks are what a relay holds while it runs.
type locks []*flock.Flock

func (l locks) release() {
	for _, lock := range l {
		_ = lock.Close() // they go with the process, too
	}
}

// whoRuns returns an error that says which nod holds the lock.
func whoRuns(ctx context.Context, dir string) error {
	e, err := endpoint.Read(dir)
	if err == nil {
		c := client.Client{Endpoint: e}
		health, healthErr := c.Health(ctx)
		if healthErr == nil {
			return &runningError{pid: e.PID, isRelay: health.Relay != nil}
		}
		err = healthErr
	}
	return fmt.Errorf("another nod of this user is running but does not answer (%w): stop it and try again", err)
}
