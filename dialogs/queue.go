package dialogs

import (
	"slices"

	"nod/interact"
	"nod/policy"
)

// queue is what waits for the human, oldest first, and which of it is in the window. It knows nothing of
// windows. The current entry stays the current one until it ends or the human goes elsewhere: what is
// newer never takes its place.
type queue struct {
	entries []*entry
	current *entry // nil when nothing waits, or all of it is snoozed
}

// entry is one request in the queue.
type entry struct {
	request  interact.Request
	why      policy.Decision
	answered chan<- reply // gets what comes of it; has room for it
	page     *page        // with what was typed into it; nil before it was shown
}

// add puts a request at the end of the queue.
func (q *queue) add(r interact.Request, why policy.Decision, answered chan<- reply) {
	q.entries = append(q.entries, &entry{request: r, why: why, answered: answered})
	q.settle()
}

// find returns the entry of the request, or nil.
func (q *queue) find(id interact.ID) *entry {
	i := slices.IndexFunc(q.entries, func(e *entry) bool { return e.request.ID == id })
	if i < 0 {
		return nil
	}
	return q.entries[i]
}

// drop takes a request out, and returns its entry, or nil. When it was the current one, the one after it becomes
// current.
func (q *queue) drop(id interact.ID) *entry {
	e := q.find(id)
	if e == nil {
		return nil
	}
	next := q.neighbour(e, +1)
	q.entries = slices.DeleteFunc(q.entries, func(x *entry) bool { return x == e })
	if q.current == e {
		q.current = next
		q.settle() // next is e itself when it was alone
	}
	return e
}

// waiting lists the entries that are not snoozed, oldest first.
func (q *queue) waiting() []*entry {
	return slices.DeleteFunc(slices.Clone(q.entries), (*entry).isSnoozed)
}

// snoozed lists those that are.
func (q *queue) snoozed() []*entry {
	return slices.DeleteFunc(slices.Clone(q.entries), func(e *entry) bool { return !e.isSnoozed() })
}

// groups lists the entries that are not snoozed by the sessions that they come from, oldest first.
func (q *queue) groups() [][]*entry {
	var groups [][]*entry
	for _, e := range q.waiting() {
		i := slices.IndexFunc(groups, func(g []*entry) bool {
			return sameSession(g[0].request.Requester, e.request.Requester)
		})
		if i < 0 {
			groups = append(groups, []*entry{e})
		} else {
			groups[i] = append(groups[i], e)
		}
	}
	return groups
}

// isSnoozed reports whether the person wants to be asked later.
func (e *entry) isSnoozed() bool { return !e.request.Snoozed.IsZero() }

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

// retime takes in the times of e as they are now. What is put off leaves its place to the one after it; what comes back
// never takes the place of the current one.
func (q *queue) retime(e *entry, r interact.Request) {
	next := q.neighbour(e, +1)
	e.request.Created, e.request.Deadline = r.Created, r.Deadline
	e.request.Until, e.request.Snoozed = r.Until, r.Snoozed
	if q.current == e && e.isSnoozed() {
		q.current = next
	}
	q.settle()
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
	who := e.request.Requester
	return slices.DeleteFunc(slices.Clone(q.entries), func(x *entry) bool {
		return !sameSession(who, x.request.Requester)
	})
}

func sameSession(a, b interact.Requester) bool {
	if a.Machine != b.Machine || a.Agent != b.Agent || a.Process.Exe != b.Process.Exe || a.Session != b.Session {
		return false
	}
	return a.Session != "" || a.Process.PID == b.Process.PID
}
