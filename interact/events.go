package interact

import (
	"cmp"
	"slices"
	"time"

	"nod/changes"
)

// EventID is the moment of an [Event], in nanoseconds of Unix time, and later than that of every event before it, also
// of those before nod was started.
type EventID int64

// Event is what happened to a request: it came to be pending or, when it has an answer, it was settled.
type Event struct {
	ID EventID // 0: it is part of how things stand, and happened some time ago
	Record
}

// events says what happens to requests. Broker.mu guards it.
//
// No event is kept: each is the last that happened to a request that the broker still knows, so nobody who reads slowly
// holds anything, and of what happened twice meanwhile only the last is read.
type events struct {
	last      EventID              // of all
	forgotten EventID              // of those about requests that the broker no longer knows
	settling  map[EventID]struct{} // of those that are being written down: nobody may hear of a later one before
	feeds     map[*Feed]struct{}
}

func newEvents() events {
	now := EventID(time.Now().UnixNano())
	return events{last: now, forgotten: now, settling: map[EventID]struct{}{}, feeds: map[*Feed]struct{}{}}
}

// next returns the id of an event that happens now.
func (v *events) next() EventID {
	v.last = max(v.last+1, EventID(time.Now().UnixNano()))
	return v.last
}

// until is the last event that may be heard of.
func (v *events) until() EventID {
	until := v.last
	for id := range v.settling {
		until = min(until, id-1)
	}
	return until
}

// came says that e is pending. What another process said so of has happened before.
func (v *events) came(e *entry) {
	if e.came == 0 {
		e.came = v.next()
	}
	v.tell(e)
}

// settles says that e is about to be settled.
func (v *events) settles(e *entry) {
	delete(v.settling, e.settled)
	e.settled = v.next()
	v.settling[e.settled] = struct{}{}
}

// staysOpen takes back that e is about to be settled.
func (v *events) staysOpen(e *entry) {
	delete(v.settling, e.settled)
	e.settled = 0
	v.tell(e)
}

// hasSettled says that e is settled.
func (v *events) hasSettled(e *entry) {
	delete(v.settling, e.settled)
	v.tell(e)
}

// forget says that e is known no longer.
func (v *events) forget(e *entry) { v.forgotten = max(v.forgotten, e.settled) }

// restore says what happened before nod was started. Nothing is known of what happened before the first of all the
// events or, when more may have been settled than are in last, of those. If this happens late, those who follow already
// are told how things stand.
func (v *events) restore(open, last []Record, isLate bool) {
	known := slices.Concat(open, last)
	for _, r := range known {
		v.last = max(v.last, r.Event)
	}
	if isLate {
		v.forgotten = v.next()
		for f := range v.feeds {
			f.news.Send()
		}
		return
	}
	if len(last) >= keptFinished {
		known = last
	}
	for _, r := range known {
		v.forgotten = min(v.forgotten, r.Event-1)
	}
}

// tell wakes those who may hear of e now, and those who had to wait until they may hear of others.
func (v *events) tell(e *entry) {
	for f := range v.feeds {
		if f.isHeld || owns(f.owner, e.req.Requester) {
			f.news.Send()
		}
	}
}

// Feed reads what happens to the requests of one owner.
type Feed struct {
	b     *Broker
	owner Requester
	news  changes.Signal

	// Guarded by Broker.mu.
	after   EventID // what has been read
	isFresh bool    // what has been read says nothing: how things stand comes first
	isHeld  bool    // there is more that nobody may hear of yet
}

// Follow returns a feed of what happens to owner's requests after an event: all that the broker still knows. Its first
// events are how things stand when after is 0. Close it.
func (b *Broker) Follow(owner Requester, after EventID) *Feed {
	f := &Feed{b: b, owner: owner, after: after, isFresh: after == 0, news: changes.NewSignal()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events.feeds[f] = struct{}{}
	return f
}

// Close ends the subscription.
func (f *Feed) Close() {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	delete(f.b.events.feeds, f)
}

// News holds a signal when there may be more to read.
func (f *Feed) News() <-chan struct{} { return f.news }

// Next returns what has happened since the last call, oldest first, and the id of the last event that has been read
// then, whoever's it is. When reset is true, more has happened than the broker still knows: the events say how things
// stand, which is what is pending.
func (f *Feed) Next() (happened []Event, last EventID, reset bool) {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	all := &f.b.events
	until := all.until()
	reset = !f.isFresh && (f.after < all.forgotten || f.after > all.last)
	if f.isFresh || reset {
		happened = f.standing(until)
	} else {
		happened = f.since(until)
	}
	f.after, f.isFresh, f.isHeld = until, false, until < all.last
	return happened, until, reset
}

// standing lists what is pending. The caller holds Broker.mu.
func (f *Feed) standing(until EventID) []Event {
	var pending []Event
	for _, e := range f.b.pending {
		if e.came <= until && owns(f.owner, e.req.Requester) {
			pending = append(pending, Event{Record: Record{Request: e.current()}})
		}
	}
	return pending
}

// since lists what happened after the last call. The caller holds Broker.mu.
func (f *Feed) since(until EventID) []Event {
	var happened []Event
	for _, entries := range [][]*entry{f.b.pending, f.b.answered.entries, f.b.passed.entries} {
		for _, e := range entries {
			id := e.came
			if e.answer.Outcome != "" {
				id = e.settled
			}
			if id > f.after && id <= until && owns(f.owner, e.req.Requester) {
				happened = append(happened, Event{id, Record{Request: e.current(), Answer: e.answer}})
			}
		}
	}
	slices.SortFunc(happened, func(x, y Event) int { return cmp.Compare(x.ID, y.ID) })
	return happened
}
