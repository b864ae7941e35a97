package asking

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"nod/api"
	"nod/changes"
	"nod/interact"
	"nod/interact/history"
)

// absence follows whether the user is away, and sums up what happened once they are back.
type absence struct {
	ctx     context.Context
	count   func(ctx context.Context, from, to time.Time) (history.Away, error)
	changed changes.Signal // there is something to tell, or to look at again
	log     *slog.Logger

	mu    sync.Mutex  // guards all below
	from  time.Time   // since when the user is away; zero: not away
	timer *time.Timer // looks again while they are
	last  history.Away
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
	if found.Nothing() {
		return
	}
	a.mu.Lock()
	a.last, a.read = found, false
	a.mu.Unlock()
	a.changed.Send()
}

// news returns what happened last, if the user has not read it yet.
func (a *absence) news() history.Away {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.read {
		return history.Away{}
	}
	return a.last
}

// take returns what happened last. It counts as read.
func (a *absence) take() history.Away {
	a.mu.Lock()
	wasRead := a.read
	a.read = true
	last := a.last
	a.mu.Unlock()
	if !wasRead && !last.Nothing() {
		a.changed.Send()
	}
	return last
}

type past interface {
	Search(ctx context.Context, q history.Query) (history.Page, error)
	Insights(ctx context.Context, since time.Time) (history.Insights, error)
}

// Away implements [operator.Operator]. Who has read it needs no line in the tray any more.
func (d *Desk) Away(ctx context.Context) (history.Away, error) {
	last := d.absence.take()
	if last.Nothing() {
		return last, nil
	}
	return lastAway{d.cfg.Journal, d.allPending()}.withLines(ctx, last)
}

type lastAway struct {
	archive past
	pending []interact.Request
}

func (l lastAway) count(ctx context.Context, from, to time.Time) (history.Away, error) {
	sums, err := l.archive.Insights(ctx, from)
	if err != nil {
		return history.Away{}, err
	}
	a := history.Away{From: from, To: to}
	for _, day := range sums.Days {
		a.Missed.Count += day.Missed
		a.Passed.Count += day.Passed
		a.Denied.Count += day.Denied
	}
	waiting, snoozed := toAnswer(l.pending)
	for _, r := range slices.Concat(waiting, snoozed) {
		if !r.Created.Before(from) {
			a.Waited.Lines = append(a.Waited.Lines, lineOf(r))
		}
	}
	a.Waited.Count = len(a.Waited.Lines)
	return a, nil
}

// withLines adds the newest entries of each kind, and what has come of those that waited.
func (l lastAway) withLines(ctx context.Context, a history.Away) (history.Away, error) {
	find := func(into *history.Found, queries ...history.Query) error {
		for _, q := range queries {
			q.Since, q.Until = a.From, a.To
			page, err := l.archive.Search(ctx, q)
			if err != nil {
				return err
			}
			into.Lines = append(into.Lines, page.Lines...)
		}
		slices.SortFunc(into.Lines, func(a, b history.Line) int { return cmp.Compare(b.Seq, a.Seq) })
		return nil
	}
	err := errors.Join(
		find(&a.Missed, history.Query{Outcome: api.TimedOut}, history.Query{Outcome: api.Unavailable}),
		find(&a.Passed, history.Query{Outcome: api.Allowed, By: api.ByPolicy}),
		find(&a.Denied, history.Query{Outcome: api.Denied}),
	)
	a.Waited.Lines = slices.Clone(a.Waited.Lines)
	for i, line := range a.Waited.Lines {
		if slices.ContainsFunc(l.pending, func(r interact.Request) bool { return r.ID == line.ID }) {
			continue
		}
		page, failed := l.archive.Search(ctx, history.Query{ID: line.ID, Limit: 1})
		if err = errors.Join(err, failed); len(page.Lines) > 0 {
			a.Waited.Lines[i] = page.Lines[0]
		}
	}
	return a, err
}

func lineOf(r interact.Request) history.Line {
	line := history.Line{
		ID: r.ID, Kind: r.Body.Kind(), Created: r.Created, Agent: r.Requester.Agent, Session: r.Requester.Session,
		Project: r.Requester.Folder(), Gist: r.Gist(), Machine: r.Requester.Machine,
	}
	if a, ok := r.Body.(interact.Approve); ok {
		line.Tool = a.Tool
	}
	return line
}
