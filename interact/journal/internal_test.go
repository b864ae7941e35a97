package journal

import (
	"context"
	"iter"
	"maps"
	"slices"
	"testing"

	"zombiezen.com/go/sqlite"

	"nod/interact/history"
)

// Words are those that e can be found by, without their limits to the index.
func Words(e history.Entry) []string { return slices.Collect(maps.Keys(wordsOf(e))) }

// Split splits a text into words.
func Split(text string) iter.Seq[string] { return words(text) }

// Index brings the index up to date, and has it stay as it is then.
func (j *Journal) Index(ctx context.Context) error {
	j.index.stop()
	x := newIndexer(j.Reader, j.opts.Log)
	defer x.close()
	return x.follow(ctx)
}

// Indexed is the last entry that the index covers.
func (j *Journal) Indexed(tb testing.TB) int64 {
	tb.Helper()
	var at int64
	err := j.readIndexed(tb.Context(), func(_ *sqlite.Conn, last int64) error {
		at = last
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

// Path is where r's journal is.
func (r *Reader) Path() string { return r.path }

// HoldFile does what the keeper does while it has the file open, until end is called.
func (j *Journal) HoldFile() (end func()) {
	j.files.Lock()
	return j.files.Unlock
}
