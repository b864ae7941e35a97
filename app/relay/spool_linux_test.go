package relay

import (
	"math"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

// A line that the disk takes only in part leaves no trace, so the lines before and after it still count.
func TestSpoolOnDiskThatFillsUp(t *testing.T) {
	const variable = "NOD_TEST_LIMIT"
	path := os.Getenv(variable)
	if path == "" { // in a process of its own, because the limit is for all that it writes
		self, err := os.Executable()
		must(t, err)
		again := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), variable+"="+spoolPath(t))
		out, err := again.CombinedOutput()
		t.Logf("%s", out)
		must(t, err)
		return
	}
	s := openedSpool(t, path)
	must(t, s.Settle(t.Context(), ended(pending("p"), passed)))
	limit := func(bytes uint64) {
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: math.MaxUint64}))
	}
	limit(uint64(s.size) + 100)
	err := s.Settle(t.Context(), ended(pending("q"), passed))
	limit(math.MaxUint64)
	if err == nil {
		t.Fatal("there is no limit")
	}
	must(t, s.Settle(t.Context(), ended(pending("r"), passed)))
	if got := ids(openedSpool(t, path).batch()); !slices.Equal(got, []string{"p", "r"}) {
		t.Errorf("%q", got)
	}
}
