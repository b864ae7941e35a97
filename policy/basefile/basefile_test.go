package basefile

import (
	"testing"
	"testing/synctest"
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
