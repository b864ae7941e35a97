package dialogs

import (
	"image/color"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
)

const (
	// recently is how long after the last key the person is taken to be typing still, and how long after the prompt
	// that was typed into ended by itself another one is taken for its successor.
	recently = 2 * time.Second
	// keyPause is how long no key must come before the keys are taken to be meant for that successor.
	keyPause = minArmAfter
)

// keyHold has the focus, and swallows every key but the chords, while a prompt that has taken the place of one that
// ended by itself may still get what was being typed into that one.
type keyHold struct{ focusBase }

func newKeyHold(w *window) *keyHold {
	h := &keyHold{}
	h.extend(h, w)
	h.Hide()
	return h
}

// hold gives the keys to nobody until none has come for a while.
func (w *window) hold() {
	w.held.Show()
	w.focus(w.held)
	w.holdMore()
}

func (w *window) holdMore() {
	w.heldUntil = w.p.now().Add(keyPause)
	w.arm.block()
	w.disturb()
	stop(w.holdTimer)
	w.holdTimer = w.p.after(keyPause, w.release)
}

// release gives the keys to the prompt once none has come for a while, unless the person has gone somewhere in it.
func (w *window) release() {
	if !w.held.Visible() || w.p.now().Before(w.heldUntil) {
		return
	}
	if w.page != nil && w.menu == nil && w.win.Canvas().Focused() == w.held {
		w.focus(w.page.start())
	}
	w.held.Hide()
}

// CreateRenderer implements [fyne.Widget].
func (h *keyHold) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(canvas.NewRectangle(color.Transparent))
}

// TypedRune implements [fyne.Focusable].
func (h *keyHold) TypedRune(rune) { h.typed() }

func (h *keyHold) typed() {
	h.w.page.tell(tr("Not sent: you were still typing. Wait a moment."))
	h.w.holdMore()
}

// TypedKey implements [fyne.Focusable].
func (h *keyHold) TypedKey(k *fyne.KeyEvent) {
	if !slices.Contains(modifiers, k.Name) { // which may be the first half of a chord
		h.typed()
	}
}

// AcceptsTab implements [fyne.Tabbable].
func (h *keyHold) AcceptsTab() bool { return true }

// TypedShortcut implements [fyne.Shortcutable].
func (h *keyHold) TypedShortcut(s fyne.Shortcut) {
	if !h.w.typedShortcut(s) {
		h.typed()
	}
}
