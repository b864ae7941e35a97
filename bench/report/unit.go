package report

import (
	"math"
	"strconv"
)

// Unit is what a figure counts.
type Unit string

// The units of figures. Each is a base unit: prefixes come when a figure is written for people.
const (
	Seconds   Unit = "s"
	Bytes     Unit = "B"
	Percent   Unit = "%" // of one core
	PerMinute Unit = "/min"
	PerSecond Unit = "/s"
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
		return digits(value) + " %"
	}
	return digits(value) + string(u)
}

// digits writes three digits that count, and all of those before the point.
func digits(value float64) string {
	if value == 0 {
		return "0"
	}
	const counting = 3
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'e', counting-1, 64), 64) // as it was just written
	before := int(math.Floor(math.Log10(math.Abs(rounded)))) + 1                          // the point, at least
	return strconv.FormatFloat(value, 'f', max(0, counting-before), 64)
}

// times writes a ratio.
func times(ratio float64) string { return "× " + digits(ratio) }
