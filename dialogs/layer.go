package dialogs

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
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
	items  []*menuLine
	card   fyne.CanvasObject
	anchor fyne.CanvasObject
	close  func()
	scroll *scrollArea // of the lines, where they do not fit
}

func newLayer(keys *keyMap, anchor fyne.CanvasObject, items []menuItem, close func()) *layer {
	l := &layer{anchor: anchor, close: close}
	list := column(2)
	for _, it := range items {
		if it.parted {
			list.Add(padded(4, 0, newRule()))
		}
		if it.heading != nil {
			list.Add(it.heading)
		}
		line := newMenuLine(keys, it, close, l.move)
		l.items = append(l.items, line)
		list.Add(line)
	}
	l.scroll = &scrollArea{container.NewVScroll(padded(6, 6, list))}
	l.card = newCard(theme.ColorNameMenuBackground, colorHairline, l.scroll.Scroll)
	l.ExtendBaseWidget(l)
	return l
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
	for i, it := range l.items {
		if it == from {
			next := l.items[(i+step+len(l.items))%len(l.items)]
			takeFocus(next)
			l.scroll.reveal(next)
			return
		}
	}
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
	want := y.l.wanted()
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

// wanted is the size at which nothing has to scroll.
func (l *layer) wanted() fyne.Size {
	size := fyne.NewSize(220, 12)
	for _, it := range l.items {
		m := it.MinSize()
		size.Width = max(size.Width, m.Width+12)
		size.Height += m.Height + 2
		if it.item.parted {
			size.Height += 11
		}
		if h := it.item.heading; h != nil {
			size.Width = max(size.Width, h.MinSize().Width+12)
			size.Height += h.MinSize().Height + 2
		}
	}
	return size
}

// menuLine is one line of a layer.
type menuLine struct {
	widget.BaseWidget
	item    menuItem
	close   func()
	onArrow func(from *menuLine, step int)

	keys             *keyMap
	hovered, focused bool
}

func newMenuLine(keys *keyMap, it menuItem, close func(), onArrow func(*menuLine, int)) *menuLine {
	m := &menuLine{keys: keys, item: it, close: close, onArrow: onArrow}
	m.ExtendBaseWidget(m)
	return m
}

// CreateRenderer implements [fyne.Widget].
func (m *menuLine) CreateRenderer() fyne.WidgetRenderer {
	ground := canvas.NewRectangle(nil)
	ink := theme.ColorNameForeground
	if m.item.danger {
		ink = theme.ColorNameError
	}
	mark := widget.NewIcon(nil)
	text := column(1, newWords(m.item.text, theme.SizeNameText, ink))
	if m.item.small != "" {
		text.Add(newWords(m.item.small, theme.SizeNameCaptionText, colorMuted))
	}
	line := row(8, container.New(fixed{width: 16, height: 16}, mark), text)
	return newPainted(container.NewStack(ground, padded(6, 8, line)), func() {
		ground.FillColor, ground.CornerRadius = color.Transparent, 6
		ground.StrokeWidth, ground.StrokeColor = 0, color.Transparent
		if m.hovered || m.focused {
			ground.FillColor = colorOf(m, colorAccent)
		}
		if m.focused {
			ground.StrokeWidth, ground.StrokeColor = 2, colorOf(m, theme.ColorNamePrimary)
		}
		if m.item.marked {
			mark.SetResource(theme.NewColoredResource(theme.CurrentForWidget(m).Icon(theme.IconNameConfirm), theme.ColorNamePrimary))
		}
		ground.Refresh()
	})
}

// Tapped implements [fyne.Tappable].
func (m *menuLine) Tapped(*fyne.PointEvent) {
	m.close()
	m.item.do()
}

// TypedKey implements [fyne.Focusable].
func (m *menuLine) TypedKey(ev *fyne.KeyEvent) {
	switch {
	case presses(ev) && m.item.decides:
	case presses(ev):
		m.Tapped(nil)
	case ev.Name == fyne.KeyDown:
		m.onArrow(m, +1)
	case ev.Name == fyne.KeyUp:
		m.onArrow(m, -1)
	default:
		m.keys.typedKey(ev)
	}
}

// TypedRune implements [fyne.Focusable].
func (m *menuLine) TypedRune(rune) {}

// FocusGained implements [fyne.Focusable].
func (m *menuLine) FocusGained() {
	m.focused = true
	m.Refresh()
	m.keys.gained(m)
}

// FocusLost implements [fyne.Focusable].
func (m *menuLine) FocusLost() {
	m.focused = false
	m.Refresh()
	m.keys.lost(m)
}

// MouseIn implements [desktop.Hoverable].
func (m *menuLine) MouseIn(*desktop.MouseEvent) { m.hovered = true; m.Refresh() }

// MouseMoved implements [desktop.Hoverable].
func (m *menuLine) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements [desktop.Hoverable].
func (m *menuLine) MouseOut() { m.hovered = false; m.Refresh() }
