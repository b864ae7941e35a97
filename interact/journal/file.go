package journal

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
	"zombiezen.com/go/sqlite/sqlitex"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schema has what changes a file of each version into one of the next.
var schema = func() sqlitemigration.Schema {
	s := sqlitemigration.Schema{AppID: 0x6e6f6400} // "nod"
	for {
		text, err := migrations.ReadFile(fmt.Sprintf("migrations/%d.sql", len(s.Migrations)+1))
		if err != nil {
			return s
		}
		s.Migrations = append(s.Migrations, string(text))
	}
}()

// pragmas set up a connection that writes. Pages that are deleted are overwritten with zeros; checkpoints are left to
// the keeper.
var pragmas = []string{
	"PRAGMA auto_vacuum = incremental", "PRAGMA journal_mode = wal", "PRAGMA synchronous = normal",
	"PRAGMA wal_autocheckpoint = 0", "PRAGMA journal_size_limit = 1048576", "PRAGMA secure_delete = on",
	"PRAGMA cache_size = -1024", "PRAGMA cell_size_check = on", "PRAGMA trusted_schema = off",
}

// file is a database that is open to write.
type file struct {
	path string
	conn *sqlite.Conn
	info fs.FileInfo // of the file as it was opened
	log  fs.FileInfo // of its write-ahead log; nil: there was none
	seq  int64       // of the last entry
	hash digest      // … and its hash
}

// openFile opens the database at path, makes it when there is none, and brings it up to date.
func openFile(path string) (_ *file, err error) {
	f := &file{path: path}
	if f.info, err = create(path); err != nil {
		return nil, err
	}
	if f.conn, err = sqlite.OpenConn(path, sqlite.OpenReadWrite); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.conn.Close())
		}
	}()
	f.conn.SetBusyTimeout(busyTime)
	if err := f.prepare(); err != nil {
		return nil, err
	}
	f.log, _ = os.Stat(path + "-wal")
	if f.seq, f.hash, err = readHead(f.conn); err != nil {
		return nil, err
	}
	return f, nil
}

// create makes the file, for its owner only, when there is none. SQLite gives the files beside it the same mode. It
// must not be called while the file is open: to close a file ends SQLite's locks on it.
func create(path string) (fs.FileInfo, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	empty, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = empty.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("this is not a plain file: move it away")
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, err
		}
	}
	return info, nil
}

// prepare sets up the connection and migrates the database.
func (f *file) prepare() error {
	for _, pragma := range pragmas {
		if err := sqlitex.ExecuteTransient(f.conn, pragma, nil); err != nil {
			return fmt.Errorf("%s: %w", pragma, err)
		}
	}
	if err := recognize(f.conn); err != nil {
		return err
	}
	return sqlitemigration.Migrate(context.Background(), f.conn, schema)
}

// recognize returns an [errForeign] for a database that this version of nod does not know.
func recognize(conn *sqlite.Conn) error {
	version, err := sqlitex.ResultInt(conn.Prep("PRAGMA user_version"))
	if err != nil {
		return err
	}
	app, err := sqlitex.ResultInt(conn.Prep("PRAGMA application_id"))
	if err != nil {
		return err
	}
	tables, err := sqlitex.ResultInt(conn.Prep("SELECT count(*) FROM sqlite_schema"))
	if err != nil {
		return err
	}
	if version > len(schema.Migrations) || tables > 0 && int32(app) != schema.AppID {
		return errForeign
	}
	return nil
}

// errForeign says that a file is another program's or a newer nod's.
var errForeign = errors.New("a newer nod or another program has written it")

// isDamage reports whether a file is of no use.
func isDamage(err error) bool {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return true
	}
	return errors.Is(err, errForeign) || errors.Is(err, errTruncated)
}
