package journal

import (
	"context"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"
)

// Limits of the writer.
const (
	maxGroup   = 256                    // writes in a transaction
	busyTime   = 250 * time.Millisecond // how long a transaction waits for another program's
	reopenTime = time.Second            // before another attempt to open the file
)

type write struct {
	do   func(*writer) error // runs in a transaction, twice if the first fails
	done chan error          // takes the outcome
}

// write runs do on the writer's goroutine and waits until the transaction is committed.
func (j *Journal) write(ctx context.Context, do func(*writer) error) error {
	w := &write{do: do, done: make(chan error, 1)}
	select {
	case j.writes <- w:
		return <-w.done
	case <-j.closing.Done():
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writer owns the connection that writes. Only its goroutine uses it.
type writer struct {
	j    *Journal
	file *file // nil while it cannot be opened

	added   int      // how many entries the transaction adds to the chain
	changes []func() // … and how it changes waits, once it is committed

	waits   map[string]waiting // what waits, by id; nil: there was no file yet that could be read
	carries bool               // the pending requests must be written to the file

	failing  time.Time     // since when the disk has failed; zero: it does not
	patience time.Duration // how long it may fail until another file is begun

	tried  time.Time // when the file could not be opened
	reason error     // … and why
}

func (w *writer) run() {
	defer func() {
		w.j.files.Lock() // if the keeper closed the file at the same time, neither would take the log in
		defer w.j.files.Unlock()
		w.close()
	}()
	var due <-chan time.Time // when the queue is to be taken; nil: it is empty
	for {
		select {
		case first := <-w.j.writes:
			w.group(first)
		case <-w.j.queue.woken:
			due = time.After(queueDelay)
		case <-due:
			due = nil
			w.group(nil)
		case <-w.j.closing.Done():
			w.group(nil)
			return
		}
	}
}

// group writes the queue, and what callers want to write now, in one transaction. first is the first of these writes,
// or nil.
func (w *writer) group(first *write) {
	queued := w.j.queue.all()
	if first == nil && len(queued) == 0 {
		return
	}
	group := []*write{{done: make(chan error, 1), do: func(w *writer) error {
		for _, e := range queued {
			if _, err := w.append(e); err != nil {
				return err
			}
		}
		return nil
	}}}
	if first != nil {
		group = append(group, first)
	}
	for more := first != nil; more && len(group) <= maxGroup; {
		select {
		case next := <-w.j.writes:
			group = append(group, next)
		default:
			more = false
		}
	}
	err := w.commit(group)
	if err == nil {
		w.j.queue.taken(len(queued))
	}
	w.j.failed(err)
	w.j.index.woken.Send()
	for _, next := range group {
		next.done <- err
	}
	w.j.wrote.Send()
	if err == nil && w.added > 0 {
		w.j.opts.Added.Send()
	}
}

// commit writes all of group or nothing. It replaces a damaged file.
func (w *writer) commit(group []*write) error {
	if err := w.ready(); err != nil {
		return err
	}
	err := w.transact(group)
	if !isPassing(err) && !isDamage(err) {
		if err := w.reopen(); err != nil {
			return err
		}
		err = w.transact(group)
	}
	isForeign := sqlite.ErrCode(err) == sqlite.ResultError // nod's tables are good
	if !isDamage(err) && !isForeign && !w.hasFailedForLong(err) {
		return err
	}
	if err := w.replace(err); err != nil {
		return err
	}
	return w.transact(group)
}

func isPassing(err error) bool {
	passing := []sqlite.ResultCode{sqlite.ResultOK, sqlite.ResultFull, sqlite.ResultBusy, sqlite.ResultLocked}
	return slices.Contains(passing, sqlite.ErrCode(err).ToPrimary())
}

// failTime is how long the disk may fail before nod starts another file, which may land on a good part of the disk. It
// doubles each time, so that a disk without a good part does not fill up with files.
const failTime = 30 * time.Second

// hasFailedForLong reports whether the disk has failed for so long that nod should start another file.
func (w *writer) hasFailedForLong(err error) bool {
	now := time.Now()
	switch {
	case sqlite.ErrCode(err).ToPrimary() != sqlite.ResultIOErr:
	case w.failing.IsZero():
		w.failing = now
	case now.Sub(w.failing) >= w.patience:
		w.failing, w.patience = now, 2*w.patience
		return true
	}
	return false
}

func (w *writer) transact(group []*write) error {
	seq, hash := w.file.seq, w.file.hash
	w.added, w.changes = 0, w.changes[:0]
	err := transact(w.file.conn, w.begin, func() error {
		if w.carries {
			if err := w.carry(); err != nil {
				return err
			}
		}
		for _, next := range group {
			if err := next.do(w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.file.seq, w.file.hash = seq, hash
		return err
	}
	w.carries, w.failing = false, time.Time{}
	w.kept()
	return nil
}

// begin begins a transaction. It waits for the keeper if that holds the file.
func (w *writer) begin(conn *sqlite.Conn) error {
	err := beginNow(conn)
	if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy {
		return err
	}
	w.j.files.Lock()
	defer w.j.files.Unlock()
	return beginNow(conn)
}

func (w *writer) exec(text string, args ...any) error { return query(w.file.conn, text, nil, args...) }

// append adds an entry to the chain, unless its request has one. The request is no longer pending.
func (w *writer) append(e encoded) (isNew bool, err error) {
	l, id := e.line, string(e.line.ID)
	if err := w.exec("DELETE FROM pending WHERE id = ?", id); err != nil {
		return false, err
	}
	w.changes = append(w.changes, func() { delete(w.waits, id) })
	seq, hash := w.file.seq+1, w.file.hash.next(e.head)
	err = w.exec(`INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`,
		seq, id, l.Created.UnixMicro(), l.Settled.UnixMicro(), string(l.Kind), l.Agent, l.Session, l.Project,
		l.Tool, string(l.Class), l.Gist, string(l.Outcome), string(l.By), l.Rule, hash[:], e.head, nullable(e.body),
		l.Machine, l.Device)
	if err != nil || w.file.conn.Changes() == 0 {
		return false, err
	}
	w.file.seq, w.file.hash = seq, hash
	w.added++
	return true, nil
}
