package interact

import (
	"context"
	"slices"
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

// MemoryJournal is a [Journal] that forgets when the program ends.
type MemoryJournal struct {
	mu      sync.Mutex // guards all below
	max     int
	records []*Record // oldest first
	open    map[ID]*Record
}

// NewMemoryJournal returns a journal that keeps the last n requests.
func NewMemoryJournal(n int) *MemoryJournal {
	return &MemoryJournal{max: n, open: map[ID]*Record{}}
}

// Open implements [Journal].
func (j *MemoryJournal) Open(_ context.Context, r Request) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	rec := &Record{Request: r}
	j.open[r.ID] = rec
	j.records = append(j.records, rec)
	if len(j.records) > j.max {
		j.records = slices.Delete(j.records, 0, 1)
	}
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
	return nil
}

// Recent implements [Journal].
func (j *MemoryJournal) Recent(_ context.Context, n int) ([]Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var recent []Record
	for _, rec := range slices.Backward(j.records) {
		if len(recent) == n {
			break
		}
		recent = append(recent, *rec)
	}
	return recent, nil
}
