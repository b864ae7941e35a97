package dialogs

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"fyne.io/fyne/v2/driver/desktop"

	"nod/ipc/operator"
)

// undoStrip is a small window with what can be undone, while no prompt is there to show it. It takes neither the focus
// nor a place in the middle: the person has gone on to something else. Where no window can appear like that, there is
// none.
type undoStrip struct {
	*UndoBar
	p     *Prompter
	win   fyne.Window // nil until it is needed
	list  []operator.Undo
	shown bool
	until time.Time // it says until then what has come of an undo
	timer *time.Timer
}

// lingers is how long it is said what has come of an undo.
const lingers = 3 * time.Second

func newUndoStrip(p *Prompter) *undoStrip {
	s := &undoStrip{p: p}
	s.UndoBar = NewUndoBar(func(undo int, back bool, done func(error)) {
		s.until = p.now().Add(lingers)
		p.settle(undo, back, func(err error) {
			done(err)
			s.update()
		})
	})
	return s
}

// set says what can be taken back now.
func (s *undoStrip) set(list []operator.Undo) {
	s.list = list
	s.Show(list, s.p.now())
	s.update()
}

// update shows the strip when there is something to say and no prompt, and counts down.
func (s *undoStrip) update() {
	stop(s.timer)
	isLate := !s.p.now().Before(s.until) || s.text.Text == ""
	if s.p.queue.current != nil || len(s.list) == 0 && isLate {
		s.hide()
		return
	}
	if s.latest.ID != 0 {
		s.Show(s.list, s.p.now())
	}
	s.show()
	s.timer = s.p.after(time.Second, s.update)
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

// Undoing reports whether a window shows what can be undone. It is for the UI goroutine.
func (p *Prompter) Undoing() bool { return p.strip != nil && p.strip.shown }
