package journal_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
)

// indexedFile is a journal with so many random entries and an index of all of them.
func indexedFile(t *testing.T, entries int, seed uint64) string {
	t.Helper()
	path, r := file(t), rand.New(rand.NewPCG(seed, 1))
	j := open(t, path, keepAll)
	for n := range entries {
		must(t, j.Settle(t.Context(), random(r, n)))
	}
	must(t, j.Index(t.Context()))
	must(t, j.Close())
	return path
}

// inIndex is the first column of the first row that a query of the index finds.
func inIndex(t *testing.T, path, text string) (n int64) {
	t.Helper()
	conn, err := sqlite.OpenConn(path+"-index", sqlite.OpenReadOnly)
	must(t, err)
	must(t, errors.Join(sqlitex.Execute(conn, text, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		n = s.ColumnInt64(0)
		return nil
	}}), conn.Close()))
	return n
}

// searchesHold fails the test unless random searches find what they must.
func searchesHold(t *testing.T, r *journal.Reader) {
	t.Helper()
	all := whole(t, r)
	for _, e := range all {
		if e.Agent == "" && e.Program != "node" || e.Agent != "" && e.Program != "" {
			t.Errorf("entry %d of the agent %q is by the program %q", e.Seq, e.Agent, e.Program)
		}
	}
	random := rand.New(rand.NewPCG(3, 5))
	for range 25 {
		q := randomQuery(random)
		got, err := r.Search(t.Context(), q)
		must(t, err)
		if want := find(q, all); !slices.Equal(got.Lines, want.Lines) || got.More != want.More {
			t.Fatalf("%+v:\ngot  %v\nwant %v", q, seqs(got), seqs(want))
		}
	}
}

func TestIndexLosesWhatTheJournalLoses(t *testing.T) {
	path := indexedFile(t, 60, 1)
	tamper(t, path, `UPDATE entries SET body = NULL WHERE seq <= 40;
		UPDATE anchor SET seq = 25, hash = (SELECT hash FROM entries WHERE seq = 25), bodies = 40;
		DELETE FROM entries WHERE seq <= 25`)
	j := open(t, path, keepAll)
	must(t, j.Index(t.Context()))
	if n := inIndex(t, path, "SELECT count(*) FROM words WHERE rowid <= 25"); n > 0 {
		t.Errorf("the index still has %d entries that are gone", n)
	}
	if n := inIndex(t, path, "SELECT min(seq) FROM sums"); n <= 25 {
		t.Errorf("a day is still counted whose entries are all gone: the last was entry %d", n)
	}
	if at := j.Indexed(t); at != 60 {
		t.Errorf("the index covers the entries up to %d, want 60", at)
	}
	searchesHold(t, j.Reader)
	// The reason was in the body, so that only the entries that still have one are found by it.
	page, err := j.Search(t.Context(), history.Query{Text: "because", Kind: api.KindApprove})
	must(t, err)
	if n := len(page.Lines); n == 0 || page.Lines[n-1].Seq <= 40 {
		t.Errorf("found by their bodies: %v", seqs(page))
	}
}

// An index is used for the journal that it was made of, and for no other.
func TestIndexOfAnotherJournal(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"another journal": func(t *testing.T, path string) {
			must(t, os.Rename(indexedFile(t, 25, 2), path))
		},
		"journal begun anew": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			j := open(t, path, keepAll)
			must(t, j.Settle(t.Context(), random(rand.New(rand.NewPCG(9, 9)), 1)))
			must(t, j.Close())
		},
		"journal that lost its end": func(t *testing.T, path string) {
			tamper(t, path, "DELETE FROM entries WHERE seq > 15")
		},
		"indexed entries all gone": func(t *testing.T, path string) {
			tamper(t, path, `UPDATE anchor SET seq = 15, hash = (SELECT hash FROM entries WHERE seq = 15), bodies = 15;
				DELETE FROM entries WHERE seq <= 15`)
			tamper(t, path+"-index", "UPDATE state SET seq = 10")
		},
		"index of another version": func(t *testing.T, path string) { tamper(t, path+"-index", "PRAGMA user_version = 99") },
		"no index":                 func(t *testing.T, path string) { must(t, os.Remove(path+"-index")) },
		"not a database": func(t *testing.T, path string) {
			must(t, os.WriteFile(path+"-index", slices.Repeat([]byte("nod "), 5000), 0o600))
		},
		"damaged index": func(t *testing.T, path string) {
			text, err := os.ReadFile(path + "-index")
			must(t, err)
			for i := 4096; i < len(text); i++ {
				text[i] = byte(i)
			}
			must(t, os.WriteFile(path+"-index", text, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := indexedFile(t, 20, 1)
			change(t, path)
			r, err := journal.OpenReader(path) // as nod history does
			must(t, err)
			searchesHold(t, r)
			must(t, r.Close())

			j := open(t, path, keepAll)
			searchesHold(t, j.Reader)
			head, err := j.Head(t.Context())
			must(t, err)
			must(t, j.Index(t.Context()))
			if at := j.Indexed(t); at != head.Seq {
				t.Errorf("the index covers the entries up to %d, want %d", at, head.Seq)
			}
			searchesHold(t, j.Reader)
		})
	}
}

func TestSearchIsCancelled(t *testing.T) {
	path := indexedFile(t, 5, 1)
	r, err := journal.OpenReader(path)
	must(t, err)
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range r.Entries(ctx, history.Query{}) {
		cancel()
	}
	_, search := r.Search(ctx, history.Query{Text: "g"})
	_, insights := r.Insights(ctx, time.Time{})
	var entries error
	for _, entries = range r.Entries(ctx, history.Query{}) {
	}
	for name, err := range map[string]error{"search": search, "insights": insights, "entries": entries} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", name, err, context.Canceled)
		}
	}
}

// sums is what [journal.Reader.Insights] must return, from the words of its types.
func sums(since time.Time, all []history.Entry) history.Insights {
	var in history.Insights
	days, agents, projects, tools := map[string]*history.Count{}, map[string]*history.Count{},
		map[string]*history.Count{}, map[string]*history.Count{}
	rules := map[string]*history.RuleCount{}
	for _, e := range all {
		if e.Settled.Before(since) {
			continue
		}
		local := e.Settled.Local()
		midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.Local)
		counts := []*history.Count{
			at(days, midnight.String(), history.Count{Day: midnight}), at(agents, e.Agent, history.Count{Agent: e.Agent}),
			at(projects, e.Project, history.Count{Project: e.Project}),
		}
		if e.Tool != "" {
			counts = append(counts, at(tools, e.Tool, history.Count{Tool: e.Tool}))
		}
		if e.Kind == api.KindNotify {
			continue
		}
		for _, c := range counts {
			switch {
			case e.By == api.ByHuman:
				c.Asked++
				c.Answered += e.Record.Answer.Shown.Decided.Truncate(time.Microsecond)
			case e.By == api.ByPolicy && e.Outcome == api.Allowed:
				c.Passed++
			case e.Outcome == api.TimedOut:
				c.Missed++
			}
			if e.Outcome == api.Denied {
				c.Denied++
			}
		}
		if e.By == api.ByPolicy && e.Outcome == api.Allowed && e.Rule != "" {
			rule := at(rules, e.Rule, history.RuleCount{Rule: e.Rule})
			rule.Saved++
			rule.Last = later(rule.Last, e.Settled)
		}
	}
	in.Days, in.Agents, in.Projects, in.Tools = values(days), values(agents), values(projects), values(tools)
	in.Rules = values(rules)
	return in
}

func at[T any](m map[string]*T, key string, first T) *T {
	if m[key] == nil {
		m[key] = &first
	}
	return m[key]
}

func values[T any](m map[string]*T) (all []T) {
	for _, v := range m {
		all = append(all, *v)
	}
	return all
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sorted has an order in which the model and the journal can be compared.
func sorted[T any](all []T) []string {
	var texts []string
	for _, v := range all {
		texts = append(texts, fmt.Sprintf("%+v", v))
	}
	slices.Sort(texts)
	return texts
}

func TestInsightsAgainstAModel(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	j := open(t, file(t), keepAll)
	for n := range 60 {
		must(t, j.Settle(t.Context(), random(r, n)))
	}
	must(t, j.Index(t.Context()))
	for n := range 15 {
		must(t, j.Settle(t.Context(), random(r, 60+n)))
	}
	all := whole(t, j.Reader)
	check := func(since time.Time) {
		t.Helper()
		got, err := j.Insights(t.Context(), since)
		must(t, err)
		want := sums(since, all)
		for name, lists := range map[string][2][]string{
			"days": {sorted(got.Days), sorted(want.Days)}, "agents": {sorted(got.Agents), sorted(want.Agents)},
			"projects": {sorted(got.Projects), sorted(want.Projects)}, "tools": {sorted(got.Tools), sorted(want.Tools)},
			"rules": {sorted(got.Rules), sorted(want.Rules)},
		} {
			if !slices.Equal(lists[0], lists[1]) {
				t.Fatalf("since %s: %s:\ngot  %v\nwant %v", since, name, lists[0], lists[1])
			}
		}
		if !slices.IsSortedFunc(got.Days, func(a, b history.Count) int { return a.Day.Compare(b.Day) }) {
			t.Errorf("days are not sorted: %v", got.Days)
		}
	}
	check(time.Time{})
	for range 15 {
		check(start.Add(time.Duration(r.IntN(80)-10)*time.Hour + time.Duration(r.IntN(3600))*time.Second))
	}
	y, m, d := start.Local().Date()
	check(time.Date(y, m, d+2, 0, 0, 0, 0, time.Local))

	facets, err := j.Facets(t.Context())
	must(t, err)
	for name, got := range map[string][]string{
		"claude-code codex": facets.Agents, "/home/me /src/Größe /src/shop": facets.Projects, "Bash Write": facets.Tools,
	} {
		slices.Sort(got)
		if fmt.Sprint(got) != "["+name+"]" {
			t.Errorf("got %q, want %s", got, name)
		}
	}
}

// What suggestions rest on is what the user decided about calls that are known exactly.
func TestPast(t *testing.T) {
	j := open(t, file(t), keepAll)
	r := rand.New(rand.NewPCG(8, 1))
	for n := range 200 {
		must(t, j.Settle(t.Context(), random(r, n)))
		if n == 25 {
			must(t, j.Index(t.Context()))
		}
	}
	var want []string
	for _, e := range slices.Backward(whole(t, j.Reader)) {
		a, ok := e.Record.Request.Body.(interact.Approve)
		isDecided := e.By == api.ByHuman && (e.Outcome == api.Allowed || e.Outcome == api.Denied)
		if ok && isDecided && e.Machine == "" && !e.Sandbox {
			want = append(want, string(e.Outcome[:4])+string(a.Input)+e.Agent+e.Project)
		}
	}
	var got []string
	for p, err := range j.Past(t.Context()) {
		must(t, err)
		effect := map[bool]string{true: "allo", false: "deni"}[p.Effect == "allow"]
		got = append(got, effect+p.Call.Input.String()+p.Call.Agent+p.Call.CWD)
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
