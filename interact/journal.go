package interact

import (
	"context"
	"sync"
)

// Journal remembers every request and its outcome. Open comes first, Close exactly once after it.
type Journal interface {
	Open(ctx context.Context, r Request) error
	Close(ctx context.Context, id ID, a Answer) error
	// Recent returns the last n requests, newest first, with those still pending.
	Recent(ctx context.Context, n int) ([]Record, error)
}

// Record is one request in the journal. Its Answer has no Outcome while the request is pending.
type Record struct {
	Request Request
	Answer  Answer
}

// MemoryJournal is a [Journal] that forgets when the program ends. It is safe for concurrent use.
type MemoryJournal struct {
	maxRecords, maxBytes int

	mu      sync.Mutex      // guards all below
	records []*memoryRecord // oldest first
	bytes   int             // that records hold
	open    map[ID]*memoryRecord
}

// memoryRecord is a record of a [MemoryJournal].
type memoryRecord struct {
	Record
	size        int  // bytes
	isForgotten bool // it is no longer among the records; when it is still open it must be closed all the same
}

// NewMemoryJournal returns a journal that keeps the last requests: at most so many, and of those no more than
// fit in so many bytes. The newest it keeps whatever its size.
func NewMemoryJournal(maxRecords, maxBytes int) *MemoryJournal {
	return &MemoryJournal{maxRecords: maxRecords, maxBytes: maxBytes, open: map[ID]*memoryRecord{}}
}

// Open implements [Journal].
func (j *MemoryJournal) Open(_ context.Context, r Request) error {
	rec := &memoryRecord{Record: Record{Request: r}, size: r.size()}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open[r.ID] = rec
	j.records = append(j.records, rec)
	j.bytes += rec.size
	j.trim()
	return nil
}

// Close implements [Journal]. It returns [ErrNotFound] for a request that is not open.
func (j *MemoryJournal) Close(_ context.Context, id ID, a Answer) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	rec := j.open[id]
	if rec == nil {
		return ErrNotFound
	}
	delete(j.open, id)
	rec.Answer = a
	if !rec.isForgotten {
		size := a.size()
		rec.size += size
		j.bytes += size
		j.trim()
	}
	return nil
}

// trim forgets the oldest records while there are too many. The caller holds j.mu.
func (j *MemoryJournal) trim() {
	for len(j.records) > j.maxRecords || j.bytes > j.maxBytes && len(j.records) > 1 {
		old := j.records[0]
		old.isForgotten = true
		j.bytes -= old.size
		j.records[0] = nil
		j.records = j.records[1:]
	}
}

// Recent implements [Journal].
func (j *MemoryJournal) Recent(_ context.Context, n int) ([]Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n = min(n, len(j.records))
	recent := make([]Record, n)
	for i := range recent {
		recent[i] = j.records[len(j.records)-1-i].Record
	}
	return recent, nil
}
