package dialogs

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
	lineCut                      // stands for text that was left out because there is too much of it
)

// sheetLine is one line of a sheet, before it is wrapped.
type sheetLine struct {
	lead  string          // to the left of the text, where no text of a requester gets: numbers, + and -
	spans []safetext.Span // the text
	style lineStyle

	code *code // that the text is a part of, for its colours; nil for none
	at   int   // where in code the text starts

	inks    []stretch // colours of what is drawn
	changed []stretch // words of what is drawn that come or go
}

// note is a line of nod's own words.
func note(text string) sheetLine {
	return sheetLine{style: lineNote, spans: []safetext.Span{{Text: text}}}
}

// rule parts what is above from what is below.
func rule(title string) sheetLine {
	return sheetLine{style: lineRule, spans: []safetext.Span{{Text: title}}}
}

// cutLine stands for the rest of a text that is too long to show: a sheet that has one is never seen in full.
var cutLine = sheetLine{style: lineCut}

// beginning is as much of text as is shown of one that is too long, and what stands for the rest of it.
func beginning(text string) (start string, rest []sheetLine) {
	if len(text) <= maxShownBytes {
		return text, nil
	}
	return safetext.Prefix(text, maxShownBytes/16), []sheetLine{cutLine}
}

// cut ends lines that are too many already. There is no use in making more of them.
func cut(lines []sheetLine) (short []sheetLine, full bool) {
	if len(lines) <= maxShownLines {
		return lines, false
	}
	return append(lines, cutLine), true
}

// numbered shows text exactly, its lines numbered from 1.
func numbered(text string, style lineStyle) []sheetLine {
	text, rest := beginning(text)
	rendered := safetext.Render(text)
	width := len(strconv.Itoa(strings.Count(text, "\n") + 1))
	lines := make([]sheetLine, len(rendered))
	number := 1
	for i, l := range rendered {
		lines[i] = sheetLine{lead: fmt.Sprintf("%*d ", width, number), spans: l.Spans, style: style}
		number += l.Count
	}
	return append(lines, rest...)
}

// unnumbered shows text exactly behind lead, which continues as blanks.
func unnumbered(lead, text string, style lineStyle) []sheetLine {
	var lines []sheetLine
	text, rest := beginning(text)
	blank := strings.Repeat(" ", utf8.RuneCountInString(lead))
	for _, l := range safetext.Render(text) {
		lines = append(lines, sheetLine{lead: lead, spans: l.Spans, style: style})
		lead = blank
	}
	return append(lines, rest...)
}

// tooLong cuts lines that are more than a human can be asked to read, and reports whether it did.
func tooLong(lines []sheetLine) ([]sheetLine, bool) {
	size, isCut := 0, false
	for _, l := range lines {
		size += l.size()
		isCut = isCut || l.style == lineCut
	}
	if !isCut && size <= maxShownBytes && len(lines) <= maxShownLines {
		return lines, false
	}

	shown, room := 0, maxShownBytes/16
	for shown < min(len(lines), maxTooLongLines) && lines[shown].style != lineCut && room >= lines[shown].size() {
		room -= lines[shown].size()
		shown++
	}
	end := note(tr("Too long to show in full, so it can't be allowed."))
	return append(lines[:shown:shown], end), true
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
	text, rest := prettyJSON(raw)
	lines := inCode(numbered(text, lineText), "input.json", text)
	return newSheet(append(lines, rest...), string(raw))
}

// prettyJSON lays raw out. Only blanks between tokens differ from raw. What gets too long to be shown that way stays as
// it is, and rest says that it is too long.
func prettyJSON(raw []byte) (text string, rest []sheetLine) {
	raw = bytes.TrimSpace(raw)
	if lines, size := indentedSize(raw); lines > maxShownLines || size > maxShownBytes {
		return string(raw), []sheetLine{cutLine}
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
