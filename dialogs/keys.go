package dialogs

import (
	"runtime"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// keyMap is what the keys do that work wherever the focus is. Fyne gives a key to the focused widget and to
// nobody else, so each of nod's widgets passes on what it has no use for.
type keyMap struct {
	affirm, refuse, escape, next, previous func()
	scroll                                 func(ev *fyne.KeyEvent)
	relayout                               func()               // something in the prompt has changed its size
	enter                                  func(fyne.Focusable) // focus what has just appeared: its canvas does not know it yet
	focus                                  func(o fyne.Focusable, gained bool)
	reveal                                 func(o fyne.CanvasObject)
}

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

// chords lists the shortcuts and what each does.
func (k *keyMap) chords() []chord {
	return []chord{
		{shortcut(fyne.KeyReturn), k.affirm},
		{shortcut(fyne.KeyEnter), k.affirm},
		{shortcut(fyne.KeyD), k.refuse},
		{shortcut(fyne.KeyPeriod), k.next},
		{shortcut(fyne.KeyComma), k.previous},
	}
}

type chord struct {
	keys *desktop.CustomShortcut
	do   func()
}

// install makes the keys work on c while nothing has the focus, or something that does not want them.
func (k *keyMap) install(c fyne.Canvas) {
	for _, ch := range k.chords() {
		c.AddShortcut(ch.keys, func(fyne.Shortcut) { ch.do() })
	}
	c.SetOnTypedKey(k.typedKey)
}

// typedKey is for a key that the focused widget has no use for.
func (k *keyMap) typedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		k.escape()
	case fyne.KeyPageUp, fyne.KeyPageDown, fyne.KeyHome, fyne.KeyEnd:
		k.scroll(ev)
	}
}

// typedShortcut does what the shortcut stands for and reports whether it stands for anything.
func (k *keyMap) typedShortcut(s fyne.Shortcut) bool {
	for _, ch := range k.chords() {
		if ch.keys.ShortcutName() == s.ShortcutName() {
			ch.do()
			return true
		}
	}
	return false
}

// gained and lost pass on that a widget has, or has no longer, the focus.
func (k *keyMap) gained(o fyne.Focusable) { k.focus(o, true) }
func (k *keyMap) lost(o fyne.Focusable)   { k.focus(o, false) }

// field is a text field that leaves Escape and nod's shortcuts to the window, which Fyne's own swallows.
type field struct {
	widget.Entry
	keys *keyMap
}

func newField(keys *keyMap, multiline bool) *field {
	f := &field{keys: keys}
	f.MultiLine = multiline
	f.Wrapping = fyne.TextWrapOff
	if multiline {
		f.Wrapping = fyne.TextWrapWord
		f.SetMinRowsVisible(4)
	}
	f.ExtendBaseWidget(f)
	return f
}

// TypedKey implements [fyne.Focusable].
func (f *field) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyEscape {
		f.keys.escape()
		return
	}
	f.Entry.TypedKey(ev)
}

// AcceptsTab implements [fyne.Tabbable]: Tab always moves on, also out of a field of several lines.
func (f *field) AcceptsTab() bool { return false }

// TypedShortcut implements [fyne.Shortcutable].
func (f *field) TypedShortcut(s fyne.Shortcut) {
	if f.keys.typedShortcut(s) {
		return
	}
	f.Entry.TypedShortcut(s)
}

// FocusGained implements [fyne.Focusable].
func (f *field) FocusGained() {
	f.Entry.FocusGained()
	f.keys.gained(f)
	f.keys.reveal(f)
}

// FocusLost implements [fyne.Focusable].
func (f *field) FocusLost() {
	f.Entry.FocusLost()
	f.keys.lost(f)
}
