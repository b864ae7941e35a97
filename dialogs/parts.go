package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/policy"
)

func partList(parts []policy.CommandPart) fyne.CanvasObject {
	rows := Column(2)
	for _, p := range prompt.PartRows(parts) {
		rows.Add(partRow(p))
	}
	if len(rows.Objects) == 0 {
		return nil
	}
	return newTint(ColorPaper, 0xff, 8, Padded(4, 4, rows))
}

// partMark returns the icon and the word for a state, so that colour alone never tells it.
func partMark(s policy.PartState) (icon fyne.Resource, word *words) {
	caption := theme.SizeNameCaptionText
	switch s {
	case policy.PartReads:
		icon, word = theme.VisibilityIcon(), Words(tr("reads"), caption, ColorMuted)
	case policy.PartCovered:
		icon, word = theme.ConfirmIcon(), Words(tr("covered"), caption, theme.ColorNameSuccess)
	default:
		icon, word = theme.QuestionIcon(), Words(tr("new"), caption, theme.ColorNameWarning).Bold()
	}
	return theme.NewColoredResource(icon, word.color), word
}

func partRow(p prompt.PartRow) fyne.CanvasObject {
	if p.Summary {
		return marked(p.State, Tight(Lines(p.Text, theme.SizeNameCaptionText, widget.MediumImportance)))
	}
	ink := theme.ColorNameForeground
	if p.State == policy.PartReads {
		ink = ColorMuted
	}
	text := newElided(p.Text, ink, 0)
	if p.Note != "" {
		text = withNote(text, p.Note)
	}
	return marked(p.State, text)
}

// marked puts the mark left of text, in a column as wide as the widest mark.
func marked(s policy.PartState, text fyne.CanvasObject) fyne.CanvasObject {
	width := float32(0)
	for _, each := range []policy.PartState{policy.PartReads, policy.PartCovered, policy.PartNew} {
		_, word := partMark(each)
		width = max(width, word.MinSize().Width)
	}
	icon, word := partMark(s)
	square := Sized(14, 14, widget.NewIcon(icon))
	mark := Row(5, square, Sized(width, 0, word))
	line := Padded(3, 6, beside(mark, 8, text))
	if s != policy.PartNew {
		return line
	}
	return newTint(theme.ColorNameWarning, 0x1c, 6, line)
}

// noted is the layout of a line and a note: to its right if both fit, else below it, wrapped.
type noted struct {
	line  *elided
	wide  float32 // width of the note on one line
	width float32 // when it was last laid out
}

func withNote(line *fyne.Container, note string) *fyne.Container {
	label := Lines(note, theme.SizeNameCaptionText, widget.LowImportance)
	const rounding = 2
	wide := fyne.MeasureText(note, theme.Size(theme.SizeNameCaptionText), fyne.TextStyle{}).Width + rounding
	return container.New(&noted{line: line.Layout.(*elided), wide: wide}, line, Tight(label))
}

func (l *noted) MinSize(o []fyne.CanvasObject) fyne.Size {
	line, note := o[0].MinSize(), o[1].MinSize()
	if l.fits(l.width) {
		return fyne.NewSize(line.Width, max(line.Height, note.Height))
	}
	return fyne.NewSize(line.Width, line.Height+note.Height)
}

func (l *noted) fits(width float32) bool {
	const gap = 16
	return l.line.face.measure(l.line.text)+gap+l.wide <= width
}

func (l *noted) Layout(o []fyne.CanvasObject, size fyne.Size) {
	l.width = size.Width
	line := o[0].MinSize().Height
	if l.fits(size.Width) {
		o[0].Resize(fyne.NewSize(size.Width-l.wide, line))
		o[1].Move(fyne.NewPos(size.Width-l.wide, (line-resizeToWidth(o[1], l.wide))/2))
		return
	}
	o[0].Resize(fyne.NewSize(size.Width, line))
	o[1].Move(fyne.NewPos(0, line))
	resizeToWidth(o[1], size.Width)
}

// elided is the layout of one line of text that loses its middle if it does not fit.
type elided struct {
	text   string
	face   *face
	widest float32 // largest minimum width
}

// newElided shows s, which must be safe to show, on one line in a monospaced font.
func newElided(s string, ink fyne.ThemeColorName, widest float32) *fyne.Container {
	c := newElidedText(s, theme.SizeNameCaptionText, fyne.TextStyle{Monospace: true}, ink)
	c.Layout.(*elided).widest = widest
	return c
}

func newElidedText(s string, size fyne.ThemeSizeName, style fyne.TextStyle, ink fyne.ThemeColorName) *fyne.Container {
	w := Words(s, size, ink)
	w.text.TextStyle = style
	return container.New(&elided{text: s, face: newFace(theme.Size(size), style)}, w)
}

func (l *elided) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(min(l.face.measure(l.text), l.widest), l.face.height())
}

func (l *elided) wide() float32 { return l.face.measure(l.text) + 1 }

func (l *elided) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].(*words).set(l.fit(size.Width))
	setBounds(o[0], 0, 0, size)
}

// fit shortens the text to a width. It keeps more of the start, where the name of the program is.
func (l *elided) fit(width float32) string {
	const gap, start = "…", 0.6
	if l.face.measure(l.text) <= width {
		return l.text
	}
	room := width - l.face.measure(gap)
	runes := []rune(l.text)
	head, tail := 0, len(runes)
	for x := float32(0); head < tail; head++ {
		if x += l.face.width(runes[head]); x > room*start {
			break
		}
	}
	for x := float32(0); tail > head; tail-- {
		if x += l.face.width(runes[tail-1]); x > room*(1-start) {
			break
		}
	}
	return string(runes[:head]) + gap + string(runes[tail:])
}
