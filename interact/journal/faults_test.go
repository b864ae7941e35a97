package journal_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/changes"
	"nod/interact/journal"
)

// filled is the path of a closed journal with so many entries.
func filled(tb testing.TB, entries int) string {
	tb.Helper()
	path := file(tb)
	j := healthy(tb, path)
	fill(tb, j, 0, entries)
	must(tb, j.Close())
	if _, err := os.Lstat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		tb.Errorf("the log is still there: %v", err)
	}
	return path
}

func fill(tb testing.TB, j *journal.Journal, from, to int) {
	tb.Helper()
	for n := from; n < to; n++ {
		must(tb, j.Settle(tb.Context(), settled(approval(n), api.Allowed)))
	}
}

// entries fails the test unless the journal has so many, in a chain that holds.
func entries(tb testing.TB, j *journal.Journal, want int64) {
	tb.Helper()
	head, err := j.Head(tb.Context())
	must(tb, err)
	if head.Seq != want {
		tb.Errorf("%d entries, want %d", head.Seq, want)
	}
	must(tb, j.Verify(tb.Context()))
}

// trouble fails the test unless the journal has this trouble. It returns the file that it is about.
func trouble(tb testing.TB, j *journal.Journal, want string) string {
	tb.Helper()
	var p *journal.ProblemError
	if err := j.Problem(); !errors.As(err, &p) || p.Trouble != want {
		tb.Fatalf("got %v, want %q", err, want)
	}
	if !strings.Contains(p.Error(), p.Path) {
		tb.Errorf("%q does not name the file", p)
	}
	return p.Path
}

// cut truncates the file while its log is empty: a checkpoint would write back the pages that a log holds.
func cut(t *testing.T, path string, size int64) {
	emptyLog(t, path)
	must(t, os.Truncate(path, size))
}

func emptyLog(t *testing.T, path string) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	must(t, err)
	for isBusy := true; isBusy; { // the keeper may be at it
		must(t, sqlitex.ExecuteTransient(conn, "PRAGMA wal_checkpoint(TRUNCATE)", &sqlitex.ExecOptions{
			ResultFunc: func(s *sqlite.Stmt) error {
				isBusy = s.ColumnBool(0)
				return nil
			},
		}))
	}
	must(t, conn.Close())
}

// overwrite writes noise into a file.
func overwrite(tb testing.TB, path string, offset, n int) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(tb, err)
	noise := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(noise)
	_, err = f.WriteAt(noise, int64(offset))
	must(tb, errors.Join(err, f.Close()))
}

func TestADamagedFileIsSetAside(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, string){
		"text": func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Repeat("nod ", 999)), 0o600))
		},
		"header":          func(t *testing.T, path string) { overwrite(t, path, 0, 64) },
		"tables":          func(t *testing.T, path string) { overwrite(t, path, 100, 3000) },
		"truncated":       func(t *testing.T, path string) { must(t, os.Truncate(path, 10_000)) },
		"newer version":   func(t *testing.T, path string) { tamper(t, path, "PRAGMA user_version = 99") },
		"table missing":   func(t *testing.T, path string) { tamper(t, path, "DROP TABLE anchor") },
		"hash too short":  func(t *testing.T, path string) { tamper(t, path, "UPDATE entries SET hash = x'00'") },
		"another program": func(t *testing.T, path string) { tamper(t, path, "PRAGMA application_id = 99") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t, 50)
			damage(t, path)
			before, err := os.Stat(path)
			must(t, err)
			j := open(t, path, journal.Options{})
			aside := trouble(t, j, journal.SetAside)
			if after, err := os.Stat(aside); err != nil || !os.SameFile(before, after) {
				t.Errorf("%s is not what was damaged: %v", aside, err)
			}
			fill(t, j, 0, 5)
			entries(t, j, 5)
			trouble(t, j, journal.SetAside) // it is said until nod starts again
			must(t, j.Close())
			entries(t, healthy(t, path), 5)
		})
	}
}

// A file that was cut short after nod was killed is set aside if its log does not hold the missing pages.
func TestACutFileWithALog(t *testing.T) {
	path := file(t)
	j := healthy(t, path)
	fill(t, j, 0, 50)
	emptyLog(t, path)
	fill(t, j, 50, 51)
	killed := path + ".killed"
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		must(t, err)
		must(t, os.WriteFile(killed+end, text, 0o600))
	}
	must(t, j.Close())
	info, err := os.Stat(killed)
	must(t, err)
	must(t, os.Truncate(killed, info.Size()-10*4096))
	trouble(t, open(t, killed, journal.Options{}), journal.SetAside)
}

func TestDamageThatIsFoundLater(t *testing.T) {
	path := filled(t, 500)
	info, err := os.Stat(path)
	must(t, err)
	// All but the beginning, which is read when it opens, and the last page.
	overwrite(t, path, 5*4096, int(info.Size())-5*4096)
	j := open(t, path, journal.Options{})
	fill(t, j, 1000, 1010)
	trouble(t, j, journal.SetAside)
	must(t, j.Verify(t.Context()))
}

func TestAFileThatBecomesShorter(t *testing.T) {
	path := filled(t, 50)
	j := healthy(t, path)
	fill(t, j, 50, 60)
	cut(t, path, 8192)
	fill(t, j, 60, 70)
	trouble(t, j, journal.SetAside)
	entries(t, j, 10)
}

func TestAFileThatIsReplaced(t *testing.T) {
	if onWindows {
		t.Skip("Windows replaces no file that is open")
	}
	path, other := filled(t, 5), filled(t, 20)
	j := healthy(t, path)
	fill(t, j, 5, 10)
	entries(t, j, 10)
	must(t, os.Rename(other, path))
	fill(t, j, 100, 103)
	trouble(t, j, journal.Gone)
	entries(t, j, 23)
}

// Who reads is not interrupted because another one finds another file in its place.
func TestAFileThatIsReplacedWhileItIsRead(t *testing.T) {
	const count = 200
	path, other := filled(t, count), filled(t, 1)
	r, err := journal.OpenReader(path)
	must(t, err)
	defer func() { must(t, r.Close()) }()
	read := 0
	for _, err := range r.Past(t.Context()) {
		must(t, err)
		if read == 0 {
			must(t, os.Rename(other, path))
			head, err := r.Head(t.Context())
			must(t, err)
			same(t, head.Seq, 1)
		}
		read++
	}
	same(t, read, count)
}

func TestAFileThatIsRemoved(t *testing.T) {
	if onWindows {
		t.Skip("Windows removes no file that is open")
	}
	path := filled(t, 5)
	j := healthy(t, path)
	entries(t, j, 5)
	must(t, os.Rename(filepath.Dir(path), filepath.Join(t.TempDir(), "gone"))) // at once: the index is being written there
	fill(t, j, 100, 103)
	trouble(t, j, journal.Gone)
	entries(t, j, 3)
}

// Who shows entries hears of those that are added, and of nothing else.
func TestAddedIsTold(t *testing.T) {
	added := changes.NewSignal()
	j := open(t, file(t), journal.Options{Added: added})
	must(t, j.Open(t.Context(), approval(1)))
	must(t, j.Settle(t.Context(), settled(approval(1), api.Allowed)))
	<-added
	must(t, j.Open(t.Context(), approval(2)))
	must(t, j.Close())
	if len(added) != 0 {
		t.Error("it is told of a request that waits")
	}
}

func TestALockedFile(t *testing.T) {
	path := filled(t, 5)
	changed := changes.NewSignal()
	j := open(t, path, journal.Options{Changed: changed})
	other, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	must(t, err)
	must(t, sqlitex.ExecuteTransient(other, "BEGIN EXCLUSIVE", nil))
	if err := j.Settle(t.Context(), settled(approval(5), api.Allowed)); err == nil {
		t.Error("it was written")
	}
	trouble(t, j, journal.Locked)
	<-changed
	must(t, other.Close())
	fill(t, j, 6, 7)
	<-changed
	must(t, j.Problem())
	entries(t, j, 6)
}

// The keeper may hold the file for as long as the disk takes: that is no other program, and nobody is asked instead.
func TestAFileThatTheKeeperHolds(t *testing.T) {
	path := filled(t, 5)
	j := healthy(t, path)
	keeper, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	must(t, err)
	end := j.HoldFile()
	must(t, sqlitex.ExecuteTransient(keeper, "BEGIN IMMEDIATE", nil))
	settles := make(chan error, 1)
	go func() { settles <- j.Settle(t.Context(), settled(approval(5), api.Allowed)) }()
	select {
	case err := <-settles:
		t.Errorf("it was settled, with %v", err)
	case <-time.After(time.Second): // this is what is tested: it is longer than nod waits for another program
	}
	must(t, keeper.Close())
	end()
	must(t, <-settles)
	must(t, j.Problem())
	entries(t, j, 6)
}

func TestAFileThatIsLockedAtTheStart(t *testing.T) {
	path := filled(t, 5)
	other, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	must(t, err)
	must(t, sqlitex.ExecuteTransient(other, "PRAGMA locking_mode = exclusive", nil))
	must(t, sqlitex.ExecuteTransient(other, "BEGIN EXCLUSIVE", nil))
	synctest.Test(t, func(t *testing.T) {
		j := open(t, path, journal.Options{})
		trouble(t, j, journal.Locked)
		if err := j.Settle(t.Context(), settled(approval(5), api.Allowed)); err == nil {
			t.Error("it was written")
		}
		must(t, other.Close())
		awaitHealth(t, j)
		entries(t, j, 5)
	})
}

func TestAPlaceThatCannotBe(t *testing.T) {
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	j := open(t, filepath.Join(folder, "file", "nod.db"), journal.Options{})
	trouble(t, j, "unwritable")
	if err := j.Settle(t.Context(), settled(approval(1), api.Allowed)); err == nil {
		t.Error("it was written")
	}
	if _, err := j.Head(t.Context()); err == nil {
		t.Error("it was read")
	}
}
