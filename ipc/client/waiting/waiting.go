// Package waiting ends the waits of nod's own commands: when whoever ran them has ended, which withdraws the request,
// and when nod-desktop hangs, which looks like a user who takes their time.
package waiting

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/peer"
	"nod/policy/process"
)

var (
	// ErrCallerGone ends a wait whose caller has ended.
	ErrCallerGone = errors.New("the program that ran this has ended, so nobody waits for the answer")
	// ErrHung ends a wait for a nod-desktop that should have answered long ago.
	ErrHung = errors.New("nod-desktop hangs: quit it and run: nod start")
)

const (
	// atOnce is how soon a hook has its reply when nobody is asked. Until then nothing watches over its wait.
	atOnce = 50 * time.Millisecond
	// grace is how much longer than a request's own time-out nod waits for the reply that says so.
	grace = 10 * time.Second
	// restartTime is how long an agent waits for the next nod-desktop when the one that it asked has died.
	restartTime = 30 * time.Second
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
// It fails with [ErrCallerGone] when the agent has ended. When there is no reply at once it also ends with a signal.
func Hook(ctx context.Context, h client.HookCall) ([]byte, error) {
	self := peer.Self(isErrand)
	if process.IsOrphan(self, agentsProcesses{}) {
		return nil, ErrCallerGone
	}
	cl, err := client.Discover()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(atOnce, func() { cancel(gaveUp(ctx, self, cl)) })
	defer watch.Stop()
	GiveUp(cl, func() { cancel(nil) })
	reply, err := cl.Hook(ctx, h)
	if context.Cause(ctx) == ErrCallerGone {
		return nil, ErrCallerGone
	}
	return reply, err
}

// GiveUp calls cancel when a nod-desktop that cl has asked died and no other has followed in time: an agent or an
// editor can ask by itself.
func GiveUp(cl *client.Client, cancel func()) {
	cl.Lost = func() {
		dead := cl.Current()
		time.AfterFunc(restartTime, func() {
			if cl.Current() == dead {
				cancel()
			}
		})
	}
}

// gaveUp waits until there is a reason to wait no longer for what self has asked.
func gaveUp(ctx context.Context, self api.Process, cl *client.Client) error {
	ctx, cancel := context.WithTimeoutCause(ctx, api.MaxHookWait+grace, ErrHung)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, forget := whileWaitedFor(ctx, self, agentsProcesses{})
	defer forget()
	ctx, end := WhileAlive(ctx, cl.Health)
	defer end()
	<-ctx.Done()
	return context.Cause(ctx)
}
