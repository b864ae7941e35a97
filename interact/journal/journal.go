// Package journal stores every request and its outcome in a SQLite database: [Journal] writes it, [Reader] reads it.
//
// Once a method of [Journal] returns nil, its entry survives the death of the process. It is on the disk two seconds
// later, so a power cut may lose the last entries, but damages nothing. Callers do not wait for the disk, the index or
// deletions. Calls that the policy allows do not even wait for the database: they are appended to a queue next to it,
// which is moved into the database a few times a second, and before this process reads.
//
// Entries form a chain: the hash of each covers the hash of the one before. If you note the last hash elsewhere,
// [Reader.Verify] can tell later whether an earlier entry was changed. Old entries are deleted from the front.
//
// A pending request is kept whole, with its secrets, to be asked again after a crash. Once it is settled that copy is
// overwritten, and likely secrets are kept only as digests.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"
	"zombiezen.com/go/sqlite"

	"nod/api"
	"nod/changes"
	"nod/interact"
	"nod/ownfile"
	"nod/policy/config"
)

// DefaultPath is nod.db in the user's data folder.
func DefaultPath() (string, error) { return ownfile.In(xdg.DataHome, "nod.db") }

// Options are the dependencies of a [Journal].
type Options struct {
	Log *slog.Logger // required
	// Config returns what to keep. If it is nil, the defaults apply.
	Config func() config.History
	// Token returns the token of nod's callers, which is redacted like other secrets. May be nil.
	Token func() string
	// Changed is sent when the result of [Journal.Problem] changes. May be nil.
	Changed changes.Signal
	// Added is sent after entries were added. May be nil.
	Added changes.Signal
}

// Journal is an [interact.Journal] in a file. It is safe for concurrent use. While the file has a problem its methods
// return errors, and [Journal.Problem] describes the problem.
type Journal struct {
	*Reader
	opts Options

	opened  time.Time
	writes  chan *write
	wrote   changes.Signal  // something was written, or could not be
	closing context.Context // ends when Close wants the writer to end
	close   context.CancelFunc
	runs    sync.WaitGroup
	index   *indexer
	queue   *queue
	own     atomic.Pointer[fs.FileInfo] // of the file last opened to write; nil: none, or it was set aside
	size    atomic.Int64                // its least size in bytes; 0: unknown
	files   sync.Mutex                  // held by the keeper while it has the file open, and to rename or remove it

	mu       sync.Mutex // guards all below
	problems problems
	aside    string // what was set aside when nod started; empty: nothing
}

var _ interact.Journal = (*Journal)(nil)

var errClosed = errors.New("the journal is closed")

// Open opens the journal at path or creates it. It does not fail: see [Journal.Problem].
func Open(path string, o Options) *Journal {
	if o.Config == nil {
		o.Config = func() config.History { return config.Default().History }
	}
	if o.Token == nil {
		o.Token = func() string { return "" }
	}
	j := &Journal{
		Reader: &Reader{path: path}, opts: o, opened: time.Now(),
		writes: make(chan *write), wrote: changes.NewSignal(),
	}
	j.closing, j.close = context.WithCancel(context.Background())
	j.index = newIndexer(j.Reader, o.Log)
	j.queue = &queue{path: queuePath(path), woken: changes.NewSignal()}
	w := &writer{j: j, patience: failTime}
	if err := j.queue.load(); err != nil {
		j.log("read the queue", errors.Join(err, os.Rename(j.queue.path, queuePath(ownfile.Aside(w.j.path)))))
	}
	j.failed(w.open())
	if len(j.queue.all()) > 0 {
		w.group(nil)
	}
	j.Reader.flush = j.flush
	j.runs.Go(w.run)
	j.runs.Go(j.keep)
	go j.index.run()
	return j
}

// Close closes the file. The writer closes last, so that SQLite merges its log into the file.
func (j *Journal) Close() error {
	j.index.stop()
	err := j.Reader.Close()
	j.close()
	j.runs.Wait()
	j.queue.end()
	return err
}

func (j *Journal) Open(ctx context.Context, r interact.Record) error {
	record, err := json.Marshal(r.Plain())
	if err != nil {
		return fmt.Errorf("journal request %s: %w", r.Request.ID, err)
	}
	return j.change(ctx, r.Request.ID, func(w *writer) error {
		id := string(r.Request.ID)
		w.changes = append(w.changes, func() { w.waits[id] = waiting{record, w.waits[id].draft} })
		return w.exec(`INSERT INTO pending (id, record) VALUES (?, ?)
			ON CONFLICT (id) DO UPDATE SET record = excluded.record`, id, record)
	})
}

// Update implements [interact.Journal]. The error wraps [interact.ErrNotFound] for a request that is not open.
func (j *Journal) Update(ctx context.Context, r interact.Record) error {
	record, err := json.Marshal(r.Plain())
	if err != nil {
		return fmt.Errorf("journal request %s: %w", r.Request.ID, err)
	}
	return j.set(ctx, r.Request.ID, `UPDATE pending SET record = ? WHERE id = ?`, record,
		func(was waiting) waiting { return waiting{record, was.draft} })
}

// SaveDraft saves the user's unfinished answer. The error wraps [interact.ErrNotFound] if the request is not pending.
func (j *Journal) SaveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	return j.set(ctx, id, `UPDATE pending SET draft = ? WHERE id = ?`, draft,
		func(was waiting) waiting { return waiting{was.record, draft} })
}

func (j *Journal) set(
	ctx context.Context, id interact.ID, query string, value []byte, made func(waiting) waiting,
) error {
	isOpen := false
	err := j.change(ctx, id, func(w *writer) error {
		err := w.exec(query, nullable(value), string(id))
		if isOpen = w.file.conn.Changes() > 0; isOpen {
			w.changes = append(w.changes, func() { w.waits[string(id)] = made(w.waits[string(id)]) })
		}
		return err
	})
	if err == nil && !isOpen {
		return fmt.Errorf("journal request %s: %w", id, interact.ErrNotFound)
	}
	return err
}

// Settle implements [interact.Journal]. The error wraps [interact.ErrSettled] if the request already has an outcome,
// unless that is an allow by the policy, which is then not journaled again.
func (j *Journal) Settle(ctx context.Context, r interact.Record) error {
	e, err := encode(r, j.opts.Config().KeepInputs, j.opts.Token())
	if err != nil {
		return fmt.Errorf("journal request %s: %w", r.Request.ID, err)
	}
	if r.Answer.By == api.ByPolicy && r.Answer.Outcome == api.Allowed && j.isHealthy() && j.queue.add(e) {
		return nil
	}
	isNew := false
	err = j.change(ctx, r.Request.ID, func(w *writer) (err error) {
		isNew, err = w.append(e)
		return err
	})
	if err == nil && !isNew {
		return fmt.Errorf("journal request %s: %w", r.Request.ID, interact.ErrSettled)
	}
	return err
}

func (j *Journal) change(ctx context.Context, id interact.ID, do func(*writer) error) error {
	if err := j.write(ctx, do); err != nil {
		return fmt.Errorf("journal request %s: %w", id, err)
	}
	return nil
}

// Restore returns the requests that were pending when nod ended and the last settled ones, both oldest first. Settled
// ones may lack their input: see [history.Entry]. It omits and logs unreliable ones.
func (j *Journal) Restore(ctx context.Context, settled int) (open, last []interact.Record, err error) {
	leftOut := func(why error) { j.opts.Log.Error("journal: restore", "err", why) }
	err = j.read(ctx, func(conn *sqlite.Conn) error {
		if open, err = readPending(conn, leftOut); err == nil {
			last, err = readLast(conn, settled, leftOut)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("restore pending requests: %w", err)
	}
	j.mu.Lock()
	aside := j.aside
	j.mu.Unlock()
	if aside != "" && len(last) == 0 { // who asked then may not have heard the answer
		j.log("read what was set aside", readAside(aside, func(conn *sqlite.Conn) (err error) {
			last, err = readLast(conn, settled, leftOut)
			return err
		}))
	}
	return open, last, nil
}
