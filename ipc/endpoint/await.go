package endpoint

import (
	"context"
	"fmt"
	"time"
)

// lookEvery is how soon an endpoint that was published is seen.
const lookEvery = 50 * time.Millisecond

// Await waits until an endpoint other than old is published in dir, and returns it. It ignores endpoints that [Read]
// refuses. The error is the cause of ctx's end.
func Await(ctx context.Context, dir string, old Endpoint) (Endpoint, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if e, err := Read(dir); err == nil && e != old {
			return e, nil
		}
		select {
		case <-ctx.Done():
			return Endpoint{}, fmt.Errorf("wait for an endpoint in %s: %w", dir, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
