// Package history is the history window: requests and their answers, and what was allowed or denied without asking,
// with the reasons.
//
// The window gets all of its data from the tray process, and sends it all changes. The UI goroutine never waits for
// either.
package history

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"

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
	*controls.Window
	opts    Options
	entries *entriesPage
	now     func() time.Time
}

// New returns a hidden window.
func New(a fyne.App, o Options) *Window {
	w := &Window{opts: o, now: time.Now}
	w.Window = controls.NewWindow(a, o.Operator, w.show)
	return w
}

func (w *Window) draw(work func() (show func())) {
	w.Aside(func() { dialogs.Do(work()) })
}

// Show brings the window to the front. It lists what a query finds or, if the query is zero, what it listed last.
func (w *Window) Show(q history.Query) {
	if w.Win == nil {
		w.build()
	}
	w.Open()
	w.entries.enter()
	if q != (history.Query{}) {
		w.entries.set(q)
	}
	dialogs.ShowWindow(w.Win)
	w.Win.SetTitle(lang.L("nod history")) // not before: X11 keeps the class from the first title
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
		w.Fail(err)
		return
	}
	w.Follow(s)
	w.entries.detail.actions.refresh(s)
}

func (w *Window) build() {
	w.Build(title, map[desktop.CustomShortcut]func(){
		{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}: w.seek,
	}, func() { w.opts.Rule("") }, w.close, w.typedKey)
	w.entries = newEntriesPage(w)
	w.Win.SetContent(w.Frame(w.entries.content))
	w.Win.Resize(fyne.NewSize(1100, 700))
}

// seek moves the focus to the search, where what the user types replaces what stands there.
func (w *Window) seek() {
	w.Win.Canvas().Focus(w.entries.search)
	w.entries.search.TypedShortcut(&fyne.ShortcutSelectAll{})
}

func (w *Window) typedKey(k *fyne.KeyEvent) (isUsed bool) {
	switch {
	case k.Name == fyne.KeyF5:
		w.entries.enter()
	case k.Name == fyne.KeyEscape && !w.entries.escape():
		w.close()
	}
	return k.Name == fyne.KeyF5 || k.Name == fyne.KeyEscape
}

func (w *Window) close() {
	w.entries.leave()
	w.Hide()
	w.opts.Closed()
}
