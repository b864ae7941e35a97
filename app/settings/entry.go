package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// savedEntry is a text field whose text is saved when the person is done with it: on Enter, or when it loses
// the focus. Escape brings the saved text back. What is not valid is not saved.
type savedEntry struct {
	widget.Entry
	saved string
	check func(string) error
	save  func(string) error
	field *field
}

// newSavedEntry makes the field, in a row with its name.
func newSavedEntry(name, hint string, check, save func(string) error) *savedEntry {
	e := &savedEntry{check: check, save: save}
	e.ExtendBaseWidget(e)
	e.Wrapping = fyne.TextWrapOff
	e.OnChanged = func(s string) { e.field.problem.complain(e.check(s)) }
	e.OnSubmitted = func(string) { e.commit() }
	e.field = newField(name, hint, container.New(wide{controlWidth}, e))
	return e
}

// show shows what is saved, unless the person is writing.
func (e *savedEntry) show(saved string) {
	writing := e.Text != e.saved
	e.saved = saved
	if !writing && e.Text != saved {
		e.SetText(saved)
	}
}

func (e *savedEntry) commit() {
	if e.Text == e.saved || e.check(e.Text) != nil {
		return
	}
	if err := e.save(e.Text); err != nil {
		e.field.problem.complain(err)
		return
	}
	e.saved = e.Text
}

// FocusLost implements [fyne.Focusable].
func (e *savedEntry) FocusLost() {
	e.Entry.FocusLost()
	e.commit()
}

// TypedKey implements [fyne.Focusable].
func (e *savedEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		e.SetText(e.saved)
		return
	}
	e.Entry.TypedKey(k)
}

// escEntry is a text field that passes Escape on; Fyne's swallows it.
type escEntry struct {
	widget.Entry
	escape func()
}

func newEscEntry(multiline bool, escape func()) *escEntry {
	e := &escEntry{escape: escape}
	e.MultiLine = multiline
	e.Wrapping = fyne.TextWrapOff
	if multiline {
		e.Wrapping = fyne.TextWrapBreak
	}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements [fyne.Focusable].
func (e *escEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape && e.escape != nil {
		e.escape()
		return
	}
	e.Entry.TypedKey(k)
}

// AcceptsTab implements [fyne.Tabbable]: Tab moves on, also out of a text of several lines.
func (e *escEntry) AcceptsTab() bool { return false }
