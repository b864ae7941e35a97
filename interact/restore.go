package interact

import (
	"slices"
	"time"

	"nod/policy"
)

// graceTime is how long a request waits for its caller to come back after nod was killed.
const graceTime = 30 * time.Second

// Restore takes up what another process left when it ended: open are the requests that nobody had answered, last those
// that were settled, both oldest first. What was open is pending again, under its id and with the time that it had
// left; what does not outlive its caller ends when that does not come back soon. What was settled is known by its id
// and its idempotency keys. Call it before anything begins or, after [Broker.AwaitRestore], once that can be read: then
// what this process knows itself counts, and of what was asked anew meanwhile only that.
func (b *Broker) Restore(open, last []Record) {
	var settled time.Time
	b.mu.Lock()
	isKnown := func(r Record) bool { return b.entries[r.Request.ID] != nil }
	open, last = slices.DeleteFunc(slices.Clone(open), isKnown), slices.DeleteFunc(slices.Clone(last), isKnown)
	b.events.restore(open, last, b.restored != nil)
	for _, r := range last {
		settled = r.Answer.At
		e := restored(r)
		e.answer, e.isAbandoned = r.Answer, r.Answer.Outcome == Cancelled
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

// AwaitRestore says that what another process left cannot be read yet, and that [Broker.Restore] will be called for it.
func (b *Broker) AwaitRestore() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.restored = make(chan struct{})
}

// isAskedAnew reports whether somebody has asked the same as e, with its key, before e could be restored.
func (b *Broker) isAskedAnew(e *entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.restored != nil && slices.ContainsFunc(e.keys(), func(k joinKey) bool { return b.keyed[k] != nil })
}

// restored is the entry of a record, with its times as they were written.
func restored(r Record) *entry {
	e := &entry{
		req: r.Request, why: r.Why, joined: r.Joined, done: make(chan struct{}),
		deadline: r.Request.Deadline, snoozed: r.Request.Snoozed,
	}
	if r.Answer.Outcome == "" {
		e.came = r.Event
	} else {
		e.settled = r.Event
	}
	e.req.Snoozed = time.Time{}
	e.content = e.contentOf(r.Content)
	e.noted = r.noted()
	return e
}

// reopen puts an open request before the human again, unless it has ended meanwhile.
func (b *Broker) reopen(r Record, settled time.Time) {
	e := restored(r)
	e.rewind(settled)
	var keepers []Parent
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

// rewind has e's times, which another process wrote as wall time, count in this one's own. A clock that was set back
// meanwhile, to before e came or something was settled, gives no more time than was left.
func (e *entry) rewind(settled time.Time) {
	now := time.Now()
	wall := now
	for _, known := range []time.Time{e.req.Created, settled} {
		if known.After(wall) {
			wall = known
		}
	}
	for _, t := range []*time.Time{&e.req.Until, &e.req.Deadline, &e.deadline, &e.snoozed} {
		*t = now.Add(t.Sub(wall))
	}
	if !e.snoozed.After(now) {
		e.snoozed = time.Time{}
	}
}

// endedMeanwhile is the answer of an open request that nobody needs to be asked about again; without an Outcome there
// is none.
func (b *Broker) endedMeanwhile(e *entry, keepers []Parent, isDetached bool) Answer {
	var err error
	if e.call, err = check(&e.req); err != nil || e.contentKey() != e.content {
		b.cfg.Log.Error("restore: the journal has not all of a request", "id", e.req.ID, "err", err)
		e.isAbandoned = true
		return Answer{Outcome: Cancelled, Reason: "nod ended, and has not kept all of the request"}
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

// keepersOf lists the program that asks r, whose end ends a request that was postponed; none where it is not known.
func (b *Broker) keepersOf(r Request) []Parent {
	who := Caller(r.Requester.Process)
	if !b.knows(r.Requester) || who.PID == 0 || policy.IsGoBetween(who.Exe) || adopts(who) {
		return nil
	}
	return []Parent{who}
}
