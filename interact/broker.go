package interact

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"nod/api"
	"nod/changes"
	"nod/policy"
	"nod/policy/process"
)

// Prompter shows a request to the user and returns the answer. It returns as soon as ctx ends, and then removes the
// prompt from the screen. The error wraps [ErrUnavailable] if it cannot show anything; its text is the reason that the
// agent reads. If ctx ends with [ErrClosing], a denial still counts.
type Prompter interface {
	Prompt(ctx context.Context, r Request, why policy.Decision) (Answer, error)
}

// Policy decides calls and keeps the grants that answers create.
type Policy interface {
	// Decide decides about a call. It changes nothing.
	Decide(call policy.Call) policy.Decision
	// Used is called with every decision that allowed a call.
	Used(d policy.Decision)
	// Grant saves an allow that is wider than once.
	Grant(call policy.Call, scope policy.Scope, cover policy.Cover) error
}

// Limits of the broker.
const (
	MaxPending             = 512      // pending requests
	MaxPendingPerRequester = 64       // the same for one requester
	maxPendingBytes        = 32 << 20 // … and their size: each is in memory several times
	maxJoined              = 64       // further idempotency keys of one request
)

var (
	// ErrUnavailable says that the user cannot be asked.
	ErrUnavailable = errors.New("nobody can be asked")
	// ErrNotFound says that a request does not exist, or has another owner.
	ErrNotFound  = errors.New("no such request")
	ErrImpatient = errors.New("the caller does not wait that long")
)

// BusyError says that too many requests are pending.
type BusyError struct {
	Pending    int // requests
	RetryAfter time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%d requests wait for an answer already", e.Pending)
}

// BrokerConfig configures a [Broker]. All fields but Processes are required.
type BrokerConfig struct {
	Policy   Policy
	Prompter Prompter
	// Notify passes a notice on to the desktop, and reports whether the desktop accepted it. It returns soon after ctx
	// ends.
	Notify  func(ctx context.Context, r Request) (sent bool)
	Journal Journal
	Timeout func() time.Duration // how long a request without a time-out of its own waits
	// Processes tells which callers have ended, so that their requests are cancelled. May be nil.
	Processes process.Table
	// IsAgent reports whether a program on this machine is the agent with this name. May be nil.
	IsAgent func(name string, program api.Parent) bool
	Log     *slog.Logger
}

// Broker accepts requests, asks the policy and the user, and records the answers. It is safe for concurrent use.
type Broker struct {
	cfg   BrokerConfig
	ctx   context.Context // ends when the broker closes
	close context.CancelCauseFunc
	runs  sync.WaitGroup // one for each prompt under way

	mu          sync.Mutex // guards all below, and the fields of every entry that say so
	entries     map[ID]*entry
	pending     []*entry           // oldest first
	answered    finished           // by the user, or not at all
	passed      finished           // decided by the policy
	keyed       map[joinKey]*entry // by idempotency key
	same        map[joinKey]*entry // pending ones, by [entry.prompt]
	restored    chan struct{}      // closed by Restore; nil: nothing is to come
	unjournaled []Record           // outcomes that the journal could not take

	changed      changes.Source
	reconsidered atomic.Int64 // how often the policy has changed
}

// NewBroker returns a broker. The caller must Close it.
func NewBroker(cfg BrokerConfig) *Broker {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Broker{
		cfg: cfg, ctx: ctx, close: cancel,
		entries: map[ID]*entry{},
		keyed:   map[joinKey]*entry{},
		same:    map[joinKey]*entry{},
	}
}

// The causes with which a pending request's context ends.
var (
	ErrTimedOut   = errors.New("timed out")
	errCallerGone = errors.New("caller went away")
	errWithdrawn  = errors.New("withdrawn")
	ErrClosing    = errors.New("nod is shutting down")
)

// Do makes a request and waits for its answer. If ctx ends first, Do withdraws the request and returns ctx's error.
func (b *Broker) Do(ctx context.Context, r Request) (Answer, error) {
	e, err := b.take(r)
	if err != nil {
		return Answer{}, err
	}
	return b.do(ctx, e)
}

func (b *Broker) do(ctx context.Context, e *entry) (Answer, error) {
	t, err := b.begin(e)
	if err != nil {
		return Answer{}, err
	}
	defer t.Release()
	return t.Wait(ctx)
}

// Begin makes a request. If the policy decides it, it has its answer when Begin returns; otherwise it is pending. A
// request that equals a pending one, or has a known idempotency key, joins that one. The caller must Release the
// ticket. It fails with a [*ParamError], a [*BusyError] or, if the calling process has ended, an [*UnansweredError].
func (b *Broker) Begin(r Request) (*Ticket, error) {
	e, err := b.take(r)
	if err != nil {
		return nil, err
	}
	return b.begin(e)
}

func (b *Broker) begin(e *entry) (*Ticket, error) {
	if e.req.IdempotencyKey != "" {
		e.content = e.contentKey()
		if t, err := b.again(e); t != nil || err != nil {
			return t, err
		}
	}
	if a := b.judge(e, policy.Allow, policy.Ask); a.Outcome != "" && b.settle(e, a) {
		return &Ticket{b: b, e: e, isCaller: true}, nil
	}
	t, err := b.wait(e)
	switch {
	case err == ErrClosing:
		b.settle(e, e.ended(ErrClosing))
		return &Ticket{b: b, e: e, isCaller: true}, nil
	case err == nil && t.e != e:
		b.update(t.e)
	}
	return t, err
}

// ruleNoEffect is the rule of a denial where an allow would change nothing.
const ruleNoEffect = "builtin:no_effect"

// judge asks the policy about an approval, and returns the resulting answer, if there is one. It denies futile calls if
// the decision is one of effects. It decides nothing while nod is ending.
func (b *Broker) judge(e *entry, effects ...policy.Effect) Answer {
	if e.kind() != api.KindApprove || b.ctx.Err() != nil {
		return Answer{}
	}
	if !e.isJudged {
		e.judgedAt = b.reconsidered.Load()
		e.why, e.isJudged = b.decide(e.call), true
	}
	if e.req.Futile != nil && e.why.Effect != policy.Deny && isAmong(effects, e.why.Effect) {
		if reason := e.req.Futile(); reason != "" {
			e.why.Effect, e.why.Rule, e.why.Reason = policy.Deny, ruleNoEffect, reason
		}
	}
	return decided(e.why)
}

// decide asks the policy. If the policy panics the user decides, because one call must not end all others, nor do so
// again each time that nod restores it.
func (b *Broker) decide(call policy.Call) (d policy.Decision) {
	defer func() {
		if p := recover(); p != nil {
			b.cfg.Log.Error("policy: panic", "tool", call.Tool, "panic", p, "stack", string(debug.Stack()))
			d = policy.AskUnread
		}
	}()
	return b.cfg.Policy.Decide(call)
}

// isAmong reports whether e is one of effects. Running in the sandbox counts as allowed.
func isAmong(effects []policy.Effect, e policy.Effect) bool {
	return slices.Contains(effects, e) || e == policy.Sandbox && slices.Contains(effects, policy.Allow)
}

// Judge returns the policy's answer to an approval and journals it, if its effect is one of effects. Otherwise, or if
// an allow cannot be journaled, it continues like [Broker.Do] if ask returns true for the policy's decision, without
// asking the policy again. If ask is nil or returns false, it returns the zero Answer and leaves no trace. A known
// idempotency key returns the answer of the first request, if there is one yet. The errors are those of Do.
func (b *Broker) Judge(
	ctx context.Context, r Request, ask func(policy.Decision) bool, effects ...policy.Effect,
) (Answer, error) {
	e, err := b.take(r)
	if err != nil {
		return Answer{}, err
	}
	a, why, err := b.judgeAlone(e, effects)
	if err != nil || a.Outcome != "" || ask == nil || !ask(why) {
		return a, err
	}
	return b.do(ctx, e)
}

// judgeAlone returns the answer that Judge has without asking the user, and the policy's decision.
func (b *Broker) judgeAlone(e *entry, effects []policy.Effect) (Answer, policy.Decision, error) {
	if e.kind() != api.KindApprove {
		return Answer{}, policy.Decision{}, nil
	}
	if e.req.IdempotencyKey != "" {
		e.content = e.contentKey()
		if a, why, known, err := b.recall(e); known || err != nil {
			return a, why, err
		}
	}
	a := b.judge(e, effects...)
	if a.Outcome == "" || !isAmong(effects, e.why.Effect) || !b.settle(e, a) {
		return Answer{}, e.why, nil
	}
	a = e.answer
	a.Request = e.req.ID
	return a, e.why, nil
}

func (b *Broker) take(r Request) (*entry, error) {
	call, err := check(&r)
	if err != nil {
		return nil, err
	}
	if p := r.Requester.Process; b.cfg.Processes != nil && p.PID != 0 && b.cfg.Processes.Ended(process.Itself(p)) {
		return nil, &UnansweredError{Outcome: api.Cancelled, Reason: reasonGone} // another has its connection
	}
	r.Requester.IsAgent = b.cfg.IsAgent != nil && b.cfg.IsAgent(r.Requester.Agent, Caller(r.Requester.Process))
	r.Created = time.Now()
	r.ID = ID(uuid.Must(uuid.NewV7()).String())
	r.Until = r.Created.Add(cmp.Or(r.Patience, r.Timeout, MaxTimeout))
	r.Deadline = earlier(r.Created.Add(cmp.Or(r.Timeout, b.cfg.Timeout())), r.Until)
	r.Snoozed = time.Time{}
	return &entry{req: r, call: call, done: make(chan struct{}), deadline: r.Deadline}, nil
}

func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }

// check normalizes and validates a request. It returns the call of an approval.
func check(r *Request) (policy.Call, error) {
	r.Body = Normalize(r.Body)
	if err := r.Validate(); err != nil {
		return policy.Call{}, err
	}
	a, ok := r.Body.(Approve)
	if !ok {
		return policy.Call{}, nil
	}
	a = a.Keep()
	r.Body = a
	call := a.Call(r.Requester)
	if !call.Input.IsObject() {
		return policy.Call{}, &ParamError{Param: "input", Problem: "want a JSON object"}
	}
	return call, nil
}

// decided converts a decision into an answer, which has no Outcome if the user has to decide.
func decided(d policy.Decision) Answer {
	a := Answer{By: api.ByPolicy, Rule: d.Rule, Reason: d.Reason, Confinement: d.Confinement}
	isContained := d.Confinement != policy.Confinement{}
	switch {
	case d.Effect == policy.Deny:
		a.Outcome = api.Denied
	case d.Effect == policy.Allow && !isContained, d.Effect == policy.Sandbox && isContained:
		a.Outcome = api.Allowed
	default:
		return Answer{}
	}
	return a
}

// enter registers e by its id and idempotency keys. The caller holds b.mu.
func (b *Broker) enter(e *entry) {
	b.entries[e.req.ID] = e
	if !e.isAbandoned {
		for _, k := range e.keys() {
			if b.keyed[k] == nil { // else it was asked anew, before e could be restored
				b.keyed[k] = e
			}
		}
	}
}

// unkey frees e's idempotency keys for other requests. The caller holds b.mu.
func (b *Broker) unkey(e *entry) {
	for _, k := range e.keys() {
		if b.keyed[k] == e {
			delete(b.keyed, k)
		}
	}
}

// wait makes e pending, or joins an equal request. The error may be [ErrClosing].
func (b *Broker) wait(e *entry) (*Ticket, error) {
	if e.content == (joinKey{}) {
		e.content = e.contentKey()
	}
	if e.callers == nil {
		e.callers = b.callersOf(e.req)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, err := b.joinKeyed(e); t != nil || err != nil { // it may have come while the policy was asked
		return t, err
	}
	if old := b.same[e.prompt()]; old != nil && old.isOpen(e.req.Created) && old.mayServe(e) {
		b.joined(old, e.req.IdempotencyKey)
		return b.hold(old, e.callers), nil
	}
	if b.ctx.Err() != nil {
		return nil, ErrClosing
	}
	if err := b.full(e); err != nil {
		return nil, err
	}
	b.start(e)
	return b.hold(e, e.callers), nil
}

// joined adds an idempotency key to old. The caller holds b.mu.
func (b *Broker) joined(old *entry, key string) {
	if key != "" && len(old.joined) < maxJoined {
		old.joined = append(old.joined, key)
		b.enter(old)
	}
}

// start prompts for e. The caller holds b.mu, and gives e a ticket.
func (b *Broker) start(e *entry) {
	e.ctx, e.cancel = context.WithCancelCause(b.ctx)
	e.tickets = map[*Ticket]struct{}{}
	e.reconsider = changes.NewSignal()
	e.clock = time.AfterFunc(time.Until(e.next()), func() { b.tick(e) })
	b.enter(e)
	b.pending = append(b.pending, e)
	b.same[e.prompt()] = e
	b.changed.Send()
	if e.isJudged && e.judgedAt != b.reconsidered.Load() { // when it was not pending yet
		e.reconsider.Send()
	}
	b.runs.Go(func() { b.run(e) })
}

// callersOf returns the [process.Callers] of r.
func (b *Broker) callersOf(r Request) []api.Parent {
	if b.cfg.Processes == nil {
		return nil
	}
	return process.Callers(r.Requester.Process, b.cfg.Processes)
}

// hold returns a ticket that keeps e open until its release or the end of one of the callers. The caller holds b.mu.
func (b *Broker) hold(e *entry, callers []api.Parent) *Ticket {
	t := &Ticket{b: b, e: e, isCaller: true}
	if e.tickets != nil { // else it has its answer
		e.tickets[t] = struct{}{}
		b.watch(t, callers)
	}
	return t
}

// watch drops t when one of the callers ends. They replace the callers of earlier calls. The caller holds b.mu.
func (b *Broker) watch(t *Ticket, callers []api.Parent) {
	if t.unwatch != nil {
		t.unwatch()
	}
	t.callers, t.unwatch = callers, nil
	if len(callers) == 0 || t.e.ctx.Err() != nil {
		return
	}
	var ctx context.Context
	ctx, t.unwatch = context.WithCancel(t.e.ctx)
	b.runs.Go(func() {
		if b.cfg.Processes.AwaitEnd(ctx, callers...) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.drop(t)
		}
	})
}

func (b *Broker) full(e *entry) error {
	who, mine, bytes := ownerOf(e.req.Requester), 0, e.size
	for _, p := range b.pending {
		bytes += p.size
		if ownerOf(p.req.Requester) == who {
			mine++
		}
	}
	if mine >= MaxPendingPerRequester || len(b.pending) >= MaxPending || len(b.pending) > 0 && bytes > maxPendingBytes {
		return &BusyError{Pending: len(b.pending), RetryAfter: 5 * time.Second}
	}
	return nil
}

// run prompts for a request and settles it. Nothing else settles a pending request: whatever else ends it cancels its
// context with a cause, so that exactly one answer wins, even if the prompter does not return.
func (b *Broker) run(e *entry) {
	defer e.clock.Stop()
	b.update(e)
	got, why := make(chan Answer, 1), e.why
	go func() { got <- b.prompt(e.ctx, e, why) }()
	defer func() { <-got }()
	defer e.cancel(nil)
	for {
		select {
		case a := <-got:
			got <- a // for who waits until the prompt is off the screen
			if context.Cause(e.ctx) == ErrClosing {
				b.suspend(e, got) // a may only say that nod is ending
			} else {
				b.settle(e, b.unlessDeserted(e, a))
			}
			return
		case <-e.reconsider:
			if b.overrule(e) {
				return
			}
		case <-e.ctx.Done():
			if cause := context.Cause(e.ctx); cause != ErrClosing {
				b.settle(e, b.unlessDeserted(e, e.ended(cause)))
			} else {
				b.suspend(e, got)
			}
			return
		}
	}
}

// overrule settles e if the policy decides it now.
func (b *Broker) overrule(e *entry) bool {
	d := b.decide(e.call)
	a := decided(d)
	if a.Outcome == "" {
		return false
	}
	b.mu.Lock()
	asked := e.why
	e.why = d
	b.mu.Unlock()
	if b.settle(e, b.unlessDeserted(e, a)) {
		return true
	}
	b.mu.Lock()
	e.why = asked
	b.mu.Unlock()
	return false
}

// unlessDeserted returns a, but cancels an allow or a user's answer if all callers have ended, which [Broker.watch] may
// not have seen yet.
func (b *Broker) unlessDeserted(e *entry, a Answer) Answer {
	if a.Outcome != api.Allowed && a.By != api.ByHuman {
		return a
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for t := range e.tickets {
		if len(t.callers) == 0 || !b.cfg.Processes.Ended(t.callers...) {
			return a
		}
	}
	b.abandon(e)
	return e.ended(errCallerGone)
}

// prompt asks or notifies the user. After any failure the answer is that the user could not be asked.
func (b *Broker) prompt(ctx context.Context, e *entry, why policy.Decision) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			b.cfg.Log.Error("prompt: panic", "id", e.req.ID, "panic", p)
			a = unavailable("nod's window failed, so nobody was asked")
		}
	}()
	if e.kind() == api.KindNotify {
		return Answer{Outcome: api.Answered, Sent: b.cfg.Notify(ctx, e.req)}
	}
	b.mu.Lock()
	now := e.current() // it may be snoozed since before a restart
	b.mu.Unlock()
	a, err := b.cfg.Prompter.Prompt(ctx, now, why)
	switch {
	case err == nil && a.Outcome == api.Denied && context.Cause(ctx) == ErrClosing:
		return b.accept(e, a)
	case ctx.Err() != nil: // the end came first, whatever the window says now
		return e.ended(context.Cause(ctx))
	case errors.Is(err, ErrUnavailable):
		return unavailable(err.Error())
	case err != nil:
		b.cfg.Log.Error("prompt", "id", e.req.ID, "err", err)
		return unavailable("nod could not show its window, so nobody was asked")
	}
	return b.accept(e, a)
}

func (b *Broker) accept(e *entry, a Answer) Answer {
	if err := e.req.Check(a); err != nil {
		b.cfg.Log.Error("prompt: answer refused", "id", e.req.ID, "err", err)
		return unavailable("nod's window gave no valid answer")
	}
	a.By = api.ByHuman
	if a.Outcome == api.Dismissed && a.Reason == "" {
		a.Reason = "the user closed the prompt and has not refused"
	}
	return a
}

func unavailable(reason string) Answer { return Answer{Outcome: api.Unavailable, Reason: reason} }

// Reconsider settles the pending approvals that the policy now decides.
func (b *Broker) Reconsider() {
	b.reconsidered.Add(1)
	for _, e := range b.waiting() {
		if e.kind() == api.KindApprove {
			e.reconsider.Send()
		}
	}
}

// Evaluate returns the policy's decision. The error is a [*ParamError].
func (b *Broker) Evaluate(who Requester, a Approve) (policy.Decision, error) {
	call, err := check(&Request{Requester: who, Body: a})
	if err != nil {
		return policy.Decision{}, err
	}
	return b.decide(call), nil
}

// lookup is [Broker.Find] among the requests known now.
func (b *Broker) lookup(owner Requester, id ID) (*Ticket, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[id]
	if e == nil || !owns(owner, e.req.Requester) {
		return nil, ErrNotFound
	}
	return &Ticket{b: b, e: e}, nil
}

// Find returns the request with this id if owner made it, to read its answer. Releasing the ticket does not withdraw
// the request. An approval that has ended lacks its input. After [Broker.AwaitRestore], Find waits until the requests
// that another process left are restored. The error wraps [ErrNotFound], or is ctx's or [ErrClosing].
func (b *Broker) Find(ctx context.Context, owner Requester, id ID) (*Ticket, error) {
	b.mu.Lock()
	restored := b.restored // before the lookup, which may not see what is restored during it
	b.mu.Unlock()
	t, err := b.lookup(owner, id)
	if err == nil || restored == nil {
		return t, err
	}
	select {
	case <-restored:
		return b.lookup(owner, id)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-b.ctx.Done():
		return nil, ErrClosing
	}
}

// Settled waits for the answer to a request. The error wraps [ErrNotFound], or is ctx's.
func (b *Broker) Settled(ctx context.Context, id ID) (Answer, error) {
	b.mu.Lock()
	e := b.entries[id]
	b.mu.Unlock()
	if e == nil {
		return Answer{}, ErrNotFound
	}
	t := Ticket{b: b, e: e}
	return t.Wait(ctx)
}

// Withdraw ends one of owner's requests, if it is pending, and returns once it has ended.
func (b *Broker) Withdraw(owner Requester, id ID) error {
	t, err := b.lookup(owner, id)
	if err != nil {
		return err
	}
	if t.e.cancel != nil {
		t.e.cancel(errWithdrawn)
	}
	<-t.e.done
	return nil
}

// WithdrawWhere starts to end those of owner's pending requests for which over returns true.
func (b *Broker) WithdrawWhere(owner Requester, over func(Request) bool) {
	for _, e := range b.waiting() {
		if owns(owner, e.req.Requester) && over(e.req) {
			e.cancel(errWithdrawn)
		}
	}
}

func (b *Broker) waiting() []*entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.pending)
}

// Own lists owner's requests that the broker still knows, oldest first. Approvals that have ended lack their input.
func (b *Broker) Own(owner Requester) []Record {
	var own []Record
	b.mu.Lock()
	for _, e := range b.entries {
		if owns(owner, e.req.Requester) {
			own = append(own, Record{Request: e.current(), Answer: e.answer})
		}
	}
	b.mu.Unlock()
	slices.SortFunc(own, func(x, y Record) int { return cmp.Compare(x.Request.ID, y.Request.ID) })
	return own
}

// Pending lists the pending requests, oldest first.
func (b *Broker) Pending() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	rs := make([]Request, len(b.pending))
	for i, e := range b.pending {
		rs[i] = e.current()
	}
	return rs
}

// Changes signals after each change of what is pending or snoozed, until stop is called.
func (b *Broker) Changes() (changed <-chan struct{}, stop func()) { return b.changed.Subscribe() }

// Close ends all pending requests as unavailable and waits until their prompts are closed. Detached requests stay open
// in the journal, for [Broker.Restore]. Requests that begin afterwards are immediately unavailable.
func (b *Broker) Close() {
	b.mu.Lock() // so that no prompt starts once Wait has begun
	b.close(ErrClosing)
	b.mu.Unlock()
	b.runs.Wait()
	b.settleUnjournaled()
}

// Digest returns the SHA-256 of b in hex.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
