// Package invisible lists the characters that a user does not see in a text.
package invisible

import "unicode"

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
