// Package history is the history window: requests and their answers, what was allowed or denied without asking, by whom
// and why.
//
// The window gets all of its data from the tray process, and sends it all changes. The UI goroutine waits for neither.
package history

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/interact/history"
	"nod/ipc/operator"
)

// Options connect a [Window] to its surroundings. All fields are required.
type Options struct {
	Operator operator.Operator
	Rule     func(id string) // shows a rule or a saved approval in the settings
	Closed   func()          // called on the UI goroutine after the window was closed
}

// title is constant: X11 uses it as the class of the window.
const title = "nod history"

// Window is the history window. It is built when it is first shown. Call its methods on the UI goroutine, except
// Changed, Added and Visible.
type Window struct {
	*controls.Link
	app   fyne.App
	opts  Options
	win   fyne.Window    // nil until shown
	state operator.State // as last fetched

	banner *controls.Banner
	undo   *dialogs.UndoBar

	entries *entriesPage

	typedShortcut func(fyne.Shortcut) bool // runs a shortcut of the window; reports whether there is one

	now func() time.Time
}

// New returns a hidden window.
func New(a fyne.App, o Options) *Window {
	w := &Window{app: a, opts: o, now: time.Now}
	w.Link = controls.NewLink(o.Operator, w.show)
	return w
}

// draw runs work off the UI goroutine, and then show on it.
func (w *Window) draw(work func() (show func())) {
	w.Aside(func() {
		show := work()
		dialogs.Do(show)
	})
}

// Show brings the window to the front. It lists what a query finds, or, if that is zero, what it listed last.
func (w *Window) Show(q history.Query) {
	if w.win == nil {
		w.build()
	}
	w.SetVisible(true)
	w.Fetch()
	w.entries.enter()
	if q != (history.Query{}) {
		w.entries.set(q)
	}
	dialogs.ShowWindow(w.win)
	dialogs.FitScreen(w.win)
	w.seek()
}

// Added updates the window after new entries. It is safe for concurrent use and never blocks.
func (w *Window) Added() {
	if w.Visible() {
		dialogs.Do(w.entries.renew)
	}
}

func (w *Window) show(s operator.State, err error) {
	if err != nil {
		w.banner.Fail(err)
		return
	}
	w.state = s
	w.banner.Set(s.Problem)
	w.undo.Show(s.Undos)
	w.entries.detail.actions.refresh(s)
}

func (w *Window) build() {
	w.win = w.app.NewWindow(title)
	w.typedShortcut = controls.AddChords(w.win.Canvas(), map[desktop.CustomShortcut]func(){
		{KeyName: fyne.KeyW, Modifier: fyne.KeyModifierShortcutDefault}: w.close,
		{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}: w.seek,
	})
	w.banner = controls.NewBanner(func() { w.opts.Rule("") })
	w.undo = dialogs.NewUndoBar(w.TakeBack, w.After)
	w.entries = newEntriesPage(w)
	w.win.SetContent(container.NewBorder(w.banner.Content, w.undo.Content, nil, nil, w.entries.content))
	w.win.Resize(fyne.NewSize(1100, 700))
	w.win.CenterOnScreen()
	w.win.SetCloseIntercept(w.close)
	w.win.Canvas().AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { w.undo.TakeBack() })
	w.win.Canvas().SetOnTypedKey(w.typedKey)
}

func (w *Window) seek() { w.win.Canvas().Focus(w.entries.search) }

// typedKey handles a key that the focused control does not use.
func (w *Window) typedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyEscape:
		if !w.entries.escape() {
			w.close()
		}
	case fyne.KeyF5:
		w.entries.enter()
	default:
		controls.ScrollByKey(w.win.Canvas(), k)
	}
}

func (w *Window) close() {
	w.SetVisible(false)
	w.entries.leave()
	w.banner.Fail(nil)
	dialogs.HideWindow(w.win)
	w.opts.Closed()
}
