package prompt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	godiff "github.com/rogpeppe/go-internal/diff"

	"nod/dialogs/safetext"
	"nod/policy/shell/language"
)

const diffContext = 3 // unchanged lines around a change

// diff is the change of a text, line by line.
type diff struct {
	old, new []string // including line breaks
	signs    string   // one per line: ' ' in both texts, '-' only in the old one, '+' only in the new one
	hunks    string   // of a unified diff

	starts map[int][2]int // of a recorded diff: the numbers with which a hunk starts, by index in signs
}

// NewDiff compares two texts in nearly linear time. The difference is not always the smallest one.
func NewDiff(before, after string) diff {
	d := diff{old: slices.Collect(strings.Lines(before)), new: slices.Collect(strings.Lines(after))}
	var signs strings.Builder
	done := 0 // lines of the old text
	add := func(sign string, count int) {
		signs.WriteString(strings.Repeat(sign, count))
		if sign != "+" {
			done += count
		}
	}
	const head = 3 // lines that name the texts
	d.hunks = string(godiff.Diff("", []byte(before), "", []byte(after)))
	for range head {
		_, d.hunks, _ = strings.Cut(d.hunks, "\n")
	}
	for line := range strings.Lines(d.hunks) {
		switch {
		case strings.HasPrefix(line, "@"):
			add(" ", hunkStart(line)-done)
		case strings.Contains(" -+", line[:1]):
			add(line[:1], 1)
		}
	}
	add(" ", len(d.old)-done)
	d.signs = signs.String()
	return d
}

// add adds a line, without its sign, to the texts that contain it according to the sign.
func (d *diff) add(sign byte, line string) {
	if sign != '+' {
		d.old = append(d.old, line)
	}
	if sign != '-' {
		d.new = append(d.new, line)
	}
}

func (d diff) unified(path string) string { return unifiedDiff(path, d.hunks) }

func unifiedDiff(path, hunks string) string {
	name := PlainText(path)
	return truncateDiff("--- " + name + "\n+++ " + name + "\n" + hunks)
}

const maxDiff = 64 << 10

// truncateDiff cuts text after the last line within maxDiff and says how many lines follow.
func truncateDiff(text string) string {
	if len(text) <= maxDiff {
		return text
	}
	end := strings.LastIndexByte(text[:maxDiff], '\n') + 1
	return fmt.Sprintf("%s\\ and %d more lines\n", text[:end], strings.Count(text[end:], "\n"))
}

func (d diff) fragment() string {
	var hunk strings.Builder
	hunk.WriteString("@@\n")
	old, fresh := newSide("", d.old), newSide("", d.new)
	for _, sign := range d.signs {
		var line string
		if sign != '+' {
			line, _ = old.next()
		}
		if sign != '-' {
			line, _ = fresh.next()
		}
		hunk.WriteString(string(sign) + strings.TrimSuffix(line, "\n") + "\n")
	}
	return hunk.String()
}

func (d diff) counts() (added, removed int) {
	return strings.Count(d.signs, "+"), strings.Count(d.signs, "-")
}

func hunkStart(header string) int {
	var start, count int
	if _, err := fmt.Sscanf(header, "@@ -%d,%d", &start, &count); err != nil {
		panic(fmt.Sprintf("hunk %q: %v", header, err)) // the library writes these headers
	}
	if count > 0 {
		start--
	}
	return start
}

// Lines shows d as a unified diff of the file called name, with line numbers before and after.
func (d diff) Lines(name string) []Line {
	return d.write(name, len(strconv.Itoa(max(len(d.old), len(d.new)))))
}

// write shows d with line numbers of this width. If width is 0 it shows no numbers and omits nothing.
func (d diff) write(name string, width int) []Line {
	old, fresh := newSide(name, d.old), newSide(name, d.new)
	render := safetext.RendererFor(old.Text + fresh.Text)
	changed := d.changedWords()
	var out []Line
	for at, full := 0, false; at < len(d.signs) && !full; at++ {
		if start, isHunk := d.starts[at]; isHunk {
			if at > 0 {
				out = append(out, rule(""))
			}
			old.shift, fresh.shift = start[0]-1-old.done, start[1]-1-fresh.done
		}
		if width > 0 && d.starts == nil {
			if n := d.farFromChange(at); n > 1 { // a single line is no longer than the note about it
				out = append(out, rule(tr("{{.Lines}} unchanged lines", values{"Lines": Number(n)})))
				at += n - 1
				for range n {
					old.next()
					fresh.next()
				}
				continue
			}
		}
		var text, before, after string
		l := Line{Lead: d.signs[at:at+1] + " ", Style: signStyles[d.signs[at]]}
		if d.signs[at] != '+' {
			l.Code, l.At = &old.Code, old.at
			text, before = old.next()
		}
		if d.signs[at] != '-' {
			l.Code, l.At = &fresh.Code, fresh.at
			text, after = fresh.next()
		}
		if width > 0 {
			l.Lead = fmt.Sprintf("%*s %*s %s", width, before, width, after, l.Lead)
		}
		l.Spans = render(text)[0].Spans
		l.Changed = drawnAt(l.Spans, changed[at])
		out = append(out, l)
		if width > 0 && d.starts == nil && !strings.HasSuffix(text, "\n") {
			out = append(out, note(tr("no line break at the end")))
		}
		out, full = cut(out)
	}
	return out
}

type side struct {
	Code
	lines    []string
	done, at int // lines and bytes that have been read
	shift    int // from the number of lines to that of the last one
}

func newSide(name string, lines []string) *side {
	return &side{Code: Code{Name: name, Text: strings.Join(lines, "")}, lines: lines}
}

func (s *side) next() (line, number string) {
	line = s.lines[s.done]
	s.done, s.at = s.done+1, s.at+len(line)
	return line, strconv.Itoa(s.done + s.shift)
}

var signStyles = map[byte]LineStyle{'+': LineAdded, '-': LineRemoved}

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

// patchLines shows the text of a patch exactly, coloured by its signs, and returns the change as far as the patch says.
func patchLines(text string) (lines []Line, d diff) {
	lines = wholeLines(text)
	var signs strings.Builder
	file := newPatchedFile("")
	at := 0
	for i := range lines {
		l := &lines[i]
		if l.Style != LineText {
			break
		}
		source := text[at : at+l.sourceSize()]
		at += len(source) + 1
		sign, line := byte(' '), source
		switch {
		case hasAnyPrefix(source, "+++ ", "--- ", "*** ", "@@"):
			l.Style = LineKey
			if _, path, ok := language.PatchFile(source); ok {
				file.end()
				file = newPatchedFile(path)
			}
		case hasAnyPrefix(source, "+", "-", " "):
			sign, line = source[0], source[1:]
			l.Style = signStyles[sign]
			l.Code, l.At = file.add(sign, line)
			l.At-- // the sign
		}
		signs.WriteByte(sign)
		d.add(sign, line)
	}
	file.end()
	d.signs = signs.String()
	for i, words := range d.changedWords() {
		for n := range words {
			words[n].From++ // the sign
			words[n].To++
		}
		lines[i].Changed = drawnAt(lines[i].Spans, words)
	}
	return lines, d
}

type patchedFile struct {
	old, fresh         Code
	oldText, freshText strings.Builder
}

func newPatchedFile(path string) *patchedFile {
	name := strings.TrimSpace(path)
	return &patchedFile{old: Code{Name: name}, fresh: Code{Name: name}}
}

func (f *patchedFile) add(sign byte, line string) (in *Code, at int) {
	in, at = &f.fresh, f.freshText.Len()
	if sign == '-' {
		in, at = &f.old, f.oldText.Len()
	}
	if sign != '+' {
		f.oldText.WriteString(line + "\n")
	}
	if sign != '-' {
		f.freshText.WriteString(line + "\n")
	}
	return in, at
}

func (f *patchedFile) end() { f.old.Text, f.fresh.Text = f.oldText.String(), f.freshText.String() }

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

const (
	maxWordDiff      = 16 << 10  // bytes of adjacent changed lines whose words are compared
	maxWordDiffs     = 256 << 10 // the same for all of a diff
	maxChangedOfLine = 0.7       // above this share, a line counts as another line and has no marks
)

func (d diff) changedWords() map[int][]Stretch {
	changed := map[int][]Stretch{}
	room := maxWordDiffs
	i, j := 0, 0 // lines of each text done so far
	for at := 0; at < len(d.signs); {
		goes := repeatsOf(d.signs[at:], "-")
		comes := repeatsOf(d.signs[at+goes:], "+")
		before, after := d.old[i:i+goes], d.new[j:j+comes]
		if size := sizeOf(before) + sizeOf(after); goes > 0 && comes > 0 && size <= min(maxWordDiff, room) {
			room -= size
			gone, come := compareWords(before, after)
			for n, marks := range slices.Concat(gone, come) {
				changed[at+n] = marks
			}
		}
		at, i, j = at+goes+comes, i+goes, j+comes
		same := repeatsOf(d.signs[at:], " ")
		at, i, j = at+same, i+same, j+same
	}
	return changed
}

func repeatsOf(s, c string) int { return len(s) - len(strings.TrimLeft(s, c)) }

func sizeOf(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n
}

func compareWords(before, after []string) (gone, come [][]Stretch) {
	old, fresh := wordsOf(before), wordsOf(after)
	signs := NewDiff(onePerLine(old), onePerLine(fresh)).signs
	return markWords(old, strings.ReplaceAll(signs, "+", "")), markWords(fresh, strings.ReplaceAll(signs, "-", ""))
}

// lineEnd is the word at the end of a line. No other word is empty.
const lineEnd = ""

// wordsOf splits lines into names and numbers, blanks, and single other characters.
func wordsOf(lines []string) []string {
	var words []string
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\n")
		for line != "" {
			n := wordLength(line)
			words, line = append(words, line[:n]), line[n:]
		}
		words = append(words, lineEnd)
	}
	return words
}

func wordLength(s string) int {
	first, size := utf8.DecodeRuneInString(s)
	for _, same := range []func(rune) bool{isNameRune, isBlank} {
		if same(first) {
			if n := strings.IndexFunc(s, func(r rune) bool { return !same(r) }); n > 0 {
				return n
			}
			return len(s)
		}
	}
	return size
}

func isNameRune(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N) }

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

func onePerLine(words []string) string { return strings.Join(words, "\n") + "\n" }

// markWords returns, line by line, the ranges of the words with a sign.
func markWords(words []string, signs string) [][]Stretch {
	var lines [][]Stretch
	var marks []Stretch
	at, changed, all := 0, 0, 0 // in bytes; changed and all do not count blanks
	for i, word := range words {
		if word == lineEnd {
			if float32(changed) > maxChangedOfLine*float32(all) {
				marks = nil
			}
			lines = append(lines, marks)
			marks, at, changed, all = nil, 0, 0, 0
			continue
		}
		size := len(word)
		if !isBlank(rune(word[0])) {
			all += size
			if signs[i] != ' ' {
				changed += size
			}
		}
		if signs[i] != ' ' {
			marks = Join(marks, Stretch{From: at, To: at + size})
		} else if n := len(marks); n > 0 && marks[n-1].To == at && isBlank(rune(word[0])) && i+1 < len(words) &&
			words[i+1] != lineEnd && signs[i+1] != ' ' {
			marks[n-1].To += size // one mark for adjacent words
		}
		at += size
	}
	return lines
}
