package journal

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
)

// Every caller hears how its write went, even if more of them wait than fit into one transaction.
func TestMoreWritesThanFitIntoATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := Open(filepath.Join(t.TempDir(), "nod.db"), Options{Log: slog.New(slog.DiscardHandler)})
		held := make(chan struct{})
		var writes sync.WaitGroup
		write := func(do func(*writer) error) {
			writes.Go(func() {
				if err := j.write(context.Background(), do); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		write(func(*writer) error { <-held; return nil })
		for range 2 * maxGroup {
			write(func(*writer) error { return nil })
		}
		close(held)
		writes.Wait()
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}
