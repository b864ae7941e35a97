package safetext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Newline is the mark of a line break within a line.
const Newline = "‹newline›"

// leastMark is the length of the shortest mark of a cut.
const leastMark = 21 // "… ‹9 more characters›"

// Line renders s on one line for a label, and visibly cuts it after about max characters.
func Line(s string, max int) string { return line(s, max, false) }

// CodeLine is [Line] for a label in a monospaced font.
func CodeLine(s string, max int) string { return line(s, max, true) }

func line(s string, max int, monospaced bool) string {
	// Rendering shortens only runs, so a prefix of this size is enough for max characters of anything that
	// a label should show; the rest is only counted.
	head := s
	if limit := 8*max + 64; len(head) > limit {
		head = Prefix(head, limit)
	}
	var spans []Span
	whole := 0 // characters of all spans
	for i, l := range render(head, nativeScripts(head), monospaced) {
		if i > 0 {
			spans = append(spans, Span{Text: Newline, Kind: Run, Source: "\n"})
		}
		spans = append(spans, l.Spans...)
	}
	for _, span := range spans {
		whole += utf8.RuneCountInString(span.Text)
	}
	if len(head) == len(s) && whole <= max+leastMark { // a mark would be longer than what it hides
		max = whole
	}

	var b strings.Builder
	drawn, shown := 0, 0 // characters drawn, bytes of s shown by them
	for _, span := range spans {
		text, source := fit(span, max-drawn)
		b.WriteString(text)
		drawn += utf8.RuneCountInString(text)
		shown += source
		if source < len(span.Source) {
			break
		}
	}
	if shown < len(s) {
		return cut(&b, s[shown:])
	}
	return b.String()
}

func fit(span Span, room int) (string, int) {
	if utf8.RuneCountInString(span.Text) <= room {
		return span.Text, len(span.Source)
	}
	if span.Kind != Plain {
		return "", 0
	}
	n := 0
	for i := range span.Text {
		if n == room {
			return span.Text[:i], i
		}
		n++
	}
	return span.Text, len(span.Source)
}

func cut(b *strings.Builder, rest string) string {
	n := utf8.RuneCountInString(rest)
	fmt.Fprintf(b, "… ‹%d more %s›", n, plural(n, "character", "characters"))
	return b.String()
}

// Prefix returns the first n bytes of s, or fewer if that would split a character. s must have at least n bytes.
func Prefix(s string, n int) string {
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}

// Prose renders text for reading, not for execution: spaces of French and Chinese typography and Windows line ends
// look as intended, too. Everything else that is hidden is spelled out as by [Render]. The original cannot be restored
// from it.
func Prose(s string) []Row {
	rows := render(s, nativeScripts(s), false)
	for _, row := range rows {
		for i := range row.Spans {
			row.Spans[i] = prose(row.Spans[i])
		}
	}
	return rows
}

func prose(s Span) Span {
	switch s.Source {
	case "\t":
		return Span{Text: "    ", Source: s.Source}
	case "\u00A0", "\u202F", "\u3000":
		return Span{Text: " ", Source: s.Source}
	case "\r":
		if s.Kind == Run {
			return Span{Source: s.Source}
		}
	}
	if s.Kind == Run && len(s.Source) <= maxSpaces && strings.Trim(s.Source, " ") == "" {
		return Span{Text: s.Source, Source: s.Source}
	}
	return s
}
