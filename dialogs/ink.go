package dialogs

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"nod/dialogs/safetext"
)

const (
	maxInkBytes = 256 << 10   // a longer text has no colours
	maxInkTime  = time.Second // nor has one whose language takes longer to read
)

// shellCode is the name of code that is a command for a shell.
const shellCode = "sh -c"

// code is a text in a programming language, of which lines of a sheet show parts. Its colours only help to read it:
// what is drawn is the same without them.
type code struct {
	name string // of a file, or shellCode
	text string
}

// stretch is a part of a text, and its colour if it has one.
type stretch struct {
	from, to int
	ink      fyne.ThemeColorName
}

// inCode says of lines that they show text, from its first line on.
func inCode(lines []sheetLine, name, text string) []sheetLine {
	c := &code{name: name, text: text}
	at := 0
	for i := range lines {
		lines[i].code, lines[i].at = c, at
		at += lines[i].sourceSize() + 1
	}
	return lines
}

// sourceSize is how many bytes of the original l stands for, without its line break.
func (l sheetLine) sourceSize() int {
	n := 0
	for _, s := range l.spans {
		n += len(s.Source)
	}
	return n
}

// inksOf are the colours of what is drawn of each line.
func inksOf(lines []sheetLine) [][]stretch {
	read := map[*code][]stretch{}
	inks := make([][]stretch, len(lines))
	for i, l := range lines {
		if l.code == nil {
			continue
		}
		all, known := read[l.code]
		if !known {
			all = l.code.inks()
			read[l.code] = all
		}
		inks[i] = drawnAt(l.spans, within(all, l.at, l.at+l.sourceSize()))
	}
	return inks
}

// within is what of stretches, which are in order, lies between two places, as seen from the first.
func within(all []stretch, from, to int) []stretch {
	i, _ := slices.BinarySearchFunc(all, from, func(s stretch, from int) int { return s.to - from - 1 })
	var part []stretch
	for ; i < len(all) && all[i].from < to; i++ {
		s := all[i]
		part = append(part, stretch{max(s.from, from) - from, min(s.to, to) - from, s.ink})
	}
	return part
}

// join adds s to stretches, to the last one where that ends at its start.
func join(all []stretch, s stretch) []stretch {
	if n := len(all); n > 0 && all[n-1].to >= s.from && all[n-1].ink == s.ink {
		all[n-1].to = max(all[n-1].to, s.to)
		return all
	}
	return append(all, s)
}

// drawnAt is where stretches of the original of spans are drawn. What is not drawn as it was written is in a stretch as
// a whole or not at all.
func drawnAt(spans []safetext.Span, of []stretch) []stretch {
	var drawn []stretch
	source, at := 0, 0
	for _, s := range spans {
		for len(of) > 0 && of[0].to <= source {
			of = of[1:]
		}
		for _, part := range of {
			from, to := max(part.from-source, 0), min(part.to-source, len(s.Source))
			if from >= to {
				break
			}
			if isAtomic(s) {
				from, to = 0, len(s.Text)
			}
			drawn = join(drawn, stretch{at + from, at + to, part.ink})
		}
		source, at = source+len(s.Source), at+len(s.Text)
	}
	return drawn
}

// inks are the colours of c; none when something is odd about it.
func (c *code) inks() (inks []stretch) {
	if len(c.text) > maxInkBytes {
		return nil
	}
	defer func() {
		if recover() != nil { // the text is hostile, and those who read it are many
			inks = nil
		}
	}()
	if c.name == shellCode {
		inks = shellInks(c.text)
	} else {
		inks = lexerInks(c.name, c.text)
	}
	if !fits(inks, c.text) {
		return nil
	}
	return inks
}

// fits reports whether stretches are in order and cut no character of text.
func fits(inks []stretch, text string) bool {
	at := 0
	for _, s := range inks {
		if s.from < at || s.to <= s.from || s.to > len(text) || !utf8.RuneStart(text[s.from]) ||
			s.to < len(text) && !utf8.RuneStart(text[s.to]) {
			return false
		}
		at = s.to
	}
	return true
}

// lexerInks has a lexer for files of that name read text.
func lexerInks(name, text string) []stretch {
	lexer := lexers.Match(name)
	if lexer == nil {
		return nil
	}
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	var inks []stretch
	at, end := 0, time.Now().Add(maxInkTime)
	whole := text + "\n" // some lexers add a line break
	for t := next(); t != chroma.EOF; t = next() {
		if !strings.HasPrefix(whole[at:], t.Value) || time.Now().After(end) {
			return nil
		}
		start := at
		at += len(t.Value)
		if ink := inkOf(t.Type); ink != "" && start < min(at, len(text)) {
			inks = append(inks, stretch{start, min(at, len(text)), ink})
		}
	}
	if at < len(text) {
		return nil
	}
	return inks
}

// inkOf is the colour of a kind of token; "" for that of plain text.
func inkOf(t chroma.TokenType) fyne.ThemeColorName {
	switch {
	case t.InSubCategory(chroma.CommentPreproc), t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return colorKeyword
	case t.InCategory(chroma.Comment):
		return colorComment
	case t == chroma.KeywordConstant, t == chroma.NameConstant, t.InSubCategory(chroma.LiteralNumber):
		return colorNumber
	case t == chroma.KeywordType, t == chroma.NameAttribute, t == chroma.NameClass,
		t == chroma.NameProperty, t.InSubCategory(chroma.NameVariable):
		return colorVariable
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return colorKeyword
	case t.InSubCategory(chroma.LiteralString):
		return colorString
	case t.InSubCategory(chroma.NameFunction), t.InSubCategory(chroma.NameBuiltin), t == chroma.NameTag,
		t == chroma.NameDecorator:
		return colorName
	}
	return ""
}
