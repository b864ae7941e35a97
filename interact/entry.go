package interact

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"nod/policy"
)

// entry is one request on its road.
type entry struct {
	req     Request
	call    policy.Call
	why     policy.Decision
	content joinKey                 // its key in Broker.same while pending
	cancel  context.CancelCauseFunc // ends the wait with a cause; nil when there was nothing to wait for
	done    chan struct{}           // closed once answer is set

	// Guarded by Broker.mu.
	waiters  int    // callers that hold on
	detached bool   // the request outlives its callers
	answer   Answer // set before done is closed, never changed after
}

// shown is the digest of exactly those bytes of input that are judged and shown.
func (e *entry) shown() string {
	a, _ := e.req.Body.(Approve)
	return Digest(a.Input)
}

// ended is the answer of a request whose context ended before the human answered.
func (e *entry) ended(cause error) Answer {
	if o, ok := cause.(*overruled); ok {
		return o.Answer
	}
	switch cause {
	case errTimedOut:
		a := Answer{Outcome: TimedOut, By: ByTimeout, Reason: fmt.Sprintf(
			"nobody answered within %s: the person is away and has not refused", e.req.Deadline.Sub(e.req.Created).Round(time.Second))}
		if c, ok := e.req.Body.(Confirm); ok {
			a.Confirmed, a.Defaulted = c.Default, true
		}
		return a
	case errCallerGone:
		return Answer{Outcome: Cancelled, Reason: "the caller went away before anybody answered"}
	case errWithdrawn:
		return Answer{Outcome: Withdrawn, Reason: "the request was taken back before anybody answered"}
	}
	return unavailable("nod is shutting down: nobody decided")
}

// overruled is the cause of the end of a request that the policy decides after all.
type overruled struct{ Answer }

func (*overruled) Error() string { return "decided by the policy" }

// Ticket is a caller's hold on a request.
type Ticket struct {
	b        *Broker
	e        *entry
	attached bool // counts among the entry's waiters
	release  sync.Once
}

// ID returns the request's id.
func (t *Ticket) ID() ID { return t.e.req.ID }

// Request returns the request as the broker has it: normalized, with id, creation time and deadline.
func (t *Ticket) Request() Request { return t.e.req }

// Done is closed once the request has its answer.
func (t *Ticket) Done() <-chan struct{} { return t.e.done }

// Answer returns the answer, if there is one already.
func (t *Ticket) Answer() (Answer, bool) {
	select {
	case <-t.e.done:
		return t.e.answer, true
	default:
		return Answer{}, false
	}
}

// Wait returns the answer. The error is ctx's, when it ends first; the request is still there then. An
// answer that is there already is returned whatever ctx says.
func (t *Ticket) Wait(ctx context.Context) (Answer, error) {
	select {
	case <-t.e.done:
	case <-ctx.Done():
		if a, ok := t.Answer(); ok {
			return a, nil
		}
		return Answer{}, ctx.Err()
	}
	return t.e.answer, nil
}

// Detach lets the request outlive its callers: its answer waits to be looked up.
func (t *Ticket) Detach() {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	t.e.detached = true
}

// Release says that this caller has gone. When it was the last one and nobody detached the request, it
// ends as cancelled. To release twice is to release once.
func (t *Ticket) Release() {
	t.release.Do(func() {
		if t.attached && t.b.left(t.e) && t.e.cancel != nil {
			t.e.cancel(errCallerGone)
		}
	})
}

// left takes one waiter off and reports whether nobody cares any longer.
func (b *Broker) left(e *entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.waiters--
	return e.waiters == 0 && !e.detached
}

// joinKey finds the request that a new one is the same as.
type joinKey struct {
	owner owner
	cwd   string
	sess  string
	kind  Kind
	key   string // idempotency key, or digest of the content
}

// owner is what of a requester is verified, and its own name for itself.
type owner struct {
	uid        int
	exe, agent string
}

func ownerOf(r Requester) owner {
	return owner{uid: r.Process.UID, exe: r.Process.Exe, agent: r.Agent}
}

// owns reports whether who may read and withdraw what maker asked: the same program of the same user. The
// agent's name and session are claims, so they protect nothing; the id of a request is hard to guess.
func owns(who, maker Requester) bool {
	return who.Process.UID == maker.Process.UID && who.Process.Exe == maker.Process.Exe
}

func keyOf(r Request) joinKey {
	return joinKey{owner: ownerOf(r.Requester), key: r.IdempotencyKey}
}

func contentOf(r Request) joinKey {
	return joinKey{
		owner: ownerOf(r.Requester), cwd: r.Requester.CWD, sess: r.Requester.Session,
		kind: r.Body.Kind(), key: digestOf(r.Body),
	}
}

// joinKeyed joins the request that carries the same idempotency key. A key that comes again with something
// else in it is refused: an answer must never count for a request that nobody saw.
func (b *Broker) joinKeyed(e *entry) (*Ticket, error) {
	if e.req.IdempotencyKey == "" {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.keyed[keyOf(e.req)]
	if old == nil {
		return nil, nil
	}
	if contentOf(old.req) != contentOf(e.req) {
		return nil, &ParamError{Param: "idempotency_key", Problem: "was used for a different request; use a new key"}
	}
	old.waiters++
	return &Ticket{b: b, e: old, attached: true}, nil
}

// compareIDs orders ids by the time in them.
func compareIDs(a, b ID) int { return strings.Compare(string(a), string(b)) }
