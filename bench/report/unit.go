package report

import (
	"math"
	"strconv"
	"strings"
)

// Unit is what a figure counts.
type Unit string

// The units of figures. Each is a base unit: prefixes come when a figure is written for people.
const (
	Seconds   Unit = "s"
	Bytes     Unit = "B"
	Percent   Unit = "%" // of one core
	PerMinute Unit = "/min"
	Count     Unit = ""
)

// prefix is a part or a multiple of a base unit.
type prefix struct {
	scale float64
	name  string
}

var prefixes = map[Unit][]prefix{
	Seconds: {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}},
	Bytes:   {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}},
}

// Format writes a value for people: with three digits that count, in the prefix that suits it.
func (u Unit) Format(value float64) string {
	all := prefixes[u]
	for i, p := range all {
		if math.Abs(value) >= p.scale || i == len(all)-1 {
			return digits(value/p.scale) + " " + p.name
		}
	}
	switch u {
	case Count:
		return digits(value)
	case Percent:
		return short(value, 2) + " %"
	}
	return digits(value) + string(u)
}

// digits writes three digits that count, and all of those before the point.
func digits(value float64) string { return short(value, 2-magnitude(value)) }

// magnitude is the power of ten of the first digit that counts.
func magnitude(value float64) int {
	if value == 0 {
		return 0
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'e', 2, 64), 64) // as it is written
	return int(math.Floor(math.Log10(math.Abs(rounded))))
}

// short writes up to so many digits after the point, and no zeros at the end of them.
func short(value float64, after int) string {
	text := strconv.FormatFloat(value, 'f', max(0, after), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// times writes a ratio as people say it: 8×, 0.5×, 1/300.
func times(ratio float64) string {
	if ratio < 0.1 {
		parts := 1 / ratio
		rounding := math.Pow(10, float64(max(0, magnitude(parts)-1)))
		return "1/" + short(math.Round(parts/rounding)*rounding, 0)
	}
	return short(ratio, 1-magnitude(ratio)) + "×"
}
