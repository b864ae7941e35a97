// Package waiting ends the waits of nod's own commands: when whoever ran them has ended, which withdraws the request,
// and when nod-desktop hangs, which looks like a user who takes their time.
package waiting

import (
	"context"
	"errors"
	"time"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/peer"
	"nod/policy/process"
)

var (
	// ErrCallerGone ends a wait whose caller has ended.
	ErrCallerGone = errors.New("whoever ran this has ended, so nobody waits for the answer")
	// ErrHung ends a wait for a nod-desktop that should have answered long ago.
	ErrHung = errors.New("nod-desktop does not answer: it hangs; quit it and run: nod start")
)

const (
	grace       = 10 * time.Second // how much longer than a request's own time-out nod waits for the reply that says so
	restartTime = 30 * time.Second // how long a hook waits for the next nod-desktop when the one that it asked has died
)

// isErrand has the ancestors read as far as [process.Callers] looks at them.
func isErrand(p api.Parent) bool { return process.IsGoBetween(p.Exe) }

// WhileCalled cancels the context when one of the processes that wait for nod has ended: see [process.Callers].
func WhileCalled(ctx context.Context) (context.Context, context.CancelFunc) {
	return whileWaitedFor(ctx, peer.Self(isErrand), peer.Table{})
}

// WhileAgentRuns is WhileCalled for hooks and MCP servers, which only agents run, perhaps in a wrapper script. The
// context is cancelled from the start if the agent has already ended.
func WhileAgentRuns(ctx context.Context) (context.Context, context.CancelFunc) {
	self := peer.Self(isErrand)
	if process.IsOrphan(self, peer.Table{}) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(ErrCallerGone)
		return ctx, func() {}
	}
	return whileWaitedFor(ctx, self, agentsProcesses{})
}

// agentsProcesses assumes that every shell runs an agent's command line.
type agentsProcesses struct{ peer.Table }

// IsInline implements [process.Table].
func (agentsProcesses) IsInline(api.Parent) bool { return true }

func whileWaitedFor(ctx context.Context, self api.Process, t process.Table) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if callers := process.Callers(self, t); len(callers) > 1 { // the first is nod itself
		go func() {
			if t.AwaitEnd(ctx, callers[1:]...) {
				cancel(ErrCallerGone)
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// Bounded ends the wait when nod-desktop should have said long ago that the time is up. A timeout of 0 is the longest
// that nod-desktop has.
func Bounded(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if longest := api.MaxSeconds * time.Second; timeout <= 0 || timeout > longest {
		timeout = longest
	}
	return context.WithTimeoutCause(ctx, timeout+grace, ErrHung)
}

// WhileAlive ends the wait when nod-desktop does not say how it is.
func WhileAlive[R any](
	ctx context.Context, health func(context.Context) (R, error),
) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(grace):
			}
			probe, end := context.WithTimeout(ctx, grace)
			_, _ = health(probe) // any answer will do
			if errors.Is(probe.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
				cancel(ErrHung)
			}
			end()
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Hook passes on an agent's hook to the nod-desktop that runs, and returns the agent's own reply; nil is "no decision".
// It fails with [ErrCallerGone] when the agent has ended.
func Hook(ctx context.Context, h client.HookCall) ([]byte, error) {
	ctx, stop := WhileAgentRuns(ctx)
	defer stop()
	reply, err := hook(ctx, h)
	if context.Cause(ctx) == ErrCallerGone {
		return nil, ErrCallerGone
	}
	return reply, err
}

func hook(ctx context.Context, h client.HookCall) ([]byte, error) {
	cl, err := client.Discover()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, api.MaxHookWait+grace, ErrHung)
	defer cancel()
	cl.Lost = func() {
		dead := cl.Current()
		time.AfterFunc(restartTime, func() {
			if cl.Current() == dead {
				cancel()
			}
		})
	}
	ctx, stop := WhileAlive(ctx, cl.Health)
	defer stop()
	return cl.Hook(ctx, h)
}
