package main

import (
	"context"
	"errors"

	"nod/interact"
	"nod/ipc/peer"
)

// errCallerGone ends a wait whose caller has ended.
var errCallerGone = &withStatus{errors.New("whoever ran this has ended, so nobody waits for the answer"), exitDismissed}

// whileCalled cancels the context when one of the processes that wait for nod has ended: see [interact.Callers]. That
// withdraws the request.
func whileCalled(ctx context.Context) (context.Context, context.CancelFunc) {
	return whileWaitedFor(ctx, peer.Self(), peer.Table{})
}

func whileWaitedFor(
	ctx context.Context, self interact.Process, processes interact.Processes,
) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if callers := interact.Callers(self, processes); len(callers) > 1 { // the first is nod itself
		go func() {
			if processes.AwaitEnd(ctx, callers[1:]...) {
				cancel(errCallerGone)
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// whileAgentRuns is whileCalled for hooks and MCP servers, which only agents run, perhaps in a wrapper script. The
// context is cancelled from the start if the agent has already ended.
func whileAgentRuns(ctx context.Context) (context.Context, context.CancelFunc) {
	self := peer.Self()
	if interact.IsOrphan(self, peer.Table{}) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errCallerGone)
		return ctx, func() {}
	}
	return whileWaitedFor(ctx, self, agentsProcesses{})
}

// agentsProcesses assumes that every shell runs an agent's command line.
type agentsProcesses struct{ peer.Table }

// IsInline implements [interact.Processes].
func (agentsProcesses) IsInline(interact.Parent) bool { return true }
