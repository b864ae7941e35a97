package journal_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact/journal"
)

// A disk that lasts in refusing a file, as one with a limit on the size of files does, gets another file after a while,
// and what waits with it. One that takes no other file, either, is not filled with files.
func TestADiskThatKeepsFailing(t *testing.T) {
	const variable = "NOD_TEST_LIMIT"
	path := os.Getenv(variable)
	if path == "" {
		self, err := os.Executable()
		must(t, err)
		again := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), variable+"="+file(t))
		out, err := again.CombinedOutput()
		t.Logf("%s", out)
		must(t, err)
		return
	}
	limit := func(bytes uint64) {
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: 1 << 40}))
	}
	synctest.Test(t, func(t *testing.T) {
		j := healthy(t, path)
		must(t, j.Open(t.Context(), approval(0)))
		limit(400 << 10)
		write := func(n int) error { return j.Settle(t.Context(), settled(approval(n), api.Allowed)) }
		isAside := func() bool {
			p, is := errors.AsType[*journal.ProblemError](j.Problem())
			return is && p.Trouble == journal.SetAside
		}
		n, failed := 1, 0
		for ; !isAside(); n++ {
			if n > 10_000 {
				t.Fatal("there is no limit")
			}
			if write(n) != nil {
				failed++
				trouble(t, j, "unwritable")
				time.Sleep(time.Minute) // the keeper tries again and again
			}
		}
		if failed == 0 {
			t.Error("it is set aside before it was tried again")
		}
		must(t, write(n))
		open, _ := restored(t, j, 0)
		same(t, open, ids(0, 1))

		limit(4 << 10)
		for range 100 {
			if write(n+1) == nil {
				t.Error("it was written")
			}
			time.Sleep(time.Minute)
		}
		limit(1 << 40)
		if files, err := filepath.Glob(path + ".*"); err != nil || len(files) > 20 {
			t.Errorf("%d files: %v", len(files), err)
		}
		time.Sleep(time.Minute)
		must(t, write(n+2))
		trouble(t, j, journal.SetAside)
		open, _ = restored(t, j, 0)
		same(t, open, ids(0, 1))
	})
}
