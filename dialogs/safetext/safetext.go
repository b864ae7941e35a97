// Package safetext spells out what a text does not show.
package safetext

import "strconv"

// Line is s in one line.
func Line(s string, max int) string {
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}
