package language

import (
	"slices"
	"strings"
)

const (
	errSedLoop = refusal("The sed script may loop without end.")
	errSedGrow = refusal("The sed script may make its text endlessly long.")
)

// sedLoops refuses scripts that may never end. Lines are read from files, so that a loop ends in which each round
// reads one.
func sedLoops(script []sedCommand) error {
	for i, c := range script {
		switch {
		case c.name == 'D' && slices.ContainsFunc(script, addsLine):
			return errSedLoop // D starts over while a line is left
		case strings.IndexByte("btT", c.name) < 0:
			continue
		case slices.ContainsFunc(script, func(other sedCommand) bool {
			return other.name == ':' && other.toEnd == c.toEnd && c.toEnd != c.label
		}):
			return errSedLoop // for BSD, labels hold the commands behind them
		}
		for start, target := range script[:i] {
			if target.name == ':' && target.label == c.label && c.label != "" && !readsEachRound(script[start+1:i], c) {
				return errSedLoop
			}
		}
	}
	return nil
}

// addsLine reports whether a command may add a line to the text without reading one.
func addsLine(c sedCommand) bool { return strings.IndexByte("GgxH", c.name) >= 0 || c.breaks }

// readsEachRound reports whether the loop that back closes has read a line whenever it starts over: n and N end the
// script when there is none.
func readsEachRound(loop []sedCommand, back sedCommand) bool {
	reads := false
	for _, c := range loop {
		switch {
		case strings.IndexByte(":btTxgGhH", c.name) >= 0:
			return false
		case c.name != 'N' && c.name != 'n':
		case c.address == "" && isPrefix(c.block, back.block):
			reads = true
		case c.address == "$!" && back.address == "$!" && slices.Equal(c.block, back.block):
			reads = true // only the last line skips N, and then the branch as well
		}
	}
	return reads
}

func isPrefix(outer, inner []int) bool {
	return len(outer) <= len(inner) && slices.Equal(outer, inner[:len(outer)])
}

// size bounds a length by what it is made of: the line that was read, the pattern space that D left, and the hold
// space, each at the start of the cycle.
type size struct{ line, left, hold float64 }

func (a size) plus(b size) size { return size{a.line + b.line, a.left + b.left, a.hold + b.hold} }

func (a size) times(f float64) size { return size{a.line * f, a.left * f, a.hold * f} }

func (a size) or(b size) size {
	return size{max(a.line, b.line), max(a.left, b.left), max(a.hold, b.hold)}
}

// maxGrowth is how many times longer than what it read the text may get.
const maxGrowth = 1 << 12

// sedGrowth follows the sizes of pattern and hold space through a cycle. Any command may be skipped. From one cycle to
// the next they may grow by lines only, not by a factor.
func sedGrowth(script []sedCommand) error {
	space, hold := size{line: 1}, size{hold: 1}
	if slices.ContainsFunc(script, func(c sedCommand) bool { return c.name == 'D' }) {
		space.left = 1
	}
	kept, jumps, labels := size{}, branches(script), firstLabels(script)
	for i, c := range script {
		before, held := space, hold
		switch c.name {
		case 'H':
			hold = hold.plus(space)
		case 'h':
			hold = space
		case 'G':
			space = space.plus(hold)
		case 'g':
			space = hold
		case 'x':
			space, hold = hold, space
		case 'N':
			space = space.plus(size{line: 1})
		case 'n':
			space = size{line: 1}
		case 's':
			if c.factor > 1 && insideLoop(script, i, labels) {
				return errSedGrow
			}
			space = space.times(c.factor)
		case 'D':
			kept = kept.or(space)
		}
		if c.address != "" || len(c.block) > 0 || c.name == 's' || jumps {
			space, hold = space.or(before), hold.or(held)
		}
		kept = kept.or(size{hold: hold.hold, left: hold.left})
		if max(space.line, space.left, space.hold, hold.line) > maxGrowth {
			return errSedGrow
		}
	}
	if kept.hold > 1 || kept.left > 1 {
		return errSedGrow
	}
	return nil
}

func branches(script []sedCommand) bool {
	return slices.ContainsFunc(script, func(c sedCommand) bool { return strings.IndexByte("btT", c.name) >= 0 })
}

// firstLabels says where each label comes first.
func firstLabels(script []sedCommand) map[string]int {
	out := map[string]int{}
	for i, c := range script {
		if _, ok := out[c.label]; c.name == ':' && !ok {
			out[c.label] = i
		}
	}
	return out
}

// insideLoop reports whether command i stands between a label and a branch back to it.
func insideLoop(script []sedCommand, i int, labels map[string]int) bool {
	return slices.ContainsFunc(script[i:], func(c sedCommand) bool {
		at, ok := labels[c.label]
		return ok && at < i && c.name != ':'
	})
}
