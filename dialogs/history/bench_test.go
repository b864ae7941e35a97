package history

import (
	"fmt"
	"testing"
)

// BenchmarkKeystroke is what the window does when the user types a letter and entries are found.
func BenchmarkKeystroke(b *testing.B) {
	w := openTestWindow(b, &fakeOperator{count: 1_000_000}, "light")
	i := 0
	for b.Loop() {
		i++
		w.entries.search.SetText(fmt.Sprint("make ", i%7))
	}
}
