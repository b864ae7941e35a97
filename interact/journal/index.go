package journal

import (
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/changes"
	"nod/interact/history"
)

//go:embed index.sql
var indexSchema string

const (
	indexVersion = 2           // of indexSchema; an index of another version is rebuilt
	indexGroup   = 128         // entries in a transaction
	indexBytes   = 256 << 10   // … and their size limit
	indexDelay   = time.Second // without an entry before the index is brought up to date …
	indexLatest  = time.Minute // … which it is after this time in any case
)

// indexPath returns the path of a journal's index. It is a separate file so that its writer does not block the
// journal's.
func indexPath(path string) string { return path + "-index" }

type state struct {
	seq    int64
	hash   digest
	gone   int64
	bodies int64
}

func readState(conn *sqlite.Conn, database string) (at state, err error) {
	err = query(conn, "SELECT seq, gone, bodies, hash FROM "+database+".state", func(s *sqlite.Stmt) error {
		at = state{seq: s.ColumnInt64(0), gone: s.ColumnInt64(1), bodies: s.ColumnInt64(2)}
		return readDigest(s, 3, &at.hash)
	})
	return at, err
}

// isOf reports whether an index in this state belongs to the journal that conn reads.
func (at state) isOf(conn *sqlite.Conn) (bool, error) {
	is := false
	err := query(conn, "SELECT hash FROM entries WHERE seq = ?1 UNION ALL SELECT hash FROM anchor WHERE seq = ?1",
		func(s *sqlite.Stmt) error {
			var hash digest
			err := readDigest(s, 0, &hash)
			is = err == nil && hash == at.hash
			return err
		}, at.seq)
	return is, err
}

type indexer struct {
	reader *Reader
	path   string
	log    *slog.Logger
	woken  changes.Signal // there may be work
	cancel context.CancelFunc
	ctx    context.Context // ends when the journal is closed
	ended  chan struct{}   // closed once run has returned

	conn   *sqlite.Conn // nil: the index is not open
	info   fs.FileInfo  // of the file as it was opened
	state  state
	failed string // the last error, to log it once
}

func newIndexer(r *Reader, log *slog.Logger) *indexer {
	x := &indexer{
		reader: r, path: indexPath(r.path), log: log, woken: changes.NewSignal(), ended: make(chan struct{}),
	}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.woken.Send() // for entries written after the last run ended
	return x
}

func (x *indexer) run() {
	defer close(x.ended)
	defer x.close()
	for {
		select {
		case <-x.woken:
		case <-x.ctx.Done():
			return
		}
		x.rest()
		x.note(x.follow(x.ctx))
	}
}

func (x *indexer) rest() {
	for begun := time.Now(); time.Since(begun) < indexLatest; {
		select {
		case <-time.After(indexDelay):
		case <-x.ctx.Done():
			return
		}
		select {
		case <-x.woken:
		default:
			return
		}
	}
}

func (x *indexer) stop() {
	x.cancel()
	<-x.ended
}

func (x *indexer) note(err error) {
	if x.ctx.Err() != nil {
		return
	}
	if text := text(err); text != x.failed {
		x.failed = text
		if err != nil {
			x.log.Warn("journal: index", "path", x.path, "err", err)
		}
	}
}

func (x *indexer) follow(ctx context.Context) error {
	if x.reader.indexDamaged.Swap(false) {
		if err := x.discard(); err != nil {
			return err
		}
	}
	if err := x.open(); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	x.conn.SetInterrupt(ctx.Done())
	for {
		step, err := x.plan(ctx)
		if err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		if step.state == x.state { // the memory is useless until there are more entries
			return sqlitex.ExecuteTransient(x.conn, "PRAGMA shrink_memory", nil)
		}
		if err := transact(x.conn, beginNow, func() error { return x.change(step) }); err != nil {
			if isDamage(err) {
				x.reader.indexDamaged.Store(true)
				x.woken.Send()
			}
			return fmt.Errorf("write: %w", err)
		}
		x.state = step.state
	}
}

// open opens the index, unless it is open and still at its path, and rebuilds a useless one.
func (x *indexer) open() error {
	if x.conn != nil {
		if info, err := os.Lstat(x.path); err == nil && os.SameFile(info, x.info) {
			return nil
		}
	}
	x.close()
	err := x.load()
	if isDamage(err) {
		if err = x.discard(); err == nil {
			err = x.load()
		}
	}
	return err
}

func (x *indexer) load() (err error) {
	if x.info, err = create(x.path); err != nil {
		return err
	}
	if x.conn, err = sqlite.OpenConn(x.path, sqlite.OpenReadWrite); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	x.conn.SetBusyTimeout(busyTime)
	err = setUp(x.conn, "journal_mode = wal", "synchronous = normal", "journal_size_limit = 1048576",
		"secure_delete = on", "cache_size = -512", "trusted_schema = off")
	if err != nil {
		return err
	}
	version, err := number(x.conn, "PRAGMA user_version")
	switch {
	case err != nil:
		return err
	case version == 0:
		err = transact(x.conn, beginNow, func() error {
			return execute(x.conn, fmt.Sprintf("%s PRAGMA user_version = %d;", indexSchema, indexVersion))
		})
	case version != indexVersion:
		err = errForeign
	}
	if err == nil {
		x.state, err = readState(x.conn, "main")
	}
	return err
}

func (x *indexer) close() {
	if x.conn == nil {
		return
	}
	if err := x.conn.Close(); err != nil {
		x.log.Warn("journal: close the index", "path", x.path, "err", err)
	}
	x.conn = nil
}

func (x *indexer) discard() error {
	x.close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(x.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	x.reader.forgetIndex()
	return nil
}

type step struct {
	state                 // after the step
	isNew bool            // the index belongs to another journal: clear it
	strip []history.Entry // have lost their bodies
	add   []history.Entry
}

// plan returns the next step. A step with the same state means that nothing is left to do.
func (x *indexer) plan(ctx context.Context) (next step, err error) {
	err = x.reader.read(ctx, func(conn *sqlite.Conn) error {
		anchor, err := readAnchor(conn)
		if err != nil {
			return err
		}
		at := x.state
		is, err := at.isOf(conn)
		if err != nil {
			return err
		}
		if !is {
			next.isNew = true
			at = state{seq: anchor.seq, hash: anchor.hash, gone: anchor.seq, bodies: anchor.seq}
		}
		at.gone = min(anchor.seq, at.gone+indexGroup)
		old := min(anchor.bodies, at.seq) // their words may still be in the index
		if next.strip, err = readGroup(conn, max(at.bodies, at.gone), old); err != nil {
			return err
		}
		at.bodies = max(at.bodies, old)
		if n := len(next.strip); n > 0 {
			at.bodies = next.strip[n-1].Seq
		}
		isStripped := at.bodies >= old
		if next.add, err = readGroup(conn, at.seq, math.MaxInt64); err != nil {
			return err
		}
		if n := len(next.add); n > 0 {
			at.seq = next.add[n-1].Seq
			if _, err := hex.Decode(at.hash[:], []byte(next.add[n-1].Hash)); err != nil {
				return err
			}
		}
		if isStripped {
			at.bodies = max(at.bodies, min(anchor.bodies, at.seq))
		}
		next.state = at
		return nil
	})
	return next, err
}

func (x *indexer) change(next step) (err error) {
	if next.isNew {
		err = execute(x.conn, `INSERT INTO words (words) VALUES ('delete-all'); DELETE FROM sums;
			DELETE FROM hours`)
	} else if next.gone > x.state.gone {
		err = x.forget(x.state.gone+1, next.gone)
	}
	for i := 0; err == nil && i < len(next.strip); i++ {
		if err = x.exec("DELETE FROM words WHERE rowid = ?", next.strip[i].Seq); err == nil {
			err = x.addWords(next.strip[i])
		}
	}
	for i := 0; err == nil && i < len(next.add); i++ {
		if err = x.addWords(next.add[i]); err == nil {
			err = x.addSum(next.add[i])
		}
	}
	if err != nil {
		return err
	}
	return x.exec("UPDATE state SET seq = ?, hash = ?, gone = ?, bodies = ?",
		next.seq, next.hash[:], next.gone, next.bodies)
}

// forget removes the words of deleted entries. A day's sums stay until all of its entries are deleted.
func (x *indexer) forget(first, last int64) error {
	if err := x.exec("DELETE FROM words WHERE rowid BETWEEN ? AND ?", first, last); err != nil {
		return err
	}
	if err := x.exec("DELETE FROM sums WHERE seq <= ?", last); err != nil {
		return err
	}
	return x.exec("DELETE FROM hours WHERE last <= ?", last)
}

func (x *indexer) addWords(e history.Entry) error {
	var b strings.Builder
	for word := range wordsOf(e) {
		b.WriteString(word)
		b.WriteByte(' ')
	}
	for field, value := range fieldsOf(e.Line) {
		b.WriteString(token(field, value))
		b.WriteByte(' ')
	}
	return x.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", e.Seq, b.String())
}

func (x *indexer) addSum(e history.Entry) error {
	s := sumOf(e)
	err := x.exec(`INSERT INTO sums VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
		entries = entries + excluded.entries, asked = asked + excluded.asked, passed = passed + excluded.passed,
		denied = denied + excluded.denied, missed = missed + excluded.missed, answered = answered + excluded.answered,
		settled = max(settled, excluded.settled), seq = max(seq, excluded.seq)`,
		s.Day.Format(time.DateOnly), s.Agent, s.Project, s.Tool, s.machine, s.device, s.rule, s.entries,
		s.Asked, s.Passed, s.Denied, s.Missed,
		s.Answered.Microseconds(), s.settled.UnixMicro(), e.Seq)
	if err != nil {
		return err
	}
	return x.exec(`INSERT INTO hours VALUES (?1, ?2, ?2) ON CONFLICT DO UPDATE SET
		first = min(first, excluded.first), last = max(last, excluded.last)`, hourOf(e.Settled), e.Seq)
}

func hourOf(t time.Time) int64 { return int64(math.Floor(float64(t.Unix()) / 3600)) }

func (x *indexer) exec(text string, args ...any) error { return query(x.conn, text, nil, args...) }

// readGroup reads as many entries as one transaction takes. For unreadable ones it returns only the columns.
func readGroup(conn *sqlite.Conn, after, last int64) (group []history.Entry, err error) {
	size := 0
	err = query(conn, "SELECT "+columns+", hash, head, body FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
		func(s *sqlite.Stmt) error {
			if size > indexBytes {
				return errEnough
			}
			e, _ := readEntry(s)
			size += s.ColumnLen(lineColumns+1) + s.ColumnLen(lineColumns+2)
			group = append(group, e)
			return nil
		}, after, last, indexGroup)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return group, err
}
