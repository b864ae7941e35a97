package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
	"nod/ipc/operator"
)

// archive answers what a person asks of the journal.
type archive interface {
	Search(ctx context.Context, q history.Query) (history.Page, error)
	Entry(ctx context.Context, seq int64) (history.Entry, error)
	Facets(ctx context.Context) (history.Facets, error)
	Insights(ctx context.Context, since time.Time) (history.Insights, error)
	Export(ctx context.Context, w io.Writer, q history.Query, f history.Format) (int, error)
	Head(ctx context.Context) (history.Head, error)
	Verify(ctx context.Context) error
}

// History implements [operator.Operator].
func (o operatorAPI) History(ctx context.Context, q history.Query) (history.Page, error) {
	return o.p.archive.Search(ctx, q)
}

// Entry implements [operator.Operator].
func (o operatorAPI) Entry(ctx context.Context, seq int64) (history.Entry, error) {
	return o.p.archive.Entry(ctx, seq)
}

// Facets implements [operator.Operator].
func (o operatorAPI) Facets(ctx context.Context) (history.Facets, error) {
	return o.p.archive.Facets(ctx)
}

// Insights implements [operator.Operator].
func (o operatorAPI) Insights(ctx context.Context, since time.Time) (history.Insights, error) {
	return o.p.archive.Insights(ctx, since)
}

// Away implements [operator.Operator]. Who has read it needs no line in the tray any more.
func (o operatorAPI) Away(ctx context.Context) (history.Away, error) {
	last := o.p.absence.take()
	if last.Nothing() {
		return last, nil
	}
	return lastAway{o.p.archive, o.p.broker.Pending()}.withLines(ctx, last)
}

// Export implements [operator.Operator].
func (o operatorAPI) Export(ctx context.Context, q history.Query, path string, f history.Format) (n int, err error) {
	if !filepath.IsAbs(path) {
		return 0, fmt.Errorf("export to %s: want a whole path", path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	n, err = o.p.archive.Export(ctx, file, q, f)
	if err = errors.Join(err, file.Close()); err != nil { // half of it would pass for all
		return 0, errors.Join(fmt.Errorf("export to %s: %w", path, err), os.Remove(path))
	}
	return n, nil
}

// Verify implements [operator.Operator].
func (o operatorAPI) Verify(ctx context.Context) (operator.Verified, error) {
	head, err := o.p.archive.Head(ctx)
	if err != nil {
		return operator.Verified{}, err
	}
	err = o.p.archive.Verify(ctx)
	if broken, ok := errors.AsType[*journal.BrokenError](err); ok {
		return operator.Verified{Head: head, Problem: broken.Error()}, nil
	}
	return operator.Verified{Head: head}, err
}

// lastAway finds what happened while the person was away.
type lastAway struct {
	archive archive
	pending []interact.Request
}

// count sums up what happened from one time until now.
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
		find(&a.Missed, history.Query{Outcome: interact.TimedOut}, history.Query{Outcome: interact.Unavailable}),
		find(&a.Passed, history.Query{Outcome: interact.Allowed, By: interact.ByPolicy}),
		find(&a.Denied, history.Query{Outcome: interact.Denied}),
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

// lineOf is a pending request in a list.
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
