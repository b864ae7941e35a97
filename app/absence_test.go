package app

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/interact/history"
)

func TestAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		start := time.Now()
		var looks atomic.Int32
		var from, to time.Time
		var fails error
		found := history.Away{Passed: history.Found{Count: 2}}
		a := &absence{ctx: ctx, changed: func() { looks.Add(1) }, log: slog.New(slog.DiscardHandler),
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
