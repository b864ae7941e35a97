package dialogs

import (
	"image"
	"strings"
	"testing"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"nod/dialogs/dialogstest"
	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
)

// The tests use only Fyne's fonts, not those of the system.
func TestWhatNoFontHasIsSpelledOut(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	for _, tt := range []struct{ in, want string }{
		{"größe 🦊 → ✓ αβγ жук ‹", "größe 🦊 → ✓ αβγ жук ‹U+2039›"},
		{"🧪", "‹U+1F9EA›"}, // Unicode 11
		{"🫠", "‹U+1FAE0›"}, // 14
		{"🫩 🫆 🪾", "‹U+1FAE9› ‹U+1FAC6› ‹U+1FABE›"}, // 16
		{"\U0001FACF", "‹U+1FACF›"},                // nothing yet
		{"👩\u200d🧪", "👩‹U+200D›‹U+1F9EA›"},
		{"日本", "‹U+65E5›‹U+672C›"},
		{"हि", "‹U+0939›‹U+093F›"},
		{"𓀀𓀀𓀀𓀀", "‹U+13000×4›"},
	} {
		var got string
		for _, s := range safetext.Render(tt.in)[0].Spans {
			got += s.Text
		}
		if got != tt.want {
			t.Errorf("%s is drawn as %s, want %s", tt.in, got, tt.want)
		}
		if safetext.HasHidden(tt.in) {
			t.Errorf("%s counts as hidden", tt.in)
		}
	}
}

// A space after a character, which is drawn in the font of the character, shows nothing.
func TestASpaceIsBlank(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	for _, style := range []fyne.TextStyle{{}, {Bold: true}} {
		drawn := 0
		for c := '\u2010'; c < '\u2800'; c++ { // from the dashes to the symbols
			if !unicode.IsPrint(c) || !canDraw(c, style.Monospace) {
				continue
			}
			drawn++
			one, two := drawText(string(c)+" ", style), drawText(string(c)+"  ", style)
			if inkIn(one, one.Bounds()) != inkIn(two, two.Bounds()) {
				t.Errorf("a space shows after %c (%U) in %+v", c, c, style)
			}
		}
		if drawn < 500 {
			t.Errorf("only %d characters of %+v were looked at", drawn, style)
		}
	}
}

// hanFirst is a theme whose letters are Chinese where they can be, with a base line of their own, but for the
// monospaced ones.
type hanFirst struct {
	fyne.Theme
	han fyne.Resource
}

func (h hanFirst) Font(s fyne.TextStyle) fyne.Resource {
	if s.Monospace {
		return h.Theme.Font(s)
	}
	return h.han
}

// Letters of all fonts stand on one base line.
func TestOneBaseLine(t *testing.T) {
	const text = "Latin 删除 größe → 允许 🦊 αβγ"
	test.NewTempApp(t)
	test.ApplyTheme(t, hanFirst{Theme("light"), dialogstest.Font("NotoSansSC-Regular.otf")})
	s := newSheet(prompt.Unnumbered("1 ", text, prompt.LineText), text)
	w := test.NewTempWindow(t, s)
	w.Resize(fyne.NewSize(400, 100))
	f := s.page.face(prompt.LineText)
	line := s.page.rows[0].y + rowAir + glyphOf('M', f.style).baseline*f.size
	pieces := 0
	for _, o := range (pageRenderer{s.page}).Objects() {
		piece, ok := o.(*canvas.Text)
		if !ok {
			continue
		}
		pieces++
		first := []rune(piece.Text)[0]
		if at := piece.Position().Y + glyphOf(first, piece.TextStyle).baseline*f.size; at-line > 0.1 || line-at > 0.1 {
			t.Errorf("%q stands at %v, want %v", piece.Text, at, line)
		}
	}
	if pieces < 5 || !strings.Contains(s.page.rowText(s.page.rows[0]), "删除") {
		t.Errorf("only %d pieces in %q", pieces, s.page.rowText(s.page.rows[0]))
	}
}

// Pieces of a row of Markdown, too, whatever their styles and fonts.
func TestMarkdownOnOneBaseLine(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, hanFirst{Theme("light"), dialogstest.Font("NotoSansSC-Regular.otf")})
	content := newMarkdown(nil, "Rows *with* `NULL` → 删除 🦊 in `load()`")
	test.NewTempWindow(t, content).Resize(fyne.NewSize(800, 100))
	pieces, line := 0, float32(0)
	dialogstest.Walk(content, func(o fyne.CanvasObject) {
		text, ok := o.(*canvas.Text)
		if !ok {
			return
		}
		pieces++
		img := drawText(text.Text, text.TextStyle)
		empty := (text.Size().Height - text.MinSize().Height) / 2 // above a text that is lower than its place
		edge := drawText("M"+text.Text, text.TextStyle)
		letter := inkIn(edge, image.Rect(0, 0, edge.Bounds().Dx()-img.Bounds().Dx(), edge.Bounds().Dy()))
		at := text.Position().Y + empty + float32(letter.Max.Y)/glyphSize*text.TextSize
		if pieces == 1 {
			line = at
		}
		if at-line > 0.6 || line-at > 0.6 {
			t.Errorf("%q stands at %v, want %v", text.Text, at, line)
		}
	})
	if pieces < 6 {
		t.Errorf("only %d pieces", pieces)
	}
}
