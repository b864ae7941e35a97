// Package waiting ends the waits of nod's own commands: when the program that ran them has ended, which withdraws the
// request, and when nod-desktop hangs, which would look like a slow user.
package waiting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
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
	// atOnce is how soon a hook has its reply if the user is not asked. Until then nothing watches its wait.
	atOnce = 50 * time.Millisecond
	// grace is how much longer than a request's own time-out nod waits for the reply that reports the time-out.
	grace = 10 * time.Second
	// restartTime is how long an agent waits for the next nod-desktop after the one that it asked has died.
	restartTime = 30 * time.Second
)

// EndedBy returns the signals that interrupt a wait: not a hang-up that is to be ignored, as under nohup.
func EndedBy() []os.Signal {
	hangUp := slices.DeleteFunc([]os.Signal{syscall.SIGHUP}, signal.Ignored)
	return append(hangUp, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
}

// isErrand makes the ancestors be read as far as [process.Callers] looks at them.
func isErrand(p api.Parent) bool { return process.IsGoBetween(p.Exe) }

// WhileCalled returns a context that is cancelled when one of the processes that wait for nod ends: see
// [process.Callers]. Until ctx ends it watches them.
func WhileCalled(ctx context.Context) context.Context {
	return whileWaitedFor(ctx, peer.Self(isErrand), peer.Table{})
}

// WhileAgentRuns is WhileCalled for hooks and MCP servers, which only agents run, perhaps in a wrapper script. The
// context is cancelled from the start if the agent has already ended.
func WhileAgentRuns(ctx context.Context) context.Context {
	self := peer.Self(isErrand)
	if process.IsOrphan(self, peer.Table{}) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(ErrCallerGone)
		return ctx
	}
	return whileWaitedFor(ctx, self, agentsProcesses{})
}

// agentsProcesses assumes that every shell runs an agent's command line.
type agentsProcesses struct{ peer.Table }

// IsInline implements [process.Table].
func (agentsProcesses) IsInline(api.Parent) bool { return true }

func whileWaitedFor(ctx context.Context, self api.Process, t process.Table) context.Context {
	callers := process.Callers(self, t)
	if len(callers) < 2 { // the first is nod itself
		return ctx
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if t.AwaitEnd(ctx, callers[1:]...) {
			cancel(ErrCallerGone)
		}
	}()
	return ctx
}

// Bounded ends the wait when nod-desktop should have reported the time-out long ago. A timeout of 0 is the longest of
// nod-desktop.
func Bounded(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if longest := api.MaxSeconds * time.Second; timeout <= 0 || timeout > longest {
		timeout = longest
	}
	return context.WithTimeoutCause(ctx, timeout+grace, ErrHung)
}

// WhileAlive ends the wait when nod-desktop does not answer health checks, which go on until ctx ends.
func WhileAlive[R any](ctx context.Context, health func(context.Context) (R, error)) context.Context {
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
	return ctx
}

// Hook passes an agent's hook on to the running nod-desktop, and returns the reply in the agent's format; nil is "no
// decision". It fails with [ErrCallerGone] when the agent has ended. If the reply does not come immediately, a signal
// also ends the wait.
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

// payloadPatience is how long an agent may take to write a payload.
var payloadPatience = 30 * time.Second

// Payload reads the payload of a hook, but no more than one byte after [client.MaxPayload]. If the agent does not end
// it, the program ends as most agents take for a denial: after their own time-out some would go on.
func Payload(in io.Reader) ([]byte, error) {
	defer time.AfterFunc(payloadPatience, func() {
		fmt.Fprintf(os.Stderr, "nod denied this, not the user: the call did not end within %v\n", payloadPatience)
		os.Exit(2)
	}).Stop()
	return io.ReadAll(io.LimitReader(in, client.MaxPayload+1))
}

// GiveUp calls cancel when a nod-desktop that cl has asked died and no other followed in time, since an agent or an
// editor can ask the user itself.
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

// gaveUp waits until there is a reason to stop waiting for the reply to self, and returns that.
func gaveUp(ctx context.Context, self api.Process, cl *client.Client) error {
	ctx, cancel := context.WithTimeoutCause(ctx, api.MaxHookWait+grace, ErrHung)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, EndedBy()...)
	defer stop()
	ctx = WhileAlive(whileWaitedFor(ctx, self, agentsProcesses{}), cl.Health)
	<-ctx.Done()
	return context.Cause(ctx)
}
