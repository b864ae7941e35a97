package dialogs

import (
	"encoding/json"
	"slices"
	"time"

	"nod/interact"
	"nod/policy"
)

// queue is what waits for the human, oldest first, and which of it is in the window. It knows nothing of
// windows. The current entry stays the current one until it ends or the human goes elsewhere: what is
// newer never takes its place.
type queue struct {
	now     func() time.Time
	entries []*entry
	current *entry // nil when nothing waits, or all of it is snoozed
}

// entry is one place in the queue. Identical requests share one: who asks three times for the same thing
// is answered once.
type entry struct {
	requests []interact.Request // the first one is shown; never empty
	why      policy.Decision
	identity string
	snoozed  time.Time // not shown before
}

// request is the request that is shown.
func (e *entry) request() interact.Request { return e.requests[0] }

// deadline is the earliest of the requests' deadlines; zero when there is none.
func (e *entry) deadline() time.Time {
	var first time.Time
	for _, r := range e.requests {
		if !r.Deadline.IsZero() && (first.IsZero() || r.Deadline.Before(first)) {
			first = r.Deadline
		}
	}
	return first
}

// has reports whether id is one of the entry's requests.
func (e *entry) has(id interact.ID) bool {
	return slices.ContainsFunc(e.requests, func(r interact.Request) bool { return r.ID == id })
}

// add puts a request at the end of the queue, or to the identical one that already waits.
func (q *queue) add(r interact.Request, why policy.Decision) *entry {
	identity := identityOf(r, why)
	for _, e := range q.entries {
		if e.identity == identity {
			e.requests = append(e.requests, r)
			return e
		}
	}
	e := &entry{requests: []interact.Request{r}, why: why, identity: identity}
	q.entries = append(q.entries, e)
	q.settle()
	return e
}

// find returns the entry that holds the request, or nil.
func (q *queue) find(id interact.ID) *entry {
	for _, e := range q.entries {
		if e.has(id) {
			return e
		}
	}
	return nil
}

// drop takes one request out, and its entry with the last one. It returns the entry, or nil.
func (q *queue) drop(id interact.ID) *entry {
	e := q.find(id)
	if e == nil {
		return nil
	}
	if len(e.requests) == 1 {
		q.remove(e)
		return e
	}
	e.requests = slices.DeleteFunc(e.requests, func(r interact.Request) bool { return r.ID == id })
	return e
}

// remove takes an entry out. When it was the current one, the one after it becomes current.
func (q *queue) remove(e *entry) {
	next := q.neighbour(e, +1)
	q.entries = slices.DeleteFunc(q.entries, func(x *entry) bool { return x == e })
	if q.current != e {
		return
	}
	if q.current = next; next == e {
		q.current = nil
	}
	q.settle()
}

// waiting lists the entries that are not snoozed, oldest first.
func (q *queue) waiting() []*entry {
	now := q.now()
	var list []*entry
	for _, e := range q.entries {
		if !e.snoozed.After(now) {
			list = append(list, e)
		}
	}
	return list
}

// size is the number of requests that wait, snoozed ones included.
func (q *queue) size() int {
	n := 0
	for _, e := range q.entries {
		n += len(e.requests)
	}
	return n
}

// position is the place of the current entry among those that wait, from 1, and their number.
func (q *queue) position() (place, of int) {
	list := q.waiting()
	return slices.Index(list, q.current) + 1, len(list)
}

// step makes the next (+1) or previous (-1) entry current, round the ends.
func (q *queue) step(by int) {
	if q.current != nil {
		q.current = q.neighbour(q.current, by)
	}
}

// neighbour is the entry next to e among those that wait; e itself when it is alone.
func (q *queue) neighbour(e *entry, by int) *entry {
	list := q.waiting()
	i := slices.Index(list, e)
	if i < 0 || len(list) == 0 {
		return e
	}
	return list[(i+by+len(list))%len(list)]
}

// show makes e current, also when it was snoozed.
func (q *queue) show(e *entry) {
	e.snoozed = time.Time{}
	q.current = e
}

// snooze puts e away until then.
func (q *queue) snooze(e *entry, until time.Time) {
	next := q.neighbour(e, +1)
	e.snoozed = until
	if q.current == e {
		q.current = next
	}
	q.settle()
}

// wake makes what has been snoozed long enough wait again. It returns when to call again; zero for never.
func (q *queue) wake() time.Time {
	now := q.now()
	var next time.Time
	for _, e := range q.entries {
		switch {
		case e.snoozed.IsZero():
		case !e.snoozed.After(now):
			e.snoozed = time.Time{}
		case next.IsZero() || e.snoozed.Before(next):
			next = e.snoozed
		}
	}
	q.settle()
	return next
}

// settle sees to it that something is current when anything waits, and that what is current does wait.
func (q *queue) settle() {
	list := q.waiting()
	if slices.Contains(list, q.current) {
		return
	}
	q.current = nil
	if len(list) > 0 {
		q.current = list[0]
	}
}

// ofSession lists the entries that come from the same agent and session as e; without a session, from the
// same process.
func (q *queue) ofSession(e *entry) []*entry {
	who := e.request().Requester
	var list []*entry
	for _, x := range q.entries {
		if sameSession(who, x.request().Requester) {
			list = append(list, x)
		}
	}
	return list
}

func sameSession(a, b interact.Requester) bool {
	if a.Agent != b.Agent || a.Process.Exe != b.Process.Exe || a.Session != b.Session {
		return false
	}
	return a.Session != "" || a.Process.PID == b.Process.PID
}

// identityOf is equal for requests that look the same to the human in every word: same requester as far
// as shown, same body, same reason to ask.
func identityOf(r interact.Request, why policy.Decision) string {
	id, err := json.Marshal(struct {
		Kind                         interact.Kind
		Agent, Session, CWD, Exe, In string
		Body                         interact.Body
		Why                          policy.Decision
	}{
		r.Body.Kind(), r.Requester.Agent, r.Requester.Session, r.Requester.CWD,
		r.Requester.Process.Exe, r.Requester.Process.CWD, r.Body, why,
	})
	if err != nil { // an input that is not JSON: like nothing else
		return string(r.ID)
	}
	if a, ok := r.Body.(interact.Approve); ok {
		return string(id) + string(a.Input) // Marshal compacts the input; what is shown are its exact bytes
	}
	return string(id)
}
