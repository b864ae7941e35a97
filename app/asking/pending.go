package asking

import (
	"context"
	"errors"
	"slices"
	"time"

	"nod/interact"
)

// owners is the [owner] of all requests that wait for the user: the broker owns those of agents on this machine, the
// relays of other machines own theirs.
type owners struct {
	broker   *interact.Broker
	machines *machines
	journal  requestJournal
}

// Settled implements [owner].
func (o owners) Settled(ctx context.Context, id interact.ID) (interact.Answer, error) {
	a, err := o.machines.Settled(ctx, id)
	if errors.Is(err, interact.ErrNotFound) {
		return o.broker.Settled(ctx, id)
	}
	return a, err
}

// Snooze implements [owner].
func (o owners) Snooze(id interact.ID, d time.Duration) error {
	err := o.machines.Snooze(id, d)
	if errors.Is(err, interact.ErrNotFound) {
		return o.broker.Snooze(id, d)
	}
	return err
}

// SaveDraft implements [owner].
func (o owners) SaveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	err := o.machines.SaveDraft(ctx, id, draft)
	if errors.Is(err, interact.ErrNotFound) {
		return o.journal.SaveDraft(ctx, id, draft)
	}
	return err
}

// allPending lists the requests that wait for the user, oldest first.
func (d *Desk) allPending() []interact.Request {
	all := append(d.broker.Pending(), d.machines.pending()...)
	slices.SortStableFunc(all, func(x, y interact.Request) int { return x.Created.Compare(y.Created) })
	return all
}

// Returned forgets the drafts of requests that came back and have ended without a prompt.
func (d *Desk) Returned() { d.windows.returned(d.allPending()) }

// ReturningRemote takes over what is known of other machines' requests: those that the user had begun to answer when
// nod ended, and those that had an outcome.
func (d *Desk) ReturningRemote(open, last []interact.Record) {
	for _, r := range last {
		d.machines.hasEnded(r.Request.ID)
	}
	for _, r := range open {
		d.machines.restore(r)
	}
}
