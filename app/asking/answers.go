package asking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/operator"
)

// owner holds pending requests and decides which answer to a request came first. It is this machine's broker, or that
// of a relay.
type owner interface {
	// Settled waits until the answer to a request is in the journal. It returns an error that wraps
	// [interact.ErrNotFound], or ctx's.
	Settled(ctx context.Context, id interact.ID) (interact.Answer, error)
	// Snooze hides a request for a while.
	Snooze(id interact.ID, d time.Duration) error
	// SaveDraft keeps an unfinished answer beyond the end of nod.
	SaveDraft(ctx context.Context, id interact.ID, draft []byte) error
}

// answers handles what the user does with prompts, in a window or on a device.
type answers struct {
	prompts *windows
	ownerOf func(interact.ID) owner
}

// Answer implements [operator.Operator]. It returns once the answer is in the journal and so survives even a crash of
// nod.
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

// gone translates err for the windows: [interact.ErrNotFound] means that the request has just ended, so it is gone.
func gone(err error) error {
	if errors.Is(err, interact.ErrNotFound) {
		return operator.ErrGone
	}
	return err
}

// local is the [owner] of the requests of agents on this machine: the broker, whose journal keeps drafts.
type local struct {
	*interact.Broker
	requestJournal
}

// ownerOf returns the owner of a request that waits for the user.
func (d *Desk) ownerOf(id interact.ID) owner {
	if _, err := d.machines.find(id); err == nil {
		return d.machines
	}
	return local{d.broker, d.cfg.Journal}
}

// allPending lists the requests that wait for the user, oldest first.
func (d *Desk) allPending() []interact.Request {
	all := append(d.broker.Pending(), d.machines.pending()...)
	slices.SortStableFunc(all, func(x, y interact.Request) int { return x.Created.Compare(y.Created) })
	return all
}

// Restore makes the requests pending again that were when nod ended, of this machine and of others, and notes the last
// ones that had an outcome. It leaves requests alone that arrived meanwhile.
func (d *Desk) Restore(open, last []interact.Record) {
	known := d.broker.Pending()
	open = slices.DeleteFunc(slices.Clone(open), func(r interact.Record) bool {
		return slices.ContainsFunc(known, func(k interact.Request) bool { return k.ID == r.Request.ID })
	})
	isRemote := func(r interact.Record) bool { return r.Request.Requester.IsRemote() }
	for _, r := range last {
		if isRemote(r) {
			d.machines.hasEnded(r.Request.ID)
		}
	}
	for _, r := range open {
		if d.windows.returning(r.Request.ID, r.Draft); isRemote(r) {
			d.machines.restore(r)
		}
	}
	d.broker.Restore(slices.DeleteFunc(slices.Clone(open), isRemote), slices.DeleteFunc(slices.Clone(last), isRemote))
	if len(open) > 0 {
		d.windows.returned(d.allPending())
		d.log.Info("restored", "pending", len(open))
	}
}
