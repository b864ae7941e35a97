package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkTake measures snapshots of projects of some sizes: the first one, one of what has not changed, one of a
// changed file, and taking that back.
func BenchmarkTake(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		folder := b.TempDir()
		for i := range n {
			name := filepath.Join(folder, "project", fmt.Sprint(i/400), fmt.Sprint(i/20%20), fmt.Sprint(i, ".go"))
			text := strings.Repeat(fmt.Sprintf("func f%d() int { return %d }\n", i, i*i), 20+i%200)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprint("first/", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				if err := os.RemoveAll(filepath.Join(folder, "[snapshots")); err != nil {
					b.Fatal(err)
				}
				r := reopen(b, filepath.Join(folder, "project"))
				b.StartTimer()
				take(b, r)
			}
		})
		r := reopen(b, filepath.Join(folder, "project"))
		take(b, r)
		b.Run(fmt.Sprint("same/", n), func(b *testing.B) {
			for b.Loop() {
				take(b, r)
			}
		})
		i := 0
		change := func() {
			i++
			files{"0/0/0.go": fmt.Sprint(i)}.write(b, r.project)
		}
		b.Run(fmt.Sprint("changed/", n), func(b *testing.B) {
			for b.Loop() {
				change()
				take(b, r)
			}
		})
		b.Run(fmt.Sprint("back/", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				before := take(b, r)
				change()
				after := take(b, r)
				b.StartTimer()
				takeBack(b, r, before, after)
			}
		})
	}
}
