package interact

import (
	"slices"
	"time"

	"nod/api"
	"nod/policy"
	"nod/policy/process"
)

// graceTime is how long callers have to reconnect after a restart.
const graceTime = 30 * time.Second

// Restore restores the open requests that another process left, and the last settled ones, both oldest first. Open ones
// are pending again with their remaining time; those that are not detached end unless their callers reconnect soon.
// Call it before any request begins or, after [Broker.AwaitRestore], once they can be read: then requests that arrived
// meanwhile take precedence.
func (b *Broker) Restore(open, last []Record) {
	var settled time.Time
	b.mu.Lock()
	isKnown := func(r Record) bool { return b.entries[r.Request.ID] != nil }
	open, last = slices.DeleteFunc(slices.Clone(open), isKnown), slices.DeleteFunc(slices.Clone(last), isKnown)
	for _, r := range last {
		settled = r.Answer.At
		e := restored(r)
		e.answer, e.isAbandoned = r.Answer, r.Answer.Outcome == api.Cancelled
		close(e.done)
		b.keep(e.finish())
	}
	b.mu.Unlock()
	for _, r := range open {
		b.reopen(r, settled)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.restored != nil {
		close(b.restored)
		b.restored = nil
	}
}

// AwaitRestore says that [Broker.Restore] will be called later.
func (b *Broker) AwaitRestore() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.restored = make(chan struct{})
}

// isAskedAnew reports whether a request with e's key arrived before e could be restored.
func (b *Broker) isAskedAnew(e *entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.restored != nil && slices.ContainsFunc(e.keys(), func(k joinKey) bool { return b.keyed[k] != nil })
}

func restored(r Record) *entry {
	e := &entry{
		req: r.Request, why: r.Why, joined: r.Joined, done: make(chan struct{}),
		deadline: r.Request.Deadline, snoozed: r.Request.Snoozed,
	}
	e.req.Snoozed = time.Time{}
	e.content = e.contentOf(r.Content)
	e.noted = r.noted()
	return e
}

// reopen makes a request pending again, unless it has ended meanwhile.
func (b *Broker) reopen(r Record, settled time.Time) {
	e := restored(r)
	e.rewind(settled)
	var keepers []api.Parent
	switch {
	case !r.Detached:
		keepers = b.callersOf(e.req)
	case r.Postponed:
		keepers = b.keepersOf(e.req)
	}
	if a := b.endedMeanwhile(e, keepers, r.Detached); a.Outcome != "" && b.settle(e, a) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.start(e)
	t := b.hold(e, keepers)
	t.isDetached = r.Detached
	if !r.Detached {
		time.AfterFunc(graceTime, t.Release)
	}
}

// rewind converts e's times from wall time to this process's monotonic time. Setting the clock back meanwhile gives no
// additional time.
func (e *entry) rewind(settled time.Time) {
	now := time.Now()
	wall := slices.MaxFunc([]time.Time{now, e.req.Created, settled}, time.Time.Compare)
	for _, t := range []*time.Time{&e.req.Until, &e.req.Deadline, &e.deadline, &e.snoozed} {
		*t = now.Add(t.Sub(wall))
	}
	if !e.snoozed.After(now) {
		e.snoozed = time.Time{}
	}
}

// endedMeanwhile returns the answer of an open request that has ended. It has no Outcome if the request has not ended.
func (b *Broker) endedMeanwhile(e *entry, keepers []api.Parent, isDetached bool) Answer {
	var err error
	if e.call, err = check(&e.req); err != nil || e.contentKey() != e.content {
		b.cfg.Log.Error("restore: the journal lacks part of a request", "id", e.req.ID, "err", err)
		e.isAbandoned = true
		return Answer{Outcome: api.Cancelled, Reason: "nod ended, and has not kept all of the request"}
	}
	switch {
	case !isDetached && b.isAskedAnew(e), len(keepers) > 0 && b.cfg.Processes.Ended(keepers...):
		e.isAbandoned = true
		return e.ended(errCallerGone)
	case !time.Now().Before(e.deadline):
		return e.ended(ErrTimedOut)
	}
	return b.judge(e, policy.Allow, policy.Ask)
}

// keepersOf returns the program whose end ends a postponed request, if known.
func (b *Broker) keepersOf(r Request) []api.Parent {
	who := Caller(r.Requester.Process)
	if b.cfg.Processes == nil || who.PID == 0 || process.IsGoBetween(who.Exe) || process.Adopts(who) {
		return nil
	}
	return []api.Parent{who}
}
