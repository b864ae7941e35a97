package language

import (
	"math"
	"strconv"
	"strings"
)

const (
	maxLines  = 1_000_000
	maxOutput = 10 << 20 // bytes
)

// Seq judges seq with its one to three numbers and the values of -s and -t joined. It may print up to 1,000,000 lines
// and 10 MB. BSD counts down where GNU prints nothing.
func Seq(numbers []string, separators string) error {
	if len(numbers) == 0 || len(numbers) > 3 {
		return refusal("seq takes one to three numbers.")
	}
	values, width := []float64{}, 0
	for _, n := range numbers {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil || !decimal().MatchString(n) {
			return refusal("It counts with " + Quote(n) + ", which may never end.")
		}
		values, width = append(values, v), width+len(n)
	}
	first, step, last := 1.0, 1.0, values[len(values)-1]
	if len(values) > 1 {
		first = values[0]
	}
	if len(values) > 2 {
		step = values[1]
	}
	lines := math.Abs((last-first)/step) + 1
	if step == 0 || !(lines <= maxLines) || lines*float64(width+len(separators)+1) > maxOutput {
		return refusal("It prints more than a million lines or ten megabytes.")
	}
	return nil
}

// Date judges the operand of date. One that is no +FORMAT sets the clock.
func Date(operand string) error {
	if !strings.HasPrefix(operand, "+") {
		return refusal("An operand of date that does not start with + sets the clock.")
	}
	return timeFormat(operand[1:])
}
