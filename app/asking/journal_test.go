package asking

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/app/desktop"
	"nod/assets"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/interact/journal"
	"nod/ipc/operator"
)

// Whatever is wrong with the journal is told in words of nod's own, and shows in the tray.
func TestJournalProblem(t *testing.T) {
	if got := JournalProblem(nil); got != "" {
		t.Errorf("nothing is wrong: %q", got)
	}
	const path = "/home/nod.db"
	for _, trouble := range []string{
		journal.Full, journal.Locked, journal.ReadOnly, "unwritable", journal.SetAside, journal.Gone,
	} {
		err := &journal.ProblemError{Trouble: trouble, Path: path, Err: errors.New("because\u202e\nof this")}
		said := JournalProblem(fmt.Errorf("wrapped: %w", err))
		names := strings.Contains(said, path) || strings.Contains(said, "because") || trouble == journal.Full
		if !names || strings.ContainsAny(said, "\n\u202e{") {
			t.Errorf("%s: %q", trouble, said)
		}
		s := snapshot{Journal: said, Pause: operator.Pause{On: true}}
		if s.state() != assets.Broken || !strings.Contains(s.status(time.Now()), said) {
			t.Errorf("%s: the tray shows %s and says %q", trouble, s.state(), s.status(time.Now()))
		}
	}
}

// What waited when nod was killed waits for a display, too, and what comes afterwards does not.
func TestRestoredRequestsWaitForADisplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.set(&d.display, fmt.Errorf("%w: no display", desktop.ErrNoDisplay))
		d.w.returning("a", []byte("half a sentence"))
		a, b := d.ask("a"), d.ask("b")
		d.wantPending(a)
		d.wantUnavailable(b, "no display")
		d.set(&d.display, nil)
		time.Sleep(time.Minute)
		d.wantDrafts(map[interact.ID]string{"a": "half a sentence"})
		if err := d.answer(a, allowed()); err != nil {
			t.Error(err)
		}
	})
}

// When nod quits, a denial whose reply is held goes out, and every other caller hears that nobody decided.
func TestQuitAnswersEveryone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		broker := interacttest.Broker(d.w, &interacttest.Policy{})
		begin := func(tool string) *interact.Ticket {
			ticket, err := broker.Begin(interact.Request{
				Body: interact.Approve{Tool: tool, Input: []byte(`{"command":"make"}`)},
			})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return ticket
		}
		held, waits := begin("Held"), begin("Waits")
		answer := denied("no")
		answer.ID = held.ID()
		if err := d.now().client.Answer(t.Context(), answer); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		broker.Close()
		for ticket, want := range map[*interact.Ticket]api.Outcome{
			held: api.Denied, waits: api.Unavailable,
		} {
			if a, ok := ticket.Answer(); !ok || a.Outcome != want || want == api.Denied && a.Reason != "no" {
				t.Errorf("%+v, want %s", a, want)
			}
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
