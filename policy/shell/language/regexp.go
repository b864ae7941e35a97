package language

import (
	"slices"
	"strconv"
	"strings"
)

// Syntax is a syntax of regular expressions.
type Syntax int

const (
	Basic       Syntax = iota // POSIX basic, with what GNU adds: grep, sed
	Extended                  // POSIX extended: grep -E, sed -E, git grep -E
	awkExtended               // extended, but a backslash counts inside [ ] and may spell any character
	Perl                      // PCRE and Oniguruma: grep -P, jq
	Rust                      // the regex crate: rg, fd
)

// Regexp refuses patterns that may take much memory before a line is read, such as ((a{1,1000}){1,1000}){1,1000}, and
// references such as \1, whose matching may. It does not read a pattern further: it may accept what programs would
// refuse themselves, and what takes them long. A pattern must pass in each of several syntaxes.
func Regexp(pattern string, kind Syntax, others ...Syntax) error {
	if err := unreadable(pattern); err != nil {
		return err
	}
	for _, kind := range append([]Syntax{kind}, others...) {
		spelled := spell(pattern, kind)
		switch {
		case isOdd(pattern, spelled, kind):
			return refusal("nod can't read the pattern " + Quote(pattern) + ".")
		case states(spelled) > maxStates:
			return refusal("The pattern repeats so often that it may take all memory.")
		}
	}
	return nil
}

// maxStates is the largest size of a pattern with its repetitions written out. GNU grep takes 30 MB for 2,000 and
// 900 MB for 10,000.
const maxStates = 2000

var (
	// oddEscape matches a reference, the ends of a quotation, rare escapes, and a backslash at the end.
	oddEscape = Compiled(`\\([1-9CEGQcgko]|$)`)
	// awkCode is a character spelled by its number, which could be part of a pattern or format.
	awkCode = Compiled(`\\[0-9xu]`)
	// specialGroup matches the start of a group without a meaning of its own, or any that starts with (? or (*.
	specialGroup = Compiled(`\((?:\?(?:<?[=!]|[:>]|(?:P?<|')[A-Za-z0-9_]+[>']|[imsuU-]*[:)])|[?*])`)
)

// isOdd reports whether nod cannot tell what a pattern repeats. spelled is the pattern as [spell] returns it.
func isOdd(pattern, spelled string, kind Syntax) bool {
	escapes := strings.ReplaceAll(pattern, `\\`, "")
	if oddEscape().MatchString(escapes) {
		return true
	}
	switch kind {
	case awkExtended: // which begins the sequences for terminals with \033
		return awkCode().MatchString(strings.ReplaceAll(escapes, `\033`, ""))
	case Perl, Rust:
		isOther := func(group string) bool { return len(group) == len("(?") }
		return slices.ContainsFunc(specialGroup().FindAllString(spelled, -1), isOther)
	}
	return false
}

var (
	character = Compiled(`(?s)\\.|.`)
	interval  = Compiled(`\{ *([0-9]*) *,? *([0-9]*) *\}`)
)

// spell spells a pattern without backslashes: brackets and braces that are characters of the text become letters.
func spell(pattern string, kind Syntax) string {
	return character().ReplaceAllStringFunc(pattern, func(c string) string {
		sign, isEscaped := c[len(c)-1:], len(c) > 1 && c[0] == '\\'
		switch {
		case strings.Contains("(){}", sign) && isEscaped == (kind == Basic):
			return sign
		case isEscaped || strings.Contains("(){}", sign):
			return "x"
		}
		return c
	})
}

// states bounds the size of a pattern with its repetitions written out: those of a character or set are added, those of
// a group or of another repetition multiply all.
func states(spelled string) float64 {
	sum, product := float64(len(spelled)), 1.0
	for _, at := range interval().FindAllStringSubmatchIndex(spelled, -1) {
		times := 1.0
		for _, number := range []string{spelled[at[2]:at[3]], spelled[at[4]:at[5]]} {
			n, _ := strconv.ParseFloat(number, 64)
			times = max(times, n)
		}
		if at[0] > 0 && strings.IndexByte(")}*+?", spelled[at[0]-1]) >= 0 {
			product *= times
		} else {
			sum += times
		}
	}
	return sum * product
}

// setsClose reports whether each set [ ] of a pattern ends. With escapes, a backslash counts inside one.
func setsClose(text string, escapes bool) bool {
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '[':
			if at = setEnd(text, at+1, escapes); at == len(text) {
				return false
			}
		}
	}
	return true
}

// setEnd returns the index of the ] of a set whose content starts at an index, or the length of the text.
func setEnd(text string, start int, escapes bool) int {
	for at := start; at < len(text); at++ {
		isFirst := at == start || at == start+1 && text[start] == '^'
		switch c := text[at]; {
		case c == ']' && !isFirst:
			return at
		case c == '\\' && escapes:
			at++
		case c == '[':
			at += len(namedSet().FindString(text[at+1:]))
		}
	}
	return len(text)
}

// namedSet matches the rest of [:alpha:], [.x.] or [=x=].
var namedSet = Compiled(`(?s)^(:.*?:\]|\..*?\.\]|=.*?=\])`)
