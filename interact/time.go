package interact

import (
	"fmt"
	"time"
)

// Deadlines count in monotonic time while nod runs: setting the clock changes nothing for callers that wait, and no
// time passes while the machine sleeps, as with the agents' own timers. Across a restart they count in wall time: see
// [Broker.Restore].

// tick ends e after its deadline, and ends a snooze.
func (b *Broker) tick(e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !now.Before(e.deadline) {
		e.cancel(ErrTimedOut)
		return
	}
	if !e.snoozed.IsZero() && !now.Before(e.snoozed) {
		e.snoozed = time.Time{}
		b.changed.Send()
	}
	e.clock.Reset(e.next().Sub(now))
}

// Snooze postpones a pending request by d, and its deadline at most until its caller stops waiting; 0 ends a snooze.
// The error wraps [ErrNotFound] or [ErrImpatient].
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

// next returns when [Broker.tick] has something to do. The caller holds Broker.mu.
func (e *entry) next() time.Time {
	if !e.snoozed.IsZero() {
		return e.snoozed
	}
	return e.deadline
}

// Times are a request's times relative to now, so that clocks of two processes need not agree.
type Times struct {
	Age     time.Duration // since it came
	Left    time.Duration // until its deadline
	Patient time.Duration // until its caller waits no longer
	Snoozed time.Duration // until the user wants to be asked again; 0: now
}

func TimesOf(r Request, now time.Time) Times {
	t := Times{Age: now.Sub(r.Created), Left: r.Deadline.Sub(now), Patient: r.Until.Sub(now)}
	if !r.Snoozed.IsZero() {
		t.Snoozed = max(r.Snoozed.Sub(now), 1)
	}
	return t
}

// Of returns r with these times.
func (t Times) Of(r Request, now time.Time) Request {
	r.Created, r.Deadline, r.Until = now.Add(-t.Age), now.Add(t.Left), now.Add(t.Patient)
	if r.Snoozed = (time.Time{}); t.Snoozed > 0 {
		r.Snoozed = now.Add(t.Snoozed)
	}
	return r
}
