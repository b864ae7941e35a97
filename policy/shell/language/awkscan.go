package language

import "strings"

// scanAwk refuses programs that do more than print, by their bare words and signs, and those that awks tokenize
// differently. It uses no parser, so no quirk of one can hide anything: outside texts and regular expressions there is
// no |, >>, @, getline or system, and no > that could belong to a print.
func scanAwk(program string) error {
	s := awkScanner{text: program, before: operator}
	for s.at < len(program) {
		if err := s.token(); err != nil {
			return err
		}
	}
	if len(s.open) > 0 {
		return errAwk
	}
	return nil
}

type place int

const (
	operator  place = iota // an operand is expected: / begins a regular expression
	operand                // / divides
	uncertain              // awks may disagree
)

type awkScanner struct {
	text     string
	at       int
	before   place
	open     []byte // the open brackets and braces; c for those of if
	control  bool   // the last word was if
	printing bool   // inside a print
	printAt  int    // how many brackets were open at its start
}

func (s *awkScanner) odd() error {
	return refusal("nod can't read the awk program at " + Quote(s.text[min(s.at, len(s.text)):]) + ".")
}

var (
	// awkToken is blanks, a comment, a word, a number, a text or a sign.
	awkToken = Compiled(`^(?:[ \t]+|#[^\n]*|[A-Za-z_][A-Za-z0-9_]*|[0-9][A-Za-z0-9_.]*|"(?:[^"\\\n]|\\[^\n])*"|` +
		`&&?|\|\|?|\+\+?|--?|>>?|[^"])`)
	awkRegexp = Compiled(`^/(?:[^/\\\n]|\\[^\n])*/`)
)

func (s *awkScanner) token() error {
	rest := s.text[s.at:]
	token := awkToken().FindString(rest)
	isRegexp := rest[0] == '/' && s.before == operator
	if isRegexp {
		token = awkRegexp().FindString(rest)
	}
	if err := s.judge(token, isRegexp); err != nil {
		return err
	}
	s.at += len(token)
	return nil
}

func (s *awkScanner) judge(token string, isRegexp bool) error {
	if token == "" {
		return s.odd()
	}
	c, control := token[0], s.control
	if strings.IndexByte(" \t#", c) >= 0 {
		return nil
	}
	s.control = token == "if"
	switch {
	case isRegexp:
		// In a set, a / ends the expression for some and not for others.
		inside := token[1 : len(token)-1]
		if !setsClose(inside, false) || !setsClose(inside, true) {
			return s.odd()
		}
		s.before = operand
		return Regexp(inside, awkExtended)
	case c == '/' && (s.before == uncertain || strings.HasPrefix(s.text[s.at:], "/=")):
		return s.odd()
	case isDigit(c), c == '"':
		s.before = operand
	case isLetter(c), c == '_':
		return s.word(token)
	default:
		return s.sign(token, control)
	}
	return nil
}

var (
	awkCalls = Words("atan2 cos exp gsub index int log match rand sin split sprintf sqrt srand sub substr " +
		"tolower toupper")
	awkLoops    = Words("for while do break continue")
	awkKeywords = Words("BEGIN END delete else exit in next nextfile return BEGINFILE ENDFILE case default switch")
	awkHarmful  = Words("getline system close fflush function func include load namespace eval extension")
)

func (s *awkScanner) word(word string) error {
	switch {
	case awkHarmful.Has(word):
		return refusal("The awk program uses " + word + ", which may do more than print.")
	case awkLoops.Has(word):
		return refusal(awkEndless)
	case word == "print" || word == "printf":
		s.printing, s.printAt, s.before = true, len(s.open), operator
	case s.control, awkKeywords.Has(word):
		s.before = operator
	case word == "length", awkCalls.Has(word):
		s.before = uncertain
	default:
		s.before = operand
	}
	return nil
}

// sign judges a token that is not a word. A control word may precede it.
func (s *awkScanner) sign(sign string, control bool) error {
	c := sign[0]
	switch sign {
	case "\n":
		// A line that ends in an operator continues.
		s.printing = s.printing && s.before == operator
		s.before = operator
	case ";":
		s.printing, s.before = false, operator
	case "(", "[", "{":
		if control {
			c = 'c'
		}
		if s.open, s.before = append(s.open, c), operator; len(s.open) > maxDepth {
			return s.odd()
		}
		s.printing = s.printing && c != '{'
	case ")", "]", "}":
		s.printing = s.printing && c != '}'
		return s.closing(c)
	case "|", "&":
		return refusal("The awk program may run another program.")
	case ">", ">>":
		if sign == ">>" || s.printing && len(s.open) <= s.printAt {
			return refusal("The awk program may write a file.")
		}
		s.before = operator
	case "++", "--":
		s.before = uncertain
	case "||", "&&", "+", "-", "*", "/", "%", "^", "=", "!", "~", "?", ":", ",", "$", "<":
		s.before = operator
	default:
		return s.odd()
	}
	return nil
}

func (s *awkScanner) closing(c byte) error {
	if len(s.open) == 0 {
		return s.odd()
	}
	last := s.open[len(s.open)-1]
	if opening := map[byte]string{')': "(c", ']': "[", '}': "{"}; strings.IndexByte(opening[c], last) < 0 {
		return s.odd()
	}
	s.open, s.before = s.open[:len(s.open)-1], operand
	if last == 'c' || last == '{' {
		s.before = operator
	}
	if len(s.open) < s.printAt {
		s.printing = false
	}
	return nil
}
