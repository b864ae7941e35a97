package app

import (
	"context"
	"sync"
	"time"

	"nod/interact"
	"nod/policy"
)

// pauser stands in front of the prompter. While the human has paused nod, nobody is asked: a request that
// needs the human is handed back undecided. What rules decide goes on.
type pauser struct {
	prompter interact.Prompter
	changed  func() // called after every change, and when a pause ends by itself

	mu    sync.Mutex
	pause Pause
	timer *time.Timer // ends the pause; nil when it has no end
}

// Pause is a time in which nobody is asked. The zero value is no pause.
type Pause struct {
	On    bool
	Until time.Time // zero: until the human says so
}

// at is the pause as it stands at now. It compares wall clocks: a computer that slept through the end of a
// pause wakes up unpaused.
func (p Pause) at(now time.Time) Pause {
	if p.On && !p.Until.IsZero() && !now.Round(0).Before(p.Until) {
		return Pause{}
	}
	return p
}

// pausedError hands a request back undecided. Its text is for the agent to read.
type pausedError Pause

func (e pausedError) Error() string {
	if e.Until.IsZero() {
		return "nod is paused; nobody was asked"
	}
	return "nod is paused until " + clock(e.Until, time.Now()) + "; nobody was asked"
}

// Unwrap makes every pausedError an [interact.ErrUnavailable].
func (e pausedError) Unwrap() error { return interact.ErrUnavailable }

// clock is t for a reader at now: the time of day, with the day when it is another one.
func clock(t, now time.Time) string {
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("Mon 15:04")
}

// tomorrow is the start of the working day after now.
func tomorrow(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day()+1, 8, 0, 0, 0, now.Location())
}

// set begins or ends a pause.
func (p *pauser) set(pause Pause) {
	p.mu.Lock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	pause.Until = pause.Until.Round(0)
	p.pause = pause
	if pause.On && !pause.Until.IsZero() {
		p.timer = time.AfterFunc(time.Until(pause.Until), p.changed)
	}
	p.mu.Unlock()
	p.changed()
}

// state is the pause as it stands now.
func (p *pauser) state() Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pause.at(time.Now())
}

// Prompt implements [interact.Prompter].
func (p *pauser) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	if pause := p.state(); pause.On {
		return interact.Answer{}, pausedError(pause)
	}
	return p.prompter.Prompt(ctx, r, why)
}
