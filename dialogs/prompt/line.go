package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"nod/dialogs/safetext"
	"nod/ipc/api"
)

const (
	// maxLabel is the number of characters that a label shows of a requester's text before the visible cut.
	maxLabel = 300
	// maxShownBytes and maxShownLines bound what a human can be asked to read. An input beyond them can be
	// denied or opened as a file, never allowed.
	MaxShownBytes = 512 << 10
	MaxShownLines = 10_000
	// maxTooLongLines is how much is shown of an input that is beyond them.
	maxTooLongLines = 200
)

// PlainText makes one line of safe text for a label: what is hidden is spelled out, a cut is said.
func PlainText(s string) string { return safetext.Line(s, maxLabel) }

// LineStyle is how a line of a [sheet] looks.
type LineStyle int

const (
	LineText    LineStyle = iota // the requester's text
	LineAdded                    // a line that will be new
	LineRemoved                  // a line that will go
	LineTitle                    // the requester's text, big: the host of a URL
	LineKey                      // the name of a field
	LineNote                     // nod's own words, in a face that a requester's text never has
	LineRule                     // a thin line between two parts, with nod's own words when there are any
	LineCut                      // stands for text that was left out because there is too much of it
)

// Line is one line of a sheet, before it is wrapped.
type Line struct {
	Lead  string          // to the left of the text, where no text of a requester gets: numbers, + and -
	Spans []safetext.Span // the text
	Style LineStyle

	Code *Code // that the text is a part of, for its colours; nil for none
	At   int   // where in code the text starts

	Inks    []Stretch // colours of what is drawn
	Changed []Stretch // words of what is drawn that come or go
}

// note is a line of nod's own words.
func note(text string) Line {
	return Line{Style: LineNote, Spans: []safetext.Span{{Text: text}}}
}

// Rule parts what is above from what is below.
func Rule(title string) Line {
	return Line{Style: LineRule, Spans: []safetext.Span{{Text: title}}}
}

// cutLine stands for the rest of a text that is too long to show: a sheet that has one is never seen in full.
var cutLine = Line{Style: LineCut}

// beginning is as much of text as is shown of one that is too long, and what stands for the rest of it.
func beginning(text string) (start string, rest []Line) {
	if len(text) <= MaxShownBytes {
		return text, nil
	}
	return safetext.Prefix(text, MaxShownBytes/16), []Line{cutLine}
}

// cut ends lines that are too many already. There is no use in making more of them.
func cut(lines []Line) (short []Line, full bool) {
	if len(lines) <= MaxShownLines {
		return lines, false
	}
	return append(lines, cutLine), true
}

// Numbered shows text exactly, its lines numbered from 1.
func Numbered(text string, style LineStyle) []Line {
	text, rest := beginning(text)
	rendered := safetext.Render(text)
	width := len(strconv.Itoa(strings.Count(text, "\n") + 1))
	lines := make([]Line, len(rendered))
	number := 1
	for i, l := range rendered {
		lines[i] = Line{Lead: fmt.Sprintf("%*d ", width, number), Spans: l.Spans, Style: style}
		number += l.Count
	}
	return append(lines, rest...)
}

// Unnumbered shows text exactly behind lead, which continues as blanks.
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

// TooLong cuts lines that are more than a human can be asked to read, and reports whether it did.
func TooLong(lines []Line) ([]Line, bool) {
	size, isCut := 0, false
	for _, l := range lines {
		size += l.Size()
		isCut = isCut || l.Style == LineCut
	}
	if !isCut && size <= MaxShownBytes && len(lines) <= MaxShownLines {
		return lines, false
	}

	shown, room := 0, MaxShownBytes/16
	for shown < min(len(lines), maxTooLongLines) && lines[shown].Style != LineCut && room >= lines[shown].Size() {
		room -= lines[shown].Size()
		shown++
	}
	end := note(tr("Too long to show in full, so it can't be allowed."))
	return append(lines[:shown:shown], end), true
}

// Size is the number of bytes that are drawn of l.
func (l Line) Size() int {
	n := 0
	for _, s := range l.Spans {
		n += len(s.Text)
	}
	return n
}

// RawLines is a whole input laid out as JSON, or as it came where that would be too long.
func RawLines(raw []byte) []Line {
	text, rest := prettyJSON(raw)
	return append(InCode(Numbered(text, LineText), "input.json", text), rest...)
}

// prettyJSON lays raw out. Only blanks between tokens differ from raw. What gets too long to be shown that way stays as
// it is, and rest says that it is too long.
func prettyJSON(raw []byte) (text string, rest []Line) {
	raw = bytes.TrimSpace(raw)
	if lines, size := indentedSize(raw); lines > MaxShownLines || size > MaxShownBytes {
		return string(raw), []Line{cutLine}
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", jsonIndent) != nil {
		return string(raw), nil
	}
	return b.String(), nil
}

const jsonIndent = "  "

// indentedSize is at least how many lines and bytes laying raw out would make of it: values within one another
// make that far more than raw has.
func indentedSize(raw []byte) (lines, size int) {
	for c, depth := range api.Structure(raw) {
		if strings.IndexByte("{[,", c) >= 0 {
			lines, size = lines+1, size+max(depth, 0)*len(jsonIndent)
		}
	}
	return lines, size + len(raw)
}

// Text is what is drawn of l.
func (l Line) Text() string { return safetext.Row{Spans: l.Spans}.String() }
