package dialogs

import "slices"

// seenRanges are the parts of a text that have been in view: disjoint half-open ranges of positions, in order.
type seenRanges []seenRange

type seenRange struct{ from, to int }

// add records that the positions from from up to, not including, to have been in view.
func (s *seenRanges) add(from, to int) {
	if from >= to {
		return
	}
	first, _ := slices.BinarySearchFunc(*s, from, func(r seenRange, from int) int { return r.to - from })
	last := first
	for last < len(*s) && (*s)[last].from <= to {
		from, to = min(from, (*s)[last].from), max(to, (*s)[last].to)
		last++
	}
	*s = slices.Replace(*s, first, last, seenRange{from, to})
}

// covers reports whether all positions before end have been in view.
func (s seenRanges) covers(end int) bool {
	return end == 0 || len(s) > 0 && s[0].from == 0 && s[0].to >= end
}

// reaches reports whether the position before end has been in view, whatever is above it.
func (s seenRanges) reaches(end int) bool {
	return end == 0 || slices.ContainsFunc(s, func(r seenRange) bool { return r.from < end && end <= r.to })
}

// firstGap returns the first position that has not been in view.
func (s seenRanges) firstGap() int {
	if len(s) == 0 || s[0].from > 0 {
		return 0
	}
	return s[0].to
}
