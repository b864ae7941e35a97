package git

import (
	"bytes"
	"strings"
)

type entry struct {
	section, sub, name string
	value              string
	hasSub             bool
	hasValue           bool // false for a key without "=", which git reads as true
}

func (e *entry) pattern() string { return e.with("*") }

func (e *entry) key() string { return e.with(e.sub) }

func (e *entry) with(sub string) string {
	if e.hasSub {
		return e.section + "." + sub + "." + e.name
	}
	return e.section + "." + e.name
}

// parse calls visit for each key of a configuration file, as git's own reader (git_parse_source in config.c) finds
// them. It returns the number of the first line that it cannot read, or 0. It refuses keys before the first section,
// sections without a name and NUL bytes, which git accepts or cuts off.
func parse(data []byte, visit func(*entry)) (badLine int) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return 1 + bytes.Count(data[:i], []byte("\n"))
	}
	r := &reader{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), line: 1}
	var head entry
	for {
		started, ok := r.line, true
		c := r.next()
		switch {
		case r.ended:
			return 0
		case isSpace(c):
		case c == '#' || c == ';':
			r.skipLine()
		case c == '[':
			head, ok = r.header()
		case isAlpha(c) && head.section != "":
			e := head
			if ok = r.entry(c, &e); ok {
				visit(&e)
			}
		default:
			ok = false
		}
		if !ok {
			return started
		}
	}
}

type reader struct {
	data  []byte
	at    int
	line  int
	ended bool
	buf   []byte
}

// next returns the next byte; CR LF is one LF, and so is the end.
func (r *reader) next() byte {
	if r.at >= len(r.data) {
		r.ended = true
		return '\n'
	}
	c := r.data[r.at]
	r.at++
	if c == '\r' && r.at < len(r.data) && r.data[r.at] == '\n' {
		r.at++
		c = '\n'
	}
	if c == '\n' {
		r.line++
	}
	return c
}

func (r *reader) skipLine() {
	for r.next() != '\n' {
	}
}

// header reads [section], [section "sub"] and the old [section.sub], whose sub is in lower case.
func (r *reader) header() (head entry, ok bool) {
	r.buf = r.buf[:0]
	for {
		c := r.next()
		switch {
		case r.ended:
			return head, false
		case c == ']':
			head.split(r.buf)
			return head, head.section != ""
		case isSpace(c):
			ok = r.quotedSub(c)
			head.split(r.buf)
			return head, ok && head.section != ""
		case !isKey(c) && c != '.':
			return head, false
		}
		r.buf = append(r.buf, lower(c))
	}
}

// quotedSub reads the rest of [section "sub"]. A backslash quotes the next byte.
func (r *reader) quotedSub(c byte) bool {
	for isSpace(c) {
		if c == '\n' {
			return false
		}
		c = r.next()
	}
	if c != '"' {
		return false
	}
	r.buf = append(r.buf, '.')
	for c = r.next(); c != '"'; c = r.next() {
		if c == '\\' {
			c = r.next()
		}
		if c == '\n' {
			return false
		}
		r.buf = append(r.buf, c)
	}
	return r.next() == ']'
}

// split divides a header's text at the first dot, as git does when it compares keys.
func (e *entry) split(text []byte) {
	section, sub, hasSub := bytes.Cut(text, []byte("."))
	e.section, e.sub, e.hasSub = string(section), string(sub), hasSub
}

func (r *reader) entry(c byte, e *entry) bool {
	r.buf = r.buf[:0]
	for ; isKey(c); c = r.next() {
		r.buf = append(r.buf, lower(c))
	}
	e.name = string(r.buf)
	for c == ' ' || c == '\t' {
		c = r.next()
	}
	if c == '\n' {
		return true
	}
	e.hasValue = true
	return c == '=' && r.value(e)
}

// value reads what follows "=": blanks around it do not count, quotes may open and close anywhere, a backslash at the
// end of a line continues it, and a comment ends it.
func (r *reader) value(e *entry) bool {
	r.buf = r.buf[:0]
	kept, quoted := 0, false // after kept there are only blanks, which may be trailing
	for {
		c := r.next()
		switch {
		case c == '\n':
			e.value = string(r.buf[:kept])
			return !quoted
		case quoted: // blanks and comments are text
		case isSpace(c):
			if len(r.buf) > 0 {
				r.buf = append(r.buf, c)
			}
			continue
		case c == '#' || c == ';':
			r.skipLine()
			e.value = string(r.buf[:kept])
			return true
		}
		if c == '"' {
			quoted, kept = !quoted, len(r.buf)
			continue
		}
		if c == '\\' {
			if c = unescape(r.next()); c == 0 {
				return false
			}
			if c == '\r' { // the line continues
				kept = len(r.buf)
				continue
			}
		}
		r.buf = append(r.buf, c)
		kept = len(r.buf)
	}
}

// unescape returns what a byte behind a backslash means, or 0; a line end there is read as CR.
func unescape(c byte) byte {
	i := strings.IndexByte("\ntbn\\\"", c)
	if i < 0 {
		return 0
	}
	return "\r\t\b\n\\\""[i]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isAlpha(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }
func isKey(c byte) bool   { return isAlpha(c) || '0' <= c && c <= '9' || c == '-' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
