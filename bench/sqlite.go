//go:build linux

package main

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/bench/report"
	"nod/bench/sample"
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

// drivers measures the journal's transaction with the driver that nod uses and with database/sql.
func (b *bench) drivers(dir string) (f report.Figure, err error) {
	conn, err := sqlite.OpenConn(filepath.Join(dir, "zombiezen.db"))
	if err != nil {
		return f, err
	}
	defer conn.Close()
	db, err := sql.Open("sqlite", filepath.Join(dir, "modernc.db")+"?_txlock=immediate")
	if err != nil {
		return f, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range sqlSetup {
		if err := sqlitex.ExecuteTransient(conn, s, nil); err != nil {
			return f, err
		}
		if _, err := db.Exec(s); err != nil {
			return f, err
		}
	}
	usual, err := databaseSQL(db)
	if err != nil {
		return f, err
	}
	return compare("the journal's transaction", b.times(1000),
		sample.Once("nod's driver (zombiezen.com/go/sqlite)", entries(func(e sqlEntry) error { return zombiezen(conn, e) })),
		sample.Once("database/sql with modernc.org/sqlite", entries(usual)))
}

// entries returns what writes the next entry at each call.
func entries(write func(sqlEntry) error) func() error {
	n := 0
	return func() error {
		n++
		return write(newSQLEntry(n))
	}
}

// databaseSQL returns what writes an entry through database/sql.
func databaseSQL(db *sql.DB) (func(sqlEntry) error, error) {
	remove, err := db.Prepare(sqlDelete)
	if err != nil {
		return nil, err
	}
	insert, err := db.Prepare(sqlInsert)
	if err != nil {
		return nil, err
	}
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
	}, nil
}

// zombiezen writes an entry as nod does.
func zombiezen(conn *sqlite.Conn, e sqlEntry) error {
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
