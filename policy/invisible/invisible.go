// Package invisible lists the characters that a user does not see in a text.
package invisible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Is reports whether r draws nothing of its own, or only changes how the text around it is drawn: control
// characters, line breaks and tabs among them, format and bidirectional characters, tags, variation selectors,
// fillers, and every space but the ASCII one.
func Is(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, blank,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// Hidden reports whether a user reading r on a screen would see nothing, see something else, or see the text around it
// change: control characters (all but newline and tab), invisible and bidirectional format characters, tags, variation
// selectors, fillers, and spaces that are not the ASCII one. The full-width space of Chinese and Japanese text is
// visibly wide and ordinary there, so it is not hidden. U+FFFD replaces bytes that could not be read.
func Hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u3000':
		return false
	}
	return r == utf8.RuneError || Is(r)
}

// In reports whether a text has a character that is [Hidden] and no [IsJoint].
func In(s string) bool {
	for i, r := range s {
		isPlain := r >= ' ' && r < 0x7f // as most are
		if !isPlain && Hidden(r) && !IsJoint(s, i) {
			return true
		}
	}
	return false
}

const (
	joiner = '\u200d'
	emoji  = '\ufe0f' // variation selector 16: the symbol before it is an emoji
	keycap = '\u20e3'
)

// IsJoint reports whether the character at byte i of s only makes an emoji of the visible characters beside it, as in
// ⚠️, 1️⃣ and 👩‍💻.
func IsJoint(s string, i int) bool {
	c, size := utf8.DecodeRuneInString(s[i:])
	if c != joiner && c != emoji && c != keycap {
		return false
	}
	before, sizeBefore := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	switch c {
	case joiner:
		return isSymbol(after) && (isSymbol(before) || before == emoji && IsJoint(s, i-sizeBefore))
	case emoji:
		return isSymbol(before) || after == keycap && isKey(before)
	case keycap:
		return before == emoji && IsJoint(s, i-sizeBefore)
	}
	return false
}

// Visible escapes what a terminal would obey or hide, in the way of JSON, so that JSON stays JSON.
func Visible(text string) string {
	if !In(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case !Hidden(r) || IsJoint(text, i):
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

func isKey(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// isSymbol reports whether r is one of the symbols that may be an emoji, or part of one.
func isSymbol(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff && unicode.In(r, unicode.So, unicode.Sm) ||
		strings.ContainsRune("©®‼⁉™ℹ〰〽㊗㊙", r)
}

// blank are characters that Unicode counts as letters or symbols, yet draw nothing.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // Hangul filler
		{Lo: 0xfffc, Hi: 0xfffc, Stride: 1}, // object replacement
	},
	R32: []unicode.Range32{
		{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}, // musical null notehead
		{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}, // tags
	},
}
