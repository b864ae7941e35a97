package dialogs

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"mvdan.cc/sh/v3/syntax"

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

// shellInks colours a command as the policy parses it, not as an editor would, because what an editor treats as a
// comment could be executed. Text that is not valid shell gets no colours.
func shellInks(text string) []prompt.Stretch {
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	p := shellPainter{text: text, inks: make([]shellInk, len(text))}
	syntax.Walk(file, p.visit)
	return p.stretches()
}

type shellInk byte

const (
	inkSyntax shellInk = iota // not part of a word: operators and keywords
	inkWord
	inkProgram
	inkQuoted
	inkVariable
	inkComment
)

var shellColors = [...]fyne.ThemeColorName{
	inkSyntax: colorKeyword, inkWord: "", inkProgram: colorName, inkQuoted: colorString, inkVariable: colorVariable,
	inkComment: colorComment,
}

// shellPainter colours each byte, from the outermost node inwards.
type shellPainter struct {
	text string
	inks []shellInk
}

func (p *shellPainter) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Comment:
		p.paint(n, inkComment)
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			p.fill(n.Args[0], inkProgram)
		}
	case *syntax.Redirect:
		if n.Hdoc != nil {
			p.paint(n.Hdoc, inkQuoted)
		}
	case *syntax.Word, *syntax.Lit:
		p.fill(n, inkWord)
	case *syntax.SglQuoted, *syntax.DblQuoted:
		p.paint(n, inkQuoted)
	case *syntax.ParamExp:
		p.paint(n, inkVariable)
	case *syntax.Assign:
		p.fill(n.Name, inkVariable)
	case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
		p.paint(n, inkSyntax)
	}
	return true
}

func (p *shellPainter) bytes(n syntax.Node) []shellInk {
	to := min(int(n.End().Offset()), len(p.inks))
	return p.inks[min(int(n.Pos().Offset()), to):to]
}

func (p *shellPainter) paint(n syntax.Node, ink shellInk) {
	bytes := p.bytes(n)
	for i := range bytes {
		bytes[i] = ink
	}
}

func (p *shellPainter) fill(n syntax.Node, ink shellInk) {
	bytes := p.bytes(n)
	for i, was := range bytes {
		if was == inkSyntax {
			bytes[i] = ink
		}
	}
}

func (p *shellPainter) stretches() []prompt.Stretch {
	var all []prompt.Stretch
	for i, ink := range p.inks {
		name := shellColors[ink]
		if name == "" || ink == inkSyntax && strings.ContainsRune(" \t\n", rune(p.text[i])) {
			continue
		}
		all = prompt.Join(all, prompt.Stretch{From: i, To: i + 1, Ink: name})
	}
	return all
}
