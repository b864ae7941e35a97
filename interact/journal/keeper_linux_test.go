package journal_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
)

// An entry that is journaled while another program reads for a long time, such as nod history export into a pager, is
// synced as soon as any other, although it stays in the log.
func TestALongReaderDelaysNoSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := file(t)
		j := healthy(t, path)
		fill(t, j, 0, 1)
		time.Sleep(time.Minute)
		other, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
		must(t, err)
		defer other.Close()
		must(t, sqlitex.ExecuteTransient(other, "BEGIN", nil))
		must(t, sqlitex.ExecuteTransient(other, "SELECT count(*) FROM entries", nil))
		for n := range 3 {
			must(t, j.Settle(t.Context(), settled(approval(n+1), api.Denied)))
			time.Sleep(3 * time.Second)
		}
		log, err := os.Open(path + "-wal")
		must(t, err)
		defer log.Close()
		dirty := func() uint64 {
			var stat unix.Cachestat_t
			if err := unix.Cachestat(uint(log.Fd()), &unix.CachestatRange{}, &stat, 0); err != nil {
				t.Skip("this system does not say what is not on the disk yet:", err)
			}
			return stat.Dirty
		}
		if n := dirty(); n > 0 {
			must(t, log.Sync())
			if dirty() > 0 {
				t.Skip("here nothing is ever on a disk")
			}
			t.Errorf("%d pages of the log are not on the disk", n)
		}
	})
}
