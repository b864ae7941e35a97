package main

import (
	"context"
	"errors"

	"nod/interact"
	"nod/ipc/peer"
)

// errCallerGone ends a wait whose end nobody waits for.
var errCallerGone = &withStatus{errors.New("whoever ran this has ended, so nobody waits for the answer"), exitDismissed}

// whileCalled ends the wait at once when one of those has ended that nod asks for: see [interact.Callers]. To hang up
// withdraws what was asked.
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

// whileAgentRuns is whileCalled for what only agents run: a hook or an MCP server that is wrapped in a script of its
// own depends on the agent all the same. When the agent ended before nod could look, the wait is over already.
func whileAgentRuns(ctx context.Context) (context.Context, context.CancelFunc) {
	self := peer.Self()
	if interact.IsOrphan(self, peer.Table{}) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errCallerGone)
		return ctx, func() {}
	}
	return whileWaitedFor(ctx, self, agentsProcesses{})
}

// agentsProcesses takes every shell for one that runs a line of an agent's.
type agentsProcesses struct{ peer.Table }

// IsInline implements [interact.Processes].
func (agentsProcesses) IsInline(interact.Parent) bool { return true }
