package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"nod/api"
	"nod/interact"
	"nod/interact/journal"
	"nod/policy"
)

// file is a path for a journal.
func file(tb testing.TB) string { return filepath.Join(tb.TempDir(), "nod", "nod.db") }

// open opens a journal that the test closes.
func open(tb testing.TB, path string, o journal.Options) *journal.Journal {
	tb.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	j := journal.Open(path, o)
	tb.Cleanup(func() {
		if err := j.Close(); err != nil {
			tb.Error(err)
		}
	})
	return j
}

// healthy is open, of a journal that must have no problem.
func healthy(tb testing.TB, path string) *journal.Journal {
	tb.Helper()
	j := open(tb, path, journal.Options{})
	if err := j.Problem(); err != nil {
		tb.Fatal(err)
	}
	return j
}

// start is recent: what is old does not stay.
var start = time.Now().Add(-time.Hour).UTC()

// approval is the n-th request of a test, with what the policy made of it.
func approval(n int) interact.Record {
	created := start.Add(time.Duration(n) * time.Second)
	return interact.Record{
		Request: interact.Request{
			ID: interact.ID(fmt.Sprintf("0190a5b2-0000-7000-8000-%012d", n)), Created: created,
			Deadline: created.Add(time.Minute),
			Requester: interact.Requester{
				Agent: "claude-code", Session: "s1", CWD: "/src/shop",
				Process: api.Process{PID: 7, Exe: "/usr/bin/node", Parents: []api.Parent{{PID: 6, Name: "bash"}}},
			},
			IdempotencyKey: fmt.Sprintf("key %d", n),
			Body: interact.Approve{
				Tool: "Bash", Input: json.RawMessage(fmt.Sprintf(`{"command":  "make target-%d"}`, n)), Description: "build",
			},
		},
		Why: policy.Decision{Effect: policy.Ask, Rule: "r1", Reason: "the rule asks", Class: policy.Execute},
	}
}

// settled is r with an outcome.
func settled(r interact.Record, outcome api.Outcome) interact.Record {
	r.Answer = interact.Answer{
		Outcome: outcome, By: api.ByHuman, Reason: "because", At: r.Request.Created.Add(time.Second),
		Shown: interact.Shown{At: r.Request.Created, Armed: time.Second, With: "keys", Facts: []string{"runs a program"}},
	}
	return r
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// same fails the test unless two values have the same JSON.
func same(tb testing.TB, got, want any) {
	tb.Helper()
	g, err := json.Marshal(got)
	must(tb, err)
	w, err := json.Marshal(want)
	must(tb, err)
	if string(g) != string(w) {
		tb.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestRestore(t *testing.T) {
	path, ctx := file(t), t.Context()
	j := healthy(t, path)
	first, second, third := approval(1), approval(2), approval(3)
	must(t, j.Open(ctx, second))
	must(t, j.Open(ctx, first))
	second.Detached = true
	must(t, j.Update(ctx, second))
	must(t, j.SaveDraft(ctx, second.Request.ID, []byte("no, bec")))
	must(t, j.Settle(ctx, settled(third, api.Allowed)))
	must(t, j.Settle(ctx, settled(first, api.Denied)))
	must(t, j.Close())

	waiting, last, err := healthy(t, path).Restore(ctx, 10)
	must(t, err)
	same(t, waiting, []interact.Record{drafted(second, []byte("no, bec"))})
	same(t, last, []interact.Record{settled(third, api.Allowed), settled(first, api.Denied)})
}

func TestUpdateOfARequestThatIsNotOpen(t *testing.T) {
	j := healthy(t, file(t))
	r := approval(1)
	must(t, j.Settle(t.Context(), settled(r, api.Allowed)))
	if err := j.Update(t.Context(), r); !errors.Is(err, interact.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if err := j.SaveDraft(t.Context(), r.Request.ID, nil); !errors.Is(err, interact.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestARequestIsSettledOnce(t *testing.T) {
	j := healthy(t, file(t))
	r := approval(1)
	must(t, j.Settle(t.Context(), settled(r, api.Allowed)))
	if err := j.Settle(t.Context(), settled(r, api.Denied)); !errors.Is(err, interact.ErrSettled) {
		t.Errorf("got %v, want ErrSettled", err)
	}
	_, last, err := j.Restore(t.Context(), 10)
	must(t, err)
	same(t, last, []interact.Record{settled(r, api.Allowed)})
}

func TestCallersAtOnce(t *testing.T) {
	path := file(t)
	j := healthy(t, path)
	const callers, each = 32, 20
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for k := range each {
				r := approval(i*each + k)
				if k%2 == 0 {
					if err := j.Open(t.Context(), r); err != nil {
						t.Error(err)
					}
				}
				if err := j.Settle(t.Context(), settled(r, api.Allowed)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	head, err := j.Head(t.Context())
	must(t, err)
	if head.Seq != callers*each {
		t.Errorf("%d entries, want %d", head.Seq, callers*each)
	}
	waiting, last, err := j.Restore(t.Context(), callers*each+1)
	must(t, err)
	if len(waiting) != 0 || len(last) != callers*each {
		t.Errorf("%d wait and %d are settled", len(waiting), len(last))
	}
	ids := map[interact.ID]bool{}
	for _, r := range last {
		ids[r.Request.ID] = true
	}
	if len(ids) != len(last) {
		t.Errorf("%d ids of %d entries", len(ids), len(last))
	}
}

func TestClosed(t *testing.T) {
	j := healthy(t, file(t))
	must(t, j.Close())
	if err := j.Settle(context.Background(), settled(approval(1), api.Allowed)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if _, err := j.Head(context.Background()); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

const onWindows = runtime.GOOS == "windows"

// awaitHealth waits, in a bubble, until the journal has found out by itself that it can be written again.
func awaitHealth(tb testing.TB, j *journal.Journal) {
	tb.Helper()
	time.Sleep(time.Minute)
	if err := j.Problem(); err != nil {
		tb.Fatal(err)
	}
}
