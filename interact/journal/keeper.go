package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Intervals and sizes of the keeper's work.
const (
	syncDelay  = 2 * time.Second  // from a write to the sync
	probeDelay = 10 * time.Second // from a failed write to the next attempt
	trimDelay  = time.Hour        // between two checks of age and size
	trimStep   = 32               // entries per step: callers write in between
	pageStep   = 256              // pages per step to return to the file system
)

func (j *Journal) keep() {
	var sync, probe <-chan time.Time
	trim := time.After(0)
	wrote := j.wrote // nil until the sync is due: writes are too many to be woken for each
	for {
		select {
		case <-wrote:
			wrote = nil
			sync = time.After(syncDelay)
			if !j.isHealthy() {
				probe = time.After(probeDelay)
			}
		case <-sync:
			wrote = j.wrote
			j.log("checkpoint", j.checkpoint())
		case <-probe:
			j.log("try again", j.write(context.Background(), func(w *writer) error {
				return w.exec("UPDATE anchor SET seq = seq") // writes a transaction that changes nothing
			}))
		case <-trim:
			j.log("delete what is old", j.trim())
			trim = time.After(trimDelay)
		case <-j.closing.Done():
			return
		}
	}
}

func (j *Journal) log(what string, err error) {
	if err != nil && !errors.Is(err, errClosed) {
		j.opts.Log.Warn("journal: "+what, "err", err)
	}
}

// checkpoint syncs the file and empties the write-ahead log, which would otherwise keep deleted data. Writers need not
// wait for it.
func (j *Journal) checkpoint() (err error) {
	j.files.Lock()
	defer j.files.Unlock()
	own := j.own.Load()
	if own == nil {
		return nil
	}
	if err := checkPlain(j.path); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(j.path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	least := j.size.Load()
	info, err := os.Lstat(j.path)
	if err != nil || !os.SameFile(info, *own) {
		return err // the log of another file must not get into this one
	}
	if info.Size() < least {
		return errTruncated // what the log holds would hide it from the writer
	}
	conn.SetBusyTimeout(0)
	size, err := checkpoint(conn)
	switch {
	case size > 0:
		j.size.Store(size)
	case err == nil: // a reader keeps pages in the log
		err = syncFile(j.path + "-wal")
	}
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkpoint moves the write-ahead log into the file and returns the file's least size from now on, in bytes. It
// returns 0 if a reader or another checkpoint prevents it from moving all of the log.
func checkpoint(conn *sqlite.Conn) (size int64, err error) {
	size, err = number(conn, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	if err != nil {
		return 0, err
	}
	err = query(conn, "PRAGMA wal_checkpoint(PASSIVE)", func(s *sqlite.Stmt) error {
		if s.ColumnBool(0) || s.ColumnInt(1) != s.ColumnInt(2) { // pages of the log, and those that are in the file now
			size = 0
		}
		return nil
	})
	if err != nil || size == 0 {
		return 0, err
	}
	// If the file is busy, the statement returns a row that says so, and no error.
	return size, sqlitex.ExecuteTransient(conn, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
}

func (j *Journal) trim() error {
	for _, step := range []func(*writer) (more bool, err error){(*writer).dropOld, (*writer).dropMuch, (*writer).shrink} {
		for more := true; more; {
			err := j.write(context.Background(), func(w *writer) (err error) {
				more, err = step(w)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return j.checkpoint()
}

// dropOld deletes entries that are too old. A clock set far ahead must not cost the history, so "now" is at most the
// last entry's time plus nod's uptime.
func (w *writer) dropOld() (more bool, err error) {
	last, err := number(w.file.conn, "SELECT settled FROM entries ORDER BY seq DESC LIMIT 1") // 0: there is none to delete
	if err != nil {
		return false, err
	}
	now := time.Now()
	if latest := time.UnixMicro(last).Add(time.Since(w.j.opened)); latest.Before(now) {
		now = latest
	}
	oldest := now.Add(-w.j.opts.Config().Keep).UnixMicro()
	return w.dropWhile(func(settled int64) bool { return settled < oldest })
}

// dropWhile deletes one step of the oldest entries, and reports whether there may be more to delete.
func (w *writer) dropWhile(over func(settled int64) bool) (more bool, err error) {
	var seq int64
	var hash []byte
	n := 0
	err = query(w.file.conn, "SELECT seq, hash, settled FROM entries ORDER BY seq LIMIT ?", func(s *sqlite.Stmt) error {
		if !over(s.ColumnInt64(2)) {
			return errEnough
		}
		seq, hash = s.ColumnInt64(0), blob(s, 1)
		n++
		return nil
	}, trimStep)
	if err != nil && !errors.Is(err, errEnough) {
		return false, err
	}
	if n == 0 {
		return false, nil
	}
	if err := w.exec("DELETE FROM entries WHERE seq <= ?", seq); err != nil {
		return false, err
	}
	return n == trimStep, w.exec("UPDATE anchor SET seq = ?1, hash = ?2, bodies = max(bodies, ?1)", seq, hash)
}

// dropMuch deletes from a journal that is too large: first the bodies of the older half of the entries, then entries.
func (w *writer) dropMuch() (more bool, err error) {
	used, err := readUsed(w.file.conn)
	if err != nil || used <= int64(w.j.opts.Config().MaxSize)*1_000_000 {
		return false, err
	}
	c, err := readAnchor(w.file.conn)
	if err != nil {
		return false, err
	}
	if c.bodies-c.seq >= (w.file.seq-c.seq)/2 {
		return w.dropWhile(func(int64) bool { return true })
	}
	last := min(c.bodies+trimStep, w.file.seq)
	if err := w.exec("UPDATE entries SET body = NULL WHERE seq > ? AND seq <= ?", c.bodies, last); err != nil {
		return false, err
	}
	return true, w.exec("UPDATE anchor SET bodies = ?", last)
}

func readUsed(conn *sqlite.Conn) (bytes int64, err error) {
	return number(conn, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
}

func (w *writer) shrink() (more bool, err error) {
	free, err := number(w.file.conn, "PRAGMA freelist_count")
	if err != nil || free < pageStep {
		return false, err
	}
	w.j.size.Store(0)
	return true, sqlitex.ExecuteTransient(w.file.conn, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pageStep), nil)
}
