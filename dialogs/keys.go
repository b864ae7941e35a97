package dialogs

import (
	"runtime"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Fyne gives a key to the focused widget and to nobody else, so each of nod's widgets passes on to the window what it
// has no use for.

// commandKey is the modifier of nod's shortcuts: Control, on macOS Command.
func commandKey() fyne.KeyModifier {
	if runtime.GOOS == "darwin" {
		return fyne.KeyModifierSuper
	}
	return fyne.KeyModifierControl
}

// shortcut is the chord of the command key and key.
func shortcut(key fyne.KeyName) *desktop.CustomShortcut {
	return &desktop.CustomShortcut{KeyName: key, Modifier: commandKey()}
}

// chords lists what the keys do together with the command key.
func (w *window) chords() map[fyne.KeyName]func() {
	return map[fyne.KeyName]func(){
		fyne.KeyReturn: w.affirm,
		fyne.KeyEnter:  w.affirm,
		fyne.KeyD:      w.refuse,
		fyne.KeyS:      w.nextScope,
		fyne.KeyPeriod: func() { w.step(+1) },
		fyne.KeyComma:  func() { w.step(-1) },
	}
}

// installKeys makes the keys work while nothing has the focus, or something that does not want them.
func (w *window) installKeys() {
	c := w.win.Canvas()
	for key, do := range w.chords() {
		c.AddShortcut(shortcut(key), func(fyne.Shortcut) { do() })
	}
	c.AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { w.undos.TakeBack() })
	c.SetOnTypedKey(w.typedKey)
}

// typedKey is for a key that the focused widget has no use for.
func (w *window) typedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		w.escape()
	case fyne.KeyPageUp, fyne.KeyPageDown, fyne.KeyHome, fyne.KeyEnd:
		w.scroll(ev)
	}
}

// typedShortcut does what the shortcut stands for and reports whether it stands for anything.
func (w *window) typedShortcut(s fyne.Shortcut) bool {
	if _, isUndo := s.(*fyne.ShortcutUndo); isUndo {
		w.undos.TakeBack()
		return true
	}
	for key, do := range w.chords() {
		if shortcut(key).ShortcutName() == s.ShortcutName() {
			do()
			return true
		}
	}
	return false
}

// field is a text field that leaves Escape and nod's shortcuts to the window, which Fyne's own swallows.
type field struct {
	widget.Entry
	w *window
}

func newField(w *window, placeholder string, multiline bool) *field {
	f := &field{w: w}
	f.MultiLine = multiline
	f.Wrapping = fyne.TextWrapOff
	if multiline {
		f.Wrapping = fyne.TextWrapWord
		f.SetMinRowsVisible(4)
	}
	f.ExtendBaseWidget(f)
	f.SetPlaceHolder(placeholder)
	return f
}

// TypedKey implements [fyne.Focusable].
func (f *field) TypedKey(ev *fyne.KeyEvent) {
	f.w.noteTyping()
	if ev.Name == fyne.KeyEscape {
		f.w.escape()
		return
	}
	f.Entry.TypedKey(ev)
}

// TypedRune implements [fyne.Focusable].
func (f *field) TypedRune(r rune) {
	f.w.noteTyping()
	f.Entry.TypedRune(r)
}

// AcceptsTab implements [fyne.Tabbable]: Tab always moves on, also out of a field of several lines.
func (f *field) AcceptsTab() bool { return false }

// TypedShortcut implements [fyne.Shortcutable].
func (f *field) TypedShortcut(s fyne.Shortcut) {
	if _, isUndo := s.(*fyne.ShortcutUndo); !isUndo && f.w.typedShortcut(s) { // what is undone is typing
		return
	}
	f.Entry.TypedShortcut(s)
}

// FocusGained implements [fyne.Focusable].
func (f *field) FocusGained() {
	f.Entry.FocusGained()
	f.w.focusMoved(f, true)
	f.w.reveal(f)
}

// FocusLost implements [fyne.Focusable].
func (f *field) FocusLost() {
	f.Entry.FocusLost()
	f.w.focusMoved(f, false)
}
