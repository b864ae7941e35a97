package asking

import (
	"context"
	"errors"
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
		found := news{passed: 2}
		changed := changes.NewSignal()
		countSignals(ctx, changed, &looks)
		a := &absence{ctx: ctx, changed: changed, log: slog.New(slog.DiscardHandler),
			count: func(_ context.Context, f, t time.Time) (news, error) {
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
		if a.news().passed != 2 || a.take().passed != 2 || !a.news().isNothing() || a.take().passed != 2 {
			t.Error("what was read is news, or is gone")
		}
		found = news{}
		leave(time.Second)
		if a.take().passed != 2 {
			t.Error("an absence in which nothing happened has taken the place of the last")
		}
		found, fails = news{denied: 1}, errors.New("disk on fire")
		leave(time.Second)
		if !a.news().isNothing() {
			t.Error("what could not be counted is news")
		}
	})
}

// fakeArchive has sums, and fails with err.
type fakeArchive struct {
	past
	sums history.Insights
	err  error
}

func (a *fakeArchive) Insights(context.Context, time.Time) (history.Insights, error) {
	return a.sums, a.err
}

func TestWhatHappenedWhileAway(t *testing.T) {
	from := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	to := from.Add(time.Hour)
	archive := &fakeArchive{
		sums: history.Insights{Days: []history.Count{{Missed: 1, Passed: 2, Asked: 9}, {Missed: 1, Denied: 1, Passed: 1}}},
	}
	request := func(id interact.ID, minutes int, body interact.Body) interact.Request {
		return interact.Request{ID: id, Created: from.Add(time.Duration(minutes) * time.Minute), Body: body}
	}
	pending := []interact.Request{
		request("before", -5, api.Ask{Question: "one?"}), request("notice", 1, api.Notify{Message: "hi"}),
		request("waits", 2, interact.Approve{Tool: "Bash", Input: []byte(`{"command":"make"}`)}),
		request("another", 3, api.Ask{Question: "two?"}),
	}
	got, err := countAbsence(t.Context(), archive, pending, from, to)
	if want := (news{from, to, 2, 2, 3, 1}); err != nil || got != want {
		t.Fatalf("%v: %+v, want %+v", err, got, want)
	}
	archive.err = errors.New("disk on fire")
	if _, err := countAbsence(t.Context(), archive, pending, from, to); !errors.Is(err, archive.err) {
		t.Errorf("%v", err)
	}
}
