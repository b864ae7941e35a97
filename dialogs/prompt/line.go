package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"nod/api"
	"nod/dialogs/safetext"
)

const (
	// A label visibly cuts a requester's text after maxLabel characters, and an explanation after maxExplanation.
	maxLabel       = 300
	maxExplanation = 1000
	// maxShownBytes and maxShownLines limit what a user can be asked to read. More can be denied, never allowed.
	maxShownBytes   = 512 << 10
	maxShownLines   = 10_000
	maxTooLongLines = 200
)

// PlainText returns one safe line for a label, with hidden characters spelled out and a mark where it is cut.
func PlainText(s string) string { return safetext.Line(s, maxLabel) }

// Remark is [PlainText] for what an agent explains, where the blanks around it mean nothing.
func Remark(s string) string { return PlainText(strings.TrimSpace(s)) }

// Explanation is what an agent explains about an option, with its line breaks: a frame tells it from nod's own words.
func Explanation(s string) string {
	return strings.ReplaceAll(safetext.Line(strings.TrimSpace(s), maxExplanation), safetext.Newline, "\n")
}

// LineStyle is the look of a [Line].
type LineStyle int

const (
	LineText    LineStyle = iota // the requester's text
	LineAdded                    // an added line
	LineRemoved                  // a removed line
	LineTitle                    // the requester's text, large: the host of a URL
	LineKey                      // the name of a field
	LineNote                     // nod's words, in a font that a requester's text never has
	LineRule                     // a thin line between two parts, optionally with nod's words
	LineCut                      // in place of text that is too long to show
)

// Line is one line of a view, before it is wrapped.
type Line struct {
	Lead  string          // left of the text, never written by a requester: numbers, + and -
	Spans []safetext.Span // the text
	Style LineStyle

	Code *Code // contains the text, for its colours; may be nil
	At   int   // where the text starts in Code

	Inks    []Stretch // colours of the drawn text
	Changed []Stretch // changed words of the drawn text
}

func note(text string) Line {
	return Line{Style: LineNote, Spans: []safetext.Span{{Text: text}}}
}

func rule(title string) Line {
	return Line{Style: LineRule, Spans: []safetext.Span{{Text: title}}}
}

// cutLine represents the rest of a text that is too long to show. A view that has one never counts as read.
var cutLine = Line{Style: LineCut}

// beginning returns the shown part of a text that is too long, and the lines for the rest.
func beginning(text string) (start string, rest []Line) {
	if len(text) <= maxShownBytes {
		return text, nil
	}
	return safetext.Prefix(text, maxShownBytes/16), []Line{cutLine}
}

func cut(lines []Line) (short []Line, full bool) {
	if len(lines) <= maxShownLines {
		return lines, false
	}
	return append(lines, cutLine), true
}

func numbered(text string) []Line {
	text, rest := beginning(text)
	rendered := safetext.Render(text)
	width := len(strconv.Itoa(strings.Count(text, "\n") + 1))
	lines := make([]Line, len(rendered))
	number := 1
	for i, l := range rendered {
		lines[i] = Line{Lead: fmt.Sprintf("%*d ", width, number), Spans: l.Spans}
		number += l.Count
	}
	return append(lines, rest...)
}

// Unnumbered shows text exactly after lead; further lines start with blanks in its place.
func Unnumbered(lead, text string, style LineStyle) []Line {
	var lines []Line
	text, rest := beginning(text)
	blank := strings.Repeat(" ", utf8.RuneCountInString(lead))
	for _, l := range safetext.Render(text) {
		lines = append(lines, Line{Lead: lead, Spans: l.Spans, Style: style})
		lead = blank
	}
	return append(lines, rest...)
}

// TooLong cuts lines that are more than a user can be asked to read. It reports whether it did.
func TooLong(lines []Line) ([]Line, bool) {
	size, isCut := 0, false
	for _, l := range lines {
		size += len(l.Text())
		isCut = isCut || l.Style == LineCut
	}
	if !isCut && size <= maxShownBytes && len(lines) <= maxShownLines {
		return lines, false
	}

	shown, room := 0, maxShownBytes/16
	for shown < min(len(lines), maxTooLongLines) && lines[shown].Style != LineCut && room >= len(lines[shown].Text()) {
		room -= len(lines[shown].Text())
		shown++
	}
	end := note(tr("Too long to show in full, so you can't allow it."))
	return append(lines[:shown:shown], end), true
}

// RawLines shows a whole input as indented JSON, or unchanged if that would be too long.
func RawLines(raw []byte) []Line {
	text, rest := prettyJSON(raw)
	return append(inCode(numbered(text), "input.json", text), rest...)
}

// prettyJSON indents raw. If the result would be too long, raw stays unchanged, and rest says so.
func prettyJSON(raw []byte) (text string, rest []Line) {
	raw = bytes.TrimSpace(raw)
	if lines, size := indentedSize(raw); lines > maxShownLines || size > maxShownBytes {
		return string(raw), []Line{cutLine}
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", jsonIndent) != nil {
		return string(raw), nil
	}
	return b.String(), nil
}

const jsonIndent = "  "

// indentedSize returns a lower bound for the lines and bytes of raw when indented.
func indentedSize(raw []byte) (lines, size int) {
	for c, depth := range api.Structure(raw) {
		if strings.IndexByte("{[,", c) >= 0 {
			lines, size = lines+1, size+max(depth, 0)*len(jsonIndent)
		}
	}
	return lines, size + len(raw)
}

func (l Line) Text() string { return safetext.Row{Spans: l.Spans}.String() }
