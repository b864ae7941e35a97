package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/secrets"
)

const readers = 4 // at once

// Reader reads a journal, even while a [Journal] writes it. It is safe for concurrent use.
type Reader struct {
	path  string
	flush func(context.Context) // moves the queue into the database; nil: another process does

	mu     sync.Mutex  // guards all below
	pool   *pool       // nil: not read yet, or the file was replaced
	info   fs.FileInfo // of the file that pool reads
	index  fs.FileInfo // of the index that it reads; nil: there was none
	closed bool

	indexDamaged atomic.Bool // the index is of no use
}

type pool struct {
	*sqlitex.Pool
	users sync.WaitGroup
}

// OpenReader opens the journal at path for reading. It waits briefly for a running nod to move its queue into the
// database.
func OpenReader(path string) (*Reader, error) {
	r := &Reader{path: path}
	for begun := time.Now(); time.Since(begun) < 10*queueDelay; time.Sleep(queueDelay / 4) {
		if info, err := os.Lstat(queuePath(path)); err != nil || info.Size() == 0 {
			break
		}
	}
	if err := r.read(context.Background(), func(*sqlite.Conn) error { return nil }); err != nil {
		return nil, errors.Join(fmt.Errorf("open the journal %s: %w", path, err), r.Close())
	}
	return r, nil
}

// Close closes the file and interrupts its readers.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.drop()
}

// reset interrupts readers and runs f while no one reads. The next reader reopens the file.
func (r *Reader) reset(f func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.drop()
	f()
	return err
}

// drop closes what is open. The caller holds r.mu.
func (r *Reader) drop() error {
	if r.pool == nil {
		return nil
	}
	err := r.pool.Close()
	r.pool = nil
	return err
}

func (r *Reader) read(ctx context.Context, do func(*sqlite.Conn) error) (err error) {
	defer func() {
		if ctx.Err() != nil { // SQLite calls it an interrupt
			err = ctx.Err()
		}
	}()
	if r.flush != nil {
		r.flush(ctx)
	}
	pool, err := r.open()
	if err != nil {
		return err
	}
	defer pool.users.Done()
	conn, err := pool.Take(ctx)
	if err != nil {
		return err
	}
	defer pool.Put(conn)
	return transact(conn, begin, func() error { return do(conn) })
}

// transact calls do within a transaction. The transactions of sqlitex panic if a damaged file makes even a ROLLBACK
// fail.
func transact(conn *sqlite.Conn, begin func(*sqlite.Conn) error, do func() error) error {
	err := begin(conn)
	if err != nil {
		return err
	}
	if err = do(); err == nil {
		err = query(conn, "COMMIT", nil)
	}
	if err != nil && !conn.AutocommitEnabled() {
		interrupt := conn.SetInterrupt(nil)
		err = errors.Join(err, query(conn, "ROLLBACK", nil))
		conn.SetInterrupt(interrupt)
	}
	return err
}

func begin(conn *sqlite.Conn) error { return query(conn, "BEGIN", nil) }

// beginNow begins a transaction that writes.
func beginNow(conn *sqlite.Conn) error { return query(conn, "BEGIN IMMEDIATE", nil) }

// execute executes statements, one after the other. [sqlitex.ExecScript] would panic as its transactions do.
func execute(conn *sqlite.Conn, script string) error {
	for script = strings.TrimSpace(script); script != ""; {
		stmt, left, err := conn.PrepareTransient(script)
		if err != nil {
			return err
		}
		_, err = stmt.Step()
		if err = errors.Join(err, stmt.Finalize()); err != nil {
			return err
		}
		script = strings.TrimSpace(script[len(script)-left:])
	}
	return nil
}

// open returns connections to the file now at the path, and counts the caller as one of their users.
func (r *Reader) open() (*pool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	info, err := os.Stat(r.path)
	if err != nil {
		return nil, err
	}
	if err := checkPlain(r.path); err != nil {
		return nil, err
	}
	index, err := os.Lstat(indexPath(r.path))
	if err != nil || checkPlain(indexPath(r.path)) != nil {
		index = nil
	}
	isSameIndex := index == nil && r.index == nil || os.SameFile(index, r.index)
	if r.pool == nil || !os.SameFile(info, r.info) || !isSameIndex {
		connections, err := sqlitex.NewPool(r.path, sqlitex.PoolOptions{
			Flags: sqlite.OpenReadOnly, PoolSize: readers, PrepareConn: r.prepare,
		})
		if err != nil {
			return nil, err
		}
		if old := r.pool; old != nil {
			go func() {
				old.users.Wait()
				_ = old.Close() // nothing was written
			}()
		}
		r.pool, r.info, r.index = &pool{Pool: connections}, info, index
	}
	r.pool.users.Add(1)
	return r.pool, nil
}

// forgetIndex makes the next read look for the index again, because another file at its path may have the old one's
// inode.
func (r *Reader) forgetIndex() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index = nil
}

func (r *Reader) prepare(conn *sqlite.Conn) error {
	conn.SetBusyTimeout(busyTime)
	version, err := number(conn, "PRAGMA user_version")
	if err == nil && version < int64(len(schema.Migrations)) {
		err = errOld
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(indexPath(r.path)); err == nil && checkPlain(indexPath(r.path)) == nil {
		// A useless index is treated like none.
		_ = sqlitex.ExecuteTransient(conn, "ATTACH ? AS idx", &sqlitex.ExecOptions{Args: []any{indexPath(r.path)}})
		_ = sqlitex.ExecuteTransient(conn, "PRAGMA idx.cache_size = -512", nil)
	}
	return execute(conn, "PRAGMA main.cache_size = -256; PRAGMA trusted_schema = off")
}

var errOld = errors.New("an older nod wrote it: start nod-desktop to update it")

// Head returns the last entry of the chain; Seq is 0 if there was never one.
func (r *Reader) Head(ctx context.Context) (head history.Head, err error) {
	err = r.read(ctx, func(conn *sqlite.Conn) error {
		seq, hash, err := readHead(conn)
		head = history.Head{Seq: seq, Hash: hash.String()}
		return err
	})
	return head, err
}

// Size returns the number of entries, and the used bytes of the file.
func (r *Reader) Size(ctx context.Context) (entries, bytes int64, err error) {
	err = r.read(ctx, func(conn *sqlite.Conn) error {
		begin, err := readAnchor(conn)
		if err != nil {
			return err
		}
		end, _, err := readHead(conn)
		if err != nil {
			return err
		}
		entries = end - begin.seq
		bytes, err = readUsed(conn)
		return err
	})
	return entries, bytes, err
}

func readHead(conn *sqlite.Conn) (seq int64, hash digest, err error) {
	err = query(conn, `SELECT * FROM (SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1)
		UNION ALL SELECT seq, hash FROM anchor LIMIT 1`, func(s *sqlite.Stmt) error {
		seq = s.ColumnInt64(0)
		return readDigest(s, 1, &hash)
	})
	return seq, hash, err
}

func readDigest(s *sqlite.Stmt, column int, d *digest) error {
	if n := s.ColumnLen(column); n != len(d) {
		return fmt.Errorf("hash has %d bytes: want %d", n, len(d))
	}
	s.ColumnBytes(column, d[:])
	return nil
}

func query(conn *sqlite.Conn, text string, row func(*sqlite.Stmt) error, args ...any) error {
	return sqlitex.Execute(conn, text, &sqlitex.ExecOptions{Args: args, ResultFunc: row})
}

func number(conn *sqlite.Conn, text string, args ...any) (n int64, err error) {
	err = query(conn, text, func(s *sqlite.Stmt) error {
		n = s.ColumnInt64(0)
		return nil
	}, args...)
	return n, err
}

// blob copies a column; nil is NULL.
func blob(s *sqlite.Stmt, column int) []byte {
	if s.ColumnIsNull(column) {
		return nil
	}
	b := make([]byte, s.ColumnLen(column))
	s.ColumnBytes(column, b)
	return b
}

// nullable returns a blob as an argument; nil is NULL.
func nullable(blob []byte) any {
	if blob == nil {
		return nil
	}
	return blob
}

// readPending returns the pending requests, oldest first. It omits unreadable ones, which nod does not ask about again.
func readPending(conn *sqlite.Conn, leftOut func(error)) (open []interact.Record, err error) {
	err = query(conn, "SELECT id, record, draft FROM pending ORDER BY id", func(s *sqlite.Stmt) error {
		p := interact.Record{Draft: blob(s, 2)}
		id := s.ColumnText(0)
		err := json.Unmarshal(blob(s, 1), &p)
		if err == nil && (p.Request.Body == nil || string(p.Request.ID) != id || p.Answer.Outcome != "") {
			err = errors.New("its record is not of a pending request")
		}
		if err != nil {
			leftOut(fmt.Errorf("nod can't ask about request %s again: %w", id, err))
			return nil
		}
		open = append(open, p)
		return nil
	})
	return open, err
}

const reasonNotKept = "nod was started again and does not keep what the user answered: ask again"

// readLast returns the last n settled requests, oldest first. It omits those before a break of the chain, and answers
// that are not kept word for word.
func readLast(conn *sqlite.Conn, n int, leftOut func(error)) (last []interact.Record, err error) {
	c, err := readAnchor(conn)
	if err != nil {
		return nil, err
	}
	err = query(conn, "SELECT "+columns+", hash FROM entries ORDER BY seq DESC LIMIT 1 OFFSET ?", c.skip, n)
	if err != nil {
		return nil, err
	}
	err = query(conn, "SELECT "+columns+", hash, head, body FROM entries WHERE seq > ? ORDER BY seq",
		func(s *sqlite.Stmt) error {
			h, body, err := c.next(s)
			if err == nil && body != nil {
				h, err = h.with(body)
			}
			if err != nil {
				leftOut(fmt.Errorf("answers up to this one do not count: %w", err))
				last = nil
				return c.skip(s)
			}
			r := h.Record
			if !h.keepsAnswer(body != nil) {
				r.Answer = interact.Answer{Outcome: api.Cancelled, Reason: reasonNotKept, At: r.Answer.At}
			}
			last = append(last, r)
			return nil
		}, c.seq)
	return last, err
}

// keepsAnswer reports whether an entry, with or without its body, has the user's exact answer.
func (h head) keepsAnswer(hasBody bool) bool {
	a, kind := h.Record.Answer, h.Record.Request.Body.Kind()
	switch {
	case a.Outcome != api.Answered || kind != api.KindAsk && kind != api.KindForm:
		return true // all of it is in the head
	case h.Withheld != history.Secret || !hasBody:
		return hasBody
	}
	isMarked := func(v api.Value) bool { return slices.ContainsFunc(v.Items, secrets.HasMark) }
	return !secrets.HasMark(a.Text) && !slices.ContainsFunc(slices.Collect(maps.Values(a.Values)), isMarked)
}
