//go:build linux

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the windows may have of memory that is theirs alone, in MiB: with an ordinary prompt open, of which 60 was
// measured, and after large ones beyond what they had before, of which 13 was, and 30 when nothing is given back.
const (
	mostWithPrompt = 80
	mostKept       = 20
	largeInput     = 16_000 // lines of an input of almost a mebibyte
)

// TestMemoryIsGivenBack shows a prompt of a mebibyte, after an ordinary one: what it took is given back.
func TestMemoryIsGivenBack(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	n.hasAtMost(mostWithPrompt)
	n.affirm()
	c.wants("allow", 0)
	n.noWindow()
	before := n.private()

	var text strings.Builder
	for i := range largeInput {
		fmt.Fprintf(&text, "line %d of a large file, all different: %x\\n", i, i*i)
	}
	for range 2 {
		ctx, withdraw := context.WithCancel(n.ctx)
		over := make(chan struct{})
		go func() {
			n.post(ctx, "/v1/approve", `{"tool":"Write","input":{"file_path":"large.txt","content":"`+text.String()+`"}}`)
			close(over)
		}()
		n.prompt()
		n.press("End")
		n.shot("large")
		t.Logf("%.0f MiB before, %.0f with the large prompt", before, n.private())
		withdraw()
		<-over
		n.noWindow()
	}
	n.hasAtMost(before + mostKept)
	t.Logf("%.0f MiB after", n.private())
}

// hasAtMost waits until the windows have so much memory of their own, in MiB.
func (n *nod) hasAtMost(most float64) {
	n.t.Helper()
	for n.private() > most {
		select {
		case <-time.After(lookAgain):
		case <-n.ctx.Done():
			n.t.Fatalf("the windows have %.0f MiB of their own, more than %.0f", n.private(), most)
		}
	}
}

// private is the memory that the windows have changed and share with nobody, in MiB.
func (n *nod) private() float64 {
	n.t.Helper()
	for line := range strings.Lines(n.proc(n.windowsProcess(), "smaps_rollup")) {
		if value, ok := strings.CutPrefix(line, "Private_Dirty:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			must(n.t, err)
			return kib / 1024
		}
	}
	n.t.Fatal("no Private_Dirty")
	return 0
}
