package interact_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
)

// While the screen is locked nobody's time goes by, but nobody waits longer than their caller does.
func TestStandStill(t *testing.T) {
	const minute = time.Minute
	for name, tt := range map[string]struct {
		timeout, patience time.Duration
		before, locked    time.Duration
		lives             time.Duration
	}{
		"nobody says how long":   {before: 4 * minute, locked: time.Hour, lives: time.Hour + 5*minute},
		"locked when it came":    {locked: time.Hour, lives: time.Hour + 5*minute},
		"a caller's patience":    {patience: 10 * minute, before: minute, locked: 2 * minute, lives: 7 * minute},
		"beyond that":            {patience: 10 * minute, before: minute, locked: time.Hour, lives: 10 * minute},
		"a caller's time-out":    {timeout: 10 * minute, before: minute, locked: 2 * minute, lives: 10 * minute},
		"locked until it is out": {patience: 6 * minute, before: 4 * minute, locked: minute, lives: 6 * minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
				defer b.Close()
				r := approve("Bash")
				r.Timeout, r.Patience = tt.timeout, tt.patience
				if tt.before == 0 {
					b.StandStill(true)
				}
				began := time.Now()
				_, came := asked(t, b, r)
				time.AfterFunc(tt.before, func() { b.StandStill(true); b.StandStill(true) })
				time.AfterFunc(tt.before+tt.locked, func() { b.StandStill(false); b.StandStill(false) })
				if a := <-came; a.Outcome != api.TimedOut || time.Since(began) != tt.lives {
					t.Errorf("%s after %v, want a time-out after %v", a.Outcome, time.Since(began), tt.lives)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// What was won by a locked screen outlives the process, and a request that comes back stands still like any other.
func TestStandStillAndRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
		r := ask("?")
		r.Timeout = 0
		ticket := mustBegin(t, d.Broker, r)
		ticket.Detach()
		d.StandStill(true)
		time.Sleep(time.Hour)
		d.StandStill(false)
		synctest.Wait()
		d.kill(&interacttest.Prompter{})
		defer func() { d.Close() }()
		if left := time.Until(d.Pending()[0].Deadline); left != 5*time.Minute {
			t.Errorf("%v left", left)
		}
		d.StandStill(true)
		time.Sleep(time.Hour)
		if len(d.Pending()) != 1 {
			t.Error("its time went by")
		}
	})
}

// Deadlines are in monotonic time: the clock may be set, and the machine sleep, without a difference to who waits.
func TestDeadlinesAreMonotonic(t *testing.T) {
	d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
	ticket, err := d.Begin(t.Context(), approve("Bash"))
	if err != nil {
		t.Fatal(err)
	}
	ticket.Detach()
	open, last := d.journal.Left()
	d.Close()
	d.journal = interacttest.JournalOf(open, last)
	d.start()
	defer d.Close()
	restored := d.Pending()[0]
	for name, at := range map[string]time.Time{
		"deadline": ticket.Request().Deadline, "patience": ticket.Request().Until,
		"restored deadline": restored.Deadline, "restored patience": restored.Until,
	} {
		if !strings.Contains(at.String(), " m=") {
			t.Errorf("%s is in wall time: %s", name, at)
		}
	}
}
