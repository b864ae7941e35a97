package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nod/policy/invisible"
	"nod/policy/shell/language"
)

// unreadable says why command must not even be parsed: shells, parsers and people would disagree on what it says. A
// carriage return, for example, separates words for some and is part of a word for others.
func unreadable(command string) string {
	switch {
	case len(command) > language.MaxLength:
		return "The command is longer than 10,000 bytes."
	case !utf8.ValidString(command):
		return "The command contains bytes that are not valid UTF-8."
	case invisible.In(command), strings.ContainsRune(command, wideSpace):
		return "The command contains a control character or an invisible one."
	}
	return ""
}

// wideSpace is ordinary in Chinese text, and in a command it looks like a blank that separates words.
const wideSpace = '\u3000'

func isHidden(r rune) bool { return invisible.Hidden(r) || r == wideSpace }

// doubtful says why a readable command holds bytes that no read-only command needs. Only printable ASCII,
// line ends, letters and, in quotes, plain marks pass.
func doubtful(command string) string {
	switch {
	case joins(command):
		return isJoined
	case strings.ContainsRune(command, '\t'):
		return "It contains a tab."
	case strings.Contains(command, "\\\n"):
		return "It joins two lines with a backslash."
	case ascii(command):
		return ""
	}
	for i, r := range command {
		if r >= utf8.RuneSelf && !plainLetter(r) && !plainMark(r) && !invisible.IsJoint(command, i) {
			return "It contains " + quote(string(r)) + ", which is not a letter or may be taken for another one."
		}
	}
	for _, run := range strings.FieldsFunc(command, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if lookAlike(run) {
			return "It contains letters that look like others: " + quote(run) + "."
		}
	}
	return ""
}

const isJoined = "It contains a backslash behind a letter outside ASCII, and some character sets join the two into one."

// joins reports whether a backslash follows a letter outside ASCII. In two-byte character sets whose second byte may be
// a backslash, it is part of that letter and does not quote the next one.
func joins(command string) bool {
	for i := 1; i < len(command); i++ {
		if command[i] == '\\' && command[i-1] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// plainLetter reports whether r, outside ASCII, is a letter of a script that nod can tell from others.
func plainLetter(r rune) bool {
	switch {
	case !unicode.IsLetter(r), strings.ContainsRune("ıĸŀĿŉ", r):
		return false
	case greekOrCyrillic(r),
		r >= 0xc0 && r <= 0x17e,    // Latin-1 Supplement and Latin Extended-A
		r >= 0x3041 && r <= 0x30fa, // Hiragana, Katakana without the prolonged sound mark, which looks like a dash
		r >= 0x4e00 && r <= 0x9fff, // Han
		r >= 0xac00 && r <= 0xd7a3: // Hangul syllables
		return true
	}
	return false
}

// plainMark reports whether r is a mark or a picture that resembles nothing with a meaning to a shell or a program. It
// is allowed in quotes.
func plainMark(r rune) bool {
	switch {
	case r >= 0x2758 && r <= 0x2763, strings.ContainsRune("▬⚊➖✱✲✳", r): // bars, quotes, dashes, stars
		return false
	case strings.ContainsRune("…•·—«»×÷±≈≠≤≥∞√∑∆°§©®⬅⬆⬇⬛⬜⭐⭕", r),
		r >= 0x23e9 && r <= 0x23f3,                                            // clocks
		r >= 0x2190 && r <= 0x21ff,                                            // arrows
		r >= 0x25a0 && r <= 0x27bf && unicode.Is(unicode.So, r),               // shapes, signs, dingbats
		r >= 0x1f300 && r <= 0x1faff && unicode.In(r, unicode.So, unicode.Sk): // pictures, and colours of skin
		return true
	}
	return false
}

func greekOrCyrillic(r rune) bool { return r >= 0x386 && r <= 0x3ce || r >= 0x410 && r <= 0x451 }

// lookAlike reports whether a run of letters may be read as other letters: Greek or Cyrillic, mixed with
// another script or made only of letters that have a Latin twin.
func lookAlike(run string) bool {
	mixed := strings.TrimFunc(run, greekOrCyrillic) != ""
	return strings.ContainsFunc(run, greekOrCyrillic) && (mixed || strings.Trim(run, latinTwins) == "")
}

// latinTwins are the Greek and Cyrillic letters that look like an ASCII letter or digit.
const latinTwins = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΪΫαγικνορτυχϊ" + "АВЕЗКМНОРСТУХЬавезкмнорстухьё"
