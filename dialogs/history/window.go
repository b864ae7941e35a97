// Package history is the history window: requests and their answers, what was allowed or denied without asking, by whom
// and why.
//
// The window gets all of its data from the tray process, and sends it all changes. The UI goroutine waits for neither.
package history

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/interact"
	"nod/interact/history"
	"nod/ipc/operator"
)

// Options connect a [Window] to its surroundings. All fields are required.
type Options struct {
	Operator operator.Operator
	Rule     func(id string)   // shows a rule or a saved approval in the settings
	Prompt   func(interact.ID) // brings the prompt of a pending request to the front
	Closed   func()            // called on the UI goroutine after the window was closed
}

// title is constant: X11 uses it as the class of the window.
const title = "nod history"

// Sizes of the window in Fyne's device independent pixels.
const (
	usualWidth, usualHeight = 1100, 700
	wideWindow              = 1060 // from this width on it shows the icons of pages
)

// Indices of pages.
const (
	onEntries = iota
	onAway
)

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
	tabs   *controls.Navigation

	entries *entriesPage
	away    *awayPage

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

// Show brings the window to the front and selects a page and, in the list of entries, an entry.
func (w *Window) Show(v operator.View) {
	if w.win == nil {
		w.build()
	}
	w.SetVisible(true)
	w.Fetch()
	page := map[operator.HistoryPage]int{operator.HistoryAway: onAway}[v.History]
	if page == w.tabs.Selected {
		w.enter(page)
	}
	w.tabs.SelectIndex(page)
	if v.Contained {
		w.entries.set(filter{query: history.Query{Outcome: history.Sandboxed}})
	}
	if v.Entry != 0 {
		w.entries.open(v.Entry)
	}
	dialogs.ShowWindow(w.win)
	dialogs.FitScreen(w.win)
	if page == onEntries {
		w.win.Canvas().Focus(w.entries.search)
	}
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
	w.undo.Show(slices.DeleteFunc(slices.Clone(s.Undos), operator.Undo.OfPrompt))
	w.entries.detail.actions.refresh(s)
}

func (w *Window) build() {
	w.win = w.app.NewWindow(title)
	w.typedShortcut = controls.AddChords(w.win.Canvas(), w.seek, w.close, func(by int) { w.tabs.Step(by) })
	w.banner = controls.NewBanner(func() { w.opts.Rule("") })
	w.undo = dialogs.NewUndoBar(w.TakeBack, w.After)
	w.entries, w.away = newEntriesPage(w), newAwayPage(w)
	w.tabs = controls.NewNavigation([]controls.Tab{
		{Name: lang.L("History"), Icon: theme.HistoryIcon(), Content: w.entries.content},
		{Name: lang.L("Away"), Icon: theme.VisibilityOffIcon(), Content: w.away.content},
	}, wideWindow, w.enter)
	w.win.SetContent(container.NewBorder(w.banner.Content, w.undo.Content, nil, nil, w.tabs.Content))
	w.win.Resize(fyne.NewSize(usualWidth, usualHeight))
	w.win.CenterOnScreen()
	w.win.SetCloseIntercept(w.close)
	w.win.Canvas().AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { w.undo.TakeBack() })
	w.win.Canvas().SetOnTypedKey(w.typedKey)
}

func (w *Window) enter(page int) {
	w.away.leave()
	if page != onEntries {
		w.win.Canvas().Unfocus() // the focused object is no longer in view
	}
	switch page {
	case onEntries:
		w.entries.enter()
	case onAway:
		w.away.enter()
	}
}

func (w *Window) find(f filter) {
	w.entries.set(f)
	w.tabs.SelectIndex(onEntries)
}

func (w *Window) seek() {
	w.tabs.SelectIndex(onEntries)
	w.win.Canvas().Focus(w.entries.search)
}

// typedKey handles a key that the focused control does not use.
func (w *Window) typedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyEscape:
		if w.tabs.Selected != onEntries || !w.entries.escape() {
			w.close()
		}
	case fyne.KeyF5:
		w.enter(w.tabs.Selected)
	default:
		controls.ScrollByKey(w.win.Canvas(), k)
	}
}

func (w *Window) close() {
	w.SetVisible(false)
	w.entries.leave()
	w.away.leave()
	w.banner.Fail(nil)
	dialogs.HideWindow(w.win)
	w.opts.Closed()
}
