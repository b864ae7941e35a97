package safetext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// drawn renders s, with a slash between lines.
func drawn(s string) string {
	var lines []string
	for _, l := range Render(s) {
		lines = append(lines, l.String())
	}
	return strings.Join(lines, " / ")
}

func TestRender(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"ASCII", "rm -rf 'a b' | $X", "rm -rf 'a b' | $X"},
		{"lines", "a\nb\n", "a / b / "},
		{"Chinese", "删除 缓存，好吗？", "删除 缓存，好吗？"},
		{"Japanese", "ファイルを削除", "ファイルを削除"},
		{"accents", "größer café", "größer café"},
		{"emoji", "🚀 go", "🚀 go"},

		{"null", "a\x00b", "a‹U+0000›b"},
		{"escape sequence", "\x1b[24D\x1b[K", "‹U+001B›[24D‹U+001B›[K"},
		{"backspace", "rm\b\bls", "rm‹U+0008›‹U+0008›ls"},
		{"delete", "a\x7f", "a‹U+007F›"},
		{"C1", "a\u009bm", "a‹U+009B›m"},
		{"right-to-left override", "safe\u202Efdp.exe", "safe‹U+202E›fdp.exe"},
		{"isolates", "\u2066a\u2069", "‹U+2066›a‹U+2069›"},
		{"arabic letter mark", "\u061C", "‹U+061C›"},
		{"zero width", "pay\u200bpal\uFEFF", "pay‹U+200B›pal‹U+FEFF›"},
		{"joiners", "a\u200d\u200cb", "a‹U+200D›‹U+200C›b"},
		{"word joiner", "a\u2060", "a‹U+2060›"},
		{"tags", "ls\U000E0020\U000E0072", "ls‹U+E0020›‹U+E0072›"},
		{"variation selectors", "a\uFE01\U000E0100", "a‹U+FE01›‹U+E0100›"},
		{"Hangul fillers", "\u3164\u115F\u1160\uFFA0", "‹U+3164›‹U+115F›‹U+1160›‹U+FFA0›"},
		{"blank Braille", "\u2800", "‹U+2800›"},
		{"no-break space", "a\u00a0b", "a‹U+00A0›b"},
		{"ideographic space", "a\u3000b", "a‹U+3000›b"},
		{"line separator", "a\u2028b\u2029", "a‹U+2028›b‹U+2029›"},
		{"next line", "a\u0085b", "a‹U+0085›b"},
		{"soft hyphen", "a\u00adb", "a‹U+00AD›b"},
		{"private use", "\ue0b0", "‹U+E0B0›"},
		{"unassigned", "\u0378", "‹U+0378›"},
		{"noncharacter", "\uffff", "‹U+FFFF›"},
		{"bad bytes", "a\xff\xfeb", "a‹0xFF›‹0xFE›b"},
		{"half a character", "\xe2\x80", "‹0xE2›‹0x80›"},
		{"surrogate", "\xed\xa0\x80", "‹0xED›‹0xA0›‹0x80›"},
		{"many", strings.Repeat("\u200b", 312), "‹U+200B×312›"},
		{"many bytes", strings.Repeat("\xff", 5), "‹0xFF×5›"},

		{"accent on a Latin letter", "cafe\u0301", "cafe‹U+0301›"},
		{"stack", "ก\u0e34\u0e48\u0e49\u0e4a", "กิ่‹U+0E49›‹U+0E4A›"},
		{"Thai", "ที่", "ที่"},
		{"Hindi", "हिन्दी", "हिन्दी"},
		{"Arabic", "بَيت", "بَيت"},
		{"stroke", "=\u0338", "=‹U+0338›"},
		{"keycap", "1\u20e3", "1‹U+20E3›"},
		{"accent on nothing", "\u0301a", "‹U+0301›a"},
		{"Korean", "한국어", "한국어"},
		{"Korean in pieces", "\u1112\u1161", "‹U+1112›‹U+1161›"},

		{"tab", "a\tb", "a⇥  b"},
		{"tab at a stop", "abcd\te", "abcd⇥   e"},
		{"tabs in front", "\t\tx", "⇥   ⇥   x"},
		{"many tabs", strings.Repeat("\t", 40) + "x", "‹40 tabs›x"},
		{"indented", "    x", "    x"},
		{"padding", "ls" + strings.Repeat(" ", 312) + "; rm x", "ls‹312 spaces›; rm x"},
		{"blank at the end", "a \nb  ", "a‹1 space› / b‹2 spaces›"},
		{"blank line", "a\n    \nb", "a / ‹4 spaces› / b"},
		{"Windows line ends", "a\r\nb\r\n", "a‹CR› / b‹CR› / "},
		{"blank before a Windows line end", "a \r\n", "a‹1 space›‹CR› / "},
		{"lone CR", "evil\rgood", "evil‹U+000D›good"},
		{"CR at the end", "a\r", "a‹U+000D›"},
		{"few empty lines", "a\n\n\nb", "a /  /  / b"},
		{"many empty lines", "a\n" + strings.Repeat("\n", 300) + "b", "a / ‹300 empty lines› / b"},

		{"nod's own marks", "‹U+202E› ⇥", "‹U+2039›U+202E› ‹U+21E5›"},
		{"emoji joints", "👩\u200d💻 ❤\ufe0f", "👩‹U+200D›💻 ❤‹U+FE0F›"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := drawn(tt.in); got != tt.want {
				t.Errorf("Render(%q)\n got %s\nwant %s", tt.in, got, tt.want)
			}
			checkRoundTrip(t, tt.in)
		})
	}
}

func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		hidden   bool
		suspect  string // the suspicious spans, concatenated
	}{
		{"plain", "git commit -m 'ok — fine'", false, ""},
		{"emoji joints are harmless", "👩\u200d💻 ❤\ufe0f ⚙\ufe0f", false, ""},
		{"joiner after an emoji only", "💻\u200dx", true, ""},
		{"selector on a letter", "a\ufe0f", true, ""},
		{"blanks are harmless", "a\t\n\n\n\n\n\n\n\nb  ", false, ""},
		{"Windows line ends are harmless", "a\r\nb\r\n", false, ""},
		{"lone CR", "a\rb", true, ""},
		{"Cyrillic in a Latin word", "pаypal", false, "а"},
		{"Cyrillic word of look-alikes alone", "cd сору", false, "сору"},
		{"Russian text", "проверь сору и еще", false, ""},
		{"Russian beside Latin", "git commit -m 'добавил тест'", false, ""},
		{"Greek in a Latin word", "gοοgle", false, "οο"},
		{"Greek text", "ο κόσμος", false, ""},
		{"Greek symbols", "Δx = λ/2", false, ""},
		{"Cherokee", "Ꭰpple", false, "Ꭰ"},
		{"full-width letters", "ｒｍ -rf", false, "ｒｍ"},
		{"full-width punctuation", "你好！（再见）", false, ""},
		{"mathematical letters", "𝐫𝐦 𝟏", false, "𝐫𝐦𝟏"},
		{"slashes", "a∕b⁄c", false, "∕⁄"},
		{"Greek question mark", "ls\u037e", false, "\u037e"},
		{"option with a dash", "rm –rf", false, "–"},
		{"dash in a sentence", "this — and that – too", false, ""},
		{"imitation of a mark", "‹3 spaces›", false, "‹U+2039›"},
		{"umlauts", "größe naïve", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := HasHidden(tt.in); got != tt.hidden {
				t.Errorf("HasHidden(%q) = %v, want %v", tt.in, got, tt.hidden)
			}
			var suspect strings.Builder
			for _, s := range oddSpans(tt.in) {
				if s.Kind == Suspicious {
					suspect.WriteString(s.Text)
				}
			}
			if suspect.String() != tt.suspect {
				t.Errorf("suspicious in %q: %q, want %q", tt.in, suspect.String(), tt.suspect)
			}
		})
	}
}

// oddSpans returns the spans of the rendered text that a user should notice.
func oddSpans(text string) []Span {
	var odd []Span
	for _, row := range Render(text) {
		for _, s := range row.Spans {
			if s.Why() != "" {
				odd = append(odd, s)
			}
		}
	}
	return odd
}

func TestWhy(t *testing.T) {
	found := oddSpans("a\n\n\n\n\n\n\n\u202Eb pаy ‹ \xff e\u0301")
	want := []struct {
		text string
		kind Kind
		why  string
	}{
		{"‹U+202E›", Hidden, "changes the direction of text"},
		{"а", Suspicious, "looks like a"},
		{"‹U+2039›", Suspicious, "looks like one of nod's marks"},
		{"‹0xFF›", Hidden, "not UTF-8"},
		{"‹U+0301›", Hidden, "stray or stacked accents"},
	}
	if len(found) != len(want) {
		t.Fatalf("got %d odd spans: %v", len(found), found)
	}
	for i, s := range found {
		if s.Text != want[i].text || s.Kind != want[i].kind || s.Why() != want[i].why {
			t.Errorf("odd span %d: got %v, %s, want %v", i, s, s.Why(), want[i])
		}
	}
}

// Every character either shows as itself or is spelled out, and nothing drawn is invisible.
func TestEveryCharacter(t *testing.T) {
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if !utf8.ValidRune(c) || c == '\n' {
			continue
		}
		in := "x" + string(c) + "x"
		lines := Render(in)
		if got, err := unrender(lines); err != nil || got != in {
			t.Fatalf("U+%04X: unrender gave %q, %v", c, got, err)
		}
		for _, d := range lines[0].String() {
			if why(d) != "" {
				t.Fatalf("U+%04X is drawn with U+%04X, which is a %s", c, d, why(d))
			}
		}
	}
}

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 10, "short"},
		{"", 10, ""},
		{"two\nlines", 40, "two‹newline›lines"},
		{"‹newline›", 40, "‹U+2039›newline›"},
		{"abcde and no more than a mark", 8, "abcde and no more than a mark"},
		{"abcde and a bit more than a mark", 4, "abcd… ‹28 more characters›"},
		{"ab\u202Ecd and a bit more than a mark", 4, "ab… ‹30 more characters›"},
		{"ab\u202Ec\u202Ed\u202Ee", 4, "ab… ‹6 more characters›"},
		{strings.Repeat("日本語", 10), 2, "日本… ‹28 more characters›"},
		{strings.Repeat("x", 1<<20), 3, "xxx… ‹1048573 more characters›"},
		{"1\ufe0f\u20e3 👩\u200d💻 a\ufe0f", 99, "1\ufe0f\u20e3 👩\u200d💻 a‹U+FE0F›"},
		{strings.Repeat("\xff", 1<<20), 5, "… ‹1048576 more characters›"},
	} {
		if got := Line(tt.in, tt.max); got != tt.want {
			t.Errorf("Line(%.20q, %d)\n got %s\nwant %s", tt.in, tt.max, got, tt.want)
		}
	}
}

func TestProse(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"Tout va bien\u00a0?\r\nOui\u202f!", "Tout va bien ?\nOui !"},
		{"👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"},
		{"a\u202Eb", "a‹U+202E›b"},
		{"a\tb  ", "a    b  "},
		{"a" + strings.Repeat(" ", 99) + "b", "a‹99 spaces›b"},
		{"x\u200dy", "x‹U+200D›y"},
	} {
		var lines []string
		for _, row := range Prose(tt.in) {
			lines = append(lines, row.String())
		}
		if got := strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("Prose(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func TestUnrenderRefusesForgeries(t *testing.T) {
	for _, text := range []string{
		"‹", "‹x›", "‹U+110000›", "‹U+D800›", "‹0x100›", "‹U+200B×2›", "‹0 spaces›", "‹-1 tabs›", "⇥", "‹U+zz›", "‹›",
	} {
		if got, err := unrender([]Row{{Spans: []Span{{Text: text}}, Count: 1}}); err == nil {
			t.Errorf("unrender(%q) = %q, want an error", text, got)
		}
	}
}

func TestLookAlikesAreNotThemselves(t *testing.T) {
	for c, like := range alike {
		if c < utf8.RuneSelf || like >= utf8.RuneSelf || like <= ' ' {
			t.Errorf("U+%04X looks like %q: want a look-alike of printable ASCII", c, like)
		}
	}
}

// checkRoundTrip checks that s can be restored from its rendering, and that the spans cover s.
func checkRoundTrip(t *testing.T, s string) {
	t.Helper()
	lines := Render(s)
	if got, err := unrender(lines); err != nil || got != s {
		t.Errorf("unrender(Render(%q)) = %q, %v", s, got, err)
	}
	var sources []string
	for _, l := range lines {
		var b strings.Builder
		for _, span := range l.Spans {
			b.WriteString(span.Source)
			if span.Kind == Plain && span.Text != span.Source {
				t.Errorf("plain span %q of %q stands for %q", span.Text, s, span.Source)
			}
		}
		sources = append(sources, b.String())
	}
	if got := strings.Join(sources, "\n"); got != s {
		t.Errorf("the spans of %q cover %q", s, got)
	}
}

// FuzzRenderInjective checks that no two texts render alike: each can be restored from its rendering.
func FuzzRenderInjective(f *testing.F) {
	for _, s := range []string{
		"", "ls\n", "a\u202Eb", "‹U+202E›", "‹3 spaces›   ", "\t \t", "a\r\n\r", "\xff\xff\xff\xff\xff",
		"\n\n\n\n\n\n\n\n", "e\u0301\u0301\u0301", "pаypal", "👩\u200d💻\u200d", "⇥   ", "\u200b\u200b\u200b\u200b›",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkRoundTrip(t, s)
		for _, l := range Render(s) {
			if l.Count < 1 {
				t.Errorf("%q: a line stands for %d lines", s, l.Count)
			}
			for _, span := range l.Spans {
				for _, c := range span.Text {
					if why(c) != "" {
						t.Errorf("%q: U+%04X is drawn", s, c)
					}
				}
			}
		}
	})
}

// FuzzLine: a label is one line, bounded, and never invisible.
func FuzzLine(f *testing.F) {
	f.Add("two\nlines", 4)
	f.Add("\xff\u202e", 0)
	f.Fuzz(func(t *testing.T, s string, max int) {
		if max < 0 || max > 1000 {
			t.Skip()
		}
		got := Line(s, max)
		if n := utf8.RuneCountInString(got); n > max+40 {
			t.Errorf("Line(%q, %d) has %d characters", s, max, n)
		}
		for _, c := range got {
			if why(c) != "" {
				t.Errorf("Line(%q, %d) draws U+%04X", s, max, c)
			}
		}
		Prose(s)
	})
}

func BenchmarkRender(b *testing.B) {
	text := strings.Repeat("func main() { println(\"größe\") }\t\n", 1<<20/34)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Render(text)
	}
}

// Characters that no font has are spelled out, quietly, and the original can still be restored.
func TestUndrawn(t *testing.T) {
	CanDraw = func(c rune, monospaced bool) bool { return c < 0x900 || c == '日' && monospaced }
	t.Cleanup(func() { CanDraw = func(rune, bool) bool { return true } })
	for _, tt := range []struct{ in, want string }{
		{"a🫩b", "a‹U+1FAE9›b"}, {"🦊🦊🦊🦊", "‹U+1F98A×4›"}, {"日", "日"}, {"हि", "‹U+0939›‹U+093F›"},
		{"👩\u200d💻 x\u200dy", "‹U+1F469›‹U+200D›‹U+1F4BB› x‹U+200D›y"}, {"\ue000", "‹U+E000›"},
	} {
		if got := drawn(tt.in); got != tt.want {
			t.Errorf("Render(%q)\n got %s\nwant %s", tt.in, got, tt.want)
		}
		checkRoundTrip(t, tt.in)
		if got, want := HasHidden(tt.in), strings.ContainsAny(tt.in, "x\ue000"); got != want {
			t.Errorf("HasHidden(%q) = %v, want %v", tt.in, got, want)
		}
	}
	if got, want := Line("日本", 40), "‹U+65E5›‹U+672C›"; got != want {
		t.Errorf("Line: %s, want %s", got, want)
	}
}
