package policy

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"nod/policy/invisible"
)

// Hidden reports whether a user reading r on a screen would see nothing, see something else, or see the
// text around it change: control characters (all but newline and tab), invisible and bidirectional format
// characters, tags, variation selectors, fillers, and spaces that are not the ASCII one. The full-width
// space of Chinese and Japanese text is visibly wide and ordinary there, so it is not hidden. U+FFFD
// stands for bytes that could not be read.
func Hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u3000':
		return false
	}
	return r == utf8.RuneError || invisible.Is(r)
}

// Visible spells out what a terminal would obey or hide, as JSON does, so that JSON stays JSON.
func Visible(text string) string {
	if strings.IndexFunc(text, Hidden) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case !Hidden(r):
			b.WriteRune(r)
		case r == utf8.RuneError && size == 1: // a byte that is no UTF-8
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func hasHidden(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f { // every plain ASCII text ends here without a closer look
			return strings.IndexFunc(s[i:], Hidden) >= 0
		}
	}
	return false
}
