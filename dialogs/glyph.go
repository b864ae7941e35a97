package dialogs

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"sync"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"

	"nod/dialogs/safetext"
)

// What no font at hand can draw is spelled out like what does not show.
func init() { safetext.CanDraw = canDraw }

// glyph is how a character comes out with the fonts at hand, the theme's and then those of the system.
type glyph struct {
	drawn    bool
	baseline float32 // how far below the top of its line it stands, in the size of the text
}

const (
	glyphSize = 32     // at which a glyph is looked at
	maxGlyphs = 10_000 // then nod has looked at enough; others count as not drawn
)

// glyphs are those looked at so far. The driver's fonts, which they come from, cannot be asked.
var glyphs = struct {
	sync.Mutex
	seen map[glyphKey]glyph
}{seen: map[glyphKey]glyph{}}

type glyphKey struct {
	font  fyne.Resource
	style fyne.TextStyle
	char  rune
}

// canDraw reports whether c can be told from other characters where it is drawn.
func canDraw(c rune, monospaced bool) bool {
	const latin = 0x250 // which all of the theme's fonts have
	return c < latin || glyphOf(c, fyne.TextStyle{Monospace: monospaced}).drawn
}

// styleOf is the style in which c is drawn in a text of a style. A character that only a font of the system has can be
// higher and deeper than the line that the monospaced font leaves: it is drawn in the other style, whose lines have
// more room.
func styleOf(c rune, style fyne.TextStyle) fyne.TextStyle {
	if c >= utf8.RuneSelf && glyphOf(c, style).baseline > glyphOf('M', style).baseline {
		style.Monospace = false
	}
	return style
}

// glyphOf draws c to find out.
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

// examine draws c behind a letter that stands on the base line, and another that no font has.
func examine(c rune, style fyne.TextStyle) glyph {
	const first, missing = "M", '\U0010FFFE' // which no font has: the driver draws something in its place
	edge := int(fyne.MeasureText(first, glyphSize, style).Width)
	ink := func(c rune) (letter, char *image.NRGBA) {
		img := draught(first+" "+string(c), style)
		b := img.Bounds()
		left, right := image.Rect(0, 0, edge, b.Dy()), image.Rect(edge, 0, b.Dx(), b.Dy())
		return inkOn(img.SubImage(left).(*image.NRGBA)), inkOn(img.SubImage(right).(*image.NRGBA))
	}
	letter, char := ink(c)
	_, box := ink(missing)
	isMissing := char.Bounds().Empty() || bytes.Equal(char.Pix, box.Pix)
	return glyph{drawn: !isMissing, baseline: float32(letter.Bounds().Max.Y) / glyphSize}
}

// draught is what s looks like.
func draught(s string, style fyne.TextStyle) *image.NRGBA {
	text := canvas.NewText(s, color.Black)
	text.TextSize, text.TextStyle = glyphSize, style
	c := software.NewTransparentCanvas()
	c.SetPadded(false)
	c.SetContent(text)
	img := c.Capture()
	if n, ok := img.(*image.NRGBA); ok {
		return n
	}
	n := image.NewNRGBA(img.Bounds())
	draw.Draw(n, n.Bounds(), img, img.Bounds().Min, draw.Src)
	return n
}

// inkOn is the part of img that is not blank, by itself.
func inkOn(img *image.NRGBA) *image.NRGBA {
	var box image.Rectangle
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if img.NRGBAAt(x, y).A > 0 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	part := image.NewNRGBA(box)
	draw.Draw(part, box, img, box.Min, draw.Src)
	return part
}
