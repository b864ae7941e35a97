package dialogs

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"nod/dialogs/prompt"
)

const (
	maxInkBytes = 256 << 10   // a longer text gets no colours
	maxInkTime  = time.Second // nor does one whose lexer takes longer
)

// inksIn returns the colours of c, or none if its lexer fails or takes too long.
func inksIn(c prompt.Code) (inks []prompt.Stretch) {
	if len(c.Text) > maxInkBytes {
		return nil
	}
	defer func() {
		if recover() != nil { // the text may be hostile, and there are many lexers
			inks = nil
		}
	}()
	if c.Name == prompt.ShellCode {
		return shellInks(c.Text)
	}
	return lexerInks(c.Name, c.Text)
}

func lexerInks(name, text string) []prompt.Stretch {
	lexer := lexers.Match(name)
	if lexer == nil {
		return nil
	}
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	var inks []prompt.Stretch
	at, end := 0, time.Now().Add(maxInkTime)
	whole := text + "\n" // some lexers add a line break
	for t := next(); t != chroma.EOF; t = next() {
		if !strings.HasPrefix(whole[at:], t.Value) || time.Now().After(end) {
			return nil
		}
		start := at
		at += len(t.Value)
		if ink := inkOf(t.Type); ink != "" && start < min(at, len(text)) {
			inks = append(inks, prompt.Stretch{From: start, To: min(at, len(text)), Ink: ink})
		}
	}
	if at < len(text) {
		return nil
	}
	return inks
}

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
