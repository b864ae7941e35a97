package journal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"nod/changes"
	"nod/interact"
	"nod/ownfile/ownlog"
)

const (
	queueDelay = 250 * time.Millisecond // from the first entry in the queue to the transaction that takes them all
	queueBytes = 4 << 20                // then callers wait for that
)

func queuePath(path string) string { return path + "-queue" }

// queue holds calls that the policy allowed and that are not in the database yet, oldest first. Each is two lines in a
// file, a head and a body, so that it survives the death of the process at the cost of one write.
type queue struct {
	path  string
	woken changes.Signal // the first entry came

	mu      sync.Mutex // guards all below
	file    *os.File   // nil: not open
	size    int64
	entries []encoded
	text    []byte // of the last entry, to be used again
}

// load reads what an earlier process left. It drops a last entry that was cut off, which was never acknowledged.
func (q *queue) load() error {
	if err := checkPlain(q.path); err != nil {
		return err
	}
	text, err := os.ReadFile(q.path)
	if os.IsNotExist(err) {
		return nil
	}
	for err == nil && len(text) > 0 {
		head, rest, _ := bytes.Cut(text, []byte("\n"))
		body, next, isWhole := bytes.Cut(rest, []byte("\n"))
		if !isWhole {
			break
		}
		if len(body) == 0 {
			body = nil
		}
		h, failed := decode(head, nil)
		if failed == nil && body != nil && h.Body != interact.Digest(body) {
			failed = fmt.Errorf("entry %s has another body", h.Record.Request.ID)
		}
		if err = failed; err == nil {
			q.entries = append(q.entries, encoded{h.line(), head, body})
			text = next
		}
	}
	return err
}

// add reports whether e is in the file. If it is not, the caller has to wait for the database.
func (q *queue) add(e encoded) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.text = append(append(append(append(q.text[:0], e.head...), '\n'), e.body...), '\n')
	if q.size+int64(len(q.text)) > queueBytes || !q.open() {
		return false
	}
	if _, err := q.file.WriteAt(q.text, q.size); err != nil {
		if q.file.Truncate(q.size) != nil {
			q.close()
		}
		return false
	}
	q.size += int64(len(q.text))
	if q.entries = append(q.entries, e); len(q.entries) == 1 {
		q.woken.Send()
	}
	return true
}

// open opens an empty file, unless the database still has to take entries from the old one. The caller holds q.mu.
func (q *queue) open() bool {
	if q.file == nil && len(q.entries) == 0 {
		if file, err := ownlog.Open(q.path); err == nil && file.Truncate(0) == nil {
			q.file, q.size = file, 0
		}
	}
	return q.file != nil
}

// close closes the file. The caller holds q.mu.
func (q *queue) close() {
	if q.file != nil {
		q.file.Close() // a write has said whether it worked
		q.file = nil
	}
}

func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.close()
}

func (q *queue) all() []encoded {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.entries
}

// taken removes the first n entries, which are now in the database. It leaves a file alone that is no longer at its
// path.
func (q *queue) taken(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.entries = q.entries[n:]; len(q.entries) > 0 {
		q.woken.Send()
		return
	}
	q.entries, q.text = nil, nil
	if !q.open() || q.file.Truncate(0) != nil || !q.isThere() {
		q.close()
		return
	}
	q.size = 0
}

func (q *queue) isThere() bool {
	is, err := os.Lstat(q.path)
	if err != nil {
		return false
	}
	was, err := q.file.Stat()
	return err == nil && os.SameFile(is, was)
}

// flush moves the queue into the database, so that readers of the database see it.
func (j *Journal) flush(ctx context.Context) {
	if len(j.queue.all()) > 0 {
		_ = j.write(ctx, func(*writer) error { return nil }) // if it fails, what is there can still be read
	}
}
