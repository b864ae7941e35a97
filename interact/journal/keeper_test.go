package journal_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
	"nod/policy/config"
)

// keeping is a configuration that keeps so much, and can be changed.
func keeping(c *config.History) journal.Options {
	return journal.Options{Config: func() config.History { return *c }}
}

// big is an entry with much in it, settled at a time.
func big(n int, at time.Time) interact.Record {
	r := settled(approval(n), api.Allowed)
	r.Answer.At = at
	r.Answer.Shown.Diff = strings.Repeat("+ a line that is long enough to count\n", 500)
	return r
}

func size(tb testing.TB, path string) int64 {
	tb.Helper()
	info, err := os.Stat(path)
	must(tb, err)
	return info.Size()
}

func TestOldEntriesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		c := config.History{Keep: 10 * day, MaxSize: 1000, KeepInputs: true}
		path := file(t)
		j := open(t, path, keeping(&c))
		for n := range 150 {
			must(t, j.Settle(t.Context(), big(n, time.Now())))
		}
		time.Sleep(5 * day)
		for n := range 30 {
			must(t, j.Settle(t.Context(), big(1000+n, time.Now())))
		}
		full := size(t, path)
		_, last, err := j.Restore(t.Context(), 1000)
		must(t, err)
		if len(last) != 180 {
			t.Errorf("%d entries are there, want 180", len(last))
		}
		time.Sleep(6 * day)
		_, last, err = j.Restore(t.Context(), 1000)
		must(t, err)
		if len(last) != 30 {
			t.Errorf("%d entries are left, want 30", len(last))
		}
		if left := size(t, path); left > full/3 {
			t.Errorf("the file has %d bytes, and had %d", left, full)
		}
		entries(t, j, 180)
		time.Sleep(20 * day)
		entries(t, j, 180) // none is left, and the chain goes on
		must(t, j.Settle(t.Context(), big(5000, time.Now())))
		entries(t, j, 181)
		if err := j.Problem(); err != nil {
			t.Error(err)
		}
	})
}

// A clock that is set far ahead while nod does not run, as by an empty battery, costs nothing of the history.
func TestAClockSetAheadKeepsTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := file(t)
		j := healthy(t, path)
		for n := range 50 {
			must(t, j.Settle(t.Context(), big(n, time.Now())))
		}
		must(t, j.Close())
		time.Sleep(5 * 365 * 24 * time.Hour) // to nod, which does not run, it is the same
		j = healthy(t, path)
		time.Sleep(2 * time.Hour)
		_, last, err := j.Restore(t.Context(), 100)
		must(t, err)
		if len(last) != 50 {
			t.Errorf("%d entries are left, want 50", len(last))
		}
	})
}

func TestTooMuchGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config.History{Keep: 1000 * time.Hour, MaxSize: 1, KeepInputs: true}
		path := file(t)
		j := open(t, path, keeping(&c))
		const all = 100
		for n := range all {
			must(t, j.Settle(t.Context(), big(n, time.Now())))
		}
		time.Sleep(2 * time.Hour)
		if left := size(t, path); left > 1_600_000 {
			t.Errorf("the file has %d bytes", left)
		}
		entries(t, j, all)
		_, last, err := j.Restore(t.Context(), all)
		must(t, err)
		if len(last) != all {
			t.Errorf("%d entries are left: want all, without bodies", len(last))
		}
		oldest, newest := last[0].Answer.Shown, last[all-1].Answer.Shown
		if oldest.Diff != "" || newest.Diff == "" {
			t.Error("the oldest has its body, or the newest has not")
		}
		entry, err := j.Entry(t.Context(), 1)
		must(t, err)
		if entry.Withheld != history.Expired {
			t.Errorf("withheld: %q", entry.Withheld)
		}
		for n := range 2_500 {
			r := settled(approval(all+n), api.Allowed)
			r.Answer.At = time.Now()
			must(t, j.Settle(t.Context(), r))
		}
		time.Sleep(2 * time.Hour)
		if left := size(t, path); left > 1_600_000 {
			t.Errorf("the file has %d bytes", left)
		}
		entries(t, j, all+2_500)
	})
}

func TestInputsThatAreNotKept(t *testing.T) {
	c := config.History{Keep: 1000 * time.Hour, MaxSize: 1000}
	path := file(t)
	j := open(t, path, keeping(&c))
	must(t, j.Open(t.Context(), approval(1)))
	must(t, j.Settle(t.Context(), settled(approval(1), api.Allowed)))
	entries(t, j, 1)
	must(t, j.Close())
	for _, name := range []string{path, path + "-wal", path + "-index"} {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("make target")) || bytes.Contains(text, []byte("bWFrZS")) {
			t.Errorf("%s has the input", name)
		}
	}
}

// What waited has its exact input, and so its secrets; once it has its outcome nothing is left of them.
func TestWhatWaitedIsOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := file(t)
		j := healthy(t, path)
		r := approval(1)
		r.Request.Body = api.Ask{Question: "may I use this-is-what-I-typed?"}
		must(t, j.Open(t.Context(), r))
		must(t, j.SaveDraft(t.Context(), r.Request.ID, []byte("this-is-what-I-typed")))
		time.Sleep(time.Minute)
		if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte("this-is-what-I-typed")) {
			t.Errorf("it has not come to the disk: %v", err)
		}
		r.Request.Body = api.Ask{Question: "may I?"}
		must(t, j.Settle(t.Context(), settled(r, api.Answered)))
		time.Sleep(time.Minute)
		for _, name := range []string{path, path + "-wal"} {
			if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte("this-is-what-I-typed")) {
				t.Errorf("%s has it still: %v", name, err)
			}
		}
	})
}

// While somebody reads what was before, the file cannot become shorter at once. When it does nobody has cut it off.
func TestAFileThatNodShortensLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config.History{Keep: 24 * time.Hour, MaxSize: 1000, KeepInputs: true}
		path := file(t)
		j := open(t, path, keeping(&c))
		for n := range 300 {
			must(t, j.Settle(t.Context(), big(n, time.Now())))
		}
		time.Sleep(time.Minute)
		full := size(t, path)
		reader, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
		must(t, err)
		must(t, sqlitex.ExecuteTransient(reader, "BEGIN", nil))
		must(t, sqlitex.ExecuteTransient(reader, "SELECT count(*) FROM entries", nil))
		time.Sleep(25 * time.Hour)
		fill(t, j, 1000, 1001)
		if size(t, path) < full {
			t.Error("it is shorter already: this tests nothing")
		}
		must(t, reader.Close())
		time.Sleep(time.Minute)
		fill(t, j, 1001, 1002)
		time.Sleep(time.Minute)
		fill(t, j, 1002, 1003)
		if size(t, path) >= full {
			t.Error("it is not shorter")
		}
		if err := j.Problem(); err != nil {
			t.Error(err)
		}
		entries(t, j, 303)
	})
}
