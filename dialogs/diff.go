package dialogs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"nod/dialogs/safetext"
)

const (
	diffContext = 3 // unchanged lines around a change
	// maxDiffLines bounds the search for the smallest difference, whose time grows with the square. Beyond
	// it everything between the first and the last changed line counts as replaced, which is as true.
	maxDiffLines = 2000
)

// diff is what becomes of a text, line by line.
type diff struct {
	old, new       []string // with their line breaks
	codes          []difflib.OpCode
	added, removed int // lines
}

func newDiff(before, after string) diff {
	d := diff{old: splitLines(before), new: splitLines(after)}
	d.codes = opCodes(d.old, d.new)
	for _, c := range d.codes {
		if c.Tag != 'e' {
			d.removed += c.I2 - c.I1
			d.added += c.J2 - c.J1
		}
	}
	return d
}

// splitLines splits text after its line breaks.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// opCodes finds the changes from a to b. What they share at both ends is set aside first: an edit is small.
func opCodes(a, b []string) []difflib.OpCode {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}

	var codes []difflib.OpCode
	if head > 0 {
		codes = append(codes, difflib.OpCode{Tag: 'e', I2: head, J2: head})
	}
	codes = append(codes, changes(a[head:len(a)-tail], b[head:len(b)-tail], head)...)
	if tail > 0 {
		codes = append(codes, difflib.OpCode{Tag: 'e', I1: len(a) - tail, I2: len(a), J1: len(b) - tail, J2: len(b)})
	}
	return codes
}

// changes finds the changes from a to b, which start at line offset of both texts.
func changes(a, b []string, offset int) []difflib.OpCode {
	if len(a)+len(b) == 0 {
		return nil
	}
	codes := []difflib.OpCode{{Tag: 'r', I2: len(a), J2: len(b)}}
	if len(a)+len(b) <= maxDiffLines {
		codes = difflib.NewMatcherWithJunk(a, b, false, nil).GetOpCodes()
	}
	for i := range codes {
		codes[i].I1 += offset
		codes[i].I2 += offset
		codes[i].J1 += offset
		codes[i].J2 += offset
	}
	return codes
}

// lines shows d as a unified diff: line numbers before and after, a sign, and a note in place of unchanged
// lines that are left out.
func (d diff) lines() []sheetLine {
	w := diffWriter{diff: d, context: d.context(), width: len(strconv.Itoa(max(len(d.old), len(d.new))))}
	for i, c := range d.codes {
		if c.Tag == 'e' {
			w.unchanged(c, i > 0, i < len(d.codes)-1)
			continue
		}
		w.write('-', c.I1, c.I2, 0)
		w.write('+', c.J1, c.J2, 0)
	}
	return w.out
}

// whole shows d without leaving anything out, for pieces of a file whose line numbers nobody knows.
func (d diff) whole() []sheetLine {
	w := diffWriter{diff: d, context: d.context()}
	for _, c := range d.codes {
		if c.Tag == 'e' {
			w.write(' ', c.I1, c.I2, 0)
			continue
		}
		w.write('-', c.I1, c.I2, 0)
		w.write('+', c.J1, c.J2, 0)
	}
	return w.out
}

func (d diff) context() safetext.Context {
	return safetext.ContextOf(strings.Join(d.old, "") + strings.Join(d.new, ""))
}

type diffWriter struct {
	diff
	context safetext.Context
	width   int // of a line number; 0: none
	out     []sheetLine
}

// unchanged writes the unchanged lines next to a change, and leaves out the others.
func (w *diffWriter) unchanged(c difflib.OpCode, after, before bool) {
	head, tail := c.I1, c.I2
	if after {
		head = min(c.I1+diffContext, c.I2)
	}
	if before {
		tail = max(c.I2-diffContext, head)
	}
	if tail-head == 1 {
		head = tail // the line itself takes no more room than saying that it is left out
	}
	shift := c.J1 - c.I1
	w.write(' ', c.I1, head, shift)
	if n := tail - head; n > 0 {
		w.out = append(w.out, rule(tr("{{.Lines}} unchanged lines", values{"Lines": n})))
	}
	w.write(' ', tail, c.I2, shift)
}

// write writes the lines from to to of the old text, of the new one when they are added. An unchanged line
// has shift more in front of it after the change.
func (w *diffWriter) write(sign byte, from, to, shift int) {
	lines, style := w.old, lineText
	switch sign {
	case '+':
		lines, style = w.new, lineAdded
	case '-':
		style = lineRemoved
	}
	for i := from; i < to; i++ {
		row := w.context.Render(lines[i])[0]
		w.out = append(w.out, sheetLine{lead: w.lead(sign, i+1, shift), spans: row.Spans, style: style, end: "\n"})
		if w.width > 0 && !strings.HasSuffix(lines[i], "\n") {
			w.out = append(w.out, note(tr("no line break at the end")))
		}
	}
}

// lead is what stands left of a line: its number before, its number after, and the sign.
func (w *diffWriter) lead(sign byte, number, shift int) string {
	if w.width == 0 {
		return string(sign) + " "
	}
	before, after := strconv.Itoa(number), strconv.Itoa(number+shift)
	switch sign {
	case '+':
		before = ""
	case '-':
		after = ""
	}
	return fmt.Sprintf("%*s %*s %c ", w.width, before, w.width, after, sign)
}

// patchLines shows the text of a patch exactly, coloured by the sign in front of its lines.
func patchLines(text string) []sheetLine {
	context := safetext.ContextOf(text)
	var lines []sheetLine
	for i, l := range splitLines(text) {
		style := lineText
		switch {
		case strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "*** "), strings.HasPrefix(l, "@@"):
			style = lineKey
		case strings.HasPrefix(l, "+"):
			style = lineAdded
		case strings.HasPrefix(l, "-"):
			style = lineRemoved
		}
		lines = append(lines, sheetLine{
			lead: fmt.Sprintf("%*d ", len(strconv.Itoa(strings.Count(text, "\n")+1)), i+1), spans: context.Render(l)[0].Spans, style: style, end: "\n",
		})
	}
	return lines
}
