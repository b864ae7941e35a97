package policy

import (
	"strings"
	"unicode/utf8"

	"nod/policy/invisible"
)

// Hidden reports whether a person reading r on a screen would see nothing, see something else, or see the
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

// hasHidden reports whether s holds a [Hidden] character.
func hasHidden(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f { // every plain ASCII text ends here without a closer look
			return strings.IndexFunc(s[i:], Hidden) >= 0
		}
	}
	return false
}
