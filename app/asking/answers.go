package asking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/operator"
)

// owner has the pending requests and decides which answer to one was the first: the broker, or that of a relay.
type owner interface {
	// Settled waits until the answer to a request is in the journal. The error wraps [interact.ErrNotFound] or is ctx's.
	Settled(ctx context.Context, id interact.ID) (interact.Answer, error)
	// Snooze hides a request for a while.
	Snooze(id interact.ID, d time.Duration) error
	// SaveDraft keeps an unfinished answer beyond the end of nod.
	SaveDraft(ctx context.Context, id interact.ID, draft []byte) error
}

// answers takes what the user does with prompts, in a window or on a device.
type answers struct {
	prompts *windows
	ownerOf func(interact.ID) owner
}

// Answer implements [operator.Operator]. It returns once the journal has the answer, which then survives whatever
// happens to nod.
func (a answers) Answer(ctx context.Context, answer operator.Answer) error {
	if err := a.prompts.take(answer); err != nil {
		return err
	}
	settled, err := a.ownerOf(answer.ID).Settled(ctx, answer.ID)
	if err == nil && settled.By != api.ByHuman { // its caller went away, or its time was over
		return operator.ErrGone
	}
	return err
}

// Snooze implements [operator.Operator].
func (a answers) Snooze(_ context.Context, id interact.ID, d time.Duration) error {
	return gone(a.ownerOf(id).Snooze(id, d))
}

// SaveDraft implements [operator.Operator].
func (a answers) SaveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	if len(draft) > operator.MaxDraft {
		return fmt.Errorf("a draft of %d bytes: want %d at most", len(draft), operator.MaxDraft)
	}
	if !a.prompts.keepDraft(id, draft) {
		return operator.ErrGone
	}
	return gone(a.ownerOf(id).SaveDraft(ctx, id, draft))
}

// gone returns err as the windows know it: a request that has just ended is gone.
func gone(err error) error {
	if errors.Is(err, interact.ErrNotFound) {
		return operator.ErrGone
	}
	return err
}
