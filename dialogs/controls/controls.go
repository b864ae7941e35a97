// Package controls contains what the settings and history windows share: controls that leave keys to the window, pages
// and rows, work off the UI goroutine, and rules in words.
package controls

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

// Fyne sends a key only to the focused control, takes the focus from a pressed button, and may focus a control that is
// out of view. The controls here pass unused keys to the window, keep the focus, and scroll into view when they get it.

// Button is a button that keeps the focus, and shows it as those of prompts do. A key presses it only if it had the
// focus when the key went down: one that is held down since it pressed another button repeats here.
type Button struct {
	widget.Button
	press
	focused bool
}

func NewButton(text string, icon fyne.Resource, tapped func()) *Button {
	b := &Button{}
	b.Text, b.Icon, b.OnTapped = text, icon, tapped
	b.ExtendBaseWidget(b)
	return b
}

func (b *Button) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		if !b.isHeld(k) && !b.Disabled() {
			b.OnTapped()
		}
	default:
		dialogs.PassOn(b, k)
	}
}

// press tells a key that goes down on a control from one that is held down since it went down elsewhere.
type press struct {
	down fyne.KeyName // the key that went down here and was not used yet
}

func (p *press) KeyDown(k *fyne.KeyEvent) { p.down = k.Name }

func (p *press) KeyUp(*fyne.KeyEvent) {}

// isHeld reports whether a key went down elsewhere, or was used before.
func (p *press) isHeld(k *fyne.KeyEvent) bool {
	isHeld := p.down != k.Name
	p.down = ""
	return isHeld
}

func (b *Button) FocusGained() {
	b.focused = true
	b.Button.FocusGained()
	reveal(b)
}

func (b *Button) FocusLost() {
	b.focused = false
	b.Button.FocusLost()
}

func (b *Button) CreateRenderer() fyne.WidgetRenderer {
	ring := canvas.NewRectangle(color.Transparent)
	return &ringed{dialogs.Covered{WidgetRenderer: b.Button.CreateRenderer(), Cover: ring}, b, ring}
}

// ringed is the renderer of a button with a line around it while it has the focus.
type ringed struct {
	dialogs.Covered
	button *Button
	ring   *canvas.Rectangle
}

func (r *ringed) Refresh() {
	i := r.button.Importance
	dialogs.DrawFocus(r.ring, r.button.focused, i == widget.HighImportance || i == widget.DangerImportance)
	r.WidgetRenderer.Refresh()
}

// Check is a check box that passes unused keys to the window.
type Check struct{ widget.Check }

// NewCheck returns a check box. changed may be nil.
func NewCheck(text string, changed func(bool)) *Check {
	c := &Check{}
	c.Text, c.OnChanged = text, changed
	c.ExtendBaseWidget(c)
	return c
}

func (c *Check) TypedKey(k *fyne.KeyEvent) { dialogs.PassOn(c, k) }

func (c *Check) FocusGained() {
	c.Check.FocusGained()
	reveal(c)
}

// Select is a list of options, of which the user can select one.
type Select struct{ widget.Select }

// NewSelect returns a list with no option selected. changed may be nil.
func NewSelect(options []string, changed func(string)) *Select {
	c := &Select{}
	c.Options, c.OnChanged = options, changed
	c.ExtendBaseWidget(c)
	return c
}

func (c *Select) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		dialogs.PassOn(c, k)
		return
	}
	c.Select.TypedKey(k)
}

func (c *Select) FocusGained() {
	c.Select.FocusGained()
	reveal(c)
}

// reveal scrolls the page of an object until all of the object is in view, or at least its beginning.
func reveal(o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	c := d.CanvasForObject(o)
	if c == nil {
		return
	}
	page, isFound := pageOf(o, c.Content(), nil)
	if !isFound { // it is a part of a widget
		page = scrollAt(c.Content(), d.AbsolutePositionForObject(o), nil)
	}
	if page != nil {
		dialogs.Reveal(page, o)
	}
}

// pageOf looks for an object in another one, and returns the page that it is on: the innermost one that scrolls, or
// around.
func pageOf(o, in fyne.CanvasObject, around *container.Scroll) (page *container.Scroll, isFound bool) {
	var inside []fyne.CanvasObject
	switch in := in.(type) {
	case *container.Scroll:
		inside, around = []fyne.CanvasObject{in.Content}, in
	case *fyne.Container:
		inside = in.Objects
	case interface{ Content() fyne.CanvasObject }: // a surface
		inside = []fyne.CanvasObject{in.Content()}
	}
	for _, one := range inside {
		if page, isFound := pageOf(o, one, around); isFound {
			return page, true
		}
	}
	return around, o == in
}

// scrollAt returns the innermost scrolling page at a position of the canvas, or around.
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
	case interface{ Content() fyne.CanvasObject }: // a surface
		return scrollAt(o.Content(), at, around)
	case *fyne.Container:
		for _, inside := range o.Objects {
			around = scrollAt(inside, at, around)
		}
	}
	return around
}

func scrollByKey(c fyne.Canvas, k *fyne.KeyEvent) {
	if page := scrollAt(c.Content(), fyne.NewPos(c.Size().Width/2, 0), nil); page != nil {
		dialogs.ScrollByKey(page, k)
	}
}

// TextField is a text field that leaves the window its shortcuts, Escape, and the wheel. Fyne's field swallows them.
type TextField struct {
	widget.Entry
	press
	Shortcut func(fyne.Shortcut) bool // runs a shortcut of the window; reports whether there is one
	Self     fyne.CanvasObject        // this widget, or the one that contains it
	Escape   func() bool              // handles Escape before the window; reports whether it did anything; may be nil
	Left     func()                   // called when the field loses the focus; may be nil
}

// NewTextField returns a text field. It handles only shortcuts that the window does not have.
func NewTextField(shortcut func(fyne.Shortcut) bool, multiline bool) *TextField {
	e := &TextField{Shortcut: shortcut}
	e.Self = e
	e.MultiLine = multiline
	e.Wrapping = fyne.TextWrapOff
	if multiline {
		e.Wrapping = fyne.TextWrapBreak
	}
	e.ExtendBaseWidget(e)
	return e
}

func (e *TextField) KeyDown(k *fyne.KeyEvent) {
	e.press.KeyDown(k)
	e.Entry.KeyDown(k)
}

func (e *TextField) KeyUp(k *fyne.KeyEvent) { e.Entry.KeyUp(k) }

func (e *TextField) TypedKey(k *fyne.KeyEvent) {
	isHeld := e.isHeld(k)
	switch {
	case isHeld && !e.MultiLine && (k.Name == fyne.KeyReturn || k.Name == fyne.KeyEnter):
	case k.Name != fyne.KeyEscape && k.Name != fyne.KeyF5:
		e.Entry.TypedKey(k)
	case k.Name == fyne.KeyF5 || e.Escape == nil || !e.Escape():
		dialogs.PassOn(e.Self, k)
	}
}

// maxPaste is the length in bytes of a clipboard that a field no longer takes: it is no setting, and slow to draw.
const maxPaste = 100_000

func (e *TextField) TypedShortcut(s fyne.Shortcut) {
	if paste, isPaste := s.(*fyne.ShortcutPaste); isPaste && len(paste.Clipboard.Content()) >= maxPaste {
		return
	}
	if !e.Shortcut(s) {
		e.Entry.TypedShortcut(s)
	}
}

// AcceptsTab implements [fyne.Tabbable]: Tab always moves the focus, even in a field of several lines.
func (e *TextField) AcceptsTab() bool { return false }

func (e *TextField) FocusGained() {
	e.Entry.FocusGained()
	reveal(e.Self)
}

func (e *TextField) FocusLost() {
	e.Entry.FocusLost()
	if e.Left != nil {
		e.Left()
	}
}

func (e *TextField) CreateRenderer() fyne.WidgetRenderer {
	return dialogs.NewField(e.Entry.CreateRenderer(), scrollAround(e.Self))
}

// scrollAround scrolls the page around a field. A field that was just removed, or is not drawn yet, has none.
func scrollAround(field fyne.CanvasObject) func(*fyne.ScrollEvent) {
	return func(e *fyne.ScrollEvent) {
		d := fyne.CurrentApp().Driver()
		c := d.CanvasForObject(field)
		if c == nil {
			return
		}
		if page := scrollAt(c.Content(), d.AbsolutePositionForObject(field), nil); page != nil {
			page.Scrolled(e)
		}
	}
}
