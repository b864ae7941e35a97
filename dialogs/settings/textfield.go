package settings

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// textField is a text field that leaves to the window what is the window's: its shortcuts, Escape, and the wheel, all
// of which Fyne's own swallows.
type textField struct {
	widget.Entry
	win    *Window
	self   fyne.CanvasObject // the widget that this is, or is a part of
	escape func() bool       // what Escape does here first, if there is anything to do; may be nil
	left   func()            // called when the person goes on to something else; may be nil
}

func newTextField(w *Window, multiline bool) *textField {
	e := &textField{win: w}
	e.self = e
	e.MultiLine = multiline
	e.Wrapping = fyne.TextWrapOff
	if multiline {
		e.Wrapping = fyne.TextWrapBreak
	}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements [fyne.Focusable].
func (e *textField) TypedKey(k *fyne.KeyEvent) {
	if k.Name != fyne.KeyEscape {
		e.Entry.TypedKey(k)
		return
	}
	if e.escape == nil || !e.escape() {
		passOn(e.self, k)
	}
}

// TypedShortcut implements [fyne.Shortcutable].
func (e *textField) TypedShortcut(s fyne.Shortcut) {
	if !e.win.typedShortcut(s) {
		e.Entry.TypedShortcut(s)
	}
}

// AcceptsTab implements [fyne.Tabbable]: Tab moves on, also out of a text of several lines.
func (e *textField) AcceptsTab() bool { return false }

// FocusGained implements [fyne.Focusable].
func (e *textField) FocusGained() {
	e.Entry.FocusGained()
	reveal(e.self)
}

// FocusLost implements [fyne.Focusable].
func (e *textField) FocusLost() {
	e.Entry.FocusLost()
	if e.left != nil {
		e.left()
	}
}

// CreateRenderer implements [fyne.Widget].
func (e *textField) CreateRenderer() fyne.WidgetRenderer {
	r := e.Entry.CreateRenderer()
	return &wheelRenderer{r, newWheel(r.Objects())}
}

// selectField is a text field with a list of texts to choose from.
type selectField struct {
	widget.SelectEntry
	win *Window
}

func newSelectField(w *Window, options ...string) *selectField {
	e := &selectField{win: w}
	e.ExtendBaseWidget(e)
	e.SetOptions(options)
	e.Wrapping = fyne.TextWrapOff
	return e
}

// TypedKey implements [fyne.Focusable].
func (e *selectField) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		passOn(e, k)
		return
	}
	e.SelectEntry.TypedKey(k)
}

// TypedShortcut implements [fyne.Shortcutable].
func (e *selectField) TypedShortcut(s fyne.Shortcut) {
	if !e.win.typedShortcut(s) {
		e.SelectEntry.TypedShortcut(s)
	}
}

// FocusGained implements [fyne.Focusable].
func (e *selectField) FocusGained() {
	e.SelectEntry.FocusGained()
	reveal(e)
}

// CreateRenderer implements [fyne.Widget].
func (e *selectField) CreateRenderer() fyne.WidgetRenderer {
	r := e.SelectEntry.CreateRenderer()
	return &wheelRenderer{r, newWheel(r.Objects())}
}

// wheelRenderer is a renderer of Fyne's under something that takes the wheel.
type wheelRenderer struct {
	fyne.WidgetRenderer
	wheel *wheel
}

// Objects implements [fyne.WidgetRenderer].
func (r *wheelRenderer) Objects() []fyne.CanvasObject {
	return append(slices.Clip(r.WidgetRenderer.Objects()), r.wheel)
}

// Layout implements [fyne.WidgetRenderer].
func (r *wheelRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.wheel.Resize(size)
}

// wheel lies over a field and takes nothing but the wheel: it scrolls the field while that has anything to scroll, then
// the page that the field is on.
type wheel struct {
	widget.BaseWidget
	text *container.Scroll // in the field; nil: it does not scroll
}

func newWheel(parts []fyne.CanvasObject) *wheel {
	l := &wheel{}
	for _, o := range parts {
		if s, ok := o.(*container.Scroll); ok {
			l.text = s
		}
	}
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer implements [fyne.Widget].
func (l *wheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}

// Scrolled implements [fyne.Scrollable].
func (l *wheel) Scrolled(e *fyne.ScrollEvent) {
	if l.text != nil && l.text.Content != nil {
		was := l.text.Offset
		l.text.Scrolled(e)
		if l.text.Offset != was {
			return
		}
	}
	d := fyne.CurrentApp().Driver()
	if page := scrollAt(d.CanvasForObject(l).Content(), d.AbsolutePositionForObject(l), nil); page != nil {
		page.Scrolled(e)
	}
}
