package language

import (
	"math/bits"
	"regexp/syntax"
	"strings"
)

// Syntax is a syntax of regular expressions.
type Syntax int

const (
	Basic       Syntax = iota // POSIX basic, with what GNU adds: grep, sed
	Extended                  // POSIX extended: grep -E, sed -E, git grep -E
	awkExtended               // extended, but a backslash counts inside [ ], and mawk tries all ways to match
	Perl                      // PCRE and Oniguruma: grep -P, jq; they try all ways to match
	Rust                      // the regex crate: rg, fd
)

// Regexp refuses patterns that take much memory before a line is read, such as ((a{1,1000}){1,1000}){1,1000}, and those
// that may take endless time on a short line: with a reference such as \1, or with nested or adjacent repetitions. It
// may accept what programs would refuse themselves. A pattern must pass in each of several syntaxes.
func Regexp(pattern string, kind Syntax, others ...Syntax) error {
	for _, kind := range append([]Syntax{kind}, others...) {
		if _, err := measure(pattern, kind); err != nil {
			return err
		}
	}
	return nil
}

const (
	// maxStates is the largest size of a pattern with its repetitions written out. GNU grep takes 30 MB for 2,000
	// and 900 MB for 10,000.
	maxStates = 2000
	// maxStars bounds the unbounded repetitions of a pattern whose program tries all ways to match.
	maxStars = 12
	// maxWide bounds those that repeat nearly any character, as .* does.
	maxWide = 4
	// manyTimes is the N from which a{1,N} counts as a+.
	manyTimes = 10
)

type pattern struct {
	states int   // its size with repetitions written out
	least  int   // the fewest characters that it matches
	stars  int   // unbounded repetitions
	wide   int   // those of nearly any character
	varies bool  // it holds repetitions or alternatives
	slow   bool  // there may be countless ways to match a text
	any    chars // what a match may hold
}

func measure(text string, kind Syntax) (pattern, error) {
	if err := unreadable(text); err != nil {
		return pattern{}, err
	}
	t := translator{text: text, kind: kind}
	parsed, err := syntax.Parse(t.all(), syntax.Perl|syntax.FoldCase)
	if err != nil || t.odd {
		return pattern{}, refusal("nod can't read the pattern " + Quote(text) + ".")
	}
	out := weigh(parsed)
	if t.looks {
		out.least = 0
	}
	tries := kind == awkExtended || kind == Perl
	switch {
	case out.states > maxStates:
		return out, refusal("The pattern repeats so often that it may take all memory.")
	case tries && (out.slow || out.stars > maxStars || out.wide > maxWide):
		return out, refusal("The pattern contains repetitions that may take forever to match.")
	}
	return out, nil
}

func weigh(re *syntax.Regexp) pattern {
	switch re.Op {
	case syntax.OpLiteral:
		out := pattern{states: len(re.Rune), least: len(re.Rune)}
		for _, r := range re.Rune {
			out.any = out.any.with(r, r)
		}
		return out
	case syntax.OpCharClass:
		out := pattern{states: 1, least: 1}
		for i := 0; i+1 < len(re.Rune); i += 2 {
			out.any = out.any.with(re.Rune[i], re.Rune[i+1])
		}
		return out
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return pattern{states: 1, least: 1, any: chars{^uint64(0), ^uint64(0), true}}
	case syntax.OpCapture:
		return weigh(re.Sub[0])
	case syntax.OpStar:
		return weigh(re.Sub[0]).times(0, -1)
	case syntax.OpPlus:
		return weigh(re.Sub[0]).times(1, -1)
	case syntax.OpQuest:
		return weigh(re.Sub[0]).times(0, 1)
	case syntax.OpRepeat:
		return weigh(re.Sub[0]).times(re.Min, re.Max)
	case syntax.OpConcat:
		return inTurn(re.Sub)
	case syntax.OpAlternate:
		out := pattern{least: maxStates}
		for _, sub := range re.Sub {
			one := weigh(sub)
			least := min(out.least, one.least)
			out = out.and(one)
			out.least, out.varies = least, true
		}
		return out
	}
	return pattern{states: 1}
}

func (a pattern) and(b pattern) pattern {
	return pattern{states: a.states + b.states, least: a.least + b.least, stars: a.stars + b.stars,
		wide: a.wide + b.wide, varies: a.varies || b.varies, slow: a.slow || b.slow, any: a.any.or(b.any)}
}

// inTurn weighs pieces that follow one another. Three unbounded repetitions that may share characters, with nothing
// that must match between them, are slow.
func inTurn(list []*syntax.Regexp) pattern {
	var out pattern
	var row []chars
	for _, re := range list {
		piece := weigh(re)
		out = out.and(piece)
		switch {
		case out.slow || out.stars > maxStars: // already refused
		case piece.stars > 0:
			shared := 0
			for _, other := range row {
				if other.meets(piece.any) {
					shared++
				}
			}
			out.slow = shared >= 2
			row = append(row, piece.any)
		case piece.least > 0:
			row = nil
		}
	}
	return out
}

// times repeats a piece; a negative most is no limit.
func (a pattern) times(least, most int) pattern {
	endless := most < 0 || most > manyTimes && most != least
	copies := max(least, most, 1)
	a.slow = a.slow || a.varies && (endless || most > 2)
	a.varies = a.varies || least != most
	a.states *= copies
	a.least *= least
	a.stars *= min(copies, manyTimes)
	a.wide *= min(copies, manyTimes)
	if endless {
		a.stars++
		if a.any.most() {
			a.wide++
		}
	}
	return a
}

// translator converts a pattern to the syntax of Go's parser so that whatever may repeat also repeats there.
type translator struct {
	text  string
	kind  Syntax
	at    int
	out   strings.Builder
	looks bool // it has a lookaround, and so matches fewer characters than it contains
	odd   bool // nod does not know what it means
}

// interval is a repetition, in which PCRE allows blanks.
var interval = Compiled(`\{ *([0-9]*) *(,?) *([0-9]*) *\}`)

func (t *translator) all() string {
	for t.at < len(t.text) && !t.odd {
		t.next()
	}
	return strings.ReplaceAll(interval().ReplaceAllString(t.out.String(), "{$1$2$3}"), "{,", "{0,")
}

func (t *translator) next() {
	c := t.text[t.at]
	t.at++
	isOperator := strings.IndexByte("(){}|+?", c) >= 0
	switch {
	case c == '\\':
		t.escape()
	case c == '[':
		start := t.at
		t.odd = !t.class() || t.odd
		set := t.text[start:t.at]
		if t.kind < awkExtended {
			set = strings.ReplaceAll(set, `\`, `\\`)
		}
		t.out.WriteString("[" + set)
	case isOperator && t.kind == Basic:
		t.out.WriteString(`\` + string(rune(c)))
	case isOperator:
		t.operator(c)
	case c == '*' && t.kind == Basic && t.isAtStart():
		t.out.WriteString(`\*`)
	case c == '\n': // grep reads each line as a pattern of its own
		t.operator('|')
	default:
		t.out.WriteByte(c)
	}
}

// isAtStart reports whether an asterisk of a basic expression means itself here: it is first, or after ( or |.
func (t *translator) isAtStart() bool {
	out := t.out.String()
	n := len(out)
	return n == 0 || n > 1 && strings.IndexByte("(|", out[n-1]) >= 0 && out[n-2] != '\\'
}

// operator writes a bracket, brace or sign. It makes all groups capture and adds an empty group to alternatives: Go's
// parser would merge others, which still cost other programs time.
func (t *translator) operator(c byte) {
	if c == '|' {
		t.out.WriteString("()")
	}
	if c != '(' || !strings.HasPrefix(t.text[t.at:], "?") {
		t.out.WriteByte(c)
		return
	}
	kind := groupKind().FindStringSubmatch(t.text[t.at:])
	if t.odd = kind == nil || t.kind < Perl; t.odd {
		return
	}
	t.at += len(kind[0])
	t.looks = t.looks || kind[1] != ""
	if !strings.HasSuffix(kind[0], ")") { // not (?i), which counts always
		t.out.WriteByte('(')
	}
}

// groupKind matches what follows the ( of a special group.
var groupKind = Compiled(`^\?(?:(<?[=!])|[:>]|(?:P?<|')[A-Za-z0-9_]+[>']|[imsuU-]*[:)])`)

func (t *translator) escape() {
	if t.odd = t.at == len(t.text); t.odd {
		return
	}
	c := t.text[t.at]
	t.at++
	switch {
	case t.kind == Basic && strings.IndexByte("(){}|+?", c) >= 0:
		t.operator(c)
	case t.kind == Perl && c == 'K':
		t.looks = true
	case t.kind == awkExtended && strings.HasPrefix(t.text[t.at-1:], "033"): // as sequences for terminals begin
		t.out.WriteString(`\x1b`)
		t.at += 2
	case strings.IndexByte("QEC123456789", c) >= 0, t.kind == awkExtended && awkCode().MatchString(`\`+string(rune(c))):
		t.odd = true
	case strings.IndexByte("<>`'", c) >= 0:
		t.out.WriteString(`\b`)
	default:
		t.out.WriteString(t.text[t.at-2 : t.at])
	}
}

// class skips the rest of [ ]. In POSIX a backslash there means itself.
func (t *translator) class() bool {
	start := t.at
	for t.at < len(t.text) {
		first := t.at == start || t.at == start+1 && t.text[start] == '^'
		switch c := t.text[t.at]; {
		case c == ']' && !first:
			t.at++
			return true
		case c == '\\' && t.kind >= awkExtended:
			t.at += 2
		case c == '[' && t.named():
		case c == '[' && t.kind >= Perl:
			return false // a set inside the set for some
		default:
			t.at++
		}
	}
	t.at = len(t.text)
	return false
}

func setsClose(text string, kind Syntax) bool {
	t := translator{text: text, kind: kind}
	for t.at < len(text) {
		t.at++
		switch text[t.at-1] {
		case '\\':
			t.at++
		case '[':
			if !t.class() {
				return false
			}
		}
	}
	return true
}

// named skips [:alpha:], [.x.] or [=x=] inside [ ].
func (t *translator) named() bool {
	rest := t.text[t.at:]
	if len(rest) < 2 || strings.IndexByte(":.=", rest[1]) < 0 {
		return false
	}
	end := strings.Index(rest[2:], rest[1:2]+"]")
	if end < 0 {
		return false
	}
	t.at += 2 + end + 2
	t.odd = t.odd || rest[1] != ':'
	return true
}

// chars is a set of characters: a bit for each of ASCII, and one for all others.
type chars struct {
	low, high uint64
	other     bool
}

func (a chars) or(b chars) chars { return chars{a.low | b.low, a.high | b.high, a.other || b.other} }

func (a chars) meets(b chars) bool { return a.low&b.low|a.high&b.high != 0 || a.other && b.other }

// most reports whether the set holds more than letters, digits and a few signs.
func (a chars) most() bool { return bits.OnesCount64(a.low)+bits.OnesCount64(a.high) > 80 }

func (a chars) with(low, high rune) chars {
	for r := low; r <= min(high, 127); r++ {
		if r < 64 {
			a.low |= 1 << r
		} else {
			a.high |= 1 << (r - 64)
		}
	}
	a.other = a.other || high > 127
	return a
}
