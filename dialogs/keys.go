package dialogs

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"nod/interact"
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

// chord is a key with modifiers, and what the two do.
type chord struct {
	*desktop.CustomShortcut
	do func()
}

// chords lists what keys do together with modifiers. Those of the queue are the ones of tabs everywhere.
func (w *window) chords() []chord {
	affirm, otherwise, refuse := w.pressing(w.affirm), w.pressing(w.affirmOtherwise), w.pressing(w.refuse)
	next, previous := func() { w.step(+1) }, func() { w.step(-1) }
	onTabs := func(key fyne.KeyName, shift fyne.KeyModifier) *desktop.CustomShortcut {
		return &desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierControl | shift}
	}
	withShift := func(key fyne.KeyName) *desktop.CustomShortcut {
		return &desktop.CustomShortcut{KeyName: key, Modifier: commandKey() | fyne.KeyModifierShift}
	}
	return []chord{
		{withShift(fyne.KeyReturn), otherwise}, {withShift(fyne.KeyEnter), otherwise},
		{shortcut(fyne.KeyReturn), affirm}, {shortcut(fyne.KeyEnter), affirm}, {shortcut(fyne.KeyD), refuse},
		{shortcut(fyne.KeyPeriod), next}, {shortcut(fyne.KeyComma), previous},
		{shortcut(fyne.KeyS), w.nextScope},
		{onTabs(fyne.KeyTab, 0), next}, {onTabs(fyne.KeyTab, fyne.KeyModifierShift), previous},
		{onTabs(fyne.KeyPageDown, 0), next}, {onTabs(fyne.KeyPageUp, 0), previous},
	}
}

// installKeys makes the keys work while nothing has the focus, or something that does not want them.
func (w *window) installKeys() {
	c := w.win.Canvas()
	for _, chord := range w.chords() {
		c.AddShortcut(chord.CustomShortcut, func(fyne.Shortcut) { chord.do() })
	}
	c.AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { w.undos.TakeBack() })
	c.SetOnTypedKey(w.typedKey)
	if c, ok := c.(desktop.Canvas); ok {
		c.SetOnKeyDown(func(ev *fyne.KeyEvent) { w.keyDown(ev, nil) })
	}
}

const (
	// repeatDelay is after how long a key that is held down starts to repeat, at the latest, and repeatTime how long
	// it takes for each time after that. A window that gets the focus meanwhile hears of the next as of a press.
	repeatDelay = 700 * time.Millisecond
	repeatTime  = 150 * time.Millisecond
)

// keyDown takes note that a key goes down while on has the focus. What it repeats while it is held down comes without.
func (w *window) keyDown(ev *fyne.KeyEvent, on fyne.Focusable) {
	if slices.Contains(modifiers, ev.Name) {
		return
	}
	now, focused := w.p.now(), w.arm.focusedAt
	isHeld := ev.Name == w.lastKey && w.lastDown.Before(focused) &&
		(now.Sub(w.lastDown) < repeatDelay || now.Sub(focused) < repeatTime)
	w.pressed, w.pressedOn, w.lastKey, w.lastDown = !isHeld, on, ev.Name, now
}

// pressing is do for a key that goes down, but not for one that is held down.
func (w *window) pressing(do func()) func() {
	return func() {
		switch {
		case w.pressed:
			w.pressed, w.byKeys = false, true
			do()
			w.byKeys = false
		case w.page != nil && w.arm.isQuiet():
			w.sayTooFast()
		}
	}
}

var modifiers = []fyne.KeyName{
	desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight,
	desktop.KeyAltLeft, desktop.KeyAltRight, desktop.KeySuperLeft, desktop.KeySuperRight,
}

// typedKey is for a key that the focused widget has no use for.
func (w *window) typedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		w.pressing(w.escape)()
	case fyne.KeyF10, desktop.KeyMenu: // F10 with Shift, which Fyne does not tell from F10
		if w.page != nil {
			w.openMore(w.page.entry)
		}
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
	for _, chord := range w.chords() {
		if chord.ShortcutName() == s.ShortcutName() {
			chord.do()
			return true
		}
	}
	return false
}

// field is a text field that leaves Escape and nod's shortcuts to the window, which Fyne's own swallows, and takes as
// much text as [interact.Clip] leaves. Also one for a single line wraps it: what nothing breaks Fyne draws anew at
// every key.
type field struct {
	widget.Entry
	w       *window
	wheeled *wheeledField
	oneLine bool                             // Enter breaks no line
	onKey   func(*fyne.KeyEvent) (used bool) // gets the keys first
	shift   bool                             // is held down
	atEnd   bool                             // the person goes on at the end of its text when it next gets the focus
}

func newField(w *window, placeholder string, multiline bool) *field {
	f := &field{w: w, oneLine: !multiline, onKey: isEnter}
	f.MultiLine, f.Wrapping = true, fyne.TextWrapWord
	f.SetMinRowsVisible(1)
	if multiline {
		f.onKey = func(*fyne.KeyEvent) bool { return false }
		f.SetMinRowsVisible(4)
	}
	f.ExtendBaseWidget(f)
	f.SetPlaceHolder(placeholder)
	return f
}

// TypedKey implements [fyne.Focusable].
func (f *field) TypedKey(ev *fyne.KeyEvent) {
	f.w.noteTyping()
	switch {
	case ev.Name == fyne.KeyEscape, ev.Name == desktop.KeyMenu, f.oneLine && isPaging(ev):
		f.w.typedKey(ev)
	case f.onKey(ev), isEnter(ev) && !f.hasRoom('\n'):
	case (ev.Name == fyne.KeyPageUp || ev.Name == fyne.KeyPageDown) && !f.wheeled.wheel.Hidden:
		f.w.typedKey(ev)
	default:
		f.Entry.TypedKey(ev)
	}
}

// KeyDown implements [desktop.Keyable].
func (f *field) KeyDown(ev *fyne.KeyEvent) {
	f.shift = f.shift || isShift(ev)
	f.w.keyDown(ev, f)
	f.Entry.KeyDown(ev)
}

// KeyUp implements [desktop.Keyable].
func (f *field) KeyUp(ev *fyne.KeyEvent) {
	f.shift = f.shift && !isShift(ev)
	f.Entry.KeyUp(ev)
}

func isPaging(ev *fyne.KeyEvent) bool {
	return ev.Name == fyne.KeyPageUp || ev.Name == fyne.KeyPageDown
}

func isShift(ev *fyne.KeyEvent) bool {
	return ev.Name == desktop.KeyShiftLeft || ev.Name == desktop.KeyShiftRight
}

// onEnter has Enter run do, once a press. Shift+Enter breaks the line, where the field has several.
func (f *field) onEnter(do func()) {
	f.onKey = func(ev *fyne.KeyEvent) bool {
		if !isEnter(ev) || f.shift && !f.oneLine {
			return false
		}
		f.w.pressing(do)()
		return true
	}
}

// onArrow has that key leave the field, beside what the field does with others.
func (f *field) onArrow(key fyne.KeyName, do func()) {
	others := f.onKey
	f.onKey = func(ev *fyne.KeyEvent) bool {
		if ev.Name != key {
			return others(ev)
		}
		do()
		return true
	}
}

func isEnter(ev *fyne.KeyEvent) bool { return ev.Name == fyne.KeyReturn || ev.Name == fyne.KeyEnter }

// TypedRune implements [fyne.Focusable]. The space that has pressed what opens the field is none of its text.
func (f *field) TypedRune(r rune) {
	if f.w.pressedOn != fyne.Focusable(f) {
		return
	}
	f.w.noteTyping()
	if f.hasRoom(r) {
		f.Entry.TypedRune(r)
	}
}

// hasRoom reports whether the field takes another character, or says why not.
func (f *field) hasRoom(r rune) bool {
	text := f.without() + string(r)
	if interact.Clip(text) == text {
		return true
	}
	f.sayFull()
	return false
}

// without is as long as the text that stays when what is selected is typed over.
func (f *field) without() string { return strings.Replace(f.Text, f.SelectedText(), "", 1) }

// sayFull says that the field takes no more.
func (f *field) sayFull() {
	if f.w.page != nil {
		f.w.page.tell(tr("Not all of it fits: {{.Characters}} characters and {{.Lines}} lines are the most.",
			values{"Characters": interact.MaxAnswer, "Lines": interact.MaxAnswerLines}))
	}
}

// paste takes what fits of what is on the clipboard.
func (f *field) paste(from fyne.Clipboard) {
	text := strings.ReplaceAll(strings.ToValidUTF8(from.Content(), "�"), "\r\n", "\n")
	if f.oneLine {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	stays := f.without()
	fits, _ := strings.CutPrefix(interact.Clip(stays+text), stays)
	if fits != text {
		f.sayFull()
	}
	if fits != "" {
		f.Entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip(fits)})
	}
}

// clip is a clipboard with a text on it.
type clip string

func (c clip) Content() string { return string(c) }
func (clip) SetContent(string) {}

// AcceptsTab implements [fyne.Tabbable]: Tab always moves on, also out of a field of several lines.
func (f *field) AcceptsTab() bool { return false }

// TypedShortcut implements [fyne.Shortcutable].
func (f *field) TypedShortcut(s fyne.Shortcut) {
	if _, isUndo := s.(*fyne.ShortcutUndo); !isUndo && f.w.typedShortcut(s) { // what is undone is typing
		return
	}
	if pasted, isPaste := s.(*fyne.ShortcutPaste); isPaste {
		f.paste(pasted.Clipboard)
		return
	}
	f.Entry.TypedShortcut(s)
}

// FocusGained implements [fyne.Focusable].
func (f *field) FocusGained() {
	f.Entry.FocusGained()
	if f.atEnd {
		f.atEnd = false
		f.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
	}
	f.w.focusMoved(f, true)
	f.w.reveal(f)
}

// FocusLost implements [fyne.Focusable].
func (f *field) FocusLost() {
	f.Entry.FocusLost()
	f.shift = false
	f.w.focusMoved(f, false)
}
