package shell

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkAnalyze(b *testing.B) {
	for _, bb := range []struct{ name, command string }{
		{"short", "ls -la src"},
		{"pipeline", "grep -rn --include='*.go' foo src 2>/dev/null | sort | head -20"},
		{"git", "git log --oneline -20 --format='%h %s'"},
		{"refused", "rm -rf build && go test ./..."},
		{"long", strings.Repeat("cat -n src/main.go | head -n 20; ", 24) + "echo " +
			strings.Repeat("'a long quoted text of words' ", 290)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.command)))
			b.ReportAllocs()
			for b.Loop() {
				Analyze(bb.command)
			}
		})
	}
}

// A line of 10,000 bytes takes at most 50 ms, whatever stands in it.
func BenchmarkCost(b *testing.B) {
	for i, tower := range towers {
		line := tower.line()
		b.Run(fmt.Sprint(i), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Analyze(line)
			}
		})
	}
}
