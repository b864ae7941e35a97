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

// Seq judges seq with its one to three numbers, the values of -s and -t joined, and the value of -f. It may print up to
// 1,000,000 lines and 10 MB. BSD counts down where GNU prints nothing.
func Seq(numbers []string, separators, format string) error {
	if len(numbers) == 0 || len(numbers) > 3 {
		return refusal("seq takes one to three numbers.")
	}
	values, width := []float64{}, 0
	for _, n := range numbers {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil || !decimal().MatchString(n) {
			return refusal("It counts with " + quote(n) + ", which may be endless.")
		}
		values, width = append(values, v), width+len(n)
	}
	if err := Directives(format); err != nil {
		return err
	}
	if format != "" {
		width += len(format) + maxWidth*strings.Count(format, "%")
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

// Date judges the operands of date. One that is no +FORMAT sets the clock.
func Date(operands []string) error {
	for _, w := range operands {
		if !strings.HasPrefix(w, "+") {
			return refusal("An operand of date that does not start with + sets the clock.")
		}
		if err := TimeFormat(w[1:]); err != nil {
			return err
		}
	}
	return nil
}
