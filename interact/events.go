package interact

import (
	"cmp"
	"slices"
	"time"

	"nod/changes"
)

// EventID is the time of an [Event] in nanoseconds since 1970. It rises with each event, across restarts, too.
type EventID int64

// Event says that a request became pending or, with an answer, was settled.
type Event struct {
	ID EventID // 0: it is part of a snapshot
	Record
}

// events produces the events of requests. Broker.mu guards it. It keeps none: a feed reads the last event of each
// request that the broker still knows.
type events struct {
	last      EventID              // of all
	forgotten EventID              // the last of requests that the broker no longer knows
	settling  map[EventID]struct{} // not journaled yet: later ones have to wait
	feeds     map[*Feed]struct{}
}

func newEvents() events {
	now := EventID(time.Now().UnixNano())
	return events{last: now, forgotten: now, settling: map[EventID]struct{}{}, feeds: map[*Feed]struct{}{}}
}

func (v *events) next() EventID {
	v.last = max(v.last+1, EventID(time.Now().UnixNano()))
	return v.last
}

// until is the last event that feeds may read.
func (v *events) until() EventID {
	until := v.last
	for id := range v.settling {
		until = min(until, id-1)
	}
	return until
}

// came says that e is pending. A restored one has its event already.
func (v *events) came(e *entry) {
	if e.came == 0 {
		e.came = v.next()
	}
	v.tell(e)
}

func (v *events) settles(e *entry) {
	delete(v.settling, e.settled)
	e.settled = v.next()
	v.settling[e.settled] = struct{}{}
}

func (v *events) staysOpen(e *entry) {
	delete(v.settling, e.settled)
	e.settled = 0
	v.tell(e)
}

func (v *events) hasSettled(e *entry) {
	delete(v.settling, e.settled)
	v.tell(e)
}

func (v *events) forget(e *entry) { v.forgotten = max(v.forgotten, e.settled) }

// restore takes up the events before nod was started. Those before the first one are unknown; if last is full, those
// before its first. If it is late, feeds start over with a snapshot.
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

// tell wakes the feeds that can read e's event, or had to wait for it.
func (v *events) tell(e *entry) {
	for f := range v.feeds {
		if f.isHeld || owns(f.owner, e.req.Requester) {
			f.news.Send()
		}
	}
}

// Feed reads the events of one owner's requests.
type Feed struct {
	b     *Broker
	owner Requester
	news  changes.Signal

	// Guarded by Broker.mu.
	after   EventID // the last that was read
	isFresh bool    // a snapshot comes first
	isHeld  bool    // later events have to wait
}

// Follow returns a feed of the events of owner's requests after one; 0: it begins with a snapshot. Close it.
func (b *Broker) Follow(owner Requester, after EventID) *Feed {
	f := &Feed{b: b, owner: owner, after: after, isFresh: after == 0, news: changes.NewSignal()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events.feeds[f] = struct{}{}
	return f
}

func (f *Feed) Close() {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	delete(f.b.events.feeds, f)
}

// News holds a signal when there may be more to read.
func (f *Feed) News() <-chan struct{} { return f.news }

// Next returns the events since the last call, oldest first, and the id of the last event of any owner. If reset is
// true, older ones are forgotten, and the events are a snapshot of what is pending.
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

// standing is a snapshot of what is pending. The caller holds Broker.mu.
func (f *Feed) standing(until EventID) []Event {
	var pending []Event
	for _, e := range f.b.pending {
		if e.came <= until && owns(f.owner, e.req.Requester) {
			pending = append(pending, Event{Record: Record{Request: e.current()}})
		}
	}
	return pending
}

// since returns the events after the last call. The caller holds Broker.mu.
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
