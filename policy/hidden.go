package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a person reading r on a screen would see nothing, see something else, or see the
// text around it change: control characters (all but newline and tab), invisible and bidirectional format
// characters, tags, variation selectors, fillers, and spaces that are not the ASCII one. The full-width
// space of Chinese and Japanese text is visibly wide and ordinary there, so it is not hidden. U+FFFD
// stands for bytes that could not be read.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return (r < ' ' && r != '\n' && r != '\t') || r == 0x7f
	}
	switch r {
	case '\u3000':
		return false
	case utf8.RuneError, '\u2800', '\u115f', '\u1160', '\u3164', '\uffa0':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// hasHidden reports whether s holds a [Hidden] character.
func hasHidden(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f { // every plain ASCII text ends here without a closer look
			return strings.IndexFunc(s[i:], Hidden) >= 0
		}
	}
	return false
}
