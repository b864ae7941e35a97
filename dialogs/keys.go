package dialogs

import (
	"image/color"
	"slices"
	"strings"
	"time"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/interact"
)

// Fyne sends a key only to the focused widget, so each of nod's widgets passes keys that it does not use to the window.

// Chords makes chords work in a window. If the focused widget takes shortcuts, Fyne gives them to that widget alone,
// which then has to call run. It reports whether it ran a chord.
func Chords(c fyne.Canvas, chords map[desktop.CustomShortcut]func()) (run func(fyne.Shortcut) bool) {
	for chord, do := range chords {
		c.AddShortcut(&chord, func(fyne.Shortcut) { do() })
	}
	return func(s fyne.Shortcut) bool {
		chord, ok := s.(*desktop.CustomShortcut)
		if !ok || chords[*chord] == nil {
			return false
		}
		chords[*chord]()
		return true
	}
}

// chords lists the chords of a prompt. Those for the queue are the usual ones for tabs.
func (w *window) chords() map[desktop.CustomShortcut]func() {
	affirm, otherwise, refuse := w.pressing(w.affirm), w.pressing(w.affirmAlternative), w.pressing(w.refuse)
	next, previous := func() { w.step(+1) }, func() { w.step(-1) }
	const command, control, shift = fyne.KeyModifierShortcutDefault, fyne.KeyModifierControl, fyne.KeyModifierShift
	on := func(modifier fyne.KeyModifier, key fyne.KeyName) desktop.CustomShortcut {
		return desktop.CustomShortcut{KeyName: key, Modifier: modifier}
	}
	return map[desktop.CustomShortcut]func(){
		on(command|shift, fyne.KeyReturn): otherwise, on(command|shift, fyne.KeyEnter): otherwise,
		on(command, fyne.KeyReturn): affirm, on(command, fyne.KeyEnter): affirm, on(command, fyne.KeyD): refuse,
		on(command, fyne.KeyPeriod): next, on(command, fyne.KeyComma): previous,
		on(command, fyne.KeyS):   w.onApproval((*approvePage).chooseScope),
		on(command, fyne.KeyR):   w.onApproval((*approvePage).openReason),
		on(control, fyne.KeyTab): next, on(control|shift, fyne.KeyTab): previous,
		on(control, fyne.KeyPageDown): next, on(control, fyne.KeyPageUp): previous,
	}
}

// installKeys makes the window handle keys when nothing has the focus, and those that the focused widget does not use.
func (w *window) installKeys() {
	c := w.win.Canvas()
	w.typedShortcut = Chords(c, w.chords())
	c.SetOnTypedKey(w.typedKey)
	if c, ok := c.(desktop.Canvas); ok {
		c.SetOnKeyDown(func(ev *fyne.KeyEvent) { w.keyDown(ev, nil) })
	}
}

const (
	// A key that is held down repeats after repeatDelay at the latest, and then every repeatTime at the latest. A window
	// that gets the focus meanwhile receives the next repetition as a press.
	repeatDelay = 700 * time.Millisecond
	repeatTime  = 150 * time.Millisecond
)

// keyDown records a key that goes down while on has the focus. Repetitions of a key that is held down do not get here.
func (w *window) keyDown(ev *fyne.KeyEvent, on fyne.Focusable) {
	if slices.Contains(modifiers, ev.Name) {
		return
	}
	now, focused := w.p.now(), w.arm.focusedAt
	isHeld := ev.Name == w.lastKey && w.lastKeyAt.Before(focused) &&
		(now.Sub(w.lastKeyAt) < repeatDelay || now.Sub(focused) < repeatTime)
	w.pressed, w.pressedOn, w.lastKey, w.lastKeyAt = !isHeld, on, ev.Name, now
}

// pressing returns a function that calls do when a key goes down, but not when it repeats while it is held down.
func (w *window) pressing(do func()) func() {
	return func() {
		switch {
		case w.pressed:
			w.pressed, w.handlingKey = false, true
			do()
			w.handlingKey = false
		case w.page != nil && w.arm.isQuiet():
			w.explainTooFast()
		}
	}
}

var modifiers = []fyne.KeyName{
	desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight,
	desktop.KeyAltLeft, desktop.KeyAltRight, desktop.KeySuperLeft, desktop.KeySuperRight,
}

func (w *window) typedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		w.pressing(w.escape)()
	case fyne.KeyF10, desktop.KeyMenu: // Fyne does not distinguish Shift+F10 from F10
		if w.page != nil {
			w.openMore(w.page.entry)
		}
	case fyne.KeyPageUp, fyne.KeyPageDown, fyne.KeyHome, fyne.KeyEnd:
		if w.page != nil && w.menu == nil {
			w.page.text.TypedKey(ev)
		}
	}
}

// windowKeys are the keys that a text field leaves to the window.
var windowKeys = []fyne.KeyName{fyne.KeyEscape, fyne.KeyF10, desktop.KeyMenu}

// field is a text field that leaves nod's shortcuts to the window, and accepts no more text than [interact.Clip] keeps.
// Even a field for a single line wraps, because Fyne would redraw a long unwrapped line at every key.
type field struct {
	widget.Entry
	w       *window
	drawn   *fieldRenderer
	oneLine bool                             // Enter does not break the line
	onKey   func(*fyne.KeyEvent) (used bool) // gets the keys first
	shift   bool                             // Shift is held down
	atEnd   bool                             // the next focus puts the cursor at the end
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

func (f *field) TypedKey(ev *fyne.KeyEvent) {
	f.w.noteTyping()
	switch {
	case slices.Contains(windowKeys, ev.Name), f.oneLine && isPaging(ev):
		f.w.typedKey(ev)
	case f.onKey(ev), isEnter(ev) && !f.hasRoom('\n'):
	case isPaging(ev) && f.drawn.fits():
		f.w.typedKey(ev)
	default:
		f.Entry.TypedKey(ev)
	}
}

func (f *field) CreateRenderer() fyne.WidgetRenderer {
	f.drawn = NewField(f.Entry.CreateRenderer(), f.w.wheeled)
	return f.drawn
}

func (f *field) KeyDown(ev *fyne.KeyEvent) {
	f.shift = f.shift || isShift(ev)
	f.w.keyDown(ev, f)
	f.Entry.KeyDown(ev)
}

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

// onEnter makes Enter run do, once per press. In a field of several lines Shift+Enter breaks the line.
func (f *field) onEnter(do func()) {
	f.onKey = func(ev *fyne.KeyEvent) bool {
		if !isEnter(ev) || f.shift && !f.oneLine {
			return false
		}
		f.w.pressing(do)()
		return true
	}
}

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

// TypedRune implements [fyne.Focusable]. It drops the space with which the user pressed the button that opened the
// field.
func (f *field) TypedRune(r rune) {
	if f.w.pressedOn != fyne.Focusable(f) {
		return
	}
	f.w.noteTyping()
	if f.hasRoom(r) {
		f.Entry.TypedRune(r)
	}
}

func (f *field) hasRoom(r rune) bool {
	text := f.unselectedText() + string(r)
	if interact.Clip(text) == text {
		return true
	}
	f.showFull()
	return false
}

// unselectedText returns a text as long as what remains without the selection.
func (f *field) unselectedText() string { return strings.Replace(f.Text, f.SelectedText(), "", 1) }

func (f *field) showFull() {
	if f.w.page != nil {
		f.w.page.showNotice(tr("Too long: the limit is {{.Characters}} characters and {{.Lines}} lines.",
			values{"Characters": prompt.Number(interact.MaxAnswer), "Lines": prompt.Number(interact.MaxAnswerLines)}))
	}
}

func (f *field) paste(from fyne.Clipboard) {
	text := strings.ReplaceAll(strings.ToValidUTF8(from.Content(), "�"), "\r\n", "\n")
	if f.oneLine {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	text = spaced(text)
	stays := f.unselectedText()
	fits, _ := strings.CutPrefix(interact.Clip(stays+text), stays)
	if fits != text {
		f.showFull()
	}
	if fits != "" {
		f.Entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip(fits)})
	}
}

// spaced returns text with a space for each tab that follows a character beyond ASCII in its line. After a change of
// font Fyne 2.8.1 draws the text around a tab twice, and needs seconds for thousands of tabs.
func spaced(text string) string {
	ascii := true
	return strings.Map(func(c rune) rune {
		ascii = c == '\n' || ascii && c <= unicode.MaxASCII
		if c == '\t' && !ascii {
			return ' '
		}
		return c
	}, text)
}

type clip string

func (c clip) Content() string { return string(c) }
func (clip) SetContent(string) {}

// AcceptsTab implements [fyne.Tabbable]: Tab always moves the focus, even in a field of several lines.
func (f *field) AcceptsTab() bool { return false }

func (f *field) TypedShortcut(s fyne.Shortcut) {
	if f.w.typedShortcut(s) {
		return
	}
	if pasted, isPaste := s.(*fyne.ShortcutPaste); isPaste {
		f.paste(pasted.Clipboard)
		return
	}
	f.Entry.TypedShortcut(s)
}

func (f *field) FocusGained() {
	f.Entry.FocusGained()
	if f.atEnd {
		f.atEnd = false
		f.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
	}
	f.w.focusMoved(f, true)
	f.w.reveal(f)
}

func (f *field) FocusLost() {
	f.Entry.FocusLost()
	f.shift = false
	f.w.focusMoved(f, false)
}

const (
	// recently is how long after the last key the user counts as typing, and how long after a prompt was withdrawn
	// while the user was typing the next one holds back keys.
	recently = 2 * time.Second
	// keyPause is how long the user must pause before keys reach that next prompt.
	keyPause = minArmAfter
)

// keyHold swallows every key except chords while keys may be meant for a prompt that was just withdrawn.
type keyHold struct{ focusBase }

func newKeyHold(w *window) *keyHold {
	h := &keyHold{}
	h.extend(h, w)
	h.Hide()
	return h
}

func (w *window) hold() {
	w.keyHold.Show()
	w.focus(w.keyHold)
	w.holdMore()
}

func (w *window) holdMore() {
	w.holdUntil = w.p.now().Add(keyPause)
	w.arm.block()
	w.disturb()
	stop(w.holdTimer)
	w.holdTimer = w.p.after(keyPause, w.release)
}

func (w *window) release() {
	if !w.keyHold.Visible() || w.p.now().Before(w.holdUntil) {
		return
	}
	if w.page != nil && w.menu == nil && w.win.Canvas().Focused() == w.keyHold {
		w.focus(w.page.start())
	}
	w.keyHold.Hide()
}

func (h *keyHold) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(canvas.NewRectangle(color.Transparent))
}

func (h *keyHold) TypedRune(rune) { h.typed() }

func (h *keyHold) typed() {
	h.w.page.showNotice(tr("Not sent: you were still typing. Wait a moment."))
	h.w.holdMore()
}

func (h *keyHold) TypedKey(k *fyne.KeyEvent) {
	if !slices.Contains(modifiers, k.Name) { // a modifier may start a chord
		h.typed()
	}
}

func (h *keyHold) AcceptsTab() bool { return true }

func (h *keyHold) TypedShortcut(s fyne.Shortcut) {
	if !h.w.typedShortcut(s) {
		h.typed()
	}
}
