package journal

import (
	"context"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"zombiezen.com/go/sqlite"

	"nod/interact/history"
)

// Words are those that e can be found by, without their limits to the index.
func Words(e history.Entry) []string { return slices.Collect(maps.Keys(wordsOf(e))) }

// Split splits a text into words.
func Split(text string) iter.Seq[string] { return words(text) }

// Index brings the index up to date, and has it stay as it is then.
func (j *Journal) Index(ctx context.Context) error {
	j.index.stop()
	x := newIndexer(j.Reader, j.opts.Log)
	defer x.close()
	return x.follow(ctx)
}

// Indexed is the last entry that the index covers.
func (j *Journal) Indexed(tb testing.TB) int64 {
	tb.Helper()
	var at int64
	err := j.readIndexed(tb.Context(), func(_ *sqlite.Conn, last int64) error {
		at = last
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

// ErrClosed says that the journal is closed.
var ErrClosed = errClosed

// Path is where r's journal is.
func (r *Reader) Path() string { return r.path }

// HoldFile does what the keeper does while it has the file open, until end is called.
func (j *Journal) HoldFile() (end func()) {
	j.files.Lock()
	return j.files.Unlock
}

// What cannot be read because the file was damaged is an error, and leaves no transaction behind.
func TestADamagedFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nod.db")
	open := func() *sqlite.Conn {
		conn, err := sqlite.OpenConn(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	err := execute(open(), "PRAGMA journal_mode = wal; CREATE TABLE t (x); PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		t.Fatal(err)
	}
	conn := open()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data[100:] { // what follows the head, which tells that this is a database
		data[100+i] = 0xff
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	read := func() error { return execute(conn, "SELECT * FROM t") }
	for name, do := range map[string]func() error{
		"execute":  read,
		"transact": func() error { return transact(conn, begin, read) },
		"migrate":  func() error { return migrate(conn) },
	} {
		if err := do(); sqlite.ErrCode(err).ToPrimary() != sqlite.ResultCorrupt && name != "migrate" || err == nil {
			t.Errorf("%s: %v", name, err)
		}
		if !conn.AutocommitEnabled() {
			t.Errorf("%s leaves a transaction behind", name)
		}
	}
}
