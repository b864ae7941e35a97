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
		b.changed.Send()
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
	b.changed.Send()
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
	b.changed.Send()
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

// Times are those of a request, counted from the moment at which they are told: whoever sets a clock between two
// processes changes nothing of how long a caller waits.
type Times struct {
	Age     time.Duration // since it came
	Left    time.Duration // until its deadline
	Patient time.Duration // until its caller waits no longer
	Snoozed time.Duration // until the person wants to be asked again; 0: now
}

// TimesOf are those of a request at this moment.
func TimesOf(r Request, now time.Time) Times {
	t := Times{Age: now.Sub(r.Created), Left: r.Deadline.Sub(now), Patient: r.Until.Sub(now)}
	if !r.Snoozed.IsZero() {
		t.Snoozed = max(r.Snoozed.Sub(now), 1)
	}
	return t
}

// Of is a request with these times.
func (t Times) Of(r Request, now time.Time) Request {
	r.Created, r.Deadline, r.Until = now.Add(-t.Age), now.Add(t.Left), now.Add(t.Patient)
	if r.Snoozed = (time.Time{}); t.Snoozed > 0 {
		r.Snoozed = now.Add(t.Snoozed)
	}
	return r
}
