package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"nod/interact"
	"nod/policy"
)

const (
	unansweredLimit = 2    // prompts of a session that may end unanswered before nod goes quiet for it
	maxQuiet        = 1000 // sessions that are remembered; names of sessions cost an agent nothing
)

// quieter stands in front of the prompter. When prompts of a session end with nobody there, more of them
// help nobody: the windows pile up, and whoever comes back clicks them away unread. From then on requests of
// that session are handed back undecided and only counted, until the human shows up: answers any prompt, or
// asks for nod.
type quieter struct {
	prompter interact.Prompter
	changed  func() // called after every change
	fell     func() // called when nod goes quiet for a session

	mu         sync.Mutex
	unanswered map[quietKey]int
	missed     int // requests handed back since the human was last seen
}

// quietKey is a session of an agent. An agent that names no session is asked for every time.
type quietKey struct{ agent, exe, session string }

func newQuieter(p interact.Prompter, changed, fell func()) *quieter {
	return &quieter{prompter: p, changed: changed, fell: fell, unanswered: map[quietKey]int{}}
}

// Prompt implements [interact.Prompter].
func (q *quieter) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	if q.turnsAway(r) {
		q.changed()
		return interact.Answer{}, fmt.Errorf(
			"%w: the person is away, %d prompts of this session had no answer; go on with what needs none, or wait for them to come back",
			interact.ErrUnavailable, unansweredLimit)
	}
	a, err := q.prompter.Prompt(ctx, r, why)
	switch {
	case err == nil:
		q.back()
	case ctx.Err() != nil && !time.Now().Before(r.Deadline): // not withdrawn: the time was over
		q.nobody(r)
	}
	return a, err
}

func quietKeyOf(r interact.Request) quietKey {
	who := r.Requester
	return quietKey{who.Agent, who.Process.Caller().Exe, who.Session}
}

// turnsAway counts a request that nobody is asked about.
func (q *quieter) turnsAway(r interact.Request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.unanswered[quietKeyOf(r)] < unansweredLimit {
		return false
	}
	q.missed++
	return true
}

// nobody takes note that a prompt ended unanswered.
func (q *quieter) nobody(r interact.Request) {
	if r.Requester.Session == "" {
		return
	}
	q.mu.Lock()
	if len(q.unanswered) >= maxQuiet { // rather ask once too often than forget the wrong one
		clear(q.unanswered)
	}
	k := quietKeyOf(r)
	q.unanswered[k]++
	fell := q.unanswered[k] == unansweredLimit
	q.mu.Unlock()
	if fell {
		q.fell()
		q.changed()
	}
}

// back takes note that the human is there.
func (q *quieter) back() {
	q.mu.Lock()
	was := len(q.unanswered) > 0 || q.missed > 0
	clear(q.unanswered)
	q.missed = 0
	q.mu.Unlock()
	if was {
		q.changed()
	}
}

// state is for how many sessions nod is quiet, and how many requests it handed back for that.
func (q *quieter) state() (sessions, missed int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, n := range q.unanswered {
		if n >= unansweredLimit {
			sessions++
		}
	}
	return sessions, q.missed
}
