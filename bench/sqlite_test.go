package bench

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// What both run: the settings, the tables and the transaction of nod/interact/journal for a call that passes unasked.
var sqlSetup = []string{
	"PRAGMA journal_mode = wal", "PRAGMA synchronous = normal", "PRAGMA wal_autocheckpoint = 0",
	"PRAGMA cache_size = -512",
	"CREATE TABLE pending (id TEXT PRIMARY KEY, record BLOB) STRICT, WITHOUT ROWID",
	`CREATE TABLE entries (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created INTEGER, settled INTEGER, gist TEXT,
		hash BLOB, head BLOB, body BLOB) STRICT`,
}

const (
	sqlDelete = "DELETE FROM pending WHERE id = ?"
	sqlInsert = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
)

// sqlEntry is the n-th entry, of the size of a usual one.
type sqlEntry struct {
	seq              int64
	id, gist         string
	at               int64
	hash, head, body []byte
}

func newSQLEntry(n int) sqlEntry {
	hash := sha256.Sum256([]byte{byte(n)})
	return sqlEntry{
		seq: int64(n), id: fmt.Sprintf("0190a5b2-0000-7000-8000-%012d", n), gist: "make test", at: int64(n),
		hash: hash[:], head: make([]byte, 900), body: make([]byte, 300),
	}
}

// databaseSQL returns what writes an entry with modernc.org/sqlite through database/sql.
func databaseSQL(tb testing.TB) func(sqlEntry) error {
	tb.Helper()
	db, err := sql.Open("sqlite", filepath.Join(tb.TempDir(), "nod.db")+"?_txlock=immediate")
	check(tb, err)
	tb.Cleanup(func() { check(tb, db.Close()) })
	db.SetMaxOpenConns(1)
	for _, s := range sqlSetup {
		_, err := db.Exec(s)
		check(tb, err)
	}
	remove, err := db.Prepare(sqlDelete)
	check(tb, err)
	insert, err := db.Prepare(sqlInsert)
	check(tb, err)
	return func(e sqlEntry) error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.Stmt(remove).Exec(e.id); err != nil {
			return err
		}
		if _, err := tx.Stmt(insert).Exec(e.seq, e.id, e.at, e.at, e.gist, e.hash, e.head, e.body); err != nil {
			return err
		}
		return tx.Commit()
	}
}

// zombiezen returns what writes an entry with zombiezen.com/go/sqlite.
func zombiezen(tb testing.TB) func(sqlEntry) error {
	tb.Helper()
	conn, err := sqlite.OpenConn(filepath.Join(tb.TempDir(), "nod.db"))
	check(tb, err)
	tb.Cleanup(func() { check(tb, conn.Close()) })
	for _, s := range sqlSetup {
		check(tb, sqlitex.ExecuteTransient(conn, s, nil))
	}
	exec := func(query string, bind func(*sqlite.Stmt)) error {
		s, err := conn.Prepare(query)
		if err != nil {
			return err
		}
		bind(s)
		if _, err := s.Step(); err != nil {
			return err
		}
		return s.Reset()
	}
	nothing := func(*sqlite.Stmt) {}
	return func(e sqlEntry) error {
		if err := exec("BEGIN IMMEDIATE", nothing); err != nil {
			return err
		}
		if err := exec(sqlDelete, func(s *sqlite.Stmt) { s.BindText(1, e.id) }); err != nil {
			return err
		}
		err := exec(sqlInsert, func(s *sqlite.Stmt) {
			s.BindInt64(1, e.seq)
			s.BindText(2, e.id)
			s.BindInt64(3, e.at)
			s.BindInt64(4, e.at)
			s.BindText(5, e.gist)
			s.BindBytes(6, e.hash)
			s.BindBytes(7, e.head)
			s.BindBytes(8, e.body)
		})
		if err != nil {
			return err
		}
		return exec("COMMIT", nothing)
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkSQLite says how much longer database/sql takes for the journal's transaction than what nod uses.
func BenchmarkSQLite(b *testing.B) {
	write := map[string]func(sqlEntry) error{"database/sql": databaseSQL(b), "zombiezen": zombiezen(b)}
	took := map[string]time.Duration{}
	n := 0
	for b.Loop() {
		n++
		e := newSQLEntry(n)
		for name, write := range write {
			start := time.Now()
			check(b, write(e))
			took[name] += time.Since(start)
		}
	}
	for name, d := range took {
		b.ReportMetric(float64(d.Microseconds())/float64(n), name+"-µs")
	}
	b.ReportMetric(float64(took["database/sql"])/float64(took["zombiezen"]), "ratio")
}
