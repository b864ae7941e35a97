package dialogs

import (
	"slices"

	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
)

// queue holds the pending requests, oldest first, and which of them is in the window. It does not show them. The
// current entry stays current until it ends or the user selects another one; a newer request never replaces it.
type queue struct {
	entries []*entry
	current *entry // nil if there are no requests, or all are snoozed
}

type entry struct {
	request  interact.Request
	why      policy.Decision
	answered chan<- interact.Answer // buffered
	page     *page                  // keeps the input of the user; nil before it was first shown
	said     *prompt.View           // nil before it was first needed
}

func (e *entry) view() prompt.View {
	if e.said == nil {
		v := prompt.ViewOf(e.request, e.why)
		e.said = &v
	}
	return *e.said
}

func (q *queue) add(r interact.Request, why policy.Decision, answered chan<- interact.Answer) {
	q.entries = append(q.entries, &entry{request: r, why: why, answered: answered})
	q.settle()
}

func (q *queue) find(id interact.ID) *entry {
	i := slices.IndexFunc(q.entries, func(e *entry) bool { return e.request.ID == id })
	if i < 0 {
		return nil
	}
	return q.entries[i]
}

// drop removes a request and returns its entry, or nil. If it was current, the next one becomes current.
func (q *queue) drop(id interact.ID) *entry {
	e := q.find(id)
	if e == nil {
		return nil
	}
	next := q.neighbour(e, +1)
	q.entries = slices.DeleteFunc(q.entries, func(x *entry) bool { return x == e })
	if q.current == e {
		q.current = next
		q.settle() // next is e itself if it was the only one
	}
	return e
}

func (q *queue) waiting() []*entry {
	return slices.DeleteFunc(slices.Clone(q.entries), (*entry).isSnoozed)
}

// bySession lists the entries that are not snoozed, grouped by session, oldest first.
func (q *queue) bySession() []*entry {
	list := q.waiting()
	sessionOf := func(e *entry) int {
		return slices.IndexFunc(list, func(x *entry) bool { return sameSession(x.request.Requester, e.request.Requester) })
	}
	return slices.SortedStableFunc(slices.Values(list), func(a, b *entry) int { return sessionOf(a) - sessionOf(b) })
}

func (e *entry) isSnoozed() bool { return !e.request.Snoozed.IsZero() }

func (q *queue) position() (place, of int) {
	list := q.waiting()
	return slices.Index(list, q.current) + 1, len(list)
}

func (q *queue) step(by int) {
	if q.current != nil {
		q.current = q.neighbour(q.current, by)
	}
}

// neighbour returns the entry next to e among those that are not snoozed, or e itself if it is the only one.
func (q *queue) neighbour(e *entry, by int) *entry {
	list := q.waiting()
	i := slices.Index(list, e)
	if i < 0 {
		return e
	}
	return list[(i+by+len(list))%len(list)]
}

// retime updates the times of e. An entry whose snooze ends never replaces the current one.
func (q *queue) retime(e *entry, r interact.Request) {
	next := q.neighbour(e, +1)
	e.request.Created, e.request.Deadline = r.Created, r.Deadline
	e.request.Until, e.request.Snoozed = r.Until, r.Snoozed
	if q.current == e && e.isSnoozed() {
		q.current = next
	}
	q.settle()
}

// settle makes sure that the current entry is not snoozed, and that one is current if any entry is not snoozed.
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

// ofSession lists the entries of the same agent and session as e or, without a session, of the same process.
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
