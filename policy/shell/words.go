package shell

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// word is what a shell makes of one word of a command.
type word struct {
	text    string // without its quotes; the pattern itself when glob
	known   bool   // text is certain
	glob    bool   // an unquoted pattern, which becomes the names of the files it matches
	plain   bool   // spelled without any quotes
	problem string // why a read-only command may not hold it; empty when it may
}

// readWord evaluates a word. Only literal text is known: nod never guesses the value of a variable.
func readWord(w *syntax.Word) word {
	out := word{known: true, plain: len(w.Parts) == 1}
	var text strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(out.unquoted(part.Value, i == 0, i == len(w.Parts)-1))
		case *syntax.SglQuoted:
			out.plain = false
			text.WriteString(out.single(part, len(w.Parts) == 1))
		case *syntax.DblQuoted:
			out.plain = false
			text.WriteString(out.double(part, len(w.Parts) == 1))
		default:
			out.unknown(describePart(part))
		}
	}
	out.text = text.String()
	out.wholeWord(w)
	return out
}

func (w *word) refuse(problem string) {
	if w.problem == "" {
		w.problem = problem
	}
}

func (w *word) unknown(problem string) {
	w.known = false
	w.refuse(problem)
}

// describePart says what a part of a word does that is no literal text.
func describePart(part syntax.WordPart) string {
	switch part.(type) {
	case *syntax.ParamExp:
		return "It uses the value of a variable, which is not known before it runs."
	case *syntax.CmdSubst:
		return "It runs a command inside another one."
	case *syntax.ProcSubst:
		return "It runs a command and passes its output as a file."
	case *syntax.ArithmExp:
		return "It computes a number, and computing can run commands."
	case *syntax.ExtGlob:
		return "It uses an extended pattern, and patterns can run commands in zsh."
	}
	return "It holds a form that nod does not read."
}

// unquoted evaluates text outside quotes. It passes only characters that are ordinary in every shell,
// and the patterns * ? [ ].
func (w *word) unquoted(s string, first, last bool) string {
	if strings.ContainsRune(s, '\\') {
		w.refuse("It hides a character behind a backslash.")
		s = unescape(s, "")
	}
	for i, r := range s {
		switch {
		case r >= utf8.RuneSelf:
			// 0x85 and 0xA0 are blanks to shells in some single-byte character sets, so unquoted they could
			// split the word. Anything else was judged as raw bytes.
			if hasBlankByte(string(r)) {
				w.refuse("It holds " + quote(string(r)) + " outside quotes, part of which some shells read as a blank.")
			}
		case strings.ContainsRune("*?[]", r):
			w.glob = true
		case r == '~':
			w.tilde(s, i, first, last)
		case r == '^' && (i > 0 || !first):
			// HEAD^ is fine; zsh may take it for a pattern, judged in wholeWord.
		case r == '{' || r == '}':
			w.unknown("It holds braces outside quotes, which shells expand.")
		case r == '=' && i == 0 && first:
			w.refuse("It starts a word with =, which zsh expands.")
		case !strings.ContainsRune(ordinary, r):
			w.refuse("It holds " + quote(string(r)) + " outside quotes.")
		}
	}
	return s
}

// ordinary characters mean nothing but themselves to bash, zsh and dash.
const ordinary = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+="

func hasBlankByte(enc string) bool {
	return strings.IndexByte(enc, 0x85) >= 0 || strings.IndexByte(enc, 0xa0) >= 0
}

// tilde judges a ~ at place i of s. The home folder (~ and ~/...) and a ~ that cannot be one (HEAD~2) pass.
func (w *word) tilde(s string, i int, first, last bool) {
	if i > 0 && s[i-1] != '=' && s[i-1] != ':' {
		return
	}
	if i > 0 || !first {
		w.unknown("It holds a ~ that some shells expand and others do not.")
		return
	}
	if strings.HasPrefix(s, "~/") || s == "~" && last {
		return
	}
	w.unknown("It names another user's home folder, or one that only the shell knows.")
}

// single evaluates a part in single quotes.
func (w *word) single(q *syntax.SglQuoted, alone bool) string {
	if q.Dollar {
		w.unknown("It spells text in $'...' quotes.")
		return ""
	}
	w.quoted(q.Value, alone)
	return q.Value
}

// double evaluates a part in double quotes.
func (w *word) double(q *syntax.DblQuoted, alone bool) string {
	if q.Dollar {
		w.unknown("It spells text in $\"...\" quotes, which are translated.")
	}
	var text strings.Builder
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			w.unknown(describePart(part))
			continue
		}
		if strings.ContainsRune(lit.Value, '!') {
			w.refuse("It holds ! in double quotes, which an interactive shell replaces by an earlier command.")
		}
		text.WriteString(unescape(lit.Value, "$`\"\\"))
	}
	w.quoted(text.String(), alone)
	return text.String()
}

// quoted judges the text of a part in quotes.
func (w *word) quoted(s string, alone bool) {
	if s == "" && !alone {
		w.refuse("It holds empty quotes inside a word.")
	}
	if strings.ContainsRune(s, '\n') {
		w.refuse("It holds a line end inside quotes.")
	}
}

// unescape removes the backslashes before the characters in special, or before all when special is empty.
func unescape(s, special string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (special == "" || strings.IndexByte(special, s[i+1]) >= 0) {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// wholeWord judges what only the whole word shows.
func (w *word) wholeWord(from *syntax.Word) {
	_, bare := from.Parts[0].(*syntax.Lit)
	switch {
	case !bare && (w.text == "~" || strings.HasPrefix(w.text, "~/")):
		w.refuse("It names a file called ~ in quotes, which is easily taken for the home folder.")
	case w.glob && !evenSets.MatchString(w.text):
		w.refuse("It holds a pattern with a [ or ] of its own, which zsh refuses.")
	case !strings.ContainsAny(w.text, "~^"), !hasBare(from, "~^"):
	case w.glob:
		w.refuse("It mixes a pattern with ~ or ^, which zsh reads differently.")
	case strings.HasPrefix(w.text, "-"):
		w.refuse("It holds ~ or ^ in a flag, which zsh may read as a pattern.")
	}
}

// evenSets matches patterns in which every [ opens a plain set such as [a-z].
var evenSets = regexp.MustCompile(`^([^\[\]]|\[[^\[\]/]+\])*$`)

// hasBare reports whether one of chars stands outside quotes.
func hasBare(from *syntax.Word, chars string) bool {
	for _, part := range from.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.ContainsAny(lit.Value, chars) {
			return true
		}
	}
	return false
}

// quote shows a piece of the command inside a reason: escaped, and never long.
func quote(s string) string {
	const longest = 40
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "..."
	}
	return strconv.QuoteToASCII(s)
}
