package asking

import (
	"context"
	"fmt"
	"sync"
	"time"

	"nod/changes"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

const (
	unansweredLimit = 2    // prompts of a session that may time out before its user counts as away
	maxSessions     = 1000 // sessions that are remembered; names of sessions cost an agent nothing
)

// presence knows whether the user is available to be asked.
//
// While the user has paused nod, it does not ask them. Nor does it ask for a session after some of its prompts have
// timed out: windows would pile up, and a user who comes back would click them away unread. It asks for that session
// again once the user shows up, by answering any prompt or through the tray's menu.
type presence struct {
	changed changes.Signal // signalled after every change, and when a pause ends on its own
	left    func()         // called when the user counts as away for one more session

	mu         sync.Mutex
	pause      operator.Pause
	timer      *time.Timer // ends the pause; nil if it has no end
	unanswered map[agentSession]int
	missed     int // requests refused since the user was last seen
}

// agentSession is a session of an agent. For an agent that names no session nod asks every time.
type agentSession struct{ machine, agent, exe, session string }

func newPresence(left func()) *presence {
	return &presence{changed: changes.NewSignal(), left: left, unanswered: map[agentSession]int{}}
}

// pausedError says that nod does not ask the user during a pause. Agents read its text.
type pausedError operator.Pause

func (e pausedError) Error() string {
	if e.Until.IsZero() {
		return "nod is paused; nobody was asked"
	}
	return "nod is paused until " + clock(e.Until, time.Now()) + "; nobody was asked"
}

// Unwrap makes every pausedError an [interact.ErrUnavailable].
func (e pausedError) Unwrap() error { return interact.ErrUnavailable }

// clock formats t for a reader at now: the time of day, with the weekday if that differs.
func clock(t, now time.Time) string {
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("Mon 15:04")
}

func (p *presence) setPause(to operator.Pause) {
	p.mu.Lock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	to.Until = to.Until.Round(0)
	p.pause = to
	if to.On && !to.Until.IsZero() {
		p.timer = time.AfterFunc(time.Until(to.Until), p.changed.Send)
	}
	p.mu.Unlock()
	p.changed.Send()
}

// Pause implements [operator.Operator].
func (p *presence) Pause(_ context.Context, to operator.Pause) error {
	p.setPause(to)
	return nil
}

// Paused returns the current pause. It compares wall clocks, so that a computer that slept through the end of a pause
// wakes up unpaused.
func (p *presence) Paused() operator.Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end := p.pause.Until; !end.IsZero() && !time.Now().Round(0).Before(end) {
		p.pause = operator.Pause{}
	}
	return p.pause
}

// followClock tells within a minute when prompts no longer wait in the tray because of the time of day: no event marks
// the end of quiet hours, nor that of a pause through which the computer slept. It returns when ctx ends.
func (p *presence) followClock(ctx context.Context, isHeld func() bool) {
	minutes := time.NewTicker(time.Minute)
	defer minutes.Stop()
	for was := false; ; {
		is := isHeld()
		if was && !is {
			p.changed.Send()
		}
		was = is
		select {
		case <-ctx.Done():
			return
		case <-minutes.C:
		}
	}
}

// gate passes requests to the prompter only while the user is available, and fails with [interact.ErrUnavailable]
// otherwise. While a device can answer it always asks: the request waits there, and here in the tray.
type gate struct {
	*presence
	prompter interact.Prompter
	devices  interface{ ready() bool }
}

// Prompt implements [interact.Prompter].
func (g gate) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	if !g.devices.ready() {
		if now := g.Paused(); now.On {
			return interact.Answer{}, pausedError(now)
		}
		if g.turnsAway(r) {
			g.changed.Send()
			return interact.Answer{}, fmt.Errorf("%w: the user is away, %d prompts of this session had no answer; continue "+
				"with work that needs no approval, or wait", interact.ErrUnavailable, unansweredLimit)
		}
	}
	a, err := g.prompter.Prompt(ctx, r, why)
	switch {
	case err == nil:
		g.back()
	case context.Cause(ctx) == interact.ErrTimedOut: // and not withdrawn
		g.timedOut(r)
	}
	return a, err
}

// silences reports whether Prompt would fail for r without asking.
func (g gate) silences(r interact.Request) bool { return g.hides(r) && !g.devices.ready() }

// hides reports whether r shows no prompt now: nod is paused, or the user away for its session.
func (p *presence) hides(r interact.Request) bool {
	if p.Paused().On {
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

// turnsAway reports whether the user is away for the session of r, and counts r as missed if so.
func (p *presence) turnsAway(r interact.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unanswered[sessionOf(r)] < unansweredLimit {
		return false
	}
	p.missed++
	return true
}

func (p *presence) timedOut(r interact.Request) {
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
		p.changed.Send()
	}
}

func (p *presence) back() {
	p.mu.Lock()
	was := len(p.unanswered) > 0 || p.missed > 0
	clear(p.unanswered)
	p.missed = 0
	p.mu.Unlock()
	if was {
		p.changed.Send()
	}
}

// away returns for how many sessions the user is away, and how many requests were refused because of that.
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

// waitsInTray reports whether a prompt is shown in the tray only, until the user asks for it.
func (d *Desk) waitsInTray(r interact.Request) bool {
	c := d.store.Config()
	return c.Prompt.Appear == config.AppearInTray || isQuiet(c, r) || d.presence.hides(r)
}

// isQuiet reports whether a request should draw no attention now.
func isQuiet(c config.Config, r interact.Request) bool {
	return c.Notifications.Quiet(time.Now()) || c.Notifications.Mutes(r.Requester.Agent)
}

func (d *Desk) wantsNotice(r interact.Request) bool {
	c := d.store.Config()
	return c.Notifications.Notices && !isQuiet(c, r) && !d.presence.hides(r)
}

func (d *Desk) wantsAnnouncement(r interact.Request) bool {
	c := d.store.Config()
	return c.Notifications.Prompts && !isQuiet(c, r) && !d.presence.Paused().On
}

func (d *Desk) sound() bool { return d.store.Config().Notifications.Sound }
