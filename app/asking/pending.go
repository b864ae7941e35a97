package asking

import (
	"slices"

	"nod/interact"
)

// local is the [owner] of the requests of agents on this machine: the broker, whose journal keeps drafts.
type local struct {
	*interact.Broker
	requestJournal
}

// ownerOf returns the owner of a request that waits for the user.
func (d *Desk) ownerOf(id interact.ID) owner {
	if d.machines.has(id) {
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
