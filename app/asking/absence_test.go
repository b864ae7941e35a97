package asking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/changes"
	"nod/interact"
	"nod/interact/history"
)

// countSignals counts what comes on a channel until ctx ends.
func countSignals(ctx context.Context, c <-chan struct{}, n *atomic.Int32) {
	go func() {
		for {
			select {
			case <-c:
				n.Add(1)
			case <-ctx.Done():
				return
			}
		}
	}()
}

func TestAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		start := time.Now()
		var looks atomic.Int32
		var from, to time.Time
		var fails error
		found := history.Away{Passed: history.Found{Count: 2}}
		changed := changes.NewSignal()
		countSignals(ctx, changed, &looks)
		a := &absence{ctx: ctx, changed: changed, log: slog.New(slog.DiscardHandler),
			count: func(_ context.Context, f, t time.Time) (history.Away, error) {
				from, to = f, t
				return found, fails
			}}
		a.look(false)
		synctest.Wait()
		if !to.IsZero() || looks.Load() != 0 {
			t.Fatal("who was never away has come back")
		}
		leave := func(d time.Duration) {
			a.look(true)
			time.Sleep(d)
			a.look(false)
			synctest.Wait()
		}
		leave(90 * time.Second)
		if from.Sub(start) != 0 || to.Sub(start) != 90*time.Second {
			t.Errorf("counted from %v to %v", from.Sub(start), to.Sub(start))
		}
		if looks.Load() != 2 { // after a minute, and with the news
			t.Errorf("looked again %d times", looks.Load())
		}
		if a.news().Passed.Count != 2 || a.take().Passed.Count != 2 || !a.news().Nothing() || a.take().Passed.Count != 2 {
			t.Error("what was read is news, or is gone")
		}
		found = history.Away{}
		leave(time.Second)
		if a.take().Passed.Count != 2 {
			t.Error("an absence in which nothing happened has taken the place of the last")
		}
		found, fails = history.Away{Denied: history.Found{Count: 1}}, errors.New("disk on fire")
		leave(time.Second)
		if !a.news().Nothing() {
			t.Error("what could not be counted is news")
		}
	})
}

// fakeArchive has lines, and fails with err.
type fakeArchive struct {
	lines []history.Line
	sums  history.Insights
	err   error
}

func (a *fakeArchive) Search(_ context.Context, q history.Query) (history.Page, error) {
	var page history.Page
	for _, l := range a.lines {
		in := q.Since.IsZero() || !l.Settled.Before(q.Since) && l.Settled.Before(q.Until)
		if in && (q.ID == "" || q.ID == l.ID) && (q.Outcome == "" || q.Outcome == l.Outcome) && (q.By == "" || q.By == l.By) {
			page.Lines = append(page.Lines, l)
		}
	}
	return page, a.err
}

func (a *fakeArchive) Insights(context.Context, time.Time) (history.Insights, error) {
	return a.sums, a.err
}

func TestWhatHappenedWhileAway(t *testing.T) {
	from := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	to := from.Add(time.Hour)
	at := func(minutes int) time.Time { return from.Add(time.Duration(minutes) * time.Minute) }
	archive := &fakeArchive{
		sums: history.Insights{Days: []history.Count{{Missed: 1, Passed: 2, Asked: 9}, {Missed: 1, Denied: 1, Passed: 1}}},
		lines: []history.Line{
			{Seq: 9, ID: "answered", Settled: at(70), Outcome: api.Allowed, By: api.ByHuman},
			{Seq: 8, Settled: at(5), Outcome: api.Unavailable},
			{Seq: 7, Settled: at(4), Outcome: api.Denied, By: api.ByPolicy},
			{Seq: 6, Settled: at(3), Outcome: api.Allowed, By: api.ByPolicy},
			{Seq: 5, Settled: at(2), Outcome: api.TimedOut},
			{Seq: 4, Settled: at(-1), Outcome: api.Denied},
		}}
	request := func(id interact.ID, minutes int, body interact.Body) interact.Request {
		return interact.Request{ID: id, Created: at(minutes), Body: body}
	}
	l := lastAway{archive, []interact.Request{
		request("before", -5, api.Ask{Question: "one?"}), request("notice", 1, api.Notify{Message: "hi"}),
		request("waits", 2, interact.Approve{Tool: "Bash", Input: []byte(`{"command":"make"}`)}),
		request("answered", 3, api.Ask{Question: "two?"}),
	}}
	a, err := l.count(t.Context(), from, to)
	if err != nil || a.Waited.Count != 2 || a.Missed.Count != 2 || a.Passed.Count != 3 || a.Denied.Count != 1 {
		t.Fatalf("%v: %+v", err, a)
	}
	l.pending = l.pending[:3]
	a, err = l.withLines(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	seqs := func(f history.Found) (all []int64) {
		for _, line := range f.Lines {
			all = append(all, line.Seq)
		}
		return all
	}
	got := fmt.Sprint(seqs(a.Waited), seqs(a.Missed), seqs(a.Passed), seqs(a.Denied))
	if got != "[0 9] [8 5] [6] [7]" || a.Waited.Lines[0].Tool != "Bash" {
		t.Errorf("found %s: %+v", got, a.Waited)
	}
	archive.err = errors.New("disk on fire")
	if _, err := l.withLines(t.Context(), a); !errors.Is(err, archive.err) {
		t.Errorf("%v", err)
	}
}
