// Package language reads the small languages inside commands: it finds out what a sed script, an awk program, a jq
// filter, a find expression or a format does besides turning its input into its output.
//
// Every function answers for all programs that agents meet under the name: GNU, BSD and busybox, gawk, mawk and the
// awk of BSD, jq 1.5 to 1.8. Where those read a text differently, all readings must be harmless. A text passes when
// it surely starts no program, changes nothing, ends, and needs little memory in proportion to its input; a regular
// expression may take long. Everything else is an error: one sentence for the user who is asked. Some harmless texts
// are refused, for example because nod does not know a function in it, or because it loops.
//
// The functions never panic, and take time about in proportion to the length of the text.
package language

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxLength is the length in bytes of the longest text that is read.
const MaxLength = 10_000

const maxWidth = 1000

const maxDepth = 100

// Use is what a text reaches beyond its input. Paths are as spelled, relative to the folder in which the command runs.
type Use struct {
	Reads   []string // files whose content is read
	Looks   []string // paths whose kind, size or times alone are read
	Trees   []string // folders that are walked to any depth, where only names, kinds and times are read
	Writes  []string // files that are made or overwritten
	Removes []string // files that are removed, or moved away
	Deletes bool     // what is found below Trees is removed
	links   bool     // links are followed to get to Trees or while walking them
	Names   []string // patterns of the names that find looks for; of a regular expression roughly what it matches
	Runs    []run    // commands that find runs
	Grows   float64  // how many times it may lengthen a text, if known
}

type run struct {
	Words []string // with {} for what find found
	Many  bool     // {} stands for any number of files, not just one
}

type refusal string

func (r refusal) Error() string { return string(r) }

func unreadable(text string) error {
	switch {
	case len(text) > MaxLength:
		return refusal("The text is longer than 10,000 bytes.")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return refusal("The text contains bytes that are not characters.")
	}
	return nil
}

// Quote quotes a piece of a text for a reason: escaped, and never longer than 40 characters.
func Quote(s string) string {
	const longest = 40
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// Words is a list of words separated by blanks. Like the result of [Compiled], it costs nothing until it is used: most
// runs of nod read no command.
type Words string

// Has reports whether w is one of the words.
func (l Words) Has(w string) bool {
	if w == "" || strings.Contains(w, " ") {
		return false
	}
	for rest := string(l); ; { // begins with a word
		before, after, isThere := strings.Cut(rest, w)
		if !isThere {
			return false
		}
		if (before == "" || before[len(before)-1] == ' ') && (after == "" || after[0] == ' ') {
			return true
		}
		_, rest, _ = strings.Cut(after, " ")
	}
}

// Compiled returns a regular expression that is compiled when it is first needed.
func Compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	integer = Compiled(`^[-+]?[0-9]{1,18}$`)
	decimal = Compiled(`^[-+]?[0-9]{1,15}(\.[0-9]{1,15})?$`)
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// Wildcard reports whether a text matches a pattern, in which * is any text and ? a character. It backtracks to the
// last star only, so it takes at most len(pattern) × len(text) steps.
func Wildcard(pattern, text string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return pattern == text
	}
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		_, size := utf8.DecodeRuneInString(text[t:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark, p = p, t, p+1
		case p < len(pattern) && pattern[p] == '?':
			p, t = p+1, t+size
		case p < len(pattern) && pattern[p] == text[t]:
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
