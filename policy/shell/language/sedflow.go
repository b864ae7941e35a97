package language

import (
	"slices"
	"strings"
)

const (
	errSedLoop = refusal("The sed script may loop without end.")
	errSedGrow = refusal("The sed script may make its text endlessly long.")
)

// sedLoop is a label and a branch back to it, by their places in the script.
type sedLoop struct{ label, branch int }

// sedLoops finds the loops of a script and refuses those that may never end. Lines are read from files, so that a loop
// ends in which each round reads one.
func sedLoops(script []sedCommand) ([]sedLoop, error) {
	if hasCommand(script, "D") && slices.ContainsFunc(script, addsLine) {
		return nil, errSedLoop // D starts over while a line is left
	}
	var loops []sedLoop
	for i, c := range script {
		if !c.is("btT") {
			continue
		}
		for at, target := range script {
			switch {
			case target.name != ':':
			case target.toEnd == c.toEnd && c.toEnd != c.label:
				return nil, errSedLoop // for BSD, labels hold the commands behind them
			case at < i && target.label == c.label && !readsEachRound(script[at+1:i], c):
				return nil, errSedLoop
			case at < i && target.label == c.label:
				loops = append(loops, sedLoop{at, i})
			}
		}
	}
	return loops, nil
}

// is reports whether it is one of the commands.
func (c sedCommand) is(names string) bool { return strings.IndexByte(names, c.name) >= 0 }

func hasCommand(script []sedCommand, names string) bool {
	return slices.ContainsFunc(script, func(c sedCommand) bool { return c.is(names) })
}

// addsLine reports whether a command may add a line to the text without reading one.
func addsLine(c sedCommand) bool { return c.is("GgxH") || c.breaks }

// readsEachRound reports whether the loop that back closes has read a line whenever it starts over: n and N end the
// script when there is none.
func readsEachRound(loop []sedCommand, back sedCommand) bool {
	reads := false
	for _, c := range loop {
		switch {
		case c.is(":btTxgGhH"):
			return false
		case !c.is("Nn"):
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

// perLine stands for all lines, where a script prints them again for each of them.
const perLine = 32

// sedGrowth follows the sizes of pattern and hold space through a cycle. Any command may be skipped. From one cycle to
// the next they may grow by lines only, not by a factor. It returns how many times longer than a line what is printed
// for it may be.
func sedGrowth(script []sedCommand, loops []sedLoop) (most float64, err error) {
	space, hold := size{line: 1}, size{hold: 1}
	if hasCommand(script, "D") {
		space.left = 1
	}
	kept, jumps := size{}, hasCommand(script, "btT")
	prints := 1.0
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
			inside := func(l sedLoop) bool { return l.label < i && i < l.branch }
			if c.factor > 1 && slices.ContainsFunc(loops, inside) {
				return 0, errSedGrow
			}
			space = space.times(c.factor)
		case 'D':
			kept = kept.or(space)
		case 'p', 'P':
			prints++
		case 'l':
			prints += 4 // a byte is \ and three digits
		case 'r':
			prints += perLine
		}
		if c.address != "" || len(c.block) > 0 || c.name == 's' || jumps {
			space, hold = space.or(before), hold.or(held)
		}
		kept = kept.or(size{hold: hold.hold, left: hold.left})
		if most = max(most, space.line, space.left, space.hold, hold.line); most > maxGrowth {
			return 0, errSedGrow
		}
	}
	if kept.hold > 1 || kept.left > 1 {
		return 0, errSedGrow
	}
	if hasCommand(script, "Hh") && hasCommand(script, "Gg") {
		prints *= perLine
	}
	return most * prints, nil
}
