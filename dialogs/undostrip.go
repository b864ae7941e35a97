package dialogs

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"fyne.io/fyne/v2/driver/desktop"
)

// undoStrip is a small window with an action that can be undone, while no prompt can show it. It appears in a corner
// and without the focus, because the user has moved on; where that is impossible, it does not appear.
type undoStrip struct {
	*UndoBar
	p     *Prompter
	win   fyne.Window // nil until it is needed
	shown bool
}

func newUndoStrip(p *Prompter) *undoStrip {
	s := &undoStrip{p: p}
	s.UndoBar = NewUndoBar(func(id int, done func(error)) {
		p.options.Undo(id, func(err error) { p.post(func() { done(err) }) })
	}, func(d time.Duration, f func()) { p.after(d, f) })
	s.Content.Show()
	s.now, s.changed = p.now, s.update
	return s
}

// update shows the strip if there is something to show and no prompt.
func (s *undoStrip) update() {
	if s.p.queue.current != nil || !s.hasAny() {
		s.hide()
	} else {
		s.show()
	}
}

func (s *undoStrip) hide() {
	if s.shown {
		s.shown = false
		HideWindow(s.win)
	}
}

func (s *undoStrip) show() {
	if s.shown || !appearsQuietly(s.p.window.win) {
		return
	}
	if s.win == nil {
		s.win = s.p.app.NewWindow(title)
		if d, ok := s.p.app.Driver().(desktop.Driver); ok {
			s.win = d.CreateSplashWindow()
			s.win.SetTitle(title)
		}
		s.win.SetPadded(false)
		s.win.SetContent(s.Content)
		s.win.SetCloseIntercept(s.hide)
		s.win.Canvas().AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { s.TakeBack() })
	}
	s.shown = true
	size := s.Content.MinSize()
	s.win.Resize(fyne.NewSize(max(size.Width, stripWidth), size.Height))
	if top, ok := s.win.(desktop.Window); ok && s.p.options.Config().OnTop {
		top.RequestAlwaysOnTop()
	}
	showWindow(s.win, false)
	moveToCorner(s.win)
}

const stripWidth = 480

// appearsQuietly reports whether windows like this one can appear without the focus.
func appearsQuietly(w fyne.Window) bool {
	_, isNative := w.(driver.NativeWindow)
	x, _ := windowSystem(w)
	return x != nil || !isNative
}

// Undoing reports whether a window shows an action that can be undone. Call it on the UI goroutine.
func (p *Prompter) Undoing() bool { return p.strip != nil && p.strip.shown }
