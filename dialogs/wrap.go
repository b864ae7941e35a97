package dialogs

import (
	"math"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"nod/dialogs/safetext"
)

type face struct {
	size  float32
	style fyne.TextStyle
	cell  float32 // width of a printable ASCII character; 0 if they differ
	other map[rune]float32
}

func newFace(size float32, style fyne.TextStyle) *face {
	f := &face{size: size, style: style, other: map[rune]float32{}}
	if style.Monospace {
		const sample = 64 // many, since the measured width is rounded
		f.cell = fyne.MeasureText(strings.Repeat("m", sample), size, style).Width / sample
	}
	return f
}

func (f *face) width(c rune) float32 {
	if f.cell > 0 && c < utf8.RuneSelf {
		return f.cell
	}
	w, known := f.other[c]
	if !known {
		w = fyne.MeasureText(string(c), f.size, styleOf(c, f.style)).Width
		f.other[c] = w
	}
	return w
}

// drop returns how much lower the base line of c is than that of ASCII if both lines have the same top.
func (f *face) drop(c rune) float32 {
	if c < utf8.RuneSelf {
		return 0
	}
	return (glyphOf(c, styleOf(c, f.style)).baseline - glyphOf('M', f.style).baseline) * f.size
}

func (f *face) measure(s string) float32 { return f.measureUpTo(s, math.MaxFloat32) }

func (f *face) measureUpTo(s string, limit float32) float32 {
	var w float32
	for _, c := range s {
		if w += f.width(c); w > limit {
			break
		}
	}
	return w
}

// height returns the height of a row, a whole number so that the backgrounds of rows meet.
func (f *face) height() float32 {
	return float32(math.Ceil(float64(fyne.MeasureText("M", f.size, f.style).Height))) + 2*rowAir
}

const rowAir = 1 // space above and below the text of a row

// wrapLine breaks spans so that each row fits into width. It returns the bytes of the drawn text at which the second
// and further rows start. A row ends after a blank if that fills it well, else within a word. A mark of nod is broken
// only if it alone is wider than a row.
func wrapLine(spans []safetext.Span, f *face, width float32) []int {
	var starts []int
	var x, filled float32 // width of the row so far, and up to the last blank
	end, blank := 0, -1   // of the span; after the last blank
	breakAt := func(at int, rest float32) {
		starts = append(starts, at)
		x, blank = rest, -1
	}
	for _, s := range spans {
		start := end
		end += len(s.Text)
		whole := f.measureUpTo(s.Text, width)
		if s.Kind != safetext.Plain && s.Kind != safetext.Suspicious && whole <= width {
			if x > 0 && x+whole > width {
				breakAt(start, 0)
			}
			x += whole
			continue
		}
		for at, c := range s.Text {
			w := f.width(c)
			hangs := c == ' ' && x <= width // there is room for its dot beyond the edge
			if x+w > width && x > 0 && !hangs {
				if blank >= 0 && filled >= width*goodFill {
					breakAt(blank, x-filled)
				} else {
					breakAt(start+at, 0)
				}
			}
			x += w
			if c == ' ' {
				blank, filled = start+at+1, x
			}
		}
	}
	return starts
}

const goodFill = 0.6
