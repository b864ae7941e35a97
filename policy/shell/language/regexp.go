package language

import (
	"cmp"
	"math/bits"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Syntax is a way to write regular expressions.
type Syntax int

const (
	Basic       Syntax = iota // POSIX basic, with what GNU adds: grep, sed
	Extended                  // POSIX extended: grep -E, sed -E, git grep -E
	AwkExtended               // extended, but a backslash counts inside [ ], and mawk tries all ways to match
	Perl                      // PCRE and Oniguruma: grep -P, jq; they try all ways to match
	Rust                      // the regex crate: rg, fd
)

// Regexp refuses patterns that take much memory before a line is read, such as ((a{1,1000}){1,1000}){1,1000}, and
// those that may take endless time on a short line, such as (a+)+$ where all ways to match are tried. What programs
// would refuse themselves may pass.
func Regexp(pattern string, kind Syntax) error {
	_, err := measure(pattern, kind)
	return err
}

// AnyRegexp judges a pattern of which nobody says in which of the syntaxes of POSIX it is.
func AnyRegexp(pattern string) error {
	return cmp.Or(Regexp(pattern, Basic), Regexp(pattern, Extended))
}

const (
	// maxStates is the largest size of a pattern with its repetitions written out. GNU grep takes 30 MB for 2,000
	// and 900 MB for 10,000.
	maxStates = 2000
	// maxStars is how many unbounded repetitions a pattern may hold where all ways to match are tried.
	maxStars = 12
	// maxWide is how many of them may repeat nearly any character, as .* does.
	maxWide = 4
	// maxStarsWithReference is for patterns with a reference such as \1, for which POSIX programs try all ways, too.
	maxStarsWithReference = 2
)

// pattern is what is known of a piece of a regular expression.
type pattern struct {
	states int  // its size with repetitions written out
	least  int  // the fewest characters that it matches
	stars  int  // unbounded repetitions
	wide   int  // those of nearly any character
	forks  bool // it can match some texts in two ways
	nested bool // a repeated piece forks, so that there may be ways without number
	refs   bool // it refers to what a group matched

	first, last, any chars // what a match may start with, end with, and hold
	starred          chars // what its unbounded repetitions may match
	tail             chars // what the pieces of any length at its end may match
}

// measure reads a whole pattern.
func measure(text string, kind Syntax) (pattern, error) {
	if err := unreadable(text); err != nil {
		return pattern{}, err
	}
	p := patternReader{text: text, kind: kind}
	var out pattern
	for i, line := range strings.Split(text, "\n") { // grep takes each line for a pattern of its own
		p.text, p.at = line, 0
		one, err := p.alternatives(0)
		if err != nil {
			return pattern{}, err
		}
		if p.at < len(line) {
			return pattern{}, p.odd()
		}
		out = either(out, one, i == 0)
	}
	return out, p.judge(out)
}

func (p *patternReader) judge(all pattern) error {
	tries := p.kind == AwkExtended || p.kind == Perl
	switch {
	case all.states > maxStates:
		return refusal("The pattern repeats so often that it may take all memory.")
	case tries && (all.nested || all.stars > maxStars || all.wide > maxWide || p.overlaps),
		all.refs && (all.nested || all.stars > maxStarsWithReference):
		return refusal("The pattern holds repetitions that may take endless time to match.")
	}
	return nil
}

// patternReader reads a pattern from left to right.
type patternReader struct {
	text     string
	kind     Syntax
	at       int
	overlaps bool // more than two unbounded repetitions in a row may match the same characters
}

func (p *patternReader) odd() error {
	return refusal("nod cannot read the pattern " + Quote(p.text) + ".")
}

func (p *patternReader) rest() string { return p.text[p.at:] }

// take steps over s when it comes next.
func (p *patternReader) take(s string) bool {
	if !strings.HasPrefix(p.rest(), s) {
		return false
	}
	p.at += len(s)
	return true
}

// operator spells a bracket, brace or bar as the syntax does.
func (p *patternReader) operator(s string) string {
	if p.kind == Basic {
		return `\` + s
	}
	return s
}

// either joins two alternatives.
func either(a, b pattern, first bool) pattern {
	if first {
		return b
	}
	out := both(a, b)
	out.least = min(a.least, b.least)
	out.first, out.last, out.tail = a.first.or(b.first), a.last.or(b.last), a.tail.or(b.tail)
	out.forks = a.forks || b.forks || a.first.meet(b.first) || out.least == 0
	return out
}

// both joins two pieces that follow one another.
func both(a, b pattern) pattern {
	out := pattern{states: bounded(a.states + b.states), least: bounded(a.least + b.least),
		stars: bounded(a.stars + b.stars), wide: bounded(a.wide + b.wide),
		nested: a.nested || b.nested, refs: a.refs || b.refs,
		first: a.first, last: b.last, any: a.any.or(b.any), starred: a.starred.or(b.starred), tail: b.tail,
		forks: a.forks || b.forks || a.tail.meet(b.first)}
	if a.least == 0 {
		out.first = a.first.or(b.first)
	}
	if b.least == 0 {
		out.last, out.tail = a.last.or(b.last), a.tail.or(b.tail)
	}
	return out
}

func (p *patternReader) alternatives(depth int) (pattern, error) {
	if depth > maxDepth {
		return pattern{}, p.odd()
	}
	var out pattern
	for first := true; ; first = false {
		one, err := p.sequence(depth)
		if err != nil {
			return pattern{}, err
		}
		out = either(out, one, first)
		if !p.take(p.operator("|")) {
			return out, nil
		}
	}
}

// sequence reads pieces up to a bar, a closing bracket or the end.
func (p *patternReader) sequence(depth int) (pattern, error) {
	var out pattern
	var row []pattern // unbounded repetitions with nothing that must match between them
	bar, end := p.operator("|"), p.operator(")")
	for p.at < len(p.text) && !strings.HasPrefix(p.rest(), bar) && !strings.HasPrefix(p.rest(), end) {
		piece, err := p.atom(depth)
		if err != nil {
			return pattern{}, err
		}
		if piece, err = p.repeated(piece); err != nil {
			return pattern{}, err
		}
		row = p.follow(row, piece)
		out = both(out, piece)
	}
	return out, nil
}

// follow adds a piece to the unbounded repetitions in a row, and notes when three of them may share characters.
func (p *patternReader) follow(row []pattern, piece pattern) []pattern {
	if p.overlaps {
		return nil // enough is known
	}
	if piece.stars == 0 {
		if piece.least > 0 {
			return nil
		}
		return row
	}
	shared := 0
	for _, other := range row {
		if other.any.meet(piece.first) {
			shared++
		}
	}
	if shared >= 2 {
		p.overlaps = true
	}
	return append(row, piece)
}

// repeated reads what says how often a piece comes.
func (p *patternReader) repeated(piece pattern) (pattern, error) {
	for p.at < len(p.text) {
		least, most, ok := p.times()
		if !ok {
			return piece, nil
		}
		piece = piece.times(least, most)
		if p.kind == Perl || p.kind == Rust {
			_ = p.take("?") || p.take("+")
		}
	}
	return piece, nil
}

// manyTimes is from where on a{1,N} counts as a+, for programs that try all ways to match.
const manyTimes = 10

// times repeats a piece; a negative most is no limit.
func (piece pattern) times(least, most int) pattern {
	endless := most < 0 || most > manyTimes && most != least
	inside := piece.stars > 0 && (piece.least == 0 || piece.first.meet(piece.starred) && piece.last.meet(piece.starred))
	if inside || piece.forks || piece.tail.meet(piece.first) {
		piece.nested = piece.nested || endless || most > 2
	}
	copies := max(least, most, 1)
	piece.states = bounded(piece.states * copies)
	piece.stars = bounded(piece.stars * min(copies, manyTimes))
	piece.wide = bounded(piece.wide * min(copies, manyTimes))
	piece.least = bounded(piece.least * least)
	if endless {
		piece.stars++
		piece.wide += b2i(piece.any.most())
		piece.starred = piece.starred.or(piece.any)
	}
	if least != most {
		piece.tail = piece.any
	}
	return piece
}

// times reads * + ? or an interval. The most is negative where there is no limit.
func (p *patternReader) times() (least, most int, ok bool) {
	switch {
	case p.take("*"):
		return 0, -1, true
	case p.take(p.operator("+")):
		return 1, -1, true
	case p.take(p.operator("?")):
		return 0, 1, true
	}
	inside, ok := strings.CutPrefix(p.rest(), p.operator("{"))
	if !ok {
		return 0, 0, false
	}
	inside, _, ok = strings.Cut(inside, p.operator("}"))
	low, high, two := strings.Cut(inside, ",")
	low, high = strings.TrimSpace(low), strings.TrimSpace(high)
	if !ok || low == "" && high == "" && !two || !isCount(low) || !isCount(high) {
		return 0, 0, false // a brace like any other character
	}
	p.at += len(p.operator("{")) + len(inside) + len(p.operator("}"))
	least, most = count(low), -1
	switch {
	case !two:
		most = least
	case high != "":
		most = count(high)
	}
	return least, most, true
}

func isCount(s string) bool { return strings.Trim(s, "0123456789") == "" }

// count is the number in s, or more than any that passes.
func count(s string) int {
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > maxStates {
		return maxStates + 1
	}
	return n
}

// bounded keeps sizes far from overflow.
func bounded(n int) int { return min(n, 1<<20) }

// atom reads a group, a class or a character.
func (p *patternReader) atom(depth int) (pattern, error) {
	start := p.at
	switch {
	case p.take(p.operator("(")):
		return p.group(depth)
	case p.take("["):
		if !p.class() {
			return pattern{}, p.odd()
		}
	case p.take(`\`):
		return p.escape(start)
	default:
		p.at++
		if c := p.text[start]; c == '^' || c == '$' {
			return pattern{states: 1}, nil
		}
	}
	return one(p.text[start:p.at]), nil
}

// one is a piece that matches one character.
func one(text string) pattern {
	set := charsOf(text)
	return pattern{states: 1, least: 1, first: set, last: set, any: set}
}

func (p *patternReader) group(depth int) (pattern, error) {
	empty := false
	if strings.HasPrefix(p.rest(), "?") && (p.kind == Perl || p.kind == Rust) {
		kind := groupKind().FindStringSubmatch(p.rest())
		if kind == nil {
			return pattern{}, p.odd()
		}
		p.at += len(kind[0])
		empty = kind[1] != ""
	} else if p.kind == Perl && strings.HasPrefix(p.rest(), "*") {
		return pattern{}, p.odd()
	}
	if p.text[p.at-1] == ')' { // (?i)
		return pattern{}, nil
	}
	out, err := p.alternatives(depth + 1)
	if err != nil {
		return pattern{}, err
	}
	if !p.take(p.operator(")")) {
		return pattern{}, p.odd()
	}
	if empty {
		out.least = 0
	}
	return out, nil
}

// groupKind is what follows the ( of a group that is no plain one. Groups that look around match no characters.
var groupKind = Compiled(`^\?(?:(<?[=!])|[:>]|(?:P?<|')[A-Za-z0-9_]+[>']|[imsuU-]*[:)])`)

// class reads the rest of [ ]. In POSIX a backslash there means itself.
func (p *patternReader) class() bool {
	escapes := p.kind >= AwkExtended
	p.take("^")
	p.take("]")
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ']':
			p.at++
			return true
		case c == '\\' && escapes:
			p.at += 2
		case c == '[' && p.named():
		case c == '[' && p.kind >= Perl:
			return false // a set inside the set for some
		default:
			p.at++
		}
	}
	return false
}

// setsClose reports whether every [ in a pattern has its ].
func setsClose(text string, kind Syntax) bool {
	p := patternReader{text: text, kind: kind}
	for p.at < len(text) {
		switch {
		case p.take(`\`):
			p.at++
		case p.take("["):
			if !p.class() {
				return false
			}
		default:
			p.at++
		}
	}
	return true
}

// named reads [:alpha:], [.x.] or [=x=] inside [ ].
func (p *patternReader) named() bool {
	rest := p.rest()
	if len(rest) < 2 || strings.IndexByte(":.=", rest[1]) < 0 {
		return false
	}
	end := strings.Index(rest[2:], rest[1:2]+"]")
	if end < 0 {
		return false
	}
	p.at += 2 + end + 2
	return true
}

// escape reads what follows a backslash; start is the place of the backslash.
func (p *patternReader) escape(start int) (pattern, error) {
	if p.at == len(p.text) {
		return pattern{}, p.odd()
	}
	c := p.text[p.at]
	p.at++
	switch {
	case p.kind == AwkExtended && (isDigit(c) || c == 'x' || c == 'u'):
		// A character by its number, which may be a brace for some. Escape sequences of terminals pass.
		if !strings.HasPrefix(p.text[start:], `\033`) {
			return pattern{}, p.odd()
		}
		p.at += 2
		return one("\x1b"), nil
	case c >= '1' && c <= '9':
		return p.reference(), nil
	case strings.IndexByte("bB<>`'", c) >= 0 || p.kind >= Perl && strings.IndexByte("AzZGK", c) >= 0:
		return pattern{states: 1}, nil
	case p.kind >= Perl && strings.IndexByte("QEXcC", c) >= 0:
		return pattern{}, p.odd()
	case p.kind >= Perl && strings.IndexByte("pPxoNkgu", c) >= 0:
		if !p.braced(c) {
			return pattern{}, p.odd()
		}
		if c == 'k' || c == 'g' {
			return p.reference(), nil
		}
	}
	return one(p.text[start:p.at]), nil
}

// reference is a piece that matches again what a group matched, which may be nothing.
func (p *patternReader) reference() pattern {
	return pattern{states: 1, refs: true, first: allChars, last: allChars, any: allChars}
}

// braced reads what may follow \p, \x and the like. \g<1> calls a group, maybe itself.
func (p *patternReader) braced(c byte) bool {
	rest := p.rest()
	if c == 'g' && !strings.HasPrefix(rest, "{") {
		return false
	}
	closing := map[byte]string{'{': "}", '<': ">", '\'': "'"}
	if rest == "" || closing[rest[0]] == "" || c != 'k' && rest[0] != '{' {
		return true
	}
	end := strings.Index(rest[1:], closing[rest[0]])
	p.at += 1 + max(end, 0) + 1
	return end >= 0
}

// chars is a set of characters: a bit for each of ASCII, and one for all others.
type chars struct {
	low, high uint64
	other     bool
}

var allChars = chars{^uint64(0), ^uint64(0), true}

func (a chars) or(b chars) chars { return chars{a.low | b.low, a.high | b.high, a.other || b.other} }

func (a chars) meet(b chars) bool { return a.low&b.low|a.high&b.high != 0 || a.other && b.other }

// most reports whether the set holds more than letters, digits and a few signs.
func (a chars) most() bool { return bits.OnesCount64(a.low)+bits.OnesCount64(a.high) > 80 }

// charsOf returns what a character or class matches: everything when Go reads it differently or not at all.
func charsOf(text string) chars {
	switch {
	case text == ".":
		return allChars
	case text[0] >= utf8.RuneSelf:
		return chars{other: true}
	case len(text) == 1:
		return chars{}.with(rune(text[0]), rune(text[0]))
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil || re.Op != syntax.OpCharClass && re.Op != syntax.OpLiteral {
		return allChars
	}
	var out chars
	for i := 0; i+1 < len(re.Rune); i += 2 {
		out = out.with(re.Rune[i], re.Rune[i+1])
	}
	if re.Op == syntax.OpLiteral {
		out = chars{}.with(re.Rune[0], re.Rune[0])
	}
	return out
}

// with adds characters. Case is ignored, for a flag may say so.
func (a chars) with(low, high rune) chars {
	for r := low; r <= min(high, 127); r++ {
		if r < 64 {
			a.low |= 1 << r
		} else {
			a.high |= 1 << (r - 64)
		}
	}
	a.other = a.other || high > 127
	const letters = 1<<27 - 2 // A to Z; a to z stand 32 bits higher
	a.high |= a.high & letters << 32
	a.high |= a.high >> 32 & letters
	return a
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
