package safetext

import (
	"unicode"
	"unicode/utf8"
)

// scripts is a set of [alikeScripts], a bit for each.
type scripts uint8

// alikeScripts are the scripts with letters that look alike.
var alikeScripts = [...]*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Lisu,
}

const latin scripts = 1

func (s scripts) has(other scripts) bool { return s&other != 0 }

// scriptOf returns the script of a letter, or 0 for any other character or script.
func scriptOf(c rune) scripts {
	if c < utf8.RuneSelf {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return latin
		}
		return 0
	}
	for i, script := range alikeScripts {
		if unicode.Is(script, c) {
			return 1 << i
		}
	}
	return 0
}

// nativeScripts returns the scripts that s is really written in: those with a letter that resembles no letter of
// another script. In Russian text, a word that consists only of look-alikes is normal.
func nativeScripts(s string) scripts {
	var found scripts
	for _, c := range s {
		if c >= utf8.RuneSelf && lookAlike(c) == 0 {
			found |= scriptOf(c)
		}
	}
	return found
}

// inWord reports whether c can be part of a name.
func inWord(c rune) bool {
	return c == '_' || unicode.In(c, unicode.L, unicode.M, unicode.N)
}

// lookAlike returns the ASCII character that c resembles, or 0: the strong cases of the confusables (UTS 39).
func lookAlike(c rune) rune {
	if c < utf8.RuneSelf {
		return 0
	}
	if like, ok := alike[c]; ok {
		return like
	}
	switch {
	case c >= 0xFF01 && c <= 0xFF5E: // full-width ASCII
		return c - 0xFF01 + '!'
	case c >= 0x1D400 && c <= 0x1D6A3: // mathematical letters: thirteen alphabets in a row, A-Z then a-z
		if n := (c - 0x1D400) % 52; n >= 26 {
			return 'a' + n - 26
		}
		return 'A' + (c-0x1D400)%52
	case c >= 0x1D7CE && c <= 0x1D7FF: // mathematical digits
		return '0' + (c-0x1D7CE)%10
	}
	return 0
}

// isImpostor reports whether c looks like ASCII in any context.
func isImpostor(c rune) bool {
	if c < utf8.RuneSelf || lookAlike(c) == 0 {
		return false
	}
	if c >= 0xFF01 && c <= 0xFF5E { // full-width punctuation is ordinary in Chinese, letters and digits are not
		like := lookAlike(c)
		return inWord(like) && like != '_' || like == '/' || like == '\\'
	}
	if c == '–' || c == '—' {
		return false // see isOptionDash
	}
	s := scriptOf(c)
	return s == 0 || s == latin || ignoresScript[c]
}

// ignoresScript are marks with a script in Unicode that stand alone.
var ignoresScript = map[rune]bool{0x037E: true, 0x1FEF: true}

// isOptionDash reports whether c is a dash at the start of a word, where it looks like the - of an option.
func isOptionDash(line string, i int, c rune) bool {
	if c != '–' && c != '—' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(line[:i])
	after, _ := utf8.DecodeRuneInString(line[i+utf8.RuneLen(c):])
	return (i == 0 || before == ' ') && inWord(after)
}

var alike = makeAlike()

func makeAlike() map[rune]rune {
	m := map[rune]rune{
		0x0131: 'i', 0x0237: 'j', 0x0251: 'a', 0x0261: 'g', 0x01C0: '|', 0x01C3: '!', // Latin
		0x2010: '-', 0x2011: '-', 0x2012: '-', 0x2212: '-', 0xFE63: '-', // dashes of a hyphen's length
		'–': '-', '—': '-', // only where an option would start
		0x2044: '/', 0x2215: '/', 0x29F8: '/', 0x2571: '/', // slashes
		0x2216: '\\', 0x29F5: '\\', 0x29F9: '\\', 0xFE68: '\\', // backslashes
		0x2024: '.', 0xA4F8: '.', 0x2236: ':', 0xA789: ':', 0x02D0: ':', 0x037E: ';', 0x1FEF: '`', // points
		0x2223: '|', 0x23FD: '|', 0x2768: '(', 0x2769: ')', 0x2774: '{', 0x2775: '}', 0x223C: '~', 0x02DC: '~',
		0x212A: 'K', 0x212B: 'A', 0x212E: 'e', 0x2113: 'l', 0x2160: 'I', 0x2170: 'i', 0x217C: 'l', 0x2164: 'V',
		0x2174: 'v', 0x2169: 'X', 0x2179: 'x', 0x216C: 'L', 0x216D: 'C', 0x217D: 'c', 0x216E: 'D', 0x217E: 'd',
		0x216F: 'M', 0x217F: 'm', // letters for units and Roman numbers
	}
	pairs := func(foreign, ascii string) {
		letters := []rune(ascii)
		for i, c := range []rune(foreign) {
			m[c] = letters[i]
		}
	}
	pairs("аеорсухіјѕһԁԛԝӏгѵІЈЅАВЕЗКМНОРСТУХԌԚԜѴҮҺ", "aeopcyxijshdqwlrvIJSABE3KMHOPCTYXGQWVYh") // Cyrillic
	pairs("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρϲϳϹͿ", "ABEZHIKMNOPTYXovpcjCJ")                                     // Greek
	pairs("օոսցհՕՍԼՏ", "onughOULS")                                                             // Armenian
	pairs("ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏌᏎᏒᏔᏙᏚᏞᏟᏢᏦᏧᏴ", "DRTiYAJEWMHYGhZbRSWVSLCPKdB")                         // Cherokee
	pairs("ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓠꓡꓢꓣꓤꓥꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPdDTGKJCZFNLSRRVVHWXYAEIOU")                         // Lisu
	return m
}
