package interact

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"nod/api"
	"nod/changes"
	"nod/policy"
)

type entry struct {
	req      Request
	call     policy.Call // of an approval
	why      policy.Decision
	isJudged bool                    // why is what the policy decided …
	judgedAt int64                   // … when Broker.reconsidered was this
	content  joinKey                 // what it asks; zero if not needed yet
	ctx      context.Context         // ends when the wait does; nil when there was nothing to wait for
	cancel   context.CancelCauseFunc // ends the wait with a cause; nil, too
	done     chan struct{}           // closed once answer is set
	callers  []api.Parent            // see [process.Callers]; may not be known yet
	size     int                     // in bytes

	clock      *time.Timer    // calls [Broker.tick]; nil when there was nothing to wait for
	reconsider changes.Signal // the policy may decide it by now; nil, too

	noting sync.Mutex // held during a write to the journal; guards noted
	noted  noted

	// Guarded by Broker.mu, as is why once it is pending.
	joined      []string             // idempotency keys of others that ask the same
	deadline    time.Time            // when nod stops waiting for an answer
	snoozed     time.Time            // when the user wants to be asked again; zero: they were not put off
	tickets     map[*Ticket]struct{} // those that keep it open; nil when there was nothing to wait for
	isAbandoned bool                 // the last caller has gone: no other may join
	answer      Answer               // set before done is closed, never changed after; none when nod ended first
}

func (e *entry) kind() api.Kind { return e.req.Body.Kind() }

// isOpen reports whether another request may join e. The caller holds Broker.mu.
func (e *entry) isOpen(now time.Time) bool {
	return !e.isAbandoned && e.ctx.Err() == nil && now.Before(e.deadline)
}

// current returns the request with its current times. The caller holds Broker.mu.
func (e *entry) current() Request {
	r := e.req
	r.Deadline, r.Snoozed = e.deadline, e.snoozed
	return r
}

// record returns e for the journal. The caller holds Broker.mu.
func (e *entry) record(a Answer) Record {
	r := Record{Request: e.current(), Why: e.why, Content: e.content.key, Joined: e.joined, Answer: a}
	for t := range e.tickets {
		if t.isDetached {
			r.Postponed = len(t.callers) > 0 && (r.Postponed || !r.Detached)
			r.Detached = true
		}
	}
	return r
}

func (e *entry) keys() []joinKey {
	var keys []joinKey
	for _, key := range append([]string{e.req.IdempotencyKey}, e.joined...) {
		if key != "" {
			keys = append(keys, joinKey{owner: ownerOf(e.req.Requester), key: key})
		}
	}
	return keys
}

// finish returns what is kept of e so that callers can fetch its answer. It omits an approval's input and what was
// shown, which are in the journal. The caller holds Broker.mu.
func (e *entry) finish() *entry {
	kept := &entry{
		req: e.req, why: e.why, content: e.content, joined: e.joined, done: e.done, answer: e.answer,
		deadline: e.deadline, isAbandoned: e.isAbandoned,
	}
	kept.answer.Shown = Shown{}
	kept.size = 1024 + len(e.answer.Reason)
	if approve, ok := e.req.Body.(Approve); ok {
		kept.req.Body = approve.Bare()
	} else {
		kept.size += SizeOf(e.answer) + SizeOf(e.req)
	}
	return kept
}

// ended returns the answer of a request whose context ended before it had one.
func (e *entry) ended(cause error) Answer {
	switch cause {
	case ErrTimedOut:
		after := max(0, time.Since(e.req.Created)).Round(time.Second)
		reason := fmt.Sprintf("nobody answered within %s; the user has not refused", after)
		a := Answer{Outcome: api.TimedOut, By: api.ByTimeout, Reason: reason}
		if c, ok := e.req.Body.(api.Confirm); ok {
			a.Confirmed, a.Defaulted = c.Default, true
		}
		return a
	case errCallerGone:
		return Answer{Outcome: api.Cancelled, Reason: reasonGone}
	case errWithdrawn:
		return Answer{Outcome: api.Withdrawn, Reason: "the request was taken back before anybody answered"}
	}
	return unavailable("nod is shutting down")
}

const reasonGone = "the caller went away before anybody answered"

// Ticket is a caller's hold on a request.
type Ticket struct {
	b *Broker
	e *entry

	isCaller bool // not from [Broker.Find]

	// Guarded by Broker.mu.
	isDetached bool               // Release does not drop it
	callers    []api.Parent       // the end of one of them drops it
	unwatch    context.CancelFunc // may be nil
}

// ID returns the request's id.
func (t *Ticket) ID() ID { return t.e.req.ID }

// Request returns the normalized request, with id and times.
func (t *Ticket) Request() Request {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	return t.e.current()
}

// Done is closed once the request has its answer.
func (t *Ticket) Done() <-chan struct{} { return t.e.done }

// Answer returns the answer, if there is one already. For a ticket of [Broker.Find], a detached request that is open
// when the broker closes is done but has no answer.
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

// Wait waits for the answer. It fails if ctx ends first, or with [ErrClosing] if there will be no answer. It does not
// end the request.
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

// Detach lets the request outlive its callers, and nod.
func (t *Ticket) Detach() { t.keep(nil) }

// Postpone lets the request outlive the call, but not the program that asked.
func (t *Ticket) Postpone() { t.keep(t.b.keepersOf(t.e.req)) }

// keep makes the ticket keep the request open until one of the callers ends.
func (t *Ticket) keep(callers []api.Parent) {
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

// Release ends this caller's hold. A request that is not detached is cancelled once it has no callers.
func (t *Ticket) Release() {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if !t.isDetached {
		t.b.drop(t)
	}
}

// drop removes t, and cancels a request without tickets. The caller holds b.mu.
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

// abandon prevents other requests from joining e. The caller holds b.mu.
func (b *Broker) abandon(e *entry) {
	e.isAbandoned = true
	b.unkey(e)
}

type joinKey struct {
	owner  owner
	folder string
	sess   string
	part   string // id of the subagent
	kind   api.Kind
	key    string        // idempotency key, or digest of the content
	limit  time.Duration // its own time-out, in [entry.prompt]
}

// owner identifies a requester by what is verified about it, and its name.
type owner struct {
	uid        int
	exe, agent string
}

func ownerOf(r Requester) owner {
	return owner{uid: r.Process.UID, exe: fileOf(r.Process.Exe), agent: r.Agent}
}

// owns reports whether who may read and withdraw maker's requests, because it is the same program of the same user. An
// agent's name and session are only claims, so they would protect nothing.
func owns(who, maker Requester) bool {
	return who.Process.UID == maker.Process.UID && fileOf(who.Process.Exe) == fileOf(maker.Process.Exe)
}

// contentKey returns a key that is the same for requests that one answer can serve: the user reads them as the same,
// and their inputs have the same bytes. It also sets the size of e.
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
		e.size += SizeOf(e.req.Reported)
	}
	return e.contentOf(Digest(text))
}

func (e *entry) contentOf(digest string) joinKey {
	r := e.req.Requester
	return joinKey{
		owner: ownerOf(r), folder: r.Folder(), sess: r.Session, part: r.Subagent.ID,
		kind: e.kind(), key: digest,
	}
}

// prompt returns a key that is the same for requests that share a prompt, whose time-out ends all of them. So they have
// the same content and time-out, and silence does not mean yes, which must not come before a caller's own time is over.
func (e *entry) prompt() joinKey {
	k := e.content
	k.limit = e.req.Timeout
	if e.isYesBySilence() {
		k.key = string(e.req.ID)
	}
	return k
}

func (e *entry) isYesBySilence() bool {
	c, ok := e.req.Body.(api.Confirm)
	return ok && c.Default
}

// known returns the request with the same idempotency key, or nil. It fails if its content differs, because an answer
// must never count for a request that the user did not see. The caller holds b.mu.
//
// The same key says that it is the same request again, perhaps after a crash, with the time that its caller has left.
// So the time-out of the first one counts. Where silence means yes, a longer one needs a new key.
func (b *Broker) known(e *entry) (*entry, error) {
	old := b.keyed[joinKey{owner: ownerOf(e.req.Requester), key: e.req.IdempotencyKey}]
	if old == nil || e.req.IdempotencyKey == "" {
		return nil, nil
	}
	limit := func(e *entry) time.Duration { return cmp.Or(e.req.Timeout, b.cfg.Timeout()) }
	isTooSoon := e.isYesBySilence() && limit(old) < limit(e)
	if old.content != e.content || !old.mayServe(e) || isTooSoon {
		return nil, &ParamError{Param: "idempotency_key", Problem: "was used for a different request; use a new key"}
	}
	return old, nil
}

// mayServe reports whether e's answer may also be given to another request. An answer to run a command in the sandbox,
// or to take a snapshot before an edit, may go only to a caller that does so.
func (e *entry) mayServe(other *entry) bool {
	isContained := e.call.Contains || e.call.Undoes || e.answer.Confinement != policy.Confinement{} ||
		e.answer.Rule == policy.EditsRule
	return !isContained || other.call.Contains || other.call.Undoes
}

// joinKeyed joins the request with the same idempotency key, if there is one. The caller holds b.mu.
func (b *Broker) joinKeyed(e *entry) (*Ticket, error) {
	old, err := b.known(e)
	if old == nil || err != nil {
		return nil, err
	}
	return b.hold(old, e.callers), nil
}

// again is like joinKeyed, but looks up e's callers, which takes time, only if such a request exists.
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

// recall returns the answer and decision of the request with the same idempotency key.
func (b *Broker) recall(e *entry) (a Answer, why policy.Decision, isKnown bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, err := b.known(e)
	if old == nil || err != nil {
		return Answer{}, policy.Decision{}, false, err
	}
	return old.answer, old.why, true, nil
}
