package language

import "strings"

// scanAwk refuses programs that do more than print, by their bare words and signs, and those that awks divide into
// words in different ways. It rests on no parser, so that no quirk of one can hide anything: outside texts and regular
// expressions there is no |, >>, @, getline or system, and no > that could belong to a print.
func scanAwk(program string) error {
	s := awkScanner{text: program, before: operator}
	for s.at < len(program) {
		if err := s.token(); err != nil {
			return err
		}
	}
	if len(s.open) > 0 {
		return s.odd()
	}
	return nil
}

// place says what a / would mean next.
type place int

const (
	operator  place = iota // an operand is due: / begins a regular expression
	operand                // / divides
	uncertain              // awks may disagree
)

type awkScanner struct {
	text     string
	at       int
	before   place
	open     []byte // the brackets around the place; c for those of if, for and while
	control  bool   // the last word was if, for or while
	printing bool   // inside a print
	printAt  int    // how many brackets stood open at its start
}

func (s *awkScanner) odd() error {
	return refusal("nod cannot read the awk program at " + quote(s.text[min(s.at, len(s.text)):]) + ".")
}

func (s *awkScanner) peek() byte {
	if s.at+1 < len(s.text) {
		return s.text[s.at+1]
	}
	return '\n'
}

// token steps over one word or sign.
func (s *awkScanner) token() error {
	switch c := s.text[s.at]; {
	case c == ' ' || c == '\t':
		s.at++
		return nil
	case c == '#':
		for s.at < len(s.text) && s.text[s.at] != '\n' {
			s.at++
		}
		return nil
	case c == '"', c == '/' && s.before == operator:
		return s.quoted(c)
	case c == '/' && (s.before == uncertain || s.peek() == '='):
		return s.odd()
	case isLetter(c) || c == '_':
		return s.word()
	case isDigit(c):
		for s.at < len(s.text) && (isName(s.text[s.at]) || s.text[s.at] == '.') {
			s.at++
		}
		s.before, s.control = operand, false
		return nil
	default:
		return s.sign(c)
	}
}

// quoted steps over a text or a regular expression.
func (s *awkScanner) quoted(end byte) error {
	from := s.at + 1
	for s.at = from; s.at < len(s.text) && s.text[s.at] != end; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
		if s.at < len(s.text) && s.text[s.at] == '\n' {
			return s.odd()
		}
	}
	if s.at >= len(s.text) {
		return s.odd()
	}
	inside := s.text[from:s.at]
	// In a set, a / ends the expression for some and not for others.
	if end == '/' && !(setsClose(inside, Extended) && setsClose(inside, AwkExtended)) {
		return s.odd()
	}
	s.at++
	s.before, s.control = operand, false
	return nil
}

var (
	awkCalls = words("atan2 cos exp gsub index int log match rand sin split sprintf sqrt srand sub substr " +
		"tolower toupper")
	awkControls = words("if for while")
	awkKeywords = words("BEGIN END break continue delete do else exit in next nextfile return BEGINFILE ENDFILE " +
		"case default switch")
	awkHarmful = words("getline system close fflush function func include load namespace eval extension")
)

func (s *awkScanner) word() error {
	from := s.at
	for s.at < len(s.text) && isName(s.text[s.at]) {
		s.at++
	}
	word := s.text[from:s.at]
	s.control = awkControls.has(word)
	switch {
	case awkHarmful.has(word):
		return refusal("The awk program uses " + word + ", which may do more than print.")
	case word == "print" || word == "printf":
		s.printing, s.printAt, s.before = true, len(s.open), operator
	case s.control, awkKeywords.has(word):
		s.before = operator
	case word == "length", awkCalls.has(word):
		s.before = uncertain
	default:
		s.before = operand
	}
	return nil
}

// sign steps over a character that is no word.
func (s *awkScanner) sign(c byte) error {
	next := s.peek()
	s.at++
	control := s.control
	s.control = false
	switch c {
	case '\n':
		// A line that ends in an operator goes on.
		if s.before != operator {
			s.printing = false
		}
		s.before = operator
	case ';', '{', '}':
		s.printing, s.before = false, operator
	case '(', '[':
		if control {
			c = 'c'
		}
		s.open, s.before = append(s.open, c), operator
	case ')', ']':
		return s.closing(c)
	case '|', '&':
		if s.at++; next != c {
			return refusal("The awk program may run another program.")
		}
		s.before = operator
	case '>':
		if next == '>' || s.printing && len(s.open) <= s.printAt {
			return refusal("The awk program may write a file.")
		}
		s.before = operator
	case '+', '-':
		if s.before = operator; next == c {
			s.at++
			s.before = uncertain
		}
	case '*', '/', '%', '^', '=', '!', '~', '?', ':', ',', '$', '<':
		s.before = operator
	default:
		s.at--
		return s.odd()
	}
	return nil
}

func (s *awkScanner) closing(c byte) error {
	if len(s.open) == 0 {
		return s.odd()
	}
	last := s.open[len(s.open)-1]
	if (c == ']') != (last == '[') {
		return s.odd()
	}
	s.open, s.before = s.open[:len(s.open)-1], operand
	if last == 'c' {
		s.before = operator
	}
	if len(s.open) < s.printAt {
		s.printing = false
	}
	return nil
}

// deepBrackets reports whether brackets stand deeper in one another than any person writes them.
func deepBrackets(text string) bool {
	depth := 0
	for i := range len(text) {
		switch {
		case strings.IndexByte("([{", text[i]) >= 0:
			if depth++; depth > maxDepth {
				return true
			}
		case strings.IndexByte(")]}", text[i]) >= 0:
			depth--
		}
	}
	return false
}
