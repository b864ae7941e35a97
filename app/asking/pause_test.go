package asking

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

// yes is a prompter that counts its prompts and answers each.
type yes struct{ asked int }

func (y *yes) Prompt(context.Context, interact.Request, policy.Decision) (interact.Answer, error) {
	y.asked++
	return interact.Answer{Outcome: api.Answered}, nil
}

func TestPausedNobodyIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		human, changes := &yes{}, atomic.Int32{}
		p := newGate(human, func() {})
		countSignals(t.Context(), p.changed, &changes)
		ask := func() error {
			_, err := p.Prompt(t.Context(), interact.Request{}, policy.Decision{})
			return err
		}

		if err := ask(); err != nil || human.asked != 1 {
			t.Fatalf("not paused: asked %d, error %v", human.asked, err)
		}

		p.setPause(operator.Pause{On: true, Until: time.Now().Add(time.Hour)})
		synctest.Wait()
		err := ask()
		if !errors.Is(err, interact.ErrUnavailable) {
			t.Errorf("paused: error %v, want ErrUnavailable", err)
		}
		want := "nod is paused until " + time.Now().Add(time.Hour).Format("15:04") + "; nobody was asked"
		if err == nil || err.Error() != want {
			t.Errorf("paused: error %q, want %q", err, want)
		}
		if human.asked != 1 {
			t.Error("paused: the human was asked")
		}

		time.Sleep(time.Hour)
		synctest.Wait()
		if n := changes.Load(); n != 2 {
			t.Errorf("%d changes were told, want one for the start and one for the end", n)
		}
		if err := ask(); err != nil || human.asked != 2 {
			t.Errorf("after the pause: asked %d, error %v", human.asked, err)
		}
	})
}

func TestPauseWithoutEndLastsUntilResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPresence(func() {})
		p.setPause(operator.Pause{On: true, Until: time.Now().Add(time.Hour)})
		p.setPause(operator.Pause{On: true})
		time.Sleep(1000 * time.Hour)
		if !p.Paused().On {
			t.Error("the end of the first pause ended the second")
		}
		p.setPause(operator.Pause{})
		if p.Paused().On {
			t.Error("resumed, yet paused")
		}
	})
}

// The end of quiet hours, which nothing marks, is told once.
func TestTheEndOfQuietHoursIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		p, changes := newPresence(func() {}), atomic.Int32{}
		countSignals(ctx, p.changed, &changes)
		n := config.Default().Notifications
		n.QuietHours = time.Now().Add(-time.Hour).Format("15:04") + "-" + time.Now().Add(time.Hour).Format("15:04")
		go p.followClock(ctx, func() bool { return n.Quiet(time.Now()) })
		for _, want := range []int32{0, 0, 1, 1} {
			synctest.Wait()
			if got := changes.Load(); got != want {
				t.Errorf("%v: told %d times, want %d", time.Now(), got, want)
			}
			time.Sleep(31 * time.Minute)
		}
	})
}

func TestClockNamesTheDayWhenItIsAnother(t *testing.T) {
	now := time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC) // a Monday
	if got := clock(now.Add(10*time.Minute), now); got != "23:40" {
		t.Errorf("same day: %q", got)
	}
	if got := clock(now.Add(18*time.Hour), now); got != "Tue 17:30" {
		t.Errorf("next day: %q", got)
	}
}
