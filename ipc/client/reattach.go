package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nod/api"
	"nod/ipc/endpoint"
)

// call makes one call, and repeats it at the next nod-desktop if this one went away. A call that waits for the user may
// also wait for the next nod-desktop.
func (c *Client) call(ctx context.Context, r request) ([]byte, error) {
	var lost *LostError // the first one: afterwards the call waits
	for isAgain := false; ; isAgain = true {
		if isAgain && r.again != nil {
			r.again()
		}
		at := c.Current()
		text, err := exchange(ctx, at, r)
		if lost == nil && r.isWaiting {
			lost, _ = errors.AsType[*LostError](err)
		}
		if !isAbsent(err) {
			return text, err
		}
		if err := c.follow(ctx, at, err, lost); err != nil {
			return nil, err
		}
	}
}

// isAbsent reports whether an exchange failed because another nod-desktop runs or will run: no program listens, the
// connection broke, or the server does not know the token or its own address.
func isAbsent(err error) bool {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Code == api.CodeUnauthorized || p.Code == api.CodeForbidden
	}
	_, isLost := errors.AsType[*LostError](err)
	return isLost || errors.Is(err, ErrNotRunning)
}

// restartTime limits the wait for the next nod-desktop after one that quit without answering, since it may be
// restarting. One that died leaves its endpoint behind; the wait for its successor has no limit.
const restartTime = 10 * time.Second

var errQuit = errors.New("nod-desktop quit")

// follow makes c talk to the next nod-desktop after an exchange ended with err. It returns err if there is none. If
// lost is set, the call waits for the next nod-desktop.
func (c *Client) follow(ctx context.Context, at endpoint.Endpoint, err error, lost *LostError) error {
	if c.Dir == "" {
		return err
	}
	e, readErr := endpoint.Read(c.Dir)
	if readErr == nil && c.moved(at, e) {
		return nil
	}
	_, isLost := errors.AsType[*LostError](err)
	_, isRefused := errors.AsType[*Problem](err)
	switch {
	case isLost && lost == nil, isLost && isAlive(ctx, at): // it hung up, and would again
		return err
	case lost != nil:
		if c.Lost != nil { // also of one that was gone before the call reached it
			c.Lost()
		}
		if errors.Is(readErr, fs.ErrNotExist) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, restartTime, errQuit)
			defer cancel()
		}
		if waited := c.await(ctx, at); waited != nil {
			return &LostError{Err: lost.Err, waited: waited}
		}
		return nil
	case isRefused: // it has bound the address and will publish it next
		soon, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		if c.await(soon, at) == nil {
			return nil
		}
	}
	return err
}

// lookEvery is how often to look for a newly published endpoint.
const lookEvery = 50 * time.Millisecond

// await waits until an endpoint other than at is published, and makes c use it. It ignores endpoints that
// [endpoint.Read] refuses. The error is the cause of ctx's end.
func (c *Client) await(ctx context.Context, at endpoint.Endpoint) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if e, err := endpoint.Read(c.Dir); err == nil && c.moved(at, e) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for an endpoint in %s: %w", c.Dir, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// moved makes c use endpoint e, unless that is at.
func (c *Client) moved(at, e endpoint.Endpoint) bool {
	if e == at {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Endpoint = e
	return true
}

func isAlive(ctx context.Context, at endpoint.Endpoint) bool {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	_, err := exchange(ctx, at, request{method: get, path: "/v1/health"})
	return err == nil
}

// Reattach waits until a nod-desktop other than c's has published its endpoint, and makes c use it. Call it when a
// connection of [DialAt] broke. It fails with a [*LostError] that wraps broke if the same nod-desktop still answers, or
// c has no Dir.
func (c *Client) Reattach(ctx context.Context, broke error) error {
	lost := &LostError{Err: broke}
	return c.follow(ctx, c.Current(), lost, lost)
}
