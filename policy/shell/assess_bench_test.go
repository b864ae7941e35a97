package shell

import (
	"fmt"
	"strings"
	"testing"
)

// A long command is assessed in a time that grows with its length alone.
func BenchmarkAssess(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		for name, line := range map[string]string{"same": "rm -rf ~/x; ", "others": "p%d ~/x; ", "flood": "x; "} {
			var text strings.Builder
			for i := range n {
				if strings.Contains(line, "%") {
					fmt.Fprintf(&text, line, i)
				} else {
					text.WriteString(line)
				}
			}
			b.Run(fmt.Sprintf("%s-%d", name, n), func(b *testing.B) {
				for b.Loop() {
					Assess(text.String())
				}
			})
		}
	}
}
