package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// Fyne gives a key to the focused control and to nobody else, a press takes the focus away from a button, and what has
// the focus may be out of view. The controls here leave to the window the keys that they have no use for, keep the
// focus, and come into view with it.

// button is a button.
type button struct{ widget.Button }

func newButton(text string, tapped func()) *button { return newIconButton(text, nil, tapped) }

func newIconButton(text string, icon fyne.Resource, tapped func()) *button {
	b := &button{}
	b.Text, b.Icon, b.OnTapped = text, icon, tapped
	b.ExtendBaseWidget(b)
	return b
}

// TypedKey implements [fyne.Focusable].
func (b *button) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		if !b.Disabled() {
			b.OnTapped()
		}
	default:
		passOn(b, k)
	}
}

// FocusGained implements [fyne.Focusable].
func (b *button) FocusGained() {
	b.Button.FocusGained()
	reveal(b)
}

// check is a check box.
type check struct{ widget.Check }

func newCheck(text string, changed func(bool)) *check {
	c := &check{}
	c.Text, c.OnChanged = text, changed
	c.ExtendBaseWidget(c)
	return c
}

// TypedKey implements [fyne.Focusable].
func (c *check) TypedKey(k *fyne.KeyEvent) { passOn(c, k) }

// FocusGained implements [fyne.Focusable].
func (c *check) FocusGained() {
	c.Check.FocusGained()
	reveal(c)
}

// selection is a list of which one is picked.
type selection struct{ widget.Select }

func newSelection(options []string, changed func(string)) *selection {
	c := &selection{}
	c.Options, c.OnChanged = options, changed
	c.ExtendBaseWidget(c)
	return c
}

// TypedKey implements [fyne.Focusable].
func (c *selection) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		passOn(c, k)
		return
	}
	c.Select.TypedKey(k)
}

// FocusGained implements [fyne.Focusable].
func (c *selection) FocusGained() {
	c.Select.FocusGained()
	reveal(c)
}

// pageList is a list in which the keys that move also select.
type pageList struct{ widget.List }

func newPageList(length func() int, create func() fyne.CanvasObject,
	update func(widget.ListItemID, fyne.CanvasObject)) *pageList {
	l := &pageList{}
	l.Length, l.CreateItem, l.UpdateItem, l.HideSeparators = length, create, update, true
	l.ExtendBaseWidget(l)
	return l
}

// TypedKey implements [fyne.Focusable].
func (l *pageList) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyUp, fyne.KeyDown:
		l.List.TypedKey(k)
		l.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	default:
		passOn(l, k)
	}
}

// passOn gives a key to the window that an object is in.
func passOn(o fyne.CanvasObject, k *fyne.KeyEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(k)
	}
}

// reveal scrolls the page that an object is on until all of that is in view, or at least its beginning.
func reveal(o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	c := d.CanvasForObject(o)
	if c == nil {
		return
	}
	at := d.AbsolutePositionForObject(o)
	page := scrollAt(c.Content(), at, nil)
	if page == nil {
		return
	}
	const margin = 12
	top := at.Y - d.AbsolutePositionForObject(page).Y // in the page's view
	bottom := top + o.Size().Height - page.Size().Height
	switch {
	case top < margin:
		page.ScrollToOffset(page.Offset.AddXY(0, top-margin))
	case bottom > -margin:
		page.ScrollToOffset(page.Offset.AddXY(0, min(top-margin, bottom+margin)))
	}
}

// scrollAt finds the innermost scrolling page at a place on the canvas. A page stands in containers only.
func scrollAt(o fyne.CanvasObject, at fyne.Position, around *container.Scroll) *container.Scroll {
	if !o.Visible() {
		return around
	}
	switch o := o.(type) {
	case *container.Scroll:
		pos, size := fyne.CurrentApp().Driver().AbsolutePositionForObject(o), o.Size()
		if at.X >= pos.X && at.X < pos.X+size.Width {
			return o
		}
	case *fyne.Container:
		for _, inside := range o.Objects {
			around = scrollAt(inside, at, around)
		}
	}
	return around
}
