package journal

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/ownfile"
)

//go:embed migrations/*.sql
var migrations embed.FS

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

// pragmas set up a connection that writes. The keeper makes the checkpoints.
var pragmas = []string{
	"auto_vacuum = incremental", "journal_mode = wal", "synchronous = normal", "wal_autocheckpoint = 0",
	"journal_size_limit = 1048576", "secure_delete = on", "cache_size = -512", "cell_size_check = on",
	"trusted_schema = off",
}

func setUp(conn *sqlite.Conn, pragmas ...string) error {
	for _, pragma := range pragmas {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA "+pragma, nil); err != nil {
			return fmt.Errorf("PRAGMA %s: %w", pragma, err)
		}
	}
	return nil
}

type file struct {
	path string
	conn *sqlite.Conn
	info fs.FileInfo // of the file as it was opened
	log  fs.FileInfo // of its write-ahead log; nil: there was none
	shm  fs.FileInfo // of the index of that; nil: there was none
	seq  int64       // of the last entry
	hash digest      // … and its hash
	size int64       // its least size in bytes; 0: unknown
}

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
	err = f.prepare()
	if err == nil {
		f.seq, f.hash, err = readHead(f.conn)
	}
	if sqlite.ErrCode(err) == sqlite.ResultError { // a table is missing, or what is in it is none of nod's
		return nil, fmt.Errorf("%w: %w", errForeign, err)
	}
	if err == nil {
		err = f.checkLength()
	}
	if err == nil {
		if f.size, err = checkpoint(f.conn); !isDamage(err) {
			err = nil // a full disk can still be read; the first write says what is wrong
		}
	}
	f.log, f.shm = f.beside() // there is none when another process has just emptied it
	return f, err
}

// checkLength fails if the file lacks more pages than its write-ahead log can hold: a checkpoint would fill the gap
// with zeros.
func (f *file) checkLength() error {
	// SQLite never writes the page at 1 GiB.
	least, err := number(f.conn, "SELECT (page_count - 1) * page_size FROM pragma_page_count, pragma_page_size")
	if err != nil {
		return err
	}
	if log, _ := f.beside(); log != nil { // read before the file: the keeper may be moving pages to it
		least -= log.Size()
	}
	if info, err := os.Lstat(f.path); err == nil && info.Size() < least {
		return errTruncated
	}
	return nil
}

func (f *file) beside() (log, shm fs.FileInfo) {
	log, _ = os.Lstat(f.path + "-wal")
	shm, _ = os.Lstat(f.path + "-shm")
	return log, shm
}

// hasLostLog reports whether another program removed or replaced those files, so that writes would be lost.
func (f *file) hasLostLog() bool {
	log, shm := f.beside()
	isOther := func(was, is fs.FileInfo) bool {
		return is != nil && !is.Mode().IsRegular() || was != nil && (is == nil || !os.SameFile(was, is))
	}
	if isOther(f.log, log) || isOther(f.shm, shm) {
		return true
	}
	f.log, f.shm = log, shm
	return false
}

// checkPlain returns an error unless the database's files are plain or missing: opening a pipe would block.
func checkPlain(path string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if info, err := os.Lstat(path + end); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s: %w", filepath.Base(path+end), errNotPlain)
		}
	}
	return nil
}

var errNotPlain = errors.New("this is not a plain file")

// create creates the file for its owner only, unless it exists. SQLite gives the files next to it the same mode. It
// must not be called while the file is open: closing a file ends SQLite's locks.
func create(path string) (fs.FileInfo, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := checkPlain(path); err != nil {
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
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, err
		}
	}
	return info, nil
}

// prepare sets up the connection and migrates the database. It does not change one that is not nod's.
func (f *file) prepare() error {
	if err := recognize(f.conn); err != nil {
		return err
	}
	if err := setUp(f.conn, pragmas...); err != nil {
		return err
	}
	if err := migrate(f.conn); err != nil {
		return err
	}
	for _, table := range []string{
		"id, record, draft FROM pending", columns + ", hash, head, body FROM entries", "seq, hash, bodies FROM anchor",
	} {
		if err := query(f.conn, "SELECT "+table+" LIMIT 0", nil); err != nil {
			return err
		}
	}
	return nil
}

// migrate creates the tables, or brings them up to date. The library panics where a damaged file fails a ROLLBACK.
func migrate(conn *sqlite.Conn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bring the tables up to date: %v", p)
		}
	}()
	return sqlitemigration.Migrate(context.Background(), conn, schema)
}

// recognize fails with [errForeign] for a database that this version does not know.
func recognize(conn *sqlite.Conn) error {
	return query(conn, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`, func(s *sqlite.Stmt) error {
		isEmpty := s.ColumnInt(2) == 0
		if s.ColumnInt(0) > len(schema.Migrations) || !isEmpty && s.ColumnInt32(1) != schema.AppID {
			return errForeign
		}
		return nil
	})
}

var errForeign = errors.New("a newer nod or another program wrote it")

func isDamage(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultCorrupt || code == sqlite.ResultNotADB ||
		errors.Is(err, errForeign) || errors.Is(err, errNotPlain) || errors.Is(err, errTruncated)
}

var errTruncated = errors.New("it became shorter")

func (w *writer) open() error {
	w.clear()
	f, err := openFile(w.j.path)
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultReadOnly {
		// Another file took its place while it was being opened, or the disk was read-only until now: SQLite's
		// connections to a file share a log that they may not write, until the last of them is closed.
		w.j.files.Lock()
		w.withoutReaders(func() { f, err = openFile(w.j.path) })
		w.j.files.Unlock()
	}
	if isDamage(err) || w.hasFailedForLong(err) {
		if err = w.setAside(err); err == nil {
			f, err = openFile(w.j.path)
		}
	}
	if err != nil {
		w.tried, w.reason = time.Now(), err
		return err
	}
	w.file = f
	// The old file may also have been moved away between two looks at its path.
	if own := w.j.own.Swap(&f.info); own != nil && !os.SameFile(*own, f.info) {
		w.reportGone()
	}
	w.j.size.Store(f.size)
	w.j.log("carry over what waits", w.carryOver())
	return nil
}

// clear moves away whatever has replaced SQLite's files. The database itself is good, as of the last checkpoint.
func (w *writer) clear() {
	for _, end := range []string{"-wal", "-shm"} {
		if info, err := os.Lstat(w.j.path + end); err == nil && !info.Mode().IsRegular() {
			w.j.log("move away "+filepath.Base(w.j.path)+end, os.Rename(w.j.path+end, ownfile.Aside(w.j.path)+end))
		}
	}
}

func (w *writer) close() {
	if w.file == nil {
		return
	}
	if err := w.file.conn.Close(); err != nil {
		w.j.opts.Log.Error("journal: close", "err", err)
	}
	w.file = nil
}

// ready opens the file unless it is open and still the one at its path.
func (w *writer) ready() error {
	if w.file == nil {
		if time.Since(w.tried) < reopenTime {
			return w.reason
		}
		return w.open()
	}
	least := w.j.size.Load() // before the file is looked at: the keeper may make it longer meanwhile
	info, err := os.Lstat(w.j.path)
	switch {
	case err == nil && os.SameFile(info, w.file.info):
		if info.Size() < least {
			return w.replace(errTruncated)
		}
		if w.file.hasLostLog() {
			return w.reopen()
		}
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	w.leave()
	return w.open()
}

// reopen opens the file again, which may fix errors. It saves what it can from a log that is no longer at its path.
func (w *writer) reopen() error {
	if info, err := os.Lstat(w.j.path); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, w.file.info) {
		w.leave() // or the file that came would take in the log of the one that is gone
		return w.open()
	}
	w.j.files.Lock()
	w.withoutReaders(func() {
		_ = sqlitex.ExecuteTransient(w.file.conn, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
		w.close()
	})
	w.j.files.Unlock()
	return w.open()
}

// leave gives up a file that is no longer at its path.
func (w *writer) leave() {
	w.j.files.Lock()
	defer w.j.files.Unlock()
	old := w.file
	w.withoutReaders(func() { // who read the file that came would keep the log of the one that is gone in use
		w.close()
		if info, err := os.Stat(w.j.path + "-wal"); err == nil && old.log != nil && os.SameFile(info, old.log) {
			// The log belongs to the old file: SQLite would apply it to the new one.
			os.Remove(w.j.path + "-wal")
			os.Remove(w.j.path + "-shm")
		}
	})
	w.reportGone()
}

func (w *writer) reportGone() {
	w.j.report(func(p *problems) { p.file = &ProblemError{Trouble: Gone, Path: w.j.path} })
}

func (w *writer) withoutReaders(f func()) {
	if err := w.j.Reader.reset(f); err != nil {
		w.j.opts.Log.Error("journal: close the readers", "err", err)
	}
}

func (w *writer) replace(damage error) error {
	w.close()
	if err := w.setAside(damage); err != nil {
		w.tried, w.reason = time.Now(), err
		return err
	}
	return w.open()
}

func moveAside(path, aside string) error {
	os.Remove(path + "-shm")                           // unless it is a folder
	for _, end := range []string{"-wal", "-shm", ""} { // the log first: without it the file is a whole one of earlier
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *writer) setAside(damage error) error {
	w.j.files.Lock()
	defer w.j.files.Unlock()
	aside := ownfile.Aside(w.j.path)
	var err error
	w.withoutReaders(func() { err = moveAside(w.j.path, aside) })
	if err != nil {
		return fmt.Errorf("%w: move it aside: %w", damage, err)
	}
	w.salvage(aside)
	w.j.own.Store(nil)
	w.j.report(func(p *problems) { p.file = &ProblemError{Trouble: SetAside, Path: aside, Err: damage} })
	return nil
}
