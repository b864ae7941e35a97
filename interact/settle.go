package interact

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"nod/api"
	"nod/policy"
)

// closeTimeout is how long a prompt has to close when nod ends.
const closeTimeout = time.Second

// settle answers e: it saves the grant, writes the journal, and then publishes the answer, so that the journal has
// every answer that a caller gets. It does not settle an allow by the policy that cannot be journaled; then the user
// has to decide.
func (b *Broker) settle(e *entry, a Answer) (settled bool) {
	a = b.confirmed(e, a)
	a.At = time.Now()
	a.ShownSHA256 = e.call.Input.SHA256
	if err := b.note(e, a); err != nil {
		b.cfg.Log.Error("journal: settle", "id", e.req.ID, "outcome", a.Outcome, "err", err)
		if a.passes() {
			b.mu.Lock()
			e.why = e.why.Unrecorded()
			b.mu.Unlock()
			return false
		}
	}
	level := slog.LevelInfo
	if a.passes() { // most calls, all day: the journal has them
		b.cfg.Policy.Used(e.why)
		level = slog.LevelDebug
	}
	b.cfg.Log.LogAttrs(context.Background(), level, "settled",
		slog.String("id", string(e.req.ID)), slog.String("kind", string(e.kind())),
		slog.String("outcome", string(a.Outcome)), slog.String("by", string(a.By)), slog.String("rule", a.Rule))
	b.publish(e, a)
	if a.Scope != "" && a.Scope != policy.Once {
		b.Reconsider()
	}
	return true
}

// note writes e's state to the journal, if it changed, with the answer if e gets one now.
func (b *Broker) note(e *entry, a Answer) error {
	e.noting.Lock()
	defer e.noting.Unlock()
	b.mu.Lock()
	r, isOver := e.record(a), e.answer.Outcome != "" // the journal has it, or will
	b.mu.Unlock()
	now := r.noted()
	write := b.cfg.Journal.Open
	switch {
	case isOver || e.noted.isSettled || now == e.noted:
		return nil
	case now.isSettled:
		write = b.cfg.Journal.Settle
	case e.noted.isOpen:
		write = b.cfg.Journal.Update
	}
	err := write(context.Background(), r)
	switch {
	case err == nil:
		b.settleUnjournaled()
		e.noted = now
	case a.Outcome != "" && !a.passes():
		b.retryLater(r)
	}
	return err
}

// journalAgain is how long after a failure the broker tries to journal an outcome again, unless it journals something
// else before.
const journalAgain = time.Minute

// retryLater keeps an outcome that could not be journaled for [Broker.settleUnjournaled].
func (b *Broker) retryLater(r Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.unjournaled) == 0 && b.ctx.Err() == nil { // else nobody waits for it
		time.AfterFunc(journalAgain, b.settleUnjournaled)
	}
	if len(b.unjournaled) < MaxPending {
		b.unjournaled = append(b.unjournaled, r)
	}
}

// settleUnjournaled journals the outcomes that failed before.
func (b *Broker) settleUnjournaled() {
	b.mu.Lock()
	pending := b.unjournaled
	b.unjournaled = nil
	b.mu.Unlock()
	var failed error
	for _, r := range pending {
		err := b.cfg.Journal.Settle(context.Background(), r)
		if err != nil && !errors.Is(err, ErrSettled) { // else the write had not failed after all
			failed = err
			b.retryLater(r)
		}
	}
	if failed != nil {
		b.cfg.Log.Error("journal: outcomes still wait to be written", "waited", len(pending), "err", failed)
	}
}

// update writes changes of e to the journal. If that fails, e is still prompted for, but is lost when nod ends.
func (b *Broker) update(e *entry) {
	if err := b.note(e, Answer{}); err != nil {
		b.cfg.Log.Error("journal: open", "id", e.req.ID, "err", err)
	}
}

// suspend ends e because nod is ending. A detached request without an answer stays open in the journal.
func (b *Broker) suspend(e *entry, got chan Answer) {
	a := e.ended(ErrClosing)
	select {
	case said := <-got:
		got <- said
		if said.Outcome != api.Unavailable {
			a = b.unlessDeserted(e, said)
		}
	case <-time.After(closeTimeout):
	}
	b.mu.Lock()
	stays := a.Outcome == api.Unavailable && e.record(a).Detached
	b.mu.Unlock()
	if stays {
		b.publish(e, Answer{})
		return
	}
	b.settle(e, a)
}

// confirmed checks a user's allow against the current policy, and saves its grant.
func (b *Broker) confirmed(e *entry, a Answer) Answer {
	if a.Outcome != api.Allowed || a.By != api.ByHuman {
		return a
	}
	if now := b.decide(e.call); now.Effect == policy.Deny {
		denied := decided(now)
		denied.Shown = a.Shown
		return denied
	}
	a.Scope = cmp.Or(a.Scope, policy.Once)
	if a.Scope == policy.Once {
		return a
	}
	a.Covers = cmp.Or(a.Covers, policy.CoverInput)
	if err := b.cfg.Policy.Grant(e.call, a.Scope, a.Covers); err != nil {
		b.cfg.Log.Error("grant", "id", e.req.ID, "scope", a.Scope, "covers", a.Covers, "err", err)
		a.Scope, a.Covers = policy.Once, ""
		a.Reason = "allowed once: the wider grant could not be saved"
	}
	return a
}

// publish gives the answer to all waiting callers, and keeps it.
func (b *Broker) publish(e *entry, a Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.answer = a
	close(e.done)
	if i := slices.Index(b.pending, e); i >= 0 {
		b.pending = slices.Delete(b.pending, i, i+1)
		b.changed.Send()
	}
	if b.same[e.prompt()] == e {
		delete(b.same, e.prompt())
	}
	b.unkey(e)
	b.keep(e.finish())
}

// Limits on finished requests, for those that the user answered and those that the policy answered.
const (
	keptFinished = 1024     // requests whose answer can still be fetched …
	keptBytes    = 32 << 20 // … and how much they may hold in all
)

// finished are requests from [entry.finish], oldest first.
type finished struct {
	entries []*entry
	bytes   int
}

// keep adds a finished entry, and forgets the oldest ones beyond the limits. The caller holds b.mu.
func (b *Broker) keep(e *entry) {
	f := &b.answered
	if e.answer.By == api.ByPolicy {
		f = &b.passed
	}
	b.enter(e)
	f.entries = append(f.entries, e)
	f.bytes += e.size
	for len(f.entries) > keptFinished || f.bytes > keptBytes && len(f.entries) > 1 {
		old := f.entries[0]
		f.entries[0] = nil
		f.entries = f.entries[1:]
		f.bytes -= old.size
		delete(b.entries, old.req.ID)
		b.unkey(old)
	}
}
