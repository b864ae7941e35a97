package prompt

import (
	"path"
	"slices"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"nod/dialogs/safetext"
)

const ShellCode = "sh -c"

// Code is a text in a programming language. Lines show parts of it. The language determines only colours.
type Code struct {
	Name string // of a file, or ShellCode
	Text string
}

// Stretch is a range of a text, and its colour if it has one.
type Stretch struct {
	From, To int
	Ink      fyne.ThemeColorName
}

// inCode marks lines as text from its first line on, in the language of a file called name.
func inCode(lines []Line, name, text string) []Line {
	c := &Code{Name: name, Text: text}
	at := 0
	for i := range lines {
		lines[i].Code, lines[i].At = c, at
		at += lines[i].sourceSize() + 1
	}
	return lines
}

func (l Line) sourceSize() int {
	n := 0
	for _, s := range l.Spans {
		n += len(s.Source)
	}
	return n
}

// Join appends s to stretches, or extends the last one if it touches s and has the same colour.
func Join(all []Stretch, s Stretch) []Stretch {
	if n := len(all); n > 0 && all[n-1].To >= s.From && all[n-1].Ink == s.Ink {
		all[n-1].To = max(all[n-1].To, s.To)
		return all
	}
	return append(all, s)
}

// Colours returns the colours of lines, which inks finds in the code that they are part of.
func Colours(lines []Line, inks func(Code) []Stretch) [][]Stretch {
	read := map[*Code][]Stretch{}
	drawn := make([][]Stretch, len(lines))
	for i, l := range lines {
		if l.Code == nil {
			continue
		}
		all, known := read[l.Code]
		if !known {
			if all = inks(*l.Code); !fits(all, l.Code.Text) {
				all = nil
			}
			read[l.Code] = all
		}
		drawn[i] = drawnAt(l.Spans, Within(all, l.At, l.At+l.sourceSize()))
	}
	return drawn
}

// Within returns the parts of the ordered stretches between two positions, relative to from.
func Within(all []Stretch, from, to int) []Stretch {
	i, _ := slices.BinarySearchFunc(all, from, func(s Stretch, from int) int { return s.To - from - 1 })
	var part []Stretch
	for ; i < len(all) && all[i].From < to; i++ {
		s := all[i]
		part = append(part, Stretch{From: max(s.From, from) - from, To: min(s.To, to) - from, Ink: s.Ink})
	}
	return part
}

// drawnAt converts stretches of the original of spans to stretches of the drawn text. A span that is not drawn
// literally is in a stretch either completely or not at all.
func drawnAt(spans []safetext.Span, of []Stretch) []Stretch {
	var drawn []Stretch
	source, at := 0, 0
	for _, s := range spans {
		for len(of) > 0 && of[0].To <= source {
			of = of[1:]
		}
		for _, part := range of {
			from, to := max(part.From-source, 0), min(part.To-source, len(s.Source))
			if from >= to {
				break
			}
			if s.Text != s.Source {
				from, to = 0, len(s.Text)
			}
			drawn = Join(drawn, Stretch{at + from, at + to, part.Ink})
		}
		source, at = source+len(s.Source), at+len(s.Text)
	}
	return drawn
}

// fits reports whether stretches are in order and split no character of text.
func fits(inks []Stretch, text string) bool {
	at := 0
	for _, s := range inks {
		if s.From < at || s.To <= s.From || s.To > len(text) || !utf8.RuneStart(text[s.From]) ||
			s.To < len(text) && !utf8.RuneStart(text[s.To]) {
			return false
		}
		at = s.To
	}
	return true
}

func isForShell(words []string, i int) bool {
	shells := []string{"bash", "sh", "zsh", "dash", "ksh"}
	return i == 2 && slices.Contains(shells, path.Base(words[0])) && slices.Contains([]string{"-c", "-lc"}, words[1])
}
