package dialogs

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// menuItem is one line of a menu or of the queue's list.
type menuItem struct {
	text, small string
	marked      bool // the one that is in force
	danger      bool
	parted      bool              // a line above it
	heading     fyne.CanvasObject // above it, under the line; nil for none
	decides     bool              // it answers requests: by keyboard it takes the chord of the affirmative
	do          func()
}

const menuIndent = 32 // of the text in a line, which leaves room for the mark

// layer is a menu above the prompt. While it is open the prompt behind it counts as out of sight, so
// nothing in it can be affirmed. A click beside it, or Escape, closes it.
type layer struct {
	widget.BaseWidget
	w      *window
	items  []*menuLine
	card   fyne.CanvasObject
	anchor fyne.CanvasObject
	scroll *scrollArea // of the lines, where they do not fit
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

// close closes the layer, and reports whether it was open.
func (l *layer) close() (wasOpen bool) {
	if l.w.menu != l {
		return false
	}
	l.w.closeMenu()
	return true
}

// affirm is the chord of the affirmative while the layer is open.
func (l *layer) affirm() {
	for _, it := range l.items {
		if it.focused && it.item.decides {
			it.Tapped(nil)
			return
		}
	}
}

// move puts the focus on the line next to from.
func (l *layer) move(from *menuLine, step int) {
	next := l.items[(slices.Index(l.items, from)+step+len(l.items))%len(l.items)]
	takeFocus(next)
	l.scroll.reveal(next)
}

// CreateRenderer implements [fyne.Widget].
func (l *layer) CreateRenderer() fyne.WidgetRenderer {
	shade := canvas.NewRectangle(color.Transparent)
	content := container.New(layerLayout{l}, shade, l.card)
	return newPainted(content, func() { shade.FillColor = colorOf(l, theme.ColorNameHover) })
}

// Tapped implements [fyne.Tappable].
func (l *layer) Tapped(*fyne.PointEvent) { l.close() }

// layerLayout puts the card under its anchor, or above it where there is no room, and always into view.
type layerLayout struct{ l *layer }

func (layerLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (y layerLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	const margin = 8
	objects[0].Resize(size)
	card := objects[1]
	want := y.l.scroll.Content.MinSize().Add(fyne.NewSize(0, 2)).Max(fyne.NewSize(220, 0)) // nothing has to scroll
	want = fyne.NewSize(min(want.Width, size.Width-2*margin), min(want.Height, size.Height-2*margin))
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
	card.Resize(want)
	card.Move(fyne.NewPos(
		max(margin, min(left, size.Width-want.Width-margin)),
		max(margin, min(top, size.Height-want.Height-margin)),
	))
}

// menuLine is one line of a layer.
type menuLine struct {
	hoverBase
	item  menuItem
	layer *layer
}

// CreateRenderer implements [fyne.Widget].
func (m *menuLine) CreateRenderer() fyne.WidgetRenderer {
	ground := canvas.NewRectangle(nil)
	ink := theme.ColorNameForeground
	if m.item.danger {
		ink = theme.ColorNameError
	}
	mark := widget.NewIcon(nil)
	text := Column(1, newWords(m.item.text, theme.SizeNameText, ink))
	if m.item.small != "" {
		text.Add(newWords(m.item.small, theme.SizeNameCaptionText, ColorMuted))
	}
	line := Row(8, container.New(fixed{width: 16, height: 16}, mark), text)
	return newPainted(container.NewStack(ground, Padded(6, 8, line)), func() {
		ground.FillColor, ground.CornerRadius = color.Transparent, 6
		ground.StrokeWidth, ground.StrokeColor = 0, color.Transparent
		if m.hovered || m.focused {
			ground.FillColor = colorOf(m, colorAccent)
		}
		if m.focused {
			ground.StrokeWidth, ground.StrokeColor = 2, colorOf(m, theme.ColorNamePrimary)
		}
		if m.item.marked {
			tick := theme.CurrentForWidget(m).Icon(theme.IconNameConfirm)
			mark.SetResource(theme.NewColoredResource(tick, theme.ColorNamePrimary))
		}
		ground.Refresh()
	})
}

// Tapped implements [fyne.Tappable].
func (m *menuLine) Tapped(*fyne.PointEvent) {
	if m.layer.close() {
		m.item.do()
	}
}

// TypedKey implements [fyne.Focusable].
func (m *menuLine) TypedKey(ev *fyne.KeyEvent) {
	switch {
	case presses(ev) && m.item.decides:
	case presses(ev):
		m.Tapped(nil)
	case ev.Name == fyne.KeyDown:
		m.layer.move(m, +1)
	case ev.Name == fyne.KeyUp:
		m.layer.move(m, -1)
	default:
		m.w.typedKey(ev)
	}
}
