package asking

import (
	"context"
	"fmt"
	"sync"
	"time"

	"nod/interact"
	"nod/policy"
)

const (
	unansweredLimit = 2    // prompts of a session that may end unanswered before its person counts as away
	maxSessions     = 1000 // sessions that are remembered; names of sessions cost an agent nothing
)

// presence stands before the prompter and asks only who is there. What rules decide goes on.
//
// While the person has paused nod, a request that needs the person is handed back undecided. And when prompts of a
// session end with nobody there, more of them help nobody: the windows pile up, and whoever comes back clicks them away
// unread. From then on requests of that session are handed back undecided, too, and counted, until the person shows
// up: answers any prompt, or asks for nod.
//
// While the person can answer elsewhere, on a device, nothing is handed back: it waits for them there, and here in the
// tray.
type presence struct {
	prompter interact.Prompter
	changed  func() // called after every change, and when a pause ends by itself
	left     func() // called when the person counts as away for one more session

	elsewhere func() bool // the person can answer on a device; set before the first prompt

	mu         sync.Mutex
	pause      Pause
	timer      *time.Timer // ends the pause; nil when it has no end
	unanswered map[agentSession]int
	missed     int // requests handed back since the person was last seen
}

// agentSession is a session of an agent. An agent that names no session is asked for every time.
type agentSession struct{ machine, agent, exe, session string }

func newPresence(p interact.Prompter, changed, left func()) *presence {
	return &presence{
		prompter: p, changed: changed, left: left, elsewhere: func() bool { return false },
		unanswered: map[agentSession]int{},
	}
}

// Pause is a time in which nobody is asked. The zero value is no pause.
type Pause struct {
	On    bool
	Until time.Time // zero: until the person says so
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

// setPause begins or ends a pause.
func (p *presence) setPause(pause Pause) {
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

// paused is the pause as it stands now. It compares wall clocks: a computer that slept through the end of a pause wakes
// up unpaused.
func (p *presence) paused() Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end := p.pause.Until; !end.IsZero() && !time.Now().Round(0).Before(end) {
		p.pause = Pause{}
	}
	return p.pause
}

// Prompt implements [interact.Prompter].
func (p *presence) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	elsewhere := p.elsewhere()
	if pause := p.paused(); pause.On && !elsewhere {
		return interact.Answer{}, pausedError(pause)
	}
	if !elsewhere && p.turnsAway(r) {
		p.changed()
		return interact.Answer{}, fmt.Errorf("%w: the person is away, %d prompts of this session had no answer; "+
			"go on with what needs none, or wait for them to come back", interact.ErrUnavailable, unansweredLimit)
	}
	a, err := p.prompter.Prompt(ctx, r, why)
	switch {
	case err == nil:
		p.back()
	case context.Cause(ctx) == interact.ErrTimedOut: // and not withdrawn
		p.nobody(r)
	}
	return a, err
}

// silences reports whether nobody would be asked about r.
func (p *presence) silences(r interact.Request) bool { return p.hides(r) && !p.elsewhere() }

// hides reports whether nobody would be asked about r here: nod is paused, or the person away for its session.
func (p *presence) hides(r interact.Request) bool {
	if p.paused().On {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unanswered[sessionOf(r)] >= unansweredLimit
}

func sessionOf(r interact.Request) agentSession {
	who := r.Requester
	return agentSession{who.Machine, who.Agent, interact.Caller(who.Process).Exe, who.Session}
}

// turnsAway counts a request that nobody is asked about.
func (p *presence) turnsAway(r interact.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unanswered[sessionOf(r)] < unansweredLimit {
		return false
	}
	p.missed++
	return true
}

// nobody takes note that a prompt ended unanswered.
func (p *presence) nobody(r interact.Request) {
	if r.Requester.Session == "" {
		return
	}
	p.mu.Lock()
	if len(p.unanswered) >= maxSessions { // rather ask once too often than forget the wrong one
		clear(p.unanswered)
	}
	k := sessionOf(r)
	p.unanswered[k]++
	left := p.unanswered[k] == unansweredLimit
	p.mu.Unlock()
	if left {
		p.left()
		p.changed()
	}
}

// back takes note that the person is there.
func (p *presence) back() {
	p.mu.Lock()
	was := len(p.unanswered) > 0 || p.missed > 0
	clear(p.unanswered)
	p.missed = 0
	p.mu.Unlock()
	if was {
		p.changed()
	}
}

// away is for how many sessions the person is away, and how many requests were handed back for that.
func (p *presence) away() (sessions, missed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.unanswered {
		if n >= unansweredLimit {
			sessions++
		}
	}
	return sessions, p.missed
}
