package basefile

import (
	"slices"
	"testing"
	"testing/synctest"

	"nod/policy"
	"nod/policy/shell"
)

// A file system that hangs does not hang the window, whatever it is asked.
func TestFileSystemThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan int)
		if _, ok := InTime(func() int { return <-hangs }); ok {
			t.Error("an answer that never came counts as one")
		}
		close(hangs)
		if n, ok := InTime(func() int { return 7 }); !ok || n != 7 {
			t.Errorf("got %d, %v, want the answer", n, ok)
		}
	})
}

// Nor does one hide what the command itself says, or make it look harmless.
func TestRisksWithoutTheFileSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan []policy.Risk)
		call := policy.Call{Tool: "Bash", Input: policy.ReadInput([]byte(`{"command":"git push --force"}`))}
		found := risks(call, func() []policy.Risk { return <-hangs })
		close(hangs)
		isRed := func(r policy.Risk) bool { return r.Level == shell.Danger }
		if len(found) < 2 || !isRed(found[len(found)-1]) || !slices.ContainsFunc(found[:len(found)-1], isRed) {
			t.Errorf("%+v", found)
		}
	})
}
