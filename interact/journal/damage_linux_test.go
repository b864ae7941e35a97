package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/interact/journal"
)

// A harm is done to a journal's file, or to what is beside it.
type harm struct {
	do       func(t *testing.T, path string)
	loses    bool // what waits cannot be read from the file any more
	isLater  bool // it is noticed at the next start
	isGone   bool // the file is not set aside, because it is no longer there
	isHealed bool // … or because it is as good as before
}

// tamperAsIs is [tamper] for a file that may be in use.
func tamperAsIs(script string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
		must(t, err)
		conn.SetBusyTimeout(10 * time.Second)
		must(t, errors.Join(sqlitex.ExecScript(conn, script), conn.Close()))
	}
}

// instead replaces the file with that ending in one step: SQLite finds either the old or the new one.
func instead(end string, put func(path string) error) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		must(t, put(path+".new"))
		err := unix.Renameat2(unix.AT_FDCWD, path+".new", unix.AT_FDCWD, path+end, unix.RENAME_EXCHANGE)
		if os.IsNotExist(err) { // one of the two
			must(t, os.RemoveAll(path+end))
			err = ignoreMissing(os.Rename(path+".new", path+end))
		}
		must(t, errors.Join(err, os.RemoveAll(path+".new")))
	}
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func mkfifo(path string) error  { return syscall.Mkfifo(path, 0o600) }
func mkdir(path string) error   { return os.MkdirAll(filepath.Join(path, "full"), 0o700) }
func symlink(path string) error { return os.Symlink("/dev/zero", path) }
func garbage(path string) error {
	return os.WriteFile(path, []byte(strings.Repeat("no base ", 999)), 0o600)
}
func nothing(string) error { return nil }

var harms = map[string]harm{
	"pipe":               {do: instead("", mkfifo), loses: true},
	"folder":             {do: instead("", mkdir), loses: true},
	"link":               {do: instead("", symlink), loses: true},
	"garbage":            {do: instead("", garbage), loses: true},
	"removed":            {do: instead("", nothing), loses: true, isGone: true},
	"shorter":            {do: func(t *testing.T, path string) { cut(t, path, 100) }, loses: true},
	"entries dropped":    {do: tamperAsIs("DROP TABLE entries")},
	"anchor dropped":     {do: tamperAsIs("DROP TABLE anchor"), isLater: true},
	"pending dropped":    {do: tamperAsIs("DROP TABLE pending"), loses: true},
	"column dropped":     {do: tamperAsIs("ALTER TABLE entries DROP COLUMN device")},
	"column added":       {do: tamperAsIs("ALTER TABLE entries ADD COLUMN x TEXT")},
	"draft dropped":      {do: tamperAsIs("ALTER TABLE pending DROP COLUMN draft"), loses: true, isLater: true},
	"another's":          {do: tamperAsIs("PRAGMA application_id = 99"), isLater: true},
	"log a pipe":         {do: instead("-wal", mkfifo), isHealed: true},
	"log a folder":       {do: instead("-wal", mkdir), isHealed: true},
	"log removed":        {do: instead("-wal", nothing), isHealed: true},
	"log garbage":        {do: instead("-wal", garbage), isHealed: true},
	"index of it a pipe": {do: instead("-shm", mkfifo), isHealed: true},
	"index of it gone":   {do: instead("-shm", nothing), isHealed: true},
	"search a pipe":      {do: instead("-index", mkfifo), isHealed: true},
	"search garbage":     {do: instead("-index", garbage), isHealed: true},
}

// patient fails the test when f takes longer than any disk does: it hangs.
func patient(t *testing.T, what string, f func(context.Context)) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(t.Context())
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s hangs", what)
	}
}

// Whatever becomes of the file between nod's runs: nod starts, says what is wrong, and takes up what waits, as far as
// it can be read.
func TestHarmAtTheStart(t *testing.T) {
	for name, h := range harms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t)
			j := healthy(t, path)
			must(t, j.Settle(t.Context(), settled(approval(0), api.Denied)))
			must(t, j.Open(t.Context(), approval(1)))
			must(t, j.SaveDraft(t.Context(), approval(1).Request.ID, []byte("typed")))
			must(t, j.Close())
			h.do(t, path)
			patient(t, "the start", func(ctx context.Context) {
				j = open(t, path, journal.Options{})
				waits, _, err := j.Restore(ctx, 10)
				if err != nil {
					t.Errorf("restore: %v", err)
				}
				if found := len(waits) == 1 && string(waits[0].Draft) == "typed"; found == h.loses {
					t.Errorf("restored: %+v", waits)
				}
				wantRecorded(t, j)
			})
			if !h.isGone && !h.isHealed {
				trouble(t, j, journal.SetAside)
			}
		})
	}
}

// Whatever becomes of the file while nod runs: nod goes on in another file, or the same, says what is wrong, and loses
// nothing of what waits. It is answered and recorded, and known after a restart.
func TestHarmWhileRunning(t *testing.T) {
	for name, h := range harms {
		if h.isLater {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t)
			j := healthy(t, path)
			must(t, j.Settle(t.Context(), settled(approval(0), api.Denied)))
			for n := 1; n < 4; n++ {
				must(t, j.Open(t.Context(), approval(n)))
			}
			must(t, j.SaveDraft(t.Context(), approval(1).Request.ID, []byte("typed")))
			h.do(t, path)
			patient(t, "nod", func(ctx context.Context) {
				must(t, j.Settle(ctx, settled(approval(2), api.Answered)))
				must(t, j.SaveDraft(ctx, approval(3).Request.ID, []byte("more")))
				must(t, j.Update(ctx, approval(3)))
				wantRecorded(t, j)
			})
			if !h.isHealed {
				want := journal.SetAside
				if p := (*journal.ProblemError)(nil); errors.As(j.Problem(), &p) && p.Trouble == journal.Gone {
					want = journal.Gone
				}
				trouble(t, j, want)
			}
			patient(t, "the end", func(context.Context) { must(t, j.Close()) })
			again := healthy(t, path)
			waits, last := restored(t, again, 10)
			same(t, waits, append(ids(1, 2), ids(3, 4)...))
			if len(last) < 2 || last[len(last)-2] != approval(2).Request.ID {
				t.Errorf("answers: %v", last)
			}
			all, _, err := again.Restore(t.Context(), 10)
			must(t, err)
			if string(all[0].Draft) != "typed" || string(all[1].Draft) != "more" {
				t.Errorf("drafts %q, %q", all[0].Draft, all[1].Draft)
			}
		})
	}
}

// wantRecorded records one more request, and finds it.
func wantRecorded(t *testing.T, j *journal.Journal) {
	t.Helper()
	must(t, j.Open(t.Context(), approval(50)))
	must(t, j.Settle(t.Context(), settled(approval(50), api.Allowed)))
	if err := j.Verify(t.Context()); err != nil {
		t.Errorf("the chain: %v", err)
	}
	_, last := restored(t, j, 1)
	same(t, last, ids(50, 51))
}
