package interact

import (
	"fmt"
	"time"
)

// Deadlines count in monotonic time while nod runs: to set the clock changes nothing for who waits, and while the
// machine sleeps no time goes by, as none does for the agents' own timers. Across a restart they count in wall time:
// see [Broker.Restore].

// tick ends e when its time is over, and asks the person again when they wanted that.
func (b *Broker) tick(e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !now.Before(e.end()) {
		e.cancel(ErrTimedOut)
		return
	}
	if !e.snoozed.IsZero() && !now.Before(e.snoozed) {
		e.snoozed = time.Time{}
		b.signal()
	}
	e.clock.Reset(e.next().Sub(now))
}

// Snooze puts a pending request off for a while, and its deadline by as much, as far as its caller waits. Nothing ends
// that early but Snooze with 0. The error wraps [ErrNotFound] or [ErrImpatient].
func (b *Broker) Snooze(id ID, d time.Duration) error {
	b.mu.Lock()
	e := b.entries[id]
	b.mu.Unlock()
	if e == nil || e.ctx == nil || e.ctx.Err() != nil {
		return ErrNotFound
	}
	if err := b.putOff(e, d); err != nil {
		return err
	}
	b.update(e)
	return nil
}

func (b *Broker) putOff(e *entry, d time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !now.Add(d).Before(e.req.Until) {
		return fmt.Errorf("snooze for %s: %w", d, ErrImpatient)
	}
	e.snoozed = time.Time{}
	if d > 0 {
		e.snoozed, e.deadline = now.Add(d), earlier(e.deadline.Add(d), e.req.Until)
	}
	e.clock.Reset(e.next().Sub(now))
	b.signal()
	return nil
}

// StandStill has the time of all that is pending stand still, or go on, as while the screen is locked: nobody can
// answer then. Their deadlines move by as much, as far as their callers wait.
func (b *Broker) StandStill(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if on == b.isStill || b.ctx.Err() != nil {
		return
	}
	b.isStill = on
	now := time.Now()
	for _, e := range b.pending {
		if on {
			e.still = now
		} else {
			e.deadline, e.still = earlier(e.deadline.Add(now.Sub(e.still)), e.req.Until), time.Time{}
		}
		e.clock.Reset(e.next().Sub(now))
	}
	b.signal()
	for _, e := range b.pending {
		b.runs.Go(func() { b.update(e) })
	}
}

// end is when nobody waits for e any longer. The caller holds Broker.mu.
func (e *entry) end() time.Time {
	if !e.still.IsZero() {
		return e.req.Until
	}
	return e.deadline
}

// next is when [Broker.tick] has something to do. The caller holds Broker.mu.
func (e *entry) next() time.Time {
	if !e.snoozed.IsZero() {
		return e.snoozed
	}
	return e.end()
}
