package dialogs

import (
	"bytes"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"golang.org/x/text/language"
)

// One emoji font serves all styles, and everything looks as it does with one each.
func TestFontsAreShared(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	const sample = "Latin größe → ✓ αβγ жук 🦊 ☕"
	before := map[fyne.TextStyle][]byte{}
	for _, style := range usualStyles {
		before[style] = drawText(sample, style).Pix
	}
	loadFonts()
	if hasSystemFonts {
		t.Error("a character that the theme's fonts lack is not looked for in the system's")
	}
	fox := fontsOf(fyne.TextStyle{}, nil, nil).ResolveFace('🦊')
	if _, drawn := fox.NominalGlyph('🦊'); !drawn {
		t.Error("no font has the fox")
	}
	letters := map[any]bool{}
	for _, style := range usualStyles {
		if !bytes.Equal(drawText(sample, style).Pix, before[style]) {
			t.Errorf("%+v looks different", style)
		}
		fonts := fontsOf(style, nil, nil)
		if fonts.ResolveFace('🦊').Font != fox.Font {
			t.Errorf("%+v has a font of its own for emoji", style)
		}
		letters[fonts.ResolveFace('a').Font] = true
	}
	if len(letters) != len(usualStyles) {
		t.Errorf("%d fonts for letters of %d styles", len(letters), len(usualStyles))
	}
}

func TestWrittenInTheme(t *testing.T) {
	for l, want := range map[string]bool{
		"en": true, "en-US": true, "de": true, "pl": true, "tr": true, "vi": true, "ru": true, "uk": true, "el": true,
		"zh": false, "zh-CN": false, "zh-TW": false, "ja": false, "ko-KR": false, "ar": false, "he": false, "hi": false,
		"th": false, "ka": false, "sr-Latn": true, "uz-Arab": false,
	} {
		if got := writtenInTheme(language.Make(l)); got != want {
			t.Errorf("%s: %v", l, got)
		}
	}
}
