// Package safetext renders text so that a user can judge it: characters that are invisible, or look like others, are
// spelled out. A right-to-left override reads ‹U+202E›, a run of blanks ‹312 spaces›, a tab ⇥. Nothing is ever dropped:
// the user must see all of what will be executed.
//
// [Render] is for input that will be executed. It is injective: two different texts never render alike, and the
// original can be restored from the rendered characters alone, as the tests prove. This works because the two
// characters that start nod's marks, ‹ and ⇥, are spelled out where a text contains them.
//
// [Line] is for labels and [Prose] for sentences, in which joined emoji look as intended.
package safetext

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"nod/policy/invisible"
)

// Kind tells how a [Span] represents its source.
type Kind int

// The kinds of span.
const (
	Plain      Kind = iota // shown unchanged
	Hidden                 // spelled out: invisible, or it changes how other characters look
	Run                    // spelled out, harmless: blanks, tabs, line ends, joints of emoji, characters without a font
	Suspicious             // visible, but looks like another character
)

// Span is a piece of a rendered line.
type Span struct {
	Text   string // what to draw
	Kind   Kind
	Source string // the part of the original that it represents
}

// Row is a rendered line, without its line break.
type Row struct {
	Spans []Span
	Count int // lines of the original that it represents: more than 1 for a run of empty lines
}

// String returns the rendered characters.
func (l Row) String() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// CanDraw reports whether the fonts can draw a visible character, in monospaced or other text. A program that draws
// sets it at start; the default is that they can draw everything.
var CanDraw = func(c rune, monospaced bool) bool { return true }

const (
	tabWidth      = 4  // columns between tab stops
	maxSpaces     = 24 // longer runs of spaces are counted
	maxTabs       = 12 // longer runs of tabs are counted
	maxEmptyLines = 4  // longer runs of empty lines are counted
	maxRepeats    = 3  // longer runs of a hidden character are counted
	maxMarks      = 2  // combining marks on one letter; more are a stack
)

// The characters that start nod's marks, and the one that ends them. All of Fyne's fonts have them.
const (
	open    = '‹'
	closing = '›'
	tab     = '⇥'
)

// Render renders s line by line for monospaced text. If s ends in a line break, the last line is empty.
func Render(s string) []Row { return RendererFor(s)(s) }

// RendererFor returns [Render] for pieces of a text. A word is not an imitation if the text is written in its script.
func RendererFor(text string) func(piece string) []Row {
	native := nativeScripts(text)
	return func(piece string) []Row { return render(piece, native, true) }
}

func render(s string, native scripts, monospaced bool) []Row {
	source := strings.Split(s, "\n")
	lines := make([]Row, 0, len(source))
	for i := 0; i < len(source); {
		if n := emptyLines(source[i:]); n > maxEmptyLines {
			mark := fmt.Sprintf("‹%d empty lines›", n)
			lines = append(lines, Row{Count: n, Spans: []Span{{Text: mark, Kind: Run, Source: strings.Repeat("\n", n-1)}}})
			i += n
			continue
		}
		r := renderer{line: source[i], last: i == len(source)-1, native: native, monospaced: monospaced}
		lines = append(lines, Row{Count: 1, Spans: r.render()})
		i++
	}
	return lines
}

func emptyLines(lines []string) int {
	for i, l := range lines {
		if l != "" {
			return i
		}
	}
	return len(lines)
}

// renderer spells out one line.
type renderer struct {
	line   string
	last   bool    // no line break follows
	native scripts // scripts of the whole text

	monospaced bool // the font that it will be drawn in

	spans  []Span
	column int // in characters drawn
	base   rune
	marks  int // combining marks on base so far

	word     scripts // of the word around the current position
	wordEnd  int
	allAlike bool // every letter of the word looks like a letter of another script
}

func (r *renderer) render() []Span {
	for i := 0; i < len(r.line); {
		i += r.step(i)
	}
	return r.spans
}

func (r *renderer) step(i int) int {
	c, size := utf8.DecodeRuneInString(r.line[i:])
	base := r.base
	r.base = 0
	switch {
	case c == utf8.RuneError && size == 1:
		return r.repeated(Hidden, fmt.Sprintf("0x%02X", r.line[i]), i, 1) // not UTF-8
	case c == ' ':
		return r.spaces(i)
	case c == '\t':
		return r.tabs(i)
	case c == '\r' && i == len(r.line)-1 && !r.last:
		return r.add(Run, "‹CR›", i, 1)
	case c == open || c == tab:
		return r.add(Suspicious, codePoint(c), i, size)
	case invisible.IsJoint(r.line, i):
		if r.monospaced {
			return r.add(Run, codePoint(c), i, size)
		}
		return r.plain(i, size)
	case why(c) != "":
		return r.named(Hidden, c, i, size)
	case unicode.Is(unicode.M, c):
		return r.mark(i, c, size, base)
	}
	r.base, r.marks = c, 0
	if c >= utf8.RuneSelf && !CanDraw(c, r.monospaced) {
		return r.named(Run, c, i, size)
	}
	if r.suspicious(i, c) {
		return r.add(Suspicious, r.line[i:i+size], i, size)
	}
	return r.plain(i, size)
}

func (r *renderer) named(k Kind, c rune, i, size int) int {
	return r.repeated(k, fmt.Sprintf("U+%04X", c), i, size)
}

// repeated adds name for the character at i; a run of it becomes one counted mark.
func (r *renderer) repeated(k Kind, name string, i, size int) int {
	if n := repeats(r.line[i:], r.line[i:i+size]); n > maxRepeats {
		return r.add(k, fmt.Sprintf("‹%s×%d›", name, n), i, n*size)
	}
	return r.add(k, "‹"+name+"›", i, size)
}

// spaces renders a run of spaces: unchanged, or counted if it is long or ends the line.
func (r *renderer) spaces(i int) int {
	n := repeats(r.line[i:], " ")
	rest := r.line[i+n:]
	ends := rest == "" || rest == "\r" && !r.last
	if n <= maxSpaces && !ends {
		return r.plain(i, n)
	}
	return r.add(Run, "‹"+strconv.Itoa(n)+plural(n, " space›", " spaces›"), i, n)
}

func (r *renderer) tabs(i int) int {
	n := repeats(r.line[i:], "\t")
	if n > maxTabs {
		return r.add(Run, fmt.Sprintf("‹%d tabs›", n), i, n)
	}
	return r.add(Run, string(tab)+strings.Repeat(" ", tabPadding(r.column)), i, 1)
}

// tabPadding returns the number of blanks after the arrow of a tab in column.
func tabPadding(column int) int { return tabWidth - column%tabWidth - 1 }

// mark renders a combining mark. It stays visible on a letter of a script that needs it; elsewhere it could make one
// character look like another, so it is spelled out.
func (r *renderer) mark(i int, c rune, size int, base rune) int {
	r.marks++
	if base == 0 || !takesMark(base, c) || r.marks > maxMarks {
		return r.named(Hidden, c, i, size)
	}
	r.base = base
	if !CanDraw(base, r.monospaced) || !CanDraw(c, r.monospaced) {
		return r.named(Run, c, i, size)
	}
	return r.plain(i, size)
}

func (r *renderer) suspicious(i int, c rune) bool {
	if isImpostor(c) || isOptionDash(r.line, i, c) {
		return true
	}
	if c < utf8.RuneSelf || lookAlike(c) == 0 || scriptOf(c) == 0 {
		return false
	}
	if i >= r.wordEnd {
		r.scanWord(i)
	}
	return r.word.has(latin) || r.allAlike && !r.native.has(scriptOf(c))
}

func (r *renderer) scanWord(i int) {
	start := i
	for start > 0 {
		c, size := utf8.DecodeLastRuneInString(r.line[:start])
		if !inWord(c) {
			break
		}
		start -= size
	}
	r.word, r.allAlike, r.wordEnd = 0, true, len(r.line)
	for j, c := range r.line[start:] {
		if !inWord(c) {
			r.wordEnd = start + j
			return
		}
		r.word |= scriptOf(c)
		if scriptOf(c) != 0 && lookAlike(c) == 0 {
			r.allAlike = false
		}
	}
}

// plain adds size bytes at i unchanged, to the last span if that is plain, too.
func (r *renderer) plain(i, size int) int {
	text := r.line[i : i+size]
	r.column += utf8.RuneCountInString(text)
	if n := len(r.spans); n > 0 && r.spans[n-1].Kind == Plain {
		before := len(r.spans[n-1].Source)
		text = r.line[i-before : i+size]
		r.spans[n-1] = Span{Text: text, Kind: Plain, Source: text}
		return size
	}
	r.spans = append(r.spans, Span{Text: text, Kind: Plain, Source: text})
	return size
}

func (r *renderer) add(k Kind, text string, i, size int) int {
	r.column += utf8.RuneCountInString(text)
	r.spans = append(r.spans, Span{Text: text, Kind: k, Source: r.line[i : i+size]})
	return size
}

func repeats(s, unit string) int {
	n := 0
	for strings.HasPrefix(s[n*len(unit):], unit) {
		n++
	}
	return n
}

func codePoint(c rune) string { return fmt.Sprintf("‹U+%04X›", c) }

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// HasHidden reports whether s contains characters that are invisible, or change how others look.
func HasHidden(s string) bool {
	return slices.ContainsFunc(Render(s), func(row Row) bool {
		return slices.ContainsFunc(row.Spans, func(s Span) bool { return s.Kind == Hidden })
	})
}

// Why says what is odd about s, or returns "" if s is neither hidden nor suspicious.
func (s Span) Why() string {
	c, size := utf8.DecodeRuneInString(s.Source)
	switch {
	case s.Kind != Hidden && s.Kind != Suspicious:
		return ""
	case c == utf8.RuneError && size == 1:
		return "not UTF-8"
	case c == open || c == tab:
		return "looks like one of nod's marks"
	case s.Kind == Hidden:
		return cmp.Or(why(c), "stray or stacked accents")
	}
	if like := lookAlike(c); like != 0 {
		return "looks like " + string(like)
	}
	return "looks like another character"
}
