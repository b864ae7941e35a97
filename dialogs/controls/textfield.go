package controls

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
)

// TextField is a text field that leaves the window its shortcuts, Escape, and the wheel. Fyne's field swallows them.
type TextField struct {
	widget.Entry
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

func (e *TextField) TypedKey(k *fyne.KeyEvent) {
	switch {
	case k.Name != fyne.KeyEscape && k.Name != fyne.KeyF5:
		e.Entry.TypedKey(k)
	case k.Name == fyne.KeyF5 || e.Escape == nil || !e.Escape():
		dialogs.PassOn(e.Self, k)
	}
}

func (e *TextField) TypedShortcut(s fyne.Shortcut) {
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
