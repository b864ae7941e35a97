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
