package journal

import (
	"errors"

	"zombiezen.com/go/sqlite"
)

type waiting struct {
	record, draft []byte
}

const maxSalvaged = 1024

func readWaiting(conn *sqlite.Conn) (map[string]waiting, error) {
	waits := map[string]waiting{}
	err := query(conn, "SELECT id, record, draft FROM pending ORDER BY id LIMIT ?", func(s *sqlite.Stmt) error {
		waits[s.ColumnText(0)] = waiting{blob(s, 1), blob(s, 2)}
		return nil
	}, maxSalvaged)
	return waits, err
}

// salvage recovers the pending requests of a file that was set aside, unless the writer already knows them from a file.
func (w *writer) salvage(aside string) {
	if w.waits != nil {
		return
	}
	w.waits = map[string]waiting{}
	if checkPlain(aside) != nil {
		return
	}
	w.j.log("read what was set aside", readAside(aside, func(conn *sqlite.Conn) (err error) {
		w.waits, err = readWaiting(conn)
		return err
	}))
	w.j.mu.Lock()
	defer w.j.mu.Unlock()
	w.j.aside = aside
}

func readAside(path string, do func(*sqlite.Conn) error) (err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetBusyTimeout(busyTime)
	return do(conn)
}

// carryOver makes a newly opened file contain the pending requests: it may be a different file, or have lost the last
// writes. The first file opened supplies them, unless they were salvaged.
func (w *writer) carryOver() (err error) {
	if w.waits == nil {
		w.waits, err = readWaiting(w.file.conn)
		return err
	}
	w.carries = len(w.waits) > 0
	if !w.carries {
		return nil
	}
	return w.transact(nil)
}

func (w *writer) carry() error {
	for id, one := range w.waits {
		err := w.exec(`INSERT INTO pending SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM entries WHERE id = ?1)
			ON CONFLICT (id) DO UPDATE SET record = excluded.record, draft = excluded.draft`,
			id, one.record, nullable(one.draft))
		if err != nil {
			return err
		}
	}
	return nil
}

// kept applies the changes of the transaction just committed to waits.
func (w *writer) kept() {
	for _, change := range w.changes {
		change()
	}
	if len(w.waits) == 0 { // release the memory of a map that was large
		w.waits = map[string]waiting{}
	}
}
