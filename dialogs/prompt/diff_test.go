package prompt

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What a difference keeps, removes and adds makes up both texts, whatever is in them.
func TestDiffMakesUpBothTexts(t *testing.T) {
	pieces := []string{"a\n", "b\n", "c\n", "\n", "@@ -1,2 +3,4 @@\n", "--- a\n", "+++ b\n",
		"\\ No newline at end of file\n", "-\n", "+x\n", "\r\n"}
	ends := []string{"", "a", "\\ No newline at end of file", "\xff"}
	random := rand.New(rand.NewPCG(1, 2))
	some := func() string {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String() + ends[random.IntN(len(ends))]
	}
	for range 20_000 {
		before, after := some(), some()
		if random.IntN(3) == 0 {
			after = before + after
		}
		d := NewDiff(before, after)
		var old, fresh strings.Builder
		i, j := 0, 0
		for at, sign := range d.signs {
			if sign == ' ' && d.old[i] != d.new[j] {
				t.Fatalf("%q to %q: line %d is not the same in both", before, after, at)
			}
			if sign != '+' {
				old.WriteString(d.old[i])
				i++
			}
			if sign != '-' {
				fresh.WriteString(d.new[j])
				j++
			}
		}
		if old.String() != before || fresh.String() != after {
			t.Fatalf("%q to %q: makes up %q and %q", before, after, old.String(), fresh.String())
		}
	}
}
