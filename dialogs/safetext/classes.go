package safetext

import (
	"slices"
	"unicode"

	"nod/policy/invisible"
)

const (
	combiningStrokeLow  = 0x0334 // first and last of the combining strokes through a letter
	combiningStrokeHigh = 0x0338
)

// why says what is odd about a hidden character, or returns "" if c is visible.
func why(c rune) string {
	switch {
	case c >= 0x20 && c < 0x7F:
		return ""
	case unicode.Is(unicode.Cc, c):
		return "control character"
	case unicode.Is(unicode.Bidi_Control, c):
		return "changes the direction of text"
	case c >= 0xE0000 && c <= 0xE007F:
		return "invisible tag character"
	case unicode.Is(unicode.Variation_Selector, c):
		return "variation selector"
	case unicode.In(c, unicode.Zl, unicode.Zp):
		return "line separator"
	case unicode.Is(unicode.Zs, c):
		return "unusual space"
	case unicode.Is(unicode.Noncharacter_Code_Point, c):
		return "not a character"
	case invisible.Is(c):
		return "invisible character"
	case unicode.Is(unicode.Co, c):
		return "private character without a fixed meaning"
	case isJamo(c):
		return "part of a Korean syllable"
	case isNewEmoji(c):
		return ""
	case !unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S):
		return "not a character"
	}
	return ""
}

// isJamo reports whether c joins others to one Korean syllable, which then looks like the character for it.
func isJamo(c rune) bool {
	return c >= 0x1100 && c <= 0x11FF || c >= 0xA960 && c <= 0xA97F || c >= 0xD7B0 && c <= 0xD7FF
}

// takesMark reports whether the combining mark c is normal on a letter like base. On Latin, Greek and Cyrillic letters
// it is not: their accented letters exist as characters, and a letter with a combining accent looks just like one of
// them.
func takesMark(base, c rune) bool {
	if !unicode.Is(unicode.L, base) || unicode.Is(unicode.Me, c) {
		return false
	}
	if c >= combiningStrokeLow && c <= combiningStrokeHigh {
		return false
	}
	if unicode.In(base, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
		return false
	}
	return unicode.Is(unicode.Inherited, c) || sameScript(base, c)
}

// markScripts are the scripts that write vowels or tones as combining marks.
var markScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Bengali, unicode.Devanagari, unicode.Ethiopic, unicode.Gujarati, unicode.Gurmukhi,
	unicode.Hebrew, unicode.Kannada, unicode.Khmer, unicode.Lao, unicode.Malayalam, unicode.Myanmar,
	unicode.Oriya, unicode.Sinhala, unicode.Syriac, unicode.Tamil, unicode.Telugu, unicode.Thaana,
	unicode.Thai, unicode.Tibetan,
}

func sameScript(a, b rune) bool {
	return slices.ContainsFunc(markScripts, func(script *unicode.RangeTable) bool {
		return unicode.Is(script, a) && unicode.Is(script, b)
	})
}

// isNewEmoji reports whether c is in a range that Unicode reserves for future pictographs: Go's tables are those of
// Unicode 15, but keyboards offer newer ones. [CanDraw] tells whether it is visible.
func isNewEmoji(c rune) bool {
	return c >= 0x1F6D8 && c <= 0x1F6FF || c >= 0x1FA70 && c <= 0x1FAFF
}
