package dialogs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	godiff "github.com/rogpeppe/go-internal/diff"

	"nod/dialogs/safetext"
)

const diffContext = 3 // unchanged lines around a change

// diff is what becomes of a text, line by line.
type diff struct {
	old, new []string // with their line breaks
	signs    string   // of each line: ' ' for one in both texts, '-' in the old one only, '+' in the new one only
}

// newDiff compares two texts. It takes little longer than reading them, whatever is in them, and in return not always
// finds the smallest difference.
func newDiff(before, after string) diff {
	d := diff{old: splitLines(before), new: splitLines(after)}
	var signs strings.Builder
	done := 0 // lines of the old text
	add := func(sign string, count int) {
		signs.WriteString(strings.Repeat(sign, count))
		if sign != "+" {
			done += count
		}
	}
	const head = 3 // lines that name the texts
	lines := strings.SplitAfter(string(godiff.Diff("", []byte(before), "", []byte(after))), "\n")
	for _, line := range lines[min(head, len(lines)-1):] {
		switch {
		case strings.HasPrefix(line, "@"):
			add(" ", hunkStart(line)-done)
		case line != "" && strings.Contains(" -+", line[:1]):
			add(line[:1], 1)
		}
	}
	add(" ", len(d.old)-done)
	d.signs = signs.String()
	return d
}

// counts are the numbers of lines that come and go.
func (d diff) counts() (added, removed int) {
	return strings.Count(d.signs, "+"), strings.Count(d.signs, "-")
}

// splitLines splits text after its line breaks.
func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

// hunkStart is how many lines of the old text are in front of the hunk with that header.
func hunkStart(header string) int {
	var start, count int
	if _, err := fmt.Sscanf(header, "@@ -%d,%d", &start, &count); err != nil {
		panic(fmt.Sprintf("hunk %q: %v", header, err)) // the library's own words
	}
	if count > 0 {
		start--
	}
	return start
}

// lines shows d as a unified diff: line numbers before and after, a sign, and a note in place of unchanged
// lines that are left out.
func (d diff) lines() []sheetLine {
	return d.write(len(strconv.Itoa(max(len(d.old), len(d.new)))))
}

// whole shows d without leaving anything out, for pieces of a file whose line numbers nobody knows.
func (d diff) whole() []sheetLine { return d.write(0) }

// write shows d with line numbers of that width; without any, and then nothing left out, when it is 0.
func (d diff) write(width int) []sheetLine {
	context := safetext.ContextOf(strings.Join(d.old, "") + strings.Join(d.new, ""))
	var out []sheetLine
	i, j := 0, 0 // lines of either text that are done
	for at, full := 0, false; at < len(d.signs) && !full; at++ {
		if width > 0 {
			if n := d.farFromChange(at); n > 1 { // one line takes no more room than saying that it is left out
				out = append(out, rule(tr("{{.Lines}} unchanged lines", values{"Lines": n})))
				i, j, at = i+n, j+n, at+n-1
				continue
			}
		}
		var text, before, after string
		if d.signs[at] != '+' {
			text, i = d.old[i], i+1
			before = strconv.Itoa(i)
		}
		if d.signs[at] != '-' {
			text, j = d.new[j], j+1
			after = strconv.Itoa(j)
		}
		lead := d.signs[at:at+1] + " "
		if width > 0 {
			lead = fmt.Sprintf("%*s %*s %s", width, before, width, after, lead)
		}
		spans := context.Render(text)[0].Spans
		out = append(out, sheetLine{lead: lead, spans: spans, style: signStyles[d.signs[at]]})
		if width > 0 && !strings.HasSuffix(text, "\n") {
			out = append(out, note(tr("no line break at the end")))
		}
		out, full = cut(out)
	}
	return out
}

var signStyles = map[byte]lineStyle{'+': lineAdded, '-': lineRemoved}

// farFromChange counts the lines from there on that are not near any that comes or goes.
func (d diff) farFromChange(from int) int {
	if from > 0 && strings.Trim(d.signs[max(from-diffContext, 0):from], " ") != "" {
		return 0
	}
	n := strings.IndexAny(d.signs[from:], "+-")
	if n < 0 {
		return len(d.signs) - from
	}
	return max(n-diffContext, 0)
}

// patchLines shows the text of a patch exactly, coloured by the sign in front of its lines.
func patchLines(text string) []sheetLine {
	lines := wholeLines(text)
	for i, l := range lines {
		if shown := l.text(); shown != "" && l.style == lineText {
			lines[i].style = signStyles[shown[0]]
			if hasAnyPrefix(shown, "+++ ", "--- ", "*** ", "@@") {
				lines[i].style = lineKey
			}
		}
	}
	return lines
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
