// Package prompt computes the content of a prompt for every kind of display: the exact input line by line, with hidden
// characters spelled out, the facts that nod derives from it, and who wants what. It draws nothing.
package prompt

import (
	"strconv"

	"fyne.io/fyne/v2/lang"
)

// values fill the places of a translated sentence. A requester's text may be a value, never a key: keys are templates
// and would be executed.
type values map[string]any

// tr translates a sentence and fills in its [values].
var tr = lang.L

// Number writes a count as people do: 10,000.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
