package journal_test

import (
	"context"
	"testing"

	"nod/api"
	"nod/interact/journal"
)

func TestSize(t *testing.T) {
	path := file(t)
	j := healthy(t, path)
	wants := func(r interface {
		Size(context.Context) (int64, int64, error)
	}, want int64) {
		t.Helper()
		entries, bytes, err := r.Size(t.Context())
		must(t, err)
		if entries != want || bytes < 4096 {
			t.Errorf("%d entries in %d bytes, want %d", entries, bytes, want)
		}
	}
	wants(j, 0)
	for n := range 10 {
		must(t, j.Settle(t.Context(), settled(approval(n), api.Allowed)))
	}
	must(t, j.Open(t.Context(), approval(10)))
	wants(j, 10)
	must(t, j.Close())
	tamper(t, path, "DELETE FROM entries WHERE seq <= 4; UPDATE anchor SET seq = 4")
	r, err := journal.OpenReader(path)
	must(t, err)
	defer r.Close()
	wants(r, 6)
}
