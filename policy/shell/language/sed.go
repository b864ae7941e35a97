package language

import (
	"cmp"
	"strings"
)

// Sed judges a sed script: the values of -e joined by line ends. Regular expressions are extended with -E or -r. Files
// that r and R read are in Use.Reads. Sed refuses a script that writes files (w, W, s///w) or starts programs (e,
// s///e), with the files in Use.Writes; also branches and D, which may loop without end, and what sed holds from line
// to line. The caller must know whether sed edits in place.
//
// The syntax is that of POSIX with the extensions of GNU sed 4.9 and FreeBSD 14.
func Sed(script string, extended bool) (Use, error) {
	if err := unreadable(script); err != nil {
		return Use{}, err
	}
	r := sedReader{text: script, kind: Basic, factor: 1, prints: 1}
	if extended {
		r.kind = Extended
	}
	for r.at < len(script) {
		if err := r.command(); err != nil {
			return r.use, err
		}
	}
	if r.blocks > 0 {
		return r.use, r.odd()
	}
	if r.factor > maxGrowth {
		return r.use, refusal(sedGrows)
	}
	r.use.Grows = r.factor * r.prints
	return r.use, nil
}

const sedGrows = "The sed script may make its text endlessly long."

// maxGrowth is how many times longer than its input the text may get.
const maxGrowth = 1 << 12

// perLine is the assumed number of lines of a file that a script prints for each of its input.
const perLine = 32

// sedReader reads a script from left to right.
type sedReader struct {
	text   string
	kind   Syntax
	at     int
	blocks int // the number of open {
	use    Use

	factor float64 // how many times longer a line may get
	prints float64 // how many times it may be printed
}

func (r *sedReader) odd() error {
	return refusal("nod can't read the sed script at " + Quote(r.rest()) + ".")
}

func (r *sedReader) rest() string { return r.text[min(r.at, len(r.text)):] }

// next returns the next byte, or a line end after the script.
func (r *sedReader) next() byte {
	if r.at >= len(r.text) {
		return '\n'
	}
	return r.text[r.at]
}

func (r *sedReader) skip(set string) {
	for r.at < len(r.text) && strings.IndexByte(set, r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *sedReader) line() string {
	line, _, _ := strings.Cut(r.rest(), "\n")
	r.at += len(line)
	return line
}

func (r *sedReader) command() error {
	if r.skip(" \t\n;"); r.at >= len(r.text) {
		return nil
	}
	start := r.at
	if err := r.addresses(); err != nil {
		return err
	}
	name, hasAddress := r.next(), r.at > start
	r.at++
	return r.body(name, hasAddress)
}

func (r *sedReader) body(name byte, hasAddress bool) error {
	switch name {
	case '{':
		if r.blocks++; r.blocks > maxDepth {
			return r.odd()
		}
		return nil
	case '}':
		if r.blocks--; r.blocks < 0 || hasAddress {
			return r.odd()
		}
	case '#':
		r.line()
		return nil
	case 'd', 'n', 'N', 'z', 'g', 'G': // nothing is ever held
	case 'p', 'P', '=', 'F':
		r.prints++
	case 'h', 'H', 'x':
		return refusal(sedGrows)
	case 'q', 'Q', 'l', 'L':
		if name == 'l' {
			r.prints += 4 // a byte is \ and three digits
		}
		r.skip(" ")
		r.skip("0123456789")
	case ':', 'b', 't', 'T', 'D':
		return refusal("The sed script may loop without end.")
	case 'a', 'i', 'c':
		r.prints++
		return r.added()
	case 'r', 'R':
		r.prints += perLine
		return r.file()
	case 's':
		return r.substitute()
	case 'w', 'W', 'e':
		r.at--
		return r.harm()
	default:
		return refusal("nod doesn't know the sed command " + Quote(string(rune(name))) + ".")
	}
	return r.ended()
}

// harm reads the commands w, W and e, and the flags w and e of s.
func (r *sedReader) harm() error {
	if r.next() == 'e' {
		return refusal("The sed script runs a program.")
	}
	r.at++
	r.use.Writes = append(r.use.Writes, strings.TrimLeft(r.line(), " \t"))
	return refusal("The sed script writes a file.")
}

// ended checks that nothing but the end of a command follows.
func (r *sedReader) ended() error {
	r.skip(" \t")
	if strings.IndexByte("\n;}#", r.next()) < 0 {
		return r.odd()
	}
	return nil
}

// addresses reads none, one or two addresses and any !.
func (r *sedReader) addresses() error {
	if found, err := r.address(); err != nil || !found {
		return err
	}
	if r.skip(" \t"); r.next() == ',' {
		r.at++
		r.skip(" \t")
		if strings.IndexByte("+~", r.next()) >= 0 {
			r.at++
		}
		if found, err := r.address(); err != nil || !found {
			return cmp.Or(err, r.odd())
		}
	}
	r.skip(" \t!")
	return nil
}

// address reads one address: 5, $, 1~2 or /regex/ with the flags I and M.
func (r *sedReader) address() (bool, error) {
	switch c := r.next(); {
	case c == '$':
		r.at++
	case isDigit(c):
		r.skip("0123456789")
		if r.next() == '~' {
			r.at++
			r.skip("0123456789")
		}
	case c == '/', c == '\\':
		if r.at++; c == '\\' {
			if c = r.next(); !sedDelimiter(c) {
				return false, r.odd()
			}
			r.at++
		}
		if err := r.regex(c); err != nil {
			return false, err
		}
		r.skip("IM")
	default:
		return false, nil
	}
	return true, nil
}

// sedDelimiter reports whether c may delimit a regular expression. sed allows others, but they are rare.
func sedDelimiter(c byte) bool { return strings.IndexByte("/|#,:@!%=~_", c) >= 0 }

func (r *sedReader) delimited(end byte) (string, bool) {
	from := r.at
	for ; r.at < len(r.text) && r.text[r.at] != '\n'; r.at++ {
		switch r.text[r.at] {
		case end:
			r.at++
			return r.text[from : r.at-1], true
		case '\\':
			r.at++
		}
	}
	return "", false
}

// regex reads a regular expression up to its delimiter. BSD skips a delimiter inside [ ], GNU does not, so no set may
// be open where the text ends, even if \] is read as an escape.
func (r *sedReader) regex(end byte) error {
	text, ok := r.delimited(end)
	if !ok || !setsClose(text, true) {
		return r.odd()
	}
	if end != '/' {
		text = strings.ReplaceAll(text, `\`+string(rune(end)), string(rune(end)))
	}
	return Regexp(text, r.kind)
}

// added reads the text of a, i and c on one line, or after a backslash on the next one.
func (r *sedReader) added() error {
	r.skip(" \t")
	if strings.HasPrefix(r.rest(), "\\\n") {
		r.at += 2
	}
	if text := r.line(); strings.HasSuffix(text, `\`) || text == "" {
		return r.odd()
	}
	return nil
}

// file reads the name of a file to read, which extends to the end of the line.
func (r *sedReader) file() error {
	r.skip(" \t")
	name := r.line()
	if name == "" {
		return r.odd()
	}
	r.use.Reads = append(r.use.Reads, name)
	return nil
}

// substitute reads s/regex/replacement/flags.
func (r *sedReader) substitute() error {
	end := r.next()
	if r.at++; !sedDelimiter(end) {
		return r.odd()
	}
	if err := r.regex(end); err != nil {
		return err
	}
	replacement, ok := r.delimited(end)
	if !ok {
		return r.odd()
	}
	from := r.at
	r.skip("gpIiMm0123456789")
	flags := r.text[from:min(r.at, len(r.text))]
	if strings.IndexByte("we", r.next()) >= 0 {
		return r.harm()
	}
	r.factor *= sedFactor(replacement, strings.Contains(flags, "g"))
	return r.ended()
}

// sedFactor bounds how many times longer a substitution makes the text.
func sedFactor(replacement string, global bool) float64 {
	copies, plain := 0, 0
	for i := 0; i < len(replacement); i++ {
		switch c := replacement[i]; {
		case c == '&':
			copies++
		case c == '\\' && i+1 < len(replacement):
			if i++; isDigit(replacement[i]) {
				copies++
			} else {
				plain++
			}
		default:
			plain++
		}
	}
	if !global {
		return max(1, float64(copies)) // and a few characters more, once
	}
	return float64(copies + plain + 1) // between all characters, which stay
}
