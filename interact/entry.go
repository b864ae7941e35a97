package interact

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"nod/changes"
	"nod/policy"
)

// entry is one request and what becomes of it.
type entry struct {
	req     Request
	call    policy.Call // of an approval
	why     policy.Decision
	content joinKey                 // its key in Broker.same while pending; zero when nobody needed it yet
	ctx     context.Context         // ends when the wait does; nil when there was nothing to wait for
	cancel  context.CancelCauseFunc // ends the wait with a cause; nil, too
	done    chan struct{}           // closed once answer is set
	callers []Parent                // the processes without which nobody waits for the answer, as far as that was asked
	size    int                     // bytes of memory that it holds, while it is pending and once it has ended

	clock      *time.Timer    // calls [Broker.tick]; nil when there was nothing to wait for
	reconsider changes.Signal // the policy may decide it by now; nil, too

	noting sync.Mutex // held while the journal is told of it, and guards what that has
	noted  noted

	// Guarded by Broker.mu, as is why once it is pending.
	joined      []string             // idempotency keys of others that ask the same
	deadline    time.Time            // when nobody is waited for any longer
	still       time.Time            // since when its time stands still; zero: it goes by
	snoozed     time.Time            // when the person wants to be asked again; zero: they were not put off
	tickets     map[*Ticket]struct{} // those that keep it open; nil when there was nothing to wait for
	isAbandoned bool                 // the last caller has gone: nobody may join any longer
	came        EventID              // when it came to be pending; 0: it never was
	settled     EventID              // when it was settled, or is about to be
	answer      Answer               // set before done is closed, never changed after; none when nod ended first
}

func (e *entry) kind() Kind { return e.req.Body.Kind() }

// isOpen reports whether a request that came now may share e's answer. The caller holds Broker.mu.
func (e *entry) isOpen(now time.Time) bool {
	return !e.isAbandoned && e.ctx.Err() == nil && now.Before(e.end())
}

// serves reports whether the answer to e is one to other, too, which asks the same. A relay has joined what its callers
// ask already: what it tells apart by key has ended there in the meantime, or is to have an answer of its own.
func (e *entry) serves(other *entry) bool {
	return !e.req.Requester.IsRemote() || e.req.IdempotencyKey == other.req.IdempotencyKey
}

// current is the request with its times as they are now. The caller holds Broker.mu.
func (e *entry) current() Request {
	r := e.req
	r.Deadline, r.Snoozed = e.deadline, e.snoozed
	return r
}

// record is what the journal keeps of e. The caller holds Broker.mu.
func (e *entry) record(a Answer) Record {
	r := Record{Request: e.current(), Why: e.why, Content: e.content.key, Joined: e.joined, Answer: a, Event: e.came}
	if a.Outcome != "" {
		r.Event = e.settled
	}
	for t := range e.tickets {
		if t.isDetached {
			r.Postponed = len(t.callers) > 0 && (r.Postponed || !r.Detached)
			r.Detached = true
		}
	}
	return r
}

// keys are all under which e is known.
func (e *entry) keys() []joinKey {
	var keys []joinKey
	for _, key := range append([]string{e.req.IdempotencyKey}, e.joined...) {
		if key != "" {
			keys = append(keys, joinKey{owner: ownerOf(e.req.Requester), key: key})
		}
	}
	return keys
}

// finish returns what is kept of e for those who ask for its answer later: not the input of an approval, nor what the
// person saw of it, which the journal has. The caller holds Broker.mu.
func (e *entry) finish() *entry {
	kept := &entry{
		req: e.req, why: e.why, content: e.content, joined: e.joined, done: e.done, answer: e.answer,
		deadline: e.deadline, isAbandoned: e.isAbandoned, came: e.came, settled: e.settled,
	}
	kept.answer.Shown = Shown{}
	kept.size = 1024 + len(e.answer.Reason)
	if approve, ok := e.req.Body.(Approve); ok {
		kept.req.Body = approve.Bare()
	} else {
		kept.size += sizeOf(e.answer) + sizeOf(e.req)
	}
	return kept
}

// ended is the answer of a request whose context ended before the human answered.
func (e *entry) ended(cause error) Answer {
	switch cause {
	case ErrTimedOut:
		after := max(0, time.Since(e.req.Created)).Round(time.Second)
		reason := fmt.Sprintf("nobody answered within %s: the person is away and has not refused", after)
		a := Answer{Outcome: TimedOut, By: ByTimeout, Reason: reason}
		if c, ok := e.req.Body.(Confirm); ok {
			a.Confirmed, a.Defaulted = c.Default, true
		}
		return a
	case errCallerGone:
		return Answer{Outcome: Cancelled, Reason: reasonGone}
	case errWithdrawn:
		return Answer{Outcome: Withdrawn, Reason: "the request was taken back before anybody answered"}
	}
	return unavailable("nod is shutting down")
}

// reasonGone is why a request ends that nobody waits for any longer.
const reasonGone = "the caller went away before anybody answered"

// Ticket is a caller's hold on a request.
type Ticket struct {
	b *Broker
	e *entry

	isCaller bool // it has made the request, or joined it, and not looked it up

	// Guarded by Broker.mu.
	isDetached bool               // it keeps the request open when it is released, too
	callers    []Parent           // when one of them has ended it keeps the request open no longer
	unwatch    context.CancelFunc // stops looking after them; nil when nobody does
}

// ID returns the request's id.
func (t *Ticket) ID() ID { return t.e.req.ID }

// Request returns the request as the broker has it: normalized, with id and times.
func (t *Ticket) Request() Request {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.e.current()
}

// Done is closed once the request has its answer.
func (t *Ticket) Done() <-chan struct{} { return t.e.done }

// Answer returns the answer, if there is one already. When nod ends before somebody answers a request that outlives its
// caller, who has looked it up has no answer, though it is done.
func (t *Ticket) Answer() (Answer, bool) {
	select {
	case <-t.e.done:
	default:
		return Answer{}, false
	}
	if t.e.answer.Outcome == "" && t.isCaller {
		return t.e.ended(ErrClosing), true
	}
	return t.e.answer, t.e.answer.Outcome != ""
}

// Wait returns the answer. The error is ctx's, when it ends first, or [ErrClosing] where there is none; the request is
// still there then. An answer that is there already is returned whatever ctx says.
func (t *Ticket) Wait(ctx context.Context) (Answer, error) {
	err := ErrClosing
	select {
	case <-t.e.done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if a, ok := t.Answer(); ok {
		return a, nil
	}
	return Answer{}, err
}

// Detach lets the request outlive its callers, and nod: its answer waits to be looked up.
func (t *Ticket) Detach() { t.keep(nil) }

// Postpone lets the request outlive the call but not the program that asked: its answer waits to be looked up for as
// long as that runs.
func (t *Ticket) Postpone() { t.keep(t.b.keepersOf(t.e.req)) }

// keep has the ticket keep the request open until one of the callers has ended.
func (t *Ticket) keep(callers []Parent) {
	t.b.mu.Lock()
	_, holds := t.e.tickets[t]
	if holds {
		t.isDetached = true
		t.b.watch(t, callers)
	}
	t.b.mu.Unlock()
	if holds {
		t.b.update(t.e)
	}
}

// Release says that this caller has gone. When it was the last one and nobody detached the request, it
// ends as cancelled. To release twice is to release once.
func (t *Ticket) Release() {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if !t.isDetached {
		t.b.drop(t)
	}
}

// drop says that t keeps its request open no longer. What nothing keeps open ends. The caller holds b.mu.
func (b *Broker) drop(t *Ticket) {
	e := t.e
	if _, holds := e.tickets[t]; !holds {
		return
	}
	delete(e.tickets, t)
	if t.unwatch != nil {
		t.unwatch()
	}
	if len(e.tickets) == 0 && e.answer.Outcome == "" {
		b.abandon(e)
		e.cancel(errCallerGone)
	}
}

// abandon has whoever asks the same as e asked for anew. The caller holds b.mu.
func (b *Broker) abandon(e *entry) {
	e.isAbandoned = true
	b.unkey(e)
}

// joinKey finds the request that a new one is the same as.
type joinKey struct {
	owner  owner
	folder string
	sess   string
	part   string // id of the subagent
	kind   Kind
	key    string // idempotency key, or digest of the content
}

// owner is what of a requester is verified, and its own name for itself.
type owner struct {
	uid                 int
	exe, agent, machine string
}

func ownerOf(r Requester) owner {
	return owner{uid: r.Process.UID, exe: fileOf(r.Process.Exe), agent: r.Agent, machine: r.Machine}
}

// owns reports whether who may read and withdraw what maker asked: the same program of the same user. The
// agent's name and session are claims, so they protect nothing; the id of a request is hard to guess.
func owns(who, maker Requester) bool {
	return who.Process.UID == maker.Process.UID && fileOf(who.Process.Exe) == fileOf(maker.Process.Exe) &&
		who.Machine == maker.Machine
}

// contentKey is the same for requests that one answer can serve: those that the user reads as the same, and that carry
// the same bytes of input. It also finds the size of e.
func (e *entry) contentKey() joinKey {
	var body any = e.req.Body
	if a, ok := body.(Approve); ok {
		body, e.size = approveJSON{a, []byte(e.call.Input.SHA256)}, len(a.Input)
	}
	text, err := json.Marshal(body)
	if err != nil { // a body that came through Validate always encodes
		panic(fmt.Sprintf("interact: encode %s: %v", e.kind(), err))
	}
	e.size += 1024 + len(text)
	if e.req.Reported != nil {
		e.size += e.req.Reported.Size()
	}
	return e.contentOf(Digest(text))
}

// contentOf is the content key of a request with that digest.
func (e *entry) contentOf(digest string) joinKey {
	r := e.req.Requester
	return joinKey{
		owner: ownerOf(r), folder: r.Folder(), sess: r.Session, part: r.Subagent.ID,
		kind: e.kind(), key: digest,
	}
}

// known returns the request that carries the same idempotency key; nil when there is none. A key that comes again with
// something else in it is refused: an answer must never count for a request that nobody saw. The caller holds b.mu.
func (b *Broker) known(e *entry) (*entry, error) {
	old := b.keyed[joinKey{owner: ownerOf(e.req.Requester), key: e.req.IdempotencyKey}]
	if old == nil || e.req.IdempotencyKey == "" {
		return nil, nil
	}
	if old.content != e.content {
		return nil, &ParamError{Param: "idempotency_key", Problem: "was used for a different request; use a new key"}
	}
	return old, nil
}

// joinKeyed joins the request that carries the same idempotency key; nil when there is none. The caller holds b.mu.
func (b *Broker) joinKeyed(e *entry) (*Ticket, error) {
	old, err := b.known(e)
	if old == nil || err != nil {
		return nil, err
	}
	return b.hold(old, e.callers), nil
}

// again joins the request that carries the same idempotency key, if it came before. As a rule it did not: then nobody
// needs to know yet on whom its caller depends.
func (b *Broker) again(e *entry) (*Ticket, error) {
	b.mu.Lock()
	old, err := b.known(e)
	b.mu.Unlock()
	if old == nil || err != nil {
		return nil, err
	}
	e.callers = b.callersOf(e.req)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.joinKeyed(e)
}

// recall looks up the answer of the request that carries the same idempotency key, and what the policy made of it.
func (b *Broker) recall(e *entry) (a Answer, why policy.Decision, isKnown bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, err := b.known(e)
	if old == nil || err != nil {
		return Answer{}, policy.Decision{}, false, err
	}
	return old.answer, old.why, true, nil
}
