package ownlog

import (
	"context"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// A lock on hooks.lock says that somebody watches the hooks. It ends with the process that holds it.

func watchPath() string { return Path("hooks.lock") }

// IsWatched reports whether somebody watches the hooks. It is cheap if nobody ever did.
func IsWatched() bool {
	lock := flock.New(watchPath(), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if free {
		_ = lock.Unlock() // the end of the process unlocks it, too
	}
	return err == nil && !free
}

// watchInterval is how often a second watcher checks whether the first has ended.
const watchInterval = 50 * time.Millisecond

// Watch turns on logging of hooks until ctx ends.
func Watch(ctx context.Context) error {
	f, err := Open(watchPath())
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	lock := flock.New(watchPath())
	locked, err := lock.TryLock()
	if err != nil {
		return err
	}
	go func() {
		if !locked {
			_, _ = lock.TryLockContext(ctx, watchInterval) // the error is that of ctx
		}
		<-ctx.Done()
		_ = lock.Unlock()
	}()
	return nil
}
