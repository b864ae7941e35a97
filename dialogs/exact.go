package dialogs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"nod/dialogs/safetext"
)

const (
	// maxLabel is the number of characters that a label shows of a requester's text before the visible cut.
	maxLabel = 300
	// maxShownBytes and maxShownLines bound what a human can be asked to read. An input beyond them can be
	// denied or opened as a file, never allowed.
	maxShownBytes = 512 << 10
	maxShownLines = 10_000
	// maxTooLongLines is how much is shown of an input that is beyond them.
	maxTooLongLines = 200
)

// plainText makes one line of safe text for a label: what is hidden is spelled out, a cut is said.
func plainText(s string) string { return safetext.Line(s, maxLabel) }

// lineStyle is how a line of a [sheet] looks.
type lineStyle int

const (
	lineText    lineStyle = iota // the requester's text
	lineAdded                    // a line that will be new
	lineRemoved                  // a line that will go
	lineTitle                    // the requester's text, big: the host of a URL
	lineKey                      // the name of a field
	lineNote                     // nod's own words, in a face that a requester's text never has
	lineRule                     // a thin line between two parts, with nod's own words when there are any
)

// sheetLine is one line of a sheet, before it is wrapped.
type sheetLine struct {
	lead  string          // to the left of the text, where no text of a requester gets: numbers, + and -
	spans []safetext.Span // the text
	style lineStyle
	end   string // what a copy has after the line: the line break of the original
}

// note is a line of nod's own words.
func note(text string) sheetLine {
	return sheetLine{style: lineNote, spans: []safetext.Span{{Text: text}}, end: "\n"}
}

// rule parts what is above from what is below.
func rule(title string) sheetLine {
	return sheetLine{style: lineRule, spans: []safetext.Span{{Text: title}}}
}

// numbered shows text exactly, its lines numbered from 1.
func numbered(text string, style lineStyle) []sheetLine {
	rendered := safetext.Render(text)
	width := len(strconv.Itoa(countLines(rendered)))
	lines := make([]sheetLine, len(rendered))
	number := 1
	for i, l := range rendered {
		lines[i] = sheetLine{lead: fmt.Sprintf("%*d ", width, number), spans: l.Spans, style: style, end: "\n"}
		number += l.Count
	}
	lines[len(lines)-1].end = ""
	return lines
}

// unnumbered shows text exactly behind lead, which continues as blanks.
func unnumbered(lead, text string, style lineStyle) []sheetLine {
	var lines []sheetLine
	for _, l := range safetext.Render(text) {
		lines = append(lines, sheetLine{lead: lead, spans: l.Spans, style: style, end: "\n"})
		lead = strings.Repeat(" ", utf8.RuneCountInString(lead))
	}
	lines[len(lines)-1].end = ""
	return lines
}

// countLines is the number of lines of the text that was rendered.
func countLines(lines []safetext.Row) int {
	n := 0
	for _, l := range lines {
		n += l.Count
	}
	return n
}

// tooLong cuts lines that are more than a human can be asked to read, and reports whether it did.
func tooLong(lines []sheetLine) ([]sheetLine, bool) {
	size := 0
	for _, l := range lines {
		size += l.size()
	}
	if size <= maxShownBytes && len(lines) <= maxShownLines {
		return lines, false
	}

	room := maxShownBytes / 16
	for i := range lines {
		if room -= lines[i].size(); room < 0 || i == maxTooLongLines {
			return append(lines[:i:i], note(tr("Too long to show. It goes on after this; nod cannot let it be allowed unread."))), true
		}
	}
	return lines, true
}

// size is the number of bytes that are drawn of l.
func (l sheetLine) size() int {
	n := 0
	for _, s := range l.spans {
		n += len(s.Text)
	}
	return n
}

// newRawView is the "whole input (JSON)" block: the input as it came, with line breaks and indentation
// between its parts. Within its parts nothing is changed. What is not JSON is shown as it is.
func newRawView(raw []byte) *sheet {
	return newSheet(numbered(prettyJSON(raw), lineText), string(raw))
}

// prettyJSON lays raw out. Only blanks between tokens differ from raw.
func prettyJSON(raw []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}
