// Package history is the window in which a person sees what was asked of them, what passed or was denied without
// them, by whom and why, and what nod has spared them.
//
// All that the window shows comes from the tray process, and all that it changes goes there. Nothing on the UI
// goroutine waits for that.
package history

import (
	"context"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/interact"
	"nod/ipc/operator"
)

// Options are what a [Window] works with. All fields are required.
type Options struct {
	Operator operator.Operator
	Rule     func(id string)   // shows a rule or a saved approval in the settings
	Prompt   func(interact.ID) // brings the prompt of a pending request to the front
	Closed   func()            // called on the UI goroutine when the window was closed
}

// title is constant: on X11 it becomes the window's class.
const title = "nod history"

// The measures of the window, in Fyne's device independent pixels.
const (
	usualWidth, usualHeight = 1100, 700
	wideWindow              = 1060 // from this width on its pages are named
)

// pace is how long news may wait, so that busy agents do not keep the window busy.
const pace = 200 * time.Millisecond

// The pages, as indices of the tabs.
const (
	onEntries = iota
	onAway
	onInsights
)

// Window is the history window. It is built when it is first shown. All of it but Changed, Added and Visible
// belongs to the UI goroutine.
type Window struct {
	app     fyne.App
	opts    Options
	win     fyne.Window // nil until shown
	visible atomic.Bool
	news    atomic.Bool    // a state will be fetched after a change
	state   operator.State // as last fetched
	states  controls.Worker

	banner *controls.Banner
	undo   *controls.UndoLine
	tabs   *controls.Navigation

	entries  *entriesPage
	away     *awayPage
	insights *insightsPage

	aside func(func())                // runs what may take a moment; tests have it done at once
	after func(time.Duration, func()) // runs something on the UI goroutine in a while
	now   func() time.Time
}

// New returns a window that is not shown.
func New(a fyne.App, o Options) *Window {
	w := &Window{
		app: a, opts: o, now: time.Now,
		after: func(d time.Duration, f func()) { time.AfterFunc(d, func() { fyne.Do(f) }) },
	}
	w.aside = func(f func()) { go f() }
	w.states.Aside = w.run
	return w
}

// run runs what may take a moment.
func (w *Window) run(f func()) { w.aside(f) }

// draw does work off the UI goroutine, and then what it returns on that.
func (w *Window) draw(work func() (show func())) {
	w.run(func() {
		show := work()
		fyne.Do(show)
	})
}

// Visible reports whether the window is on screen.
func (w *Window) Visible() bool { return w.visible.Load() }

// Show brings the window to the front, at a page of it and, if it is one of the entries, at that.
func (w *Window) Show(v operator.View) {
	if w.win == nil {
		w.build()
	}
	w.visible.Store(true)
	w.fetch()
	page := map[operator.HistoryPage]int{operator.HistoryAway: onAway, operator.HistoryInsights: onInsights}[v.History]
	if page == w.tabs.Selected {
		w.enter(page)
	}
	w.tabs.SelectIndex(page)
	if v.Entry != 0 {
		w.entries.open(v.Entry)
	}
	dialogs.ShowWindow(w.win)
	dialogs.FitScreen(w.win)
	if page == onEntries {
		w.win.Canvas().Focus(w.entries.search)
	}
}

// Changed says that what is in force may have changed. It is safe for concurrent use and never blocks.
func (w *Window) Changed() {
	if !w.visible.Load() || w.news.Swap(true) {
		return
	}
	w.after(pace, func() {
		w.news.Store(false)
		w.fetch()
	})
}

// Added says that there are entries which the window may not show yet. It is safe for concurrent use and never blocks.
func (w *Window) Added() {
	if w.visible.Load() {
		fyne.Do(w.entries.renew)
	}
}

// fetch asks for what is in force.
func (w *Window) fetch() {
	if w.visible.Load() {
		controls.Fetch(&w.states, w.opts.Operator.State, w.show)
	}
}

// show shows a state, or why there is none.
func (w *Window) show(s operator.State, err error) {
	if err != nil {
		w.banner.Fail(err)
		return
	}
	w.state = s
	w.banner.Set(s.Problem)
	w.undo.Refresh(s.Undos)
	w.entries.detail.actions.refresh(s)
}

func (w *Window) build() {
	w.win = w.app.NewWindow(title)
	w.banner = controls.NewBanner(func() { w.opts.Rule("") })
	w.undo = controls.NewUndoLine(w.settle, func(d time.Duration, f func()) { w.after(d, f) })
	w.entries, w.away, w.insights = newEntriesPage(w), newAwayPage(w), newInsightsPage(w)
	w.tabs = controls.NewNavigation([]controls.Tab{
		{Name: lang.L("History"), Icon: theme.HistoryIcon(), Content: w.entries.content},
		{Name: lang.L("While you were away"), Icon: theme.VisibilityOffIcon(), Content: w.away.content},
		{Name: lang.L("Insights"), Icon: theme.GridIcon(), Content: w.insights.content},
	}, wideWindow, w.enter)
	w.win.SetContent(container.NewBorder(w.banner.Content, w.undo.Content, nil, nil, w.tabs.Content))
	w.win.Resize(fyne.NewSize(usualWidth, usualHeight))
	w.win.CenterOnScreen()
	w.win.SetCloseIntercept(w.close)
	w.win.Canvas().AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { w.undo.TakeBack() })
	for shortcut, do := range w.chords() {
		w.win.Canvas().AddShortcut(&shortcut, func(fyne.Shortcut) { do() })
	}
	w.win.Canvas().SetOnTypedKey(w.typedKey)
}

// enter has the page of that index show what there is now.
func (w *Window) enter(page int) {
	w.away.leave()
	w.insights.leave()
	if page != onEntries {
		w.win.Canvas().Unfocus() // what is not in view any more
	}
	switch page {
	case onEntries:
		w.entries.enter()
	case onAway:
		w.away.enter()
	case onInsights:
		w.insights.enter()
	}
}

// settle takes back what the person did a moment ago, or lets it stand.
func (w *Window) settle(undo int, back bool, done func(error)) {
	w.act(func(ctx context.Context) error { return w.opts.Operator.Settle(ctx, undo, back) }, done)
}

// act does what the person wants, off the UI goroutine.
func (w *Window) act(do func(context.Context) error, done func(error)) {
	w.run(func() {
		err := do(context.Background())
		fyne.Do(func() {
			done(err)
			w.fetch()
		})
	})
}

// find shows the entries that a query finds.
func (w *Window) find(f filter) {
	w.entries.set(f)
	w.tabs.SelectIndex(onEntries)
}

// chords lists what the window does on keys together with others.
func (w *Window) chords() map[desktop.CustomShortcut]func() {
	next, previous := func() { w.tabs.Step(+1) }, func() { w.tabs.Step(-1) }
	const control = fyne.KeyModifierControl // also on macOS, where Command and Tab change the program
	return map[desktop.CustomShortcut]func(){
		{KeyName: fyne.KeyW, Modifier: fyne.KeyModifierShortcutDefault}:   w.close,
		{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}:   w.seek,
		{KeyName: fyne.KeyTab, Modifier: control}:                         next,
		{KeyName: fyne.KeyTab, Modifier: control | fyne.KeyModifierShift}: previous,
		{KeyName: fyne.KeyPageDown, Modifier: control}:                    next,
		{KeyName: fyne.KeyPageUp, Modifier: control}:                      previous,
	}
}

// seek goes to the search.
func (w *Window) seek() {
	w.tabs.SelectIndex(onEntries)
	w.win.Canvas().Focus(w.entries.search)
}

// typedShortcut does what a shortcut stands for, and reports whether it stands for anything here.
func (w *Window) typedShortcut(s fyne.Shortcut) bool {
	custom, ok := s.(*desktop.CustomShortcut)
	if !ok {
		return false
	}
	do := w.chords()[*custom]
	if do != nil {
		do()
	}
	return do != nil
}

// typedKey is for a key that the focused control has no use for.
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
	w.visible.Store(false)
	w.entries.leave()
	w.away.leave()
	w.insights.leave()
	w.banner.Fail(nil)
	dialogs.HideWindow(w.win)
	w.opts.Closed()
}
