package asking

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"nod/changes"
	"nod/interact"
	"nod/interact/history"
	"nod/ipc/operator"
)

// news counts what happened while nod was paused or quiet, the screen locked, or the user did not answer.
type news struct {
	from, to time.Time // zero: not since nod started
	waited   int       // still waiting
	missed   int       // timed out or returned undecided
	passed   int       // allowed by the policy
	denied   int
}

func (n news) isNothing() bool { return n.waited+n.missed+n.passed+n.denied == 0 }

// absence follows whether the user is away, and sums up what happened once they are back.
type absence struct {
	ctx     context.Context
	count   func(ctx context.Context, from, to time.Time) (news, error)
	changed changes.Signal // there is something to tell, or to look at again
	log     *slog.Logger

	mu    sync.Mutex  // guards all below
	from  time.Time   // since when the user is away; zero: not away
	timer *time.Timer // looks again while they are
	last  news
	read  bool // the user has read the last
}

// recheck is how often nod checks whether an absence is over that ends without an event, as quiet hours do.
const recheck = time.Minute

// look notes whether the user is away now. It does not block.
func (a *absence) look(away bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	switch {
	case away:
		if a.from.IsZero() {
			a.from = time.Now()
		}
		a.timer = time.AfterFunc(recheck, a.changed.Send)
	case !a.from.IsZero():
		go a.sum(a.from, time.Now())
		a.from = time.Time{}
	}
}

func (a *absence) sum(from, to time.Time) {
	found, err := a.count(a.ctx, from, to)
	if err != nil {
		if a.ctx.Err() == nil {
			a.log.Warn("nod can't tell what happened while you were away", "err", err)
		}
		return
	}
	if found.isNothing() {
		return
	}
	a.mu.Lock()
	a.last, a.read = found, false
	a.mu.Unlock()
	a.changed.Send()
}

// news returns what happened last, if the user has not read it yet.
func (a *absence) news() news {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.read {
		return news{}
	}
	return a.last
}

// take returns what happened last. It counts as read.
func (a *absence) take() news {
	a.mu.Lock()
	wasRead := a.read
	a.read = true
	last := a.last
	a.mu.Unlock()
	if !wasRead && !last.isNothing() {
		a.changed.Send()
	}
	return last
}

type past interface {
	Search(ctx context.Context, q history.Query) (history.Page, error)
	Insights(ctx context.Context, since time.Time) (history.Insights, error)
}

// showNews shows the history of the last absence. Who has read it needs no line in the tray any more.
func (d *Desk) showNews() {
	last := d.absence.take()
	d.show(operator.View{History: true, Query: history.Query{Since: last.from, Until: last.to}})
}

// countAbsence counts what happened in an absence that just ended. pending are the requests that wait now.
func countAbsence(ctx context.Context, archive past, pending []interact.Request, from, to time.Time) (news, error) {
	sums, err := archive.Insights(ctx, from)
	if err != nil {
		return news{}, err
	}
	n := news{from: from, to: to}
	for _, day := range sums.Days {
		n.missed += day.Missed
		n.passed += day.Passed
		n.denied += day.Denied
	}
	waiting, snoozed := toAnswer(pending)
	for _, r := range slices.Concat(waiting, snoozed) {
		if !r.Created.Before(from) {
			n.waited++
		}
	}
	return n, nil
}
