package interacttest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"nod/interact"
)

// Journal is an [interact.Journal] in memory, which keeps all and refuses what comes twice. The zero value is empty.
type Journal struct {
	mu      sync.Mutex          // guards all below
	places  map[interact.ID]int // in records
	records []interact.Record
	settled []interact.ID
	over    map[interact.ID]bool // settled
	full    error
	wrong   error // what came out of order first
}

// JournalOf is the journal that another one has left.
func JournalOf(open, last []interact.Record) *Journal {
	j := &Journal{places: map[interact.ID]int{}, over: map[interact.ID]bool{}}
	for _, r := range slices.Concat(last, open) {
		j.places[r.Request.ID] = len(j.records)
		j.records = append(j.records, r)
	}
	for _, r := range last {
		j.over[r.Request.ID], j.settled = true, append(j.settled, r.Request.ID)
	}
	return j
}

// Fail has every write fail with err from now on; nil: none.
func (j *Journal) Fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.full = err
}

func (j *Journal) Open(_ context.Context, r interact.Record) error {
	return j.write(r, func(isKnown, _ bool) bool { return !isKnown })
}

func (j *Journal) Update(_ context.Context, r interact.Record) error {
	return j.write(r, func(isKnown, isSettled bool) bool { return isKnown && !isSettled })
}

func (j *Journal) Settle(_ context.Context, r interact.Record) error {
	return j.write(r, func(_, isSettled bool) bool { return !isSettled })
}

// write keeps r if it may come now.
func (j *Journal) write(r interact.Record, may func(isKnown, isSettled bool) bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	id, outcome := r.Request.ID, r.Answer.Outcome
	i, isKnown := j.places[id]
	switch {
	case j.full != nil:
		return j.full
	case !may(isKnown, j.over[id]):
		err := fmt.Errorf("%s comes out of order: %q", id, outcome)
		j.wrong = cmp.Or(j.wrong, err)
		return err
	}
	if j.places == nil {
		j.places, j.over = map[interact.ID]int{}, map[interact.ID]bool{}
	}
	if !isKnown {
		i = len(j.records)
		j.places[id], j.records = i, append(j.records, interact.Record{})
	}
	j.records[i] = r
	if outcome != "" {
		j.over[id], j.settled = true, append(j.settled, id)
	}
	return nil
}

// IsSettled reports whether a request has its outcome.
func (j *Journal) IsSettled(id interact.ID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.over[id]
}

// Err says what was written out of order, if anything was.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.wrong
}

// Records lists what it keeps, in the order in which it came.
func (j *Journal) Records() []interact.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.records)
}

// Left is what another process finds: the open requests, and those that are settled, in the order in which they were.
func (j *Journal) Left() (open, last []interact.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.records {
		if !j.over[r.Request.ID] {
			open = append(open, reread(r))
		}
	}
	for _, id := range j.settled {
		last = append(last, reread(j.records[j.places[id]]))
	}
	return open, last
}

// reread is a record as it is read back: without what only this process knows.
func reread(r interact.Record) (back interact.Record) {
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil {
		panic(fmt.Sprintf("interacttest: record %s: %v", r.Request.ID, err))
	}
	return back
}
