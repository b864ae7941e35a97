package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/interact/journal"
)

// A nod that is told to end while it starts knows what was answered all the same.
func TestRestoreWhileNodEnds(t *testing.T) {
	j := journal.Open(t.TempDir()+"/nod.db", journal.Options{Log: slog.New(slog.DiscardHandler)})
	defer j.Close()
	ask := interact.Request{IdempotencyKey: "k", Body: api.Ask{Question: "?"}}
	human := &interacttest.Prompter{Answer: interacttest.Always(interact.Answer{Outcome: api.Answered, Text: "yes"})}
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
	p.restore(p.broker.Restore)
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
			var mu sync.Mutex
			var drafts map[interact.ID]string // of requests that are pending again
			start := func() (p *program, end func()) {
				ctx, cancel := context.WithCancel(t.Context())
				j := journal.Open(path, journal.Options{Log: slog.New(slog.DiscardHandler)})
				p = &program{
					ctx: ctx, journal: j, log: slog.New(slog.DiscardHandler),
					broker: interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{},
						func(c *interact.BrokerConfig) { c.Journal = j }),
				}
				p.restore(func(open, last []interact.Record) {
					mu.Lock()
					defer mu.Unlock()
					drafts = map[interact.ID]string{}
					for _, r := range open {
						drafts[r.Request.ID] = string(r.Draft)
					}
					p.broker.Restore(open, last)
				})
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
			ticket, err := first.broker.Begin(interact.Request{Body: api.Ask{Question: "?"}})
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
			mu.Lock()
			defer mu.Unlock()
			if draft := drafts[ticket.ID()]; draft != "half" {
				t.Errorf("the draft is %q", draft)
			}
		})
	}
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
	r := interact.Record{Request: interact.Request{ID: "a", Created: time.Now(), Body: api.Ask{Question: "Why?"}},
		Answer: interact.Answer{Outcome: api.Dismissed, By: api.ByHuman, At: time.Now()}}
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
