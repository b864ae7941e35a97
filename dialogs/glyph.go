package dialogs

import (
	"image"
	"image/color"
	"slices"
	"sync"
	"unicode/utf8"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/text/language"

	"nod/dialogs/safetext"
)

func init() {
	safetext.CanDraw = canDraw // characters that no font can draw are spelled out, like invisible ones
	symbolFont = theme.DefaultTextMonospaceFont().(*fyne.StaticResource)
}

// glyph is how the fonts draw a character: those of the theme, then those of the system.
type glyph struct {
	drawn    bool
	baseline float32 // its distance from the top of the line, relative to the text size
}

const (
	glyphSize = 32     // text size at which a glyph is examined
	maxGlyphs = 10_000 // examined at most; others count as not drawn
)

var glyphs = struct {
	sync.Mutex
	seen map[glyphKey]glyph
}{seen: map[glyphKey]glyph{}}

type glyphKey struct {
	font  fyne.Resource
	style fyne.TextStyle
	char  rune
}

// canDraw reports whether c, when drawn, differs from other characters.
func canDraw(c rune, monospaced bool) bool {
	const latin = 0x250 // all fonts of the theme have the characters below
	return c < latin || glyphOf(c, styleOf(c, fyne.TextStyle{Monospace: monospaced})).drawn
}

// styleOf returns the style in which c is drawn in text of the given style. A character from a font of the system can
// be taller than a line of the monospaced font; it is then drawn in the other style, whose lines are taller.
func styleOf(c rune, style fyne.TextStyle) fyne.TextStyle {
	if c >= eastAsian || c >= utf8.RuneSelf && glyphOf(c, style).baseline > glyphOf('M', style).baseline {
		style.Monospace = false
	}
	return style
}

// eastAsian is the first character that is never monospaced, because each font with all Chinese characters takes 20 MB.
const eastAsian = 0x2E80

func glyphOf(c rune, style fyne.TextStyle) glyph {
	key := glyphKey{fyne.CurrentApp().Settings().Theme().Font(style), style, c}
	glyphs.Lock()
	defer glyphs.Unlock()
	if g, known := glyphs.seen[key]; known {
		return g
	}
	if len(glyphs.seen) >= maxGlyphs {
		return glyph{}
	}
	g := examine(c, style)
	glyphs.seen[key] = g
	return g
}

func examine(c rune, style fyne.TextStyle) glyph {
	const first = "M"
	edge := int(fyne.MeasureText(first, glyphSize, style).Width)
	img := drawText(first+" "+string(c), style)
	b := img.Bounds()
	letter, char := inkIn(img, image.Rect(0, 0, edge, b.Dy())), inkIn(img, image.Rect(edge, 0, b.Dx(), b.Dy()))
	_, known := fontsOf(style, nil, nil).ResolveFace(c).NominalGlyph(c) // otherwise the driver draws a replacement
	return glyph{drawn: known && !char.Empty(), baseline: float32(letter.Max.Y) / glyphSize}
}

func drawText(s string, style fyne.TextStyle) *image.NRGBA {
	text := canvas.NewText(s, color.Black)
	text.TextSize, text.TextStyle = glyphSize, style
	c := software.NewTransparentCanvas()
	c.SetPadded(false)
	c.SetContent(text)
	return c.Capture().(*image.NRGBA)
}

func inkIn(img *image.NRGBA, area image.Rectangle) (ink image.Rectangle) {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if img.NRGBAAt(x, y).A > 0 {
				ink = ink.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return ink
}

var usualStyles = []fyne.TextStyle{{}, {Bold: true}, {Monospace: true}}

// loadFonts loads the theme's fonts. Fyne would load emoji and symbols again for each style, and a font of the system
// for the user's language even if the theme's fonts have all of its letters, and keep all of them: 25 MB in total. Call
// it before any text is measured.
func loadFonts() {
	hasSystemFonts = writtenInTheme(language.Make(string(lang.SystemLocale())))
	for _, c := range "😀→" {
		var shared *font.Font
		for _, style := range usualStyles {
			face := fontsOf(style, nil, nil).ResolveFace(c)
			if shared == nil {
				shared = face.Font
			}
			face.Font = shared
		}
	}
	hasSystemFonts = false // Fyne loads them when a character needs them
}

func writtenInTheme(l language.Tag) bool {
	script, _ := l.Script()
	return slices.Contains([]string{"Latn", "Cyrl", "Grek"}, script.String())
}

// fontsOf returns Fyne's cached fonts of a style.
//
//go:linkname fontsOf fyne.io/fyne/v2/internal/painter.CachedFontFace
func fontsOf(style fyne.TextStyle, source fyne.Resource, o fyne.CanvasObject) *struct{ shaping.Fontmap }

// hasSystemFonts tells Fyne that the system's fonts, of which there may be none, are loaded.
//
//go:linkname hasSystemFonts fyne.io/fyne/v2/internal/painter.loaded
var hasSystemFonts bool

// symbolFont is where Fyne looks for characters that the font of a text lacks. Fyne's own has arrows, but no space, and
// the spaces after an arrow are drawn in the font of the arrow: "a → b" had a replacement mark in it.
//
//go:linkname symbolFont fyne.io/fyne/v2/theme.symbol
var symbolFont *fyne.StaticResource
