package interact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"nod/policy"
)

// Prompter shows a request to the human and returns the answer. It returns as soon as ctx ends, and takes
// the prompt off the screen when it does. The error wraps [ErrUnavailable] when nothing can be shown; its
// text is then the reason that the agent reads.
type Prompter interface {
	Prompt(ctx context.Context, r Request, why policy.Decision) (Answer, error)
}

// Notifier passes a notice on to the desktop. It reports whether the desktop took it, and returns soon
// after ctx ends.
type Notifier interface {
	Notify(ctx context.Context, r Request) (sent bool)
}

// Policy decides calls and keeps the grants that answers create.
type Policy interface {
	Decide(call policy.Call) policy.Decision
	// Grant keeps an allow wider than once. It is called only for the answer that won.
	Grant(call policy.Call, scope policy.Scope, cover policy.Cover) error
}

// Limits of the broker.
const (
	MaxPending             = 512      // requests that wait for the human, in all
	MaxPendingPerRequester = 64       // the same for one requester
	keptFinished           = 1024     // finished requests whose answer can still be fetched …
	keptBytes              = 32 << 20 // … and how much they may hold in all
)

var (
	// ErrUnavailable says that nobody can be asked: no screen, paused, shutting down.
	ErrUnavailable = errors.New("nobody can be asked")
	// ErrNotFound says that there is no such request, or that it is somebody else's.
	ErrNotFound = errors.New("no such request")
)

// BusyError says that too many requests wait already.
type BusyError struct {
	Limit      int
	RetryAfter time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%d requests wait for an answer already", e.Limit)
}

// BrokerConfig is what a [Broker] works with. All fields are required.
type BrokerConfig struct {
	Policy   Policy
	Prompter Prompter
	Notifier Notifier
	Journal  Journal
	Timeout  func() time.Duration // how long a request without a time-out of its own waits
	Log      *slog.Logger
}

// Broker takes every request down the one road: validate, journal, policy, prompt, journal, answer.
// It is safe for concurrent use.
type Broker struct {
	cfg   BrokerConfig
	ctx   context.Context // ends when the broker closes
	close context.CancelCauseFunc
	runs  sync.WaitGroup // one for each prompt under way

	mu       sync.Mutex // guards all below, and the fields of every entry that say so
	entries  map[ID]*entry
	pending  []*entry           // oldest first
	finished []*entry           // oldest first, at most keptFinished and keptBytes
	kept     int                // bytes that finished holds
	keyed    map[joinKey]*entry // by idempotency key
	same     map[joinKey]*entry // pending ones, by content
	watchers map[chan struct{}]struct{}
}

// NewBroker returns a broker that is ready for requests. Close it to end what is pending.
func NewBroker(cfg BrokerConfig) *Broker {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Broker{
		cfg: cfg, ctx: ctx, close: cancel,
		entries:  map[ID]*entry{},
		keyed:    map[joinKey]*entry{},
		same:     map[joinKey]*entry{},
		watchers: map[chan struct{}]struct{}{},
	}
}

// The causes with which a pending request's context ends.
var (
	errTimedOut   = errors.New("timed out")
	errCallerGone = errors.New("caller went away")
	errWithdrawn  = errors.New("withdrawn")
	errClosing    = errors.New("nod is shutting down")
)

// Do asks and waits. When ctx ends first the request is withdrawn and the error is ctx's.
func (b *Broker) Do(ctx context.Context, r Request) (Answer, error) {
	t, err := b.Begin(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	defer t.Release()
	return t.Wait(ctx)
}

// Begin takes a request in. What the policy decides is answered when it returns; everything else waits for
// the human. A request that is already waiting, or carries a known idempotency key, is joined and not
// asked twice. The caller must Release the ticket. Errors: [*ParamError], [*BusyError].
func (b *Broker) Begin(ctx context.Context, r Request) (*Ticket, error) {
	r.Body = Normalize(r.Body)
	if err := r.Validate(); err != nil {
		return nil, err
	}
	r.Created = time.Now()
	r.ID = newID()
	r.Deadline = r.Created.Add(b.timeout(r))
	e := &entry{req: r, done: make(chan struct{}), waiters: 1}
	if t, err := b.joinKeyed(e); t != nil || err != nil {
		return t, err
	}
	if b.ctx.Err() != nil {
		return b.finishAtOnce(ctx, e, e.ended(errClosing)), nil
	}
	if a, ok := r.Body.(Approve); ok {
		e.call = a.Call(r.Requester)
		e.why = b.cfg.Policy.Decide(e.call)
	}
	if a, ok := decided(e.why); ok {
		return b.finishAtOnce(ctx, e, a), nil
	}
	return b.wait(ctx, e)
}

func (b *Broker) timeout(r Request) time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	return b.cfg.Timeout()
}

// decided returns the answer that a decision amounts to, unless it is for the human to give.
func decided(d policy.Decision) (Answer, bool) {
	switch d.Effect {
	case policy.Allow:
		return Answer{Outcome: Allowed, By: ByPolicy, Rule: d.Rule, Reason: d.Reason}, true
	case policy.Deny:
		return Answer{Outcome: Denied, By: ByPolicy, Rule: d.Rule, Reason: d.Reason}, true
	}
	return Answer{}, false
}

// finishAtOnce answers a request that needs nobody. The caller is the only one who knows e yet.
func (b *Broker) finishAtOnce(ctx context.Context, e *entry, a Answer) *Ticket {
	b.settle(e, b.opened(ctx, e, a))
	return &Ticket{b: b, e: e, attached: true}
}

// enter makes e known by its id and its idempotency key. The caller holds b.mu.
func (b *Broker) enter(e *entry) {
	b.entries[e.req.ID] = e
	if e.req.IdempotencyKey != "" {
		b.keyed[keyOf(e.req)] = e
	}
}

// opened writes the request to the journal. What cannot be journaled is not allowed.
func (b *Broker) opened(ctx context.Context, e *entry, a Answer) Answer {
	err := b.cfg.Journal.Open(context.WithoutCancel(ctx), e.req)
	if err == nil {
		return a
	}
	b.cfg.Log.Error("journal: open", "id", e.req.ID, "err", err)
	return Answer{Outcome: Unavailable, Reason: "nod could not write its journal, so it decides nothing"}
}

// wait enters e among the pending, or joins the one that asks the same.
func (b *Broker) wait(ctx context.Context, e *entry) (*Ticket, error) {
	e.content = contentOf(e.req)
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.same[e.content]; old != nil {
		old.waiters++
		return &Ticket{b: b, e: old, attached: true}, nil
	}
	if err := b.full(e.req.Requester); err != nil {
		return nil, err
	}
	promptCtx, cancel := context.WithCancelCause(b.ctx)
	e.cancel = cancel
	b.enter(e)
	b.pending = append(b.pending, e)
	b.same[e.content] = e
	b.signal()
	b.runs.Go(func() { b.run(promptCtx, e) })
	return &Ticket{b: b, e: e, attached: true}, nil
}

func (b *Broker) full(who Requester) error {
	if len(b.pending) >= MaxPending {
		return &BusyError{Limit: MaxPending, RetryAfter: 5 * time.Second}
	}
	mine := 0
	for _, p := range b.pending {
		if ownerOf(p.req.Requester) == ownerOf(who) {
			mine++
		}
	}
	if mine >= MaxPendingPerRequester {
		return &BusyError{Limit: MaxPendingPerRequester, RetryAfter: 5 * time.Second}
	}
	return nil
}

// run carries one pending request to its end, and is the only one who settles it: whatever else ends a
// request cancels its context with the cause, so exactly one answer can win. The broker owns the time: a
// prompter that does not return keeps nobody waiting.
func (b *Broker) run(ctx context.Context, e *entry) {
	defer e.cancel(nil)
	ctx, cancel := context.WithDeadlineCause(ctx, e.req.Deadline, errTimedOut)
	defer cancel()
	if a := b.opened(ctx, e, Answer{}); a.Outcome != "" {
		b.settle(e, a)
		return
	}
	got := make(chan Answer, 1)
	go func() { got <- b.prompt(ctx, e) }()
	select {
	case a := <-got:
		b.settle(e, a)
	case <-ctx.Done():
		b.settle(e, e.ended(context.Cause(ctx)))
		<-got
	}
}

// prompt asks the human, or the desktop for a notice. Whatever goes wrong there is "nobody decided".
func (b *Broker) prompt(ctx context.Context, e *entry) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			b.cfg.Log.Error("prompt: panic", "id", e.req.ID, "panic", p)
			a = unavailable("nod's window failed, so nobody was asked")
		}
	}()
	if e.req.Body.Kind() == KindNotify {
		return Answer{Outcome: Answered, Sent: b.cfg.Notifier.Notify(ctx, e.req)}
	}
	a, err := b.cfg.Prompter.Prompt(ctx, e.req, e.why)
	switch {
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

// accept takes what the prompter says only if it is an answer to this very request.
func (b *Broker) accept(e *entry, a Answer) Answer {
	if err := e.req.Check(a); err != nil {
		b.cfg.Log.Error("prompt: answer refused", "id", e.req.ID, "err", err)
		return unavailable("nod's window gave no valid answer")
	}
	if a.Outcome == Allowed && a.ShownSHA256 != e.shown() {
		b.cfg.Log.Error("prompt: shown input differs", "id", e.req.ID)
		return unavailable("what was shown is not what was asked")
	}
	a.By = ByHuman
	if a.Outcome == Dismissed && a.Reason == "" {
		a.Reason = "the person closed the prompt and has not refused"
	}
	return a
}

func unavailable(reason string) Answer { return Answer{Outcome: Unavailable, Reason: reason} }

// settle gives e its answer: a grant is kept, then the journal closed, then everyone told, in this order,
// so that no reply leaves before the journal has it.
func (b *Broker) settle(e *entry, a Answer) {
	a = b.confirmed(e, a)
	a.At = time.Now()
	if e.req.Body.Kind() == KindApprove {
		a.ShownSHA256 = e.shown()
	}
	if err := b.cfg.Journal.Close(context.WithoutCancel(b.ctx), e.req.ID, a); err != nil {
		b.cfg.Log.Error("journal: close", "id", e.req.ID, "err", err)
		if a.Outcome == Allowed {
			a = unavailable("nod could not write its journal, so it allows nothing")
		}
	}
	b.publish(e, a)
	if a.Scope != "" && a.Scope != policy.Once {
		b.Reconsider()
	}
}

// confirmed holds a human's allow against the policy as it is now, and keeps the grant it carries.
func (b *Broker) confirmed(e *entry, a Answer) Answer {
	if a.Outcome != Allowed || a.By != ByHuman {
		return a
	}
	if now := b.cfg.Policy.Decide(e.call); now.Effect == policy.Deny {
		denied, _ := decided(now)
		return denied
	}
	if a.Scope == "" {
		a.Scope = policy.Once
	}
	if a.Scope == policy.Once {
		return a
	}
	if a.Covers == "" {
		a.Covers = policy.CoverInput
	}
	if err := b.cfg.Policy.Grant(e.call, a.Scope, a.Covers); err != nil {
		b.cfg.Log.Error("grant", "id", e.req.ID, "scope", a.Scope, "covers", a.Covers, "err", err)
		a.Scope, a.Covers = policy.Once, ""
		a.Reason = "allowed once: the wider grant could not be saved"
	}
	return a
}

func (b *Broker) publish(e *entry, a Answer) {
	b.mu.Lock()
	e.answer = a
	close(e.done)
	b.enter(e)
	if i := slices.Index(b.pending, e); i >= 0 {
		b.pending = slices.Delete(b.pending, i, i+1)
		delete(b.same, e.content)
	}
	b.keep(e)
	b.signal()
	b.mu.Unlock()
	b.cfg.Log.Info("settled", "id", e.req.ID, "kind", e.req.Body.Kind(), "outcome", a.Outcome, "by", a.By, "rule", a.Rule)
}

// keep remembers a finished entry, and forgets the oldest when there are too many. The caller holds b.mu.
func (b *Broker) keep(e *entry) {
	b.finished = append(b.finished, e)
	b.kept += e.req.size()
	for len(b.finished) > keptFinished || b.kept > keptBytes && len(b.finished) > 1 {
		old := b.finished[0]
		b.finished = b.finished[1:]
		b.kept -= old.req.size()
		delete(b.entries, old.req.ID)
		if k := keyOf(old.req); b.keyed[k] == old {
			delete(b.keyed, k)
		}
	}
}

// Reconsider asks the policy again about every pending approval: a rule or a grant that came meanwhile
// settles those it decides.
func (b *Broker) Reconsider() {
	b.mu.Lock()
	pending := slices.Clone(b.pending)
	b.mu.Unlock()
	for _, e := range pending {
		if e.req.Body.Kind() != KindApprove {
			continue
		}
		if a, ok := decided(b.cfg.Policy.Decide(e.call)); ok {
			e.cancel(&overruled{a})
		}
	}
}

// Evaluate says what the policy would answer, and asks nobody. The error is a [*ParamError].
func (b *Broker) Evaluate(who Requester, a Approve) (policy.Decision, error) {
	r := Request{Requester: who, Body: Normalize(a)}
	if err := r.Validate(); err != nil {
		return policy.Decision{}, err
	}
	return b.cfg.Policy.Decide(r.Body.(Approve).Call(who)), nil
}

// Lookup returns the request with this id when owner made it, to read its answer. The ticket holds no
// claim on the request: to Release it withdraws nothing.
func (b *Broker) Lookup(owner Requester, id ID) (*Ticket, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[id]
	if e == nil || !owns(owner, e.req.Requester) {
		return nil, ErrNotFound
	}
	return &Ticket{b: b, e: e}, nil
}

// Withdraw ends a pending request of owner's and returns once it has ended. To withdraw one that has ended
// already is no error.
func (b *Broker) Withdraw(owner Requester, id ID) error {
	t, err := b.Lookup(owner, id)
	if err != nil {
		return err
	}
	if t.e.cancel != nil {
		t.e.cancel(errWithdrawn)
	}
	<-t.e.done
	return nil
}

// WithdrawWhere ends the pending requests of owner's that over picks: those that were answered elsewhere.
// It does not wait for them to end.
func (b *Broker) WithdrawWhere(owner Requester, over func(Request) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.pending {
		if owns(owner, e.req.Requester) && over(e.req) {
			e.cancel(errWithdrawn)
		}
	}
}

// Own lists the requests that owner made and the broker still knows, oldest first.
func (b *Broker) Own(owner Requester) []Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	var own []Record
	for _, e := range b.entries {
		if owns(owner, e.req.Requester) {
			own = append(own, Record{Request: e.req, Answer: e.answer})
		}
	}
	slices.SortFunc(own, func(x, y Record) int { return compareIDs(x.Request.ID, y.Request.ID) })
	return own
}

// Pending lists what waits for the human, oldest first.
func (b *Broker) Pending() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	rs := make([]Request, len(b.pending))
	for i, e := range b.pending {
		rs[i] = e.req
	}
	return rs
}

// Changes returns a channel that holds a signal after something began or ended, and a function that ends
// the subscription. Signals that nobody has taken yet are one signal.
func (b *Broker) Changes() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	b.watchers[c] = struct{}{}
	b.mu.Unlock()
	return c, func() {
		b.mu.Lock()
		delete(b.watchers, c)
		b.mu.Unlock()
	}
}

// signal tells the watchers that something changed. The caller holds b.mu.
func (b *Broker) signal() {
	for c := range b.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Close ends everything that is pending as unavailable and waits for the prompts to leave the screen.
// What begins afterwards ends at once, the same way.
func (b *Broker) Close() {
	b.mu.Lock() // so that no prompt starts once Wait has begun
	b.close(errClosing)
	b.mu.Unlock()
	b.runs.Wait()
}

func newID() ID {
	id, err := uuid.NewV7()
	if err != nil { // the system's random source failed: no id is safer than a guessable one
		panic(fmt.Sprintf("interact: no random id: %v", err))
	}
	return ID(id.String())
}

// Digest is the hex SHA-256 of b: how a prompt proves which bytes of an input it showed.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// digestOf tells bodies apart. A body that came through Validate always encodes.
func digestOf(body Body) string {
	b, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("interact: encode %s: %v", body.Kind(), err))
	}
	return Digest(b)
}
