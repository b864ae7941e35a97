package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/app/desktop"
	"nod/assets"
	"nod/interact"
	"nod/interact/interacttest"
	"nod/interact/journal"
)

// Whatever is wrong with the journal is told in words of nod's own, and shows in the tray.
func TestJournalProblem(t *testing.T) {
	if got := journalProblem(nil); got != "" {
		t.Errorf("nothing is wrong: %q", got)
	}
	const path = "/home/nod.db"
	for _, trouble := range []journal.Trouble{
		journal.Full, journal.Locked, journal.Unwritable, journal.SetAside, journal.Gone, journal.NotForwarded,
	} {
		err := &journal.ProblemError{Trouble: trouble, Path: path, Lost: 3, Err: errors.New("because\u202e\nof this")}
		said := journalProblem(fmt.Errorf("wrapped: %w", err))
		names := strings.Contains(said, path) || strings.Contains(said, "because") || trouble == journal.Full
		if !names || strings.ContainsAny(said, "\n\u202e{") {
			t.Errorf("%s: %q", trouble, said)
		}
		s := snapshot{Journal: said, Pause: Pause{On: true}}
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
		d.w.comesBack("a", []byte("half a sentence"))
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

// A nod that is told to end while it starts knows what was answered all the same.
func TestRestoreWhileNodEnds(t *testing.T) {
	j := journal.Open(t.TempDir()+"/nod.db", journal.Options{Log: slog.New(slog.DiscardHandler)})
	defer j.Close()
	ask := interact.Request{IdempotencyKey: "k", Body: interact.Ask{Question: "?"}}
	human := &interacttest.Prompter{Answer: interacttest.Always(interact.Answer{Outcome: interact.Answered, Text: "yes"})}
	asked := interacttest.Broker(human, &interacttest.Policy{}, func(c *interact.BrokerConfig) { c.Journal = j })
	if a, err := asked.Do(t.Context(), ask); err != nil || a.Text != "yes" {
		t.Fatalf("%+v, %v", a, err)
	}
	asked.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &program{
		ctx: ctx, journal: j, log: slog.New(slog.DiscardHandler),
		broker: interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{}),
	}
	p.restore()
	p.broker.Close()
	if a, err := p.broker.Do(t.Context(), ask); err != nil || a.Text != "yes" {
		t.Errorf("who comes back hears %+v, %v", a, err)
	}
}

// Another program holds the history's file when nod starts: what waits comes back once it lets go, and stays for the
// next nod when this one is killed before.
func TestRestoreFromAHistoryThatIsHeld(t *testing.T) {
	for name, isKilled := range map[string]bool{"let go": false, "killed meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "nod.db")
			start := func() (p *program, end func()) {
				ctx, cancel := context.WithCancel(t.Context())
				j := journal.Open(path, journal.Options{Log: slog.New(slog.DiscardHandler)})
				p = &program{
					ctx: ctx, journal: j, log: slog.New(slog.DiscardHandler), windows: newDesk(t).w,
					broker: interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{},
						func(c *interact.BrokerConfig) { c.Journal = j }),
				}
				p.restore()
				return p, func() {
					cancel()
					p.parts.Wait()
					if err := j.Close(); err != nil { // first, as if nod were killed
						t.Error(err)
					}
					p.broker.Close()
				}
			}
			first, end := start()
			ticket, err := first.broker.Begin(t.Context(), interact.Request{Body: interact.Ask{Question: "?"}})
			if err != nil {
				t.Fatal(err)
			}
			ticket.Detach()
			if err := first.journal.SaveDraft(t.Context(), ticket.ID(), []byte("half")); err != nil {
				t.Fatal(err)
			}
			end()

			other, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"PRAGMA locking_mode = exclusive", "BEGIN EXCLUSIVE"} {
				if err := sqlitex.ExecuteTransient(other, line, nil); err != nil {
					t.Fatal(err)
				}
			}
			second, end := start()
			if pending := second.broker.Pending(); len(pending) != 0 || second.journal.Problem() == nil {
				t.Fatalf("the file is not held: %v", pending)
			}
			if isKilled {
				end()
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			if isKilled {
				second, end = start()
			}
			defer func() { end() }()
			changes, stop := second.broker.Changes()
			defer stop()
			for len(second.broker.Pending()) == 0 {
				<-changes
			}
			if id := second.broker.Pending()[0].ID; id != ticket.ID() {
				t.Errorf("%s came back, want %s", id, ticket.ID())
			}
			second.windows.mu.Lock()
			defer second.windows.mu.Unlock()
			if draft := second.windows.drafts[ticket.ID()]; string(draft) != "half" {
				t.Errorf("the draft is %q", draft)
			}
		})
	}
}

// When nod quits, a denial whose reply is held goes out, and every other caller hears that nobody decided.
func TestQuitAnswersEveryone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		broker := interacttest.Broker(d.w, &interacttest.Policy{})
		begin := func(tool string) *interact.Ticket {
			ticket, err := broker.Begin(t.Context(), interact.Request{
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
		for ticket, want := range map[*interact.Ticket]interact.Outcome{
			held: interact.Denied, waits: interact.Unavailable,
		} {
			if a, ok := ticket.Answer(); !ok || a.Outcome != want || want == interact.Denied && a.Reason != "no" {
				t.Errorf("%+v, want %s", a, want)
			}
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Suggestions are given up with the page that shows them.
func TestSuggestIsCancelled(t *testing.T) {
	j := journal.Open(t.TempDir()+"/nod.db", journal.Options{Log: slog.New(slog.DiscardHandler)})
	defer j.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (operatorAPI{p: &program{journal: j}}).Suggest(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What is kept is told; what cannot be read is not, and keeps nobody waiting.
func TestWhatIsKept(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	p := &program{log: log, journal: journal.Open(filepath.Join(t.TempDir(), "nod.db"), journal.Options{Log: log})}
	r := interact.Record{Request: interact.Request{ID: "a", Created: time.Now(), Body: interact.Ask{Question: "Why?"}},
		Answer: interact.Answer{Outcome: interact.Dismissed, By: interact.ByHuman, At: time.Now()}}
	if err := p.journal.Settle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	k := p.kept(t.Context())
	for range 50 { // a machine that is busy may not answer in time
		if k.Entries != 0 {
			break
		}
		k = p.kept(t.Context())
	}
	if k.Entries != 1 || k.Bytes == 0 || k.Head.Seq != 1 || k.Path == "" || k.Problem != "" {
		t.Errorf("%+v", k)
	}
	if err := p.journal.Close(); err != nil {
		t.Fatal(err)
	}
	if k := p.kept(t.Context()); k.Entries != 0 || k.Head.Seq != 0 || k.Path == "" {
		t.Errorf("of a journal that is closed: %+v", k)
	}
}
