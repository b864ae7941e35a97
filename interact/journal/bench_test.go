package journal_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
	"nod/policy"
	"nod/policy/config"
)

// Of the benchmarks over a long history. A journal of a million entries takes minutes to make.
var (
	benchEntries = flag.Int("entries", 10_000, "how many entries the benchmarks search")
	benchJournal = flag.String("journal", "", "keep the journal of the benchmarks in this `folder`, to use it again")
)

// keepAll has a journal lose nothing.
var keepAll = journal.Options{Config: func() config.History {
	return config.History{Keep: 36500 * 24 * time.Hour, MaxSize: 100_000, KeepInputs: true}
}}

// call is the n-th of the calls of a busy user's agents.
func call(r *rand.Rand, vocabulary []string, n int) interact.Record {
	some := func(count int) string {
		words := make([]string, count)
		for i := range words {
			f := r.Float64()
			words[i] = vocabulary[int(f*f*f*float64(len(vocabulary)))] // few are common, many are rare
		}
		return strings.Join(words, " ")
	}
	rec := approval(n)
	rec.Request.Created = start.Add(time.Duration(n) * 8 * time.Second)
	rec.Request.Requester.Agent = pick(r, "claude-code", "claude-code", "codex", "gemini-cli")
	rec.Request.Requester.CWD = fmt.Sprintf("/home/me/src/project-%d", n/3000%20)
	rec.Request.Requester.Session = fmt.Sprintf("%08x-5b1c-4d2e-9f30-aabbccddeeff", n/400)
	command := pick(r, "git status", "git diff", "go test ./...", "npm run build")
	input := map[string]string{"command": command + " " + some(6)}
	a := interact.Approve{Tool: "Bash"}
	if r.IntN(4) == 0 {
		a.Tool = pick(r, "Edit", "Write", "Read", "WebFetch")
		input = map[string]string{"file_path": "/home/me/src/" + some(1) + "/" + some(1) + ".go", "content": some(25)}
	}
	if n == 1000 {
		input["command"] = "unicorn"
	}
	a.Input, _ = json.Marshal(input)
	rec.Request.Body = a
	rec.Why.Rule = fmt.Sprintf("rule-%d", r.IntN(30))
	if r.IntN(10) == 0 {
		return settled(rec, pick(r, api.Allowed, api.Allowed, api.Denied, api.TimedOut))
	}
	rec.Why.Effect = policy.Allow
	rec.Answer = interact.Answer{
		Outcome: api.Allowed, By: api.ByPolicy, Rule: rec.Why.Rule, At: rec.Request.Created,
	}
	return rec
}

// long returns a journal with n entries and its index.
func long(b *testing.B, n int) *journal.Journal {
	b.Helper()
	folder := *benchJournal
	if folder == "" {
		folder = b.TempDir()
	}
	path := filepath.Join(folder, fmt.Sprintf("%d.db", n))
	j := open(b, path, keepAll)
	head, err := j.Head(b.Context())
	must(b, err)
	if head.Seq == 0 {
		settleCalls(b, j, n)
	}
	began := time.Now()
	at := j.Indexed(b)
	must(b, j.Index(b.Context()))
	if at = j.Indexed(b) - at; at > 0 {
		b.Logf("%d entries: indexed in %s, %s per entry", at, time.Since(began), time.Since(began)/time.Duration(at))
	}
	b.Logf("%d entries: journal %d MB, index %d MB", n, megabytes(b, path), megabytes(b, path+"-index"))
	return j
}

func megabytes(b *testing.B, path string) (size int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			size += info.Size()
		}
	}
	return size >> 20
}

// settleCalls settles n requests, from as many callers at once as share a transaction.
func settleCalls(b *testing.B, j *journal.Journal, n int) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 50_000)
	for i := range vocabulary {
		vocabulary[i] = letters(r, 3+int(12*r.Float64()*r.Float64()))
	}
	began := time.Now()
	calls := make(chan interact.Record)
	var callers sync.WaitGroup
	for range 256 {
		callers.Go(func() {
			for c := range calls {
				for j.Settle(b.Context(), c) != nil && b.Context().Err() == nil { // the disk is slower than all that
				}
			}
		})
	}
	for i := range n {
		calls <- call(r, vocabulary, i)
	}
	close(calls)
	callers.Wait()
	b.Logf("%d entries: written in %s", n, time.Since(began))
}

func letters(r *rand.Rand, n int) string {
	const often = "etaoinshrdlcumwfgypbvk"
	word := make([]byte, n)
	for i := range word {
		word[i] = often[min(r.IntN(len(often)), r.IntN(len(often)))]
	}
	return string(word)
}

// BenchmarkSearch finds the first page of what a user may look for, and some of it as a plain search would.
func BenchmarkSearch(b *testing.B) {
	j := long(b, *benchEntries)
	end := start.Add(time.Duration(*benchEntries) * 8 * time.Second)
	for _, c := range []struct {
		name string
		q    history.Query
	}{
		{"everything", history.Query{}},
		{"one letter", history.Query{Text: "g"}},
		{"rare letter", history.Query{Text: "x"}},
		{"common word", history.Query{Text: "status"}},
		{"beginning of a common word", history.Query{Text: "stat"}},
		{"one old entry", history.Query{Text: "unicorn"}},
		{"nothing", history.Query{Text: "nothing-has-this"}},
		{"common words", history.Query{Text: "git status e t a"}},
		{"common and old", history.Query{Text: "g unicorn"}},
		{"filter", history.Query{Agent: "codex"}},
		{"filters", history.Query{Agent: "codex", Tool: "WebFetch", By: api.ByHuman, Outcome: api.Denied}},
		{"filter without a match", history.Query{Outcome: api.Dismissed}},
		{"filters without a match", history.Query{Agent: "codex", Project: "/home/me/src/project-1", Tool: "none"}},
		{"old session and a letter", history.Query{Session: "00000003-5b1c-4d2e-9f30-aabbccddeeff", Text: "g"}},
		{"a day long ago", history.Query{Since: start, Until: start.Add(24 * time.Hour)}},
		{"a day to come", history.Query{Since: end.Add(24 * time.Hour)}},
		{"a filter on a day long ago", history.Query{Tool: "Edit", Until: start.Add(24 * time.Hour), Text: "e"}},
		{"a page long ago", history.Query{Before: int64(*benchEntries / 10), Text: "git"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var page history.Page
			for b.Loop() {
				var err error
				page, err = j.Search(b.Context(), c.q)
				must(b, err)
			}
			b.ReportMetric(float64(len(page.Lines)), "lines")
		})
	}
}

// BenchmarkLike is what BenchmarkSearch would be without an index.
func BenchmarkLike(b *testing.B) {
	j := long(b, *benchEntries)
	conn, err := sqlite.OpenConn(j.Path(), sqlite.OpenReadOnly)
	must(b, err)
	defer conn.Close()
	for name, where := range map[string]string{
		"one letter":              `gist LIKE '%g%' OR body LIKE '%g%'`,
		"one old entry":           `gist LIKE '%unicorn%' OR body LIKE '%unicorn%'`,
		"filter":                  `agent = 'codex'`,
		"filter without a match":  `outcome = 'dismissed'`,
		"filters without a match": `agent = 'codex' AND tool = 'none'`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must(b, sqlitex.Execute(conn, "SELECT seq, gist FROM entries WHERE "+where+" ORDER BY seq DESC LIMIT 100",
					&sqlitex.ExecOptions{ResultFunc: func(*sqlite.Stmt) error { return nil }}))
			}
		})
	}
}

func BenchmarkFacets(b *testing.B) {
	j := long(b, *benchEntries)
	for b.Loop() {
		_, err := j.Facets(b.Context())
		must(b, err)
	}
}

func BenchmarkInsights(b *testing.B) {
	j := long(b, *benchEntries)
	for b.Loop() {
		_, err := j.Insights(b.Context(), time.Time{})
		must(b, err)
	}
}

func BenchmarkPast(b *testing.B) {
	j := long(b, *benchEntries)
	for b.Loop() {
		for _, err := range j.Past(b.Context()) {
			must(b, err)
		}
	}
}

// BenchmarkOpen is what the journal adds to the start of nod, to its first answer.
func BenchmarkOpen(b *testing.B) {
	path := long(b, *benchEntries).Path()
	for b.Loop() {
		j := open(b, path, keepAll)
		_, _, err := j.Restore(b.Context(), 1024)
		must(b, err)
		must(b, j.Close())
	}
}
