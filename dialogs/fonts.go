package dialogs

import (
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/text/language"
)

var usualStyles = []fyne.TextStyle{{}, {Bold: true}, {Monospace: true}}

// LoadFonts loads the theme's fonts. Fyne would load the emoji again for each style, and a font of the system for the
// user's language even if the theme's fonts have all of its letters, and keep all of them: 25 MB in total. Call it
// before any text is measured.
func LoadFonts() {
	hasSystemFonts = writtenInTheme(language.Make(string(lang.SystemLocale())))
	var emoji *font.Font
	for _, style := range usualStyles {
		face := fontsOf(style, nil, nil).ResolveFace('😀')
		if emoji == nil {
			emoji = face.Font
		}
		face.Font = emoji
	}
	hasSystemFonts = false // Fyne loads them when a character needs them
}

// writtenInTheme reports whether the theme's fonts have all letters of a language.
func writtenInTheme(l language.Tag) bool {
	script, _ := l.Script()
	switch script.String() {
	case "Latn", "Cyrl", "Grek":
		return true
	}
	return false
}

// fontsOf returns Fyne's cached fonts of a style.
//
//go:linkname fontsOf fyne.io/fyne/v2/internal/painter.CachedFontFace
func fontsOf(style fyne.TextStyle, source fyne.Resource, o fyne.CanvasObject) *struct{ shaping.Fontmap }

// hasSystemFonts tells Fyne that the system's fonts, of which there may be none, are loaded.
//
//go:linkname hasSystemFonts fyne.io/fyne/v2/internal/painter.loaded
var hasSystemFonts bool
