package dialogs

import (
	"cmp"
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

type menuItem struct {
	text, small string
	marked      bool // the current choice
	danger      bool
	parted      bool              // a line above it
	heading     fyne.CanvasObject // above it, under the line; nil for none
	chord       string            // that it needs by keyboard because it answers requests, or ""
	do          func()
}

const (
	menuIndent = 32  // of the text, leaves room for the mark
	minMenu    = 220 // width
	maxMenu    = 440 // width; longer text wraps
	menuMargin = 8   // distance to the edges of the window
)

// layer is a menu above the prompt. While it is open, nothing in the prompt can be affirmed.
type layer struct {
	widget.BaseWidget
	w      *window
	items  []*menuLine
	card   fyne.CanvasObject
	anchor fyne.CanvasObject
	scroll *scrollArea // of the lines, if they do not fit
}

func newLayer(w *window, anchor fyne.CanvasObject, items []menuItem) *layer {
	l := &layer{w: w, anchor: anchor}
	list := Column(2)
	for _, it := range items {
		if it.parted {
			list.Add(Padded(4, 0, Rule()))
		}
		if it.heading != nil {
			list.Add(it.heading)
		}
		line := &menuLine{item: it, layer: l}
		line.extend(line, w)
		l.items = append(l.items, line)
		list.Add(line)
	}
	l.scroll = &scrollArea{container.NewVScroll(Padded(6, 6, list))}
	l.card = Card(theme.ColorNameMenuBackground, l.scroll.Scroll)
	l.ExtendBaseWidget(l)
	return l
}

func (l *layer) close() (wasOpen bool) {
	if l.w.menu != l {
		return false
	}
	l.w.closeMenu()
	return true
}

// press chooses the line that has the focus, if that takes chord.
func (l *layer) press(chord string) (chosen bool) {
	i := slices.IndexFunc(l.items, func(m *menuLine) bool { return m.focused && m.item.chord == chord })
	if i >= 0 {
		l.items[i].Tapped(nil)
	}
	return i >= 0
}

func (l *layer) start() *menuLine {
	return l.items[max(slices.IndexFunc(l.items, func(m *menuLine) bool { return m.item.marked }), 0)]
}

func (l *layer) focus(i int) {
	next := l.items[(i+len(l.items))%len(l.items)]
	takeFocus(next)
	l.scroll.reveal(next)
}

func (l *layer) typedKey(from *menuLine, ev *fyne.KeyEvent) bool {
	at, last := slices.Index(l.items, from), len(l.items)-1
	page := max(int(l.scroll.Size().Height/max(from.Size().Height, 1))-1, 1)
	to, moves := map[fyne.KeyName]int{
		fyne.KeyDown: at + 1, fyne.KeyUp: at - 1, fyne.KeyHome: 0, fyne.KeyEnd: last,
		fyne.KeyPageDown: min(at+page, last), fyne.KeyPageUp: max(at-page, 0),
	}[ev.Name]
	if moves {
		l.focus(to)
	}
	return moves
}

func (l *layer) CreateRenderer() fyne.WidgetRenderer {
	shade := canvas.NewRectangle(color.Transparent)
	content := container.New(layerLayout{l}, shade, l.card)
	return newPainted(content, func() { shade.FillColor = colorOf(l, theme.ColorNameHover) })
}

func (l *layer) Tapped(*fyne.PointEvent) { l.close() }

// layerLayout puts the card below its anchor, or above it without enough room below, and always within the window.
type layerLayout struct{ l *layer }

func (layerLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (y layerLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	const margin = menuMargin
	objects[0].Resize(size)
	card := objects[1]
	want := fyne.NewSize(min(y.l.wanted(), size.Width-2*margin), 0)
	want.Height = min(resizeToWidth(y.l.scroll.Content, want.Width)+2, size.Height-2*margin) // nothing has to scroll
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(y.l.anchor)
	anchor := y.l.anchor.Size()
	top := at.Y + anchor.Height + 4
	if top+want.Height > size.Height-margin {
		top = at.Y - want.Height - 4
	}
	left := at.X + anchor.Width - want.Width
	if left < margin {
		left = at.X
	}
	left = max(margin, min(left, size.Width-want.Width-margin))
	setBounds(card, left, max(margin, min(top, size.Height-want.Height-margin)), want)
}

func (l *layer) wanted() float32 {
	width := float32(minMenu)
	for _, m := range l.items {
		width = max(width, m.wanted())
	}
	return max(min(width, maxMenu), l.scroll.Content.MinSize().Width)
}

type menuLine struct {
	hoverBase
	item  menuItem
	layer *layer
}

func (m *menuLine) CreateRenderer() fyne.WidgetRenderer {
	ground := canvas.NewRectangle(nil)
	importance := widget.MediumImportance
	if m.item.danger {
		importance = widget.DangerImportance
	}
	mark := widget.NewIcon(nil)
	text := Column(1, Tight(Lines(m.item.text, theme.SizeNameText, importance)))
	if small := cmp.Or(m.item.small, m.item.chord); small != "" {
		text.Add(Tight(Lines(small, theme.SizeNameCaptionText, widget.LowImportance)))
	}
	line := beside(Sized(16, 16, mark), 8, text)
	return newPainted(container.NewStack(ground, Padded(6, 8, line)), func() {
		ground.FillColor, ground.CornerRadius = color.Transparent, 6
		if m.hovered || m.focused {
			ground.FillColor = colorOf(m, colorAccent)
		}
		drawRing(ground, m.focused, 2, colorOf(m, theme.ColorNamePrimary))
		if m.item.marked {
			tick := theme.CurrentForWidget(m).Icon(theme.IconNameConfirm)
			mark.SetResource(theme.NewColoredResource(tick, theme.ColorNamePrimary))
		}
		ground.Refresh()
	})
}

func (m *menuLine) wanted() float32 {
	const around = menuIndent + 8 + 2*6 + 2 // margins of the line and the card, and rounding
	th := theme.CurrentForWidget(m)
	width := func(text string, size fyne.ThemeSizeName) float32 {
		return fyne.MeasureText(text, th.Size(size), fyne.TextStyle{}).Width
	}
	return max(width(m.item.text, theme.SizeNameText), width(m.item.small, theme.SizeNameCaptionText)) + around
}

func (m *menuLine) Tapped(*fyne.PointEvent) {
	if m.layer.close() {
		m.item.do()
	}
}

func (m *menuLine) TypedKey(ev *fyne.KeyEvent) {
	switch {
	case presses(ev) && m.item.chord != "":
	case presses(ev):
		m.Tapped(nil)
	case m.layer.typedKey(m, ev):
	default:
		m.w.typedKey(ev)
	}
}
