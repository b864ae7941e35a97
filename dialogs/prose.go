package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// prose shows what is to be read and not executed, a plan, as light Markdown. As a [sheet] does, it scrolls
// up and down, says what of it has not been in view, and tells when all of it has.
type prose struct {
	widget.BaseWidget
	content fyne.CanvasObject
	keys    *keyMap
	inView  func() bool // the human can see it as it is laid out now; nil: always
	onSeen  func()

	scroll  *scrollArea
	state   *canvas.Text
	onward  *widget.Button // to the next part that has not been in view
	width   float32        // at which read counts
	read    float32        // everything above has been in view
	seenAll bool
	focused bool
}

// proseMaxHeight is the height that a prose asks room for; with more room it shows more.
const proseMaxHeight = 300

func newProse(content fyne.CanvasObject) *prose {
	p := &prose{content: padded(4, 6, content), state: canvas.NewText("", nil)}
	p.scroll = &scrollArea{container.NewVScroll(p.content)}
	p.scroll.OnScrolled = func(fyne.Position) { p.noteSeen() }
	p.onward = widget.NewButtonWithIcon(tr("Next part"), theme.MoveDownIcon(), p.showNextPart)
	p.onward.Importance = widget.LowImportance
	p.ExtendBaseWidget(p)
	return p
}

// attach implements [block].
func (p *prose) attach(k *keyMap, inView func() bool, onSeen func()) {
	p.keys, p.inView, p.onSeen = k, inView, onSeen
}

// allSeen implements [block].
func (p *prose) allSeen() bool { return p.seenAll }

// noteSeen implements [block]. Only what follows what has been in view counts: a jump to the end leaves a gap
// that must be gone back for.
func (p *prose) noteSeen() {
	const slack = 1 // rounding, in pixels
	visible := p.inView == nil || p.inView()
	if top := p.scroll.Offset.Y; visible && top <= p.read+slack {
		p.read = max(p.read, top+p.scroll.Size().Height)
	}
	was := p.seenAll
	p.seenAll = was || visible && p.read+slack >= p.content.Size().Height && p.read > 0
	p.state.Text = tr("Not all of it has been in view yet.")
	if p.seenAll {
		p.state.Text = tr("All of it has been in view.")
		p.onward.Disable()
	}
	p.state.Refresh()
	if p.seenAll && !was && p.onSeen != nil {
		p.onSeen()
	}
}

func (p *prose) showNextPart() {
	const overlap = 24 // a line that is known already, to read on from
	p.scroll.scrollBy(p.read - overlap - p.scroll.Offset.Y)
	p.noteSeen()
}

// FocusGained implements [fyne.Focusable].
func (p *prose) FocusGained() {
	p.focused = true
	p.Refresh()
	if p.keys != nil {
		p.keys.gained(p)
	}
}

// FocusLost implements [fyne.Focusable].
func (p *prose) FocusLost() {
	p.focused = false
	p.Refresh()
	if p.keys != nil {
		p.keys.lost(p)
	}
}

// TypedRune implements [fyne.Focusable]. No letter does anything.
func (p *prose) TypedRune(rune) {}

// TypedKey implements [fyne.Focusable]: the keys that move through a text scroll it.
func (p *prose) TypedKey(ev *fyne.KeyEvent) {
	if p.scroll.typedKey(ev) {
		p.noteSeen()
		return
	}
	if p.keys != nil {
		p.keys.typedKey(ev)
	}
}

// CreateRenderer implements [fyne.Widget].
func (p *prose) CreateRenderer() fyne.WidgetRenderer {
	back := canvas.NewRectangle(nil)
	box := container.New(proseLayout{p}, back, p.scroll.Scroll, p.state, p.onward)
	return newPainted(box, func() {
		back.FillColor, back.StrokeColor, back.StrokeWidth = colorOf(p, theme.ColorNameBackground), colorOf(p, colorHairline), 1
		back.CornerRadius = theme.SizeForWidget(theme.SizeNameInputRadius, p)
		if p.focused {
			back.StrokeColor, back.StrokeWidth = colorOf(p, theme.ColorNamePrimary), 2
		}
		p.state.Color, p.state.TextSize = colorOf(p, colorMuted), theme.SizeForWidget(theme.SizeNameCaptionText, p)
	})
}

// proseLayout puts the text on its paper, and a foot under it when not all of it fits.
type proseLayout struct{ p *prose }

func (l proseLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(sheetMinWidth, min(l.p.content.MinSize().Height+2, proseMaxHeight))
}

func (l proseLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	back, scroll, state, onward := o[0], o[1], o[2], o[3]
	back.Resize(size)
	if l.p.width != size.Width { // the text wraps elsewhere: how far it was read no longer says anything
		l.p.width, l.p.read = size.Width, 0
	}
	height := resizeToWidth(l.p.content, size.Width)
	view := size.Height
	isCut := height > view+1
	setVisible(state, isCut)
	setVisible(onward, isCut)
	if isCut {
		foot := onward.MinSize()
		view -= foot.Height
		onward.Resize(foot)
		onward.Move(fyne.NewPos(size.Width-foot.Width-2, view))
		state.Resize(state.MinSize())
		state.Move(fyne.NewPos(sheetPad, view+(foot.Height-state.MinSize().Height)/2))
	}
	scroll.Resize(fyne.NewSize(size.Width, view))
	l.p.scroll.Refresh()   // its bar
	l.p.scroll.scrollBy(0) // back to where there is text
	l.p.noteSeen()
}
