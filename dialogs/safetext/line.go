package safetext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Line renders s in one line for a label. After about max characters it is cut, and says so.
func Line(s string, max int) string { return line(s, max, false) }

// CodeLine is [Line] for a label in monospaced letters.
func CodeLine(s string, max int) string { return line(s, max, true) }

func line(s string, max int, monospaced bool) string {
	// Rendering shortens only runs, so a prefix of this size is plenty for max characters of anything that
	// a label should show; the rest is counted, not rendered.
	head := s
	if limit := 8*max + 64; len(head) > limit {
		head = Prefix(head, limit)
	}

	var b strings.Builder
	drawn, shown := 0, 0 // characters drawn, bytes of s that they stand for
	for i, l := range ContextOf(head).render(head, monospaced) {
		if i > 0 {
			l.Spans = append([]Span{{Text: "‹newline›", Kind: Run, Source: "\n"}}, l.Spans...)
		}
		for _, span := range l.Spans {
			text, source := fit(span, max-drawn)
			b.WriteString(text)
			drawn += utf8.RuneCountInString(text)
			shown += source
			if source < len(span.Source) {
				return cut(&b, s[shown:])
			}
		}
	}
	if shown < len(s) {
		return cut(&b, s[shown:])
	}
	return b.String()
}

// fit returns as much of span as room allows, and how many bytes of its source that is.
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

// Prefix returns the first n bytes of s, which is at least as long, less when that would cut a character.
func Prefix(s string, n int) string {
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}

// Prose renders a text that is a sentence to a human, not something to be acted on: the spaces of French and
// Chinese typography, line ends of Windows and joined emoji show the way their writer meant them. Everything
// else that is hidden is spelled out as [Render] does. It does not lead back to the original.
func Prose(s string) []Row {
	rows := ContextOf(s).render(s, false)
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
	if s.Kind != Run {
		return s
	}
	c, size := utf8.DecodeRuneInString(s.Source)
	joint := size == len(s.Source) && emojiJoint(c)
	blanks := len(s.Source) <= maxSpaces && strings.Trim(s.Source, " ") == ""
	if joint || blanks {
		return Span{Text: s.Source, Source: s.Source}
	}
	return s
}
