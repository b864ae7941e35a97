package interact_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
)

// asked puts a request before a user who does nothing, and returns its answer when it comes.
func asked(t *testing.T, b *interact.Broker, r interact.Request) (interact.Request, <-chan interact.Answer) {
	t.Helper()
	ticket, err := b.Begin(r)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan interact.Answer, 1)
	go func() {
		a, _ := ticket.Wait(context.Background())
		came <- a
	}()
	synctest.Wait()
	return ticket.Request(), came
}

// A snoozed request lives longer by the time for which it was put off, as long as its caller waits, and asks again by
// itself.
func TestSnoozeMovesTheDeadline(t *testing.T) {
	const minute, hook = time.Minute, 570 * time.Second
	for name, tt := range map[string]struct {
		timeout, patience time.Duration
		after, snooze     time.Duration
		lives             time.Duration // 0: it cannot be put off so long
	}{
		"nobody says how long":        {after: 4 * minute, snooze: 15 * minute, lives: 20 * minute},
		"a hook of ten minutes":       {patience: hook, after: minute, snooze: 5 * minute, lives: hook},
		"longer than the hook":        {patience: hook, after: minute, snooze: 15 * minute},
		"to the hook's last moment":   {patience: hook, after: hook - 5*minute, snooze: 5 * minute},
		"the caller's own time-out":   {timeout: 10 * minute, after: minute, snooze: 5 * minute, lives: 10 * minute},
		"longer than that":            {timeout: 10 * minute, after: minute, snooze: 15 * minute},
		"patience before the default": {patience: 2 * minute, after: 30 * time.Second, snooze: minute, lives: 2 * minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
				defer b.Close()
				r := approve("Bash")
				r.Timeout, r.Patience = tt.timeout, tt.patience
				began := time.Now()
				r, came := asked(t, b, r)
				time.Sleep(tt.after)
				synctest.Wait()
				err := b.Snooze(r.ID, tt.snooze)
				if tt.lives == 0 {
					if !errors.Is(err, interact.ErrImpatient) || !b.Pending()[0].Snoozed.IsZero() {
						t.Errorf("%v; pending: %+v", err, b.Pending())
					}
					return
				}
				now := b.Pending()[0]
				if err != nil || !now.Snoozed.Equal(time.Now().Add(tt.snooze)) || !now.Deadline.Equal(began.Add(tt.lives)) {
					t.Fatalf("%v; snoozed until %v, deadline %v", err, now.Snoozed, now.Deadline)
				}
				changes, stop := b.Changes()
				defer stop()
				<-changes // it is back
				if back := b.Pending()[0]; time.Since(began) != tt.after+tt.snooze || !back.Snoozed.IsZero() {
					t.Errorf("back after %v: %+v", time.Since(began), back)
				}
				if a := <-came; a.Outcome != api.TimedOut || time.Since(began) != tt.lives {
					t.Errorf("%s after %v, want a time-out after %v", a.Outcome, time.Since(began), tt.lives)
				}
			})
		})
	}
}

// What is snoozed can be opened early, and keeps the time that it has won.
func TestSnoozeEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		defer b.Close()
		began := time.Now()
		r, came := asked(t, b, approve("Bash"))
		changes, stop := b.Changes()
		defer stop()
		for _, d := range []time.Duration{time.Hour, 0} {
			if err := b.Snooze(r.ID, d); err != nil {
				t.Fatal(err)
			}
			<-changes
		}
		if now := b.Pending()[0]; !now.Snoozed.IsZero() {
			t.Errorf("still snoozed: %+v", now)
		}
		<-came
		if took := time.Since(began); took != time.Hour+5*time.Minute {
			t.Errorf("it ended after %v", took)
		}
		if err := b.Snooze(r.ID, time.Minute); !errors.Is(err, interact.ErrNotFound) {
			t.Errorf("snoozed after its end: %v", err)
		}
		if err := b.Snooze("nobody's", time.Minute); !errors.Is(err, interact.ErrNotFound) {
			t.Errorf("a request that is none: %v", err)
		}
	})
}

// A caller that goes while its request is put off has withdrawn it.
func TestSnoozedRequestEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		defer b.Close()
		ticket, err := b.Begin(approve("Bash"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := b.Snooze(ticket.ID(), time.Hour); err != nil {
			t.Fatal(err)
		}
		ticket.Release()
		<-ticket.Done()
		if a, _ := ticket.Answer(); a.Outcome != api.Cancelled || len(b.Pending()) != 0 {
			t.Errorf("%+v; pending: %+v", a, b.Pending())
		}
	})
}
