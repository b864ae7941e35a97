package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

type focusWidget interface {
	fyne.Widget
	fyne.Focusable
}

// focusBase is the common part of nod's focusable widgets: it draws the focus and reports it to the window.
type focusBase struct {
	widget.BaseWidget
	self    focusWidget
	w       *window // nil outside a prompt
	focused bool
}

func (b *focusBase) extend(self focusWidget, w *window) {
	b.self, b.w = self, w
	b.ExtendBaseWidget(self)
}

func (b *focusBase) FocusGained() { b.setFocused(true) }

func (b *focusBase) FocusLost() { b.setFocused(false) }

func (b *focusBase) setFocused(v bool) {
	b.focused = v
	b.Refresh()
	if b.w != nil {
		b.w.focusMoved(b.self, v)
	}
}

func (b *focusBase) TypedRune(rune) {}

func (b *focusBase) KeyDown(ev *fyne.KeyEvent) {
	if b.w != nil {
		b.w.keyDown(ev, b.self)
	}
}

func (b *focusBase) KeyUp(*fyne.KeyEvent) {}

func (b *focusBase) passOn(ev *fyne.KeyEvent) {
	if b.w != nil {
		b.w.typedKey(ev)
		return
	}
	PassOn(b.self, ev)
}

// PassOn passes a key to the window of an object.
func PassOn(o fyne.CanvasObject, ev *fyne.KeyEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(ev)
	}
}

// hoverBase is a focusBase that also draws whether the pointer is over it.
type hoverBase struct {
	focusBase
	hovered bool
}

func (b *hoverBase) MouseIn(*desktop.MouseEvent) { b.hovered = true; b.Refresh() }

func (b *hoverBase) MouseMoved(*desktop.MouseEvent) {}

func (b *hoverBase) MouseOut() { b.hovered = false; b.Refresh() }

func takeFocus(o focusWidget) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil {
		c.Focus(o)
	}
}
