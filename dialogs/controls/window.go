package controls

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/prompt"
	"nod/ipc/operator"
)

// pace is the interval between updates, so that busy agents do not keep a window busy.
const pace = 200 * time.Millisecond

// Window is what the settings and history windows share: it fetches the state while it is visible, performs the user's
// actions, and shows problems above its content and the last action that can be undone below. Use it only on the UI
// goroutine, except Changed and Visible.
type Window struct {
	App      fyne.App
	Aside    func(func())                // runs slow functions; synchronous in tests
	After    func(time.Duration, func()) // runs a function on the UI goroutine after a delay
	Win      fyne.Window                 // nil until it is built
	Shortcut func(fyne.Shortcut) bool    // runs a shortcut of the window; reports whether there is one
	Done     func(what string)           // shows that something was undone; nil: Undo does
	Banner   *banner
	Undo     *undoBar
	frame    *fyne.Container // the content between Banner and Undo

	operator operator.Operator
	show     func(operator.State, error)
	visible  atomic.Bool
	news     atomic.Bool // a fetch is scheduled after a change
	opens    bool        // the next state is the first, which the window needs
	states   Worker

	acting  int           // number of unfinished actions of the user
	lastAct chan struct{} // closed after the last of them
}

// NewWindow returns a hidden window, which calls show with each state.
func NewWindow(a fyne.App, o operator.Operator, show func(operator.State, error)) *Window {
	return &Window{
		App: a, operator: o, show: show, Aside: func(f func()) { go f() },
		After: func(d time.Duration, f func()) { time.AfterFunc(d, func() { dialogs.Do(f) }) },
	}
}

// Build makes the window without its content. openFile shows the policy file; typedKey reports whether it used a key.
func (w *Window) Build(title string, chords map[desktop.CustomShortcut]func(), openFile, closed func(),
	typedKey func(*fyne.KeyEvent) bool) {
	w.Win = w.App.NewWindow(title)
	dialogs.CenterOnScreen(w.Win)
	w.Win.SetCloseIntercept(closed)
	c := w.Win.Canvas()
	chords[desktop.CustomShortcut{KeyName: fyne.KeyW, Modifier: fyne.KeyModifierShortcutDefault}] = closed
	w.Shortcut = dialogs.Chords(c, chords)
	c.AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { w.Undo.TakeBack() })
	c.SetOnTypedKey(func(k *fyne.KeyEvent) {
		if !typedKey(k) {
			scrollByKey(c, k)
		}
	})
	w.Banner, w.Undo = newBanner(w, openFile), newUndoBar(w)
}

func (w *Window) Frame(content fyne.CanvasObject) fyne.CanvasObject {
	w.frame = container.NewBorder(w.Banner.Content, w.Undo.Content, nil, nil, content)
	return w.frame
}

// setVisible shows or hides a part of the frame; Fyne would leave its room empty.
func (w *Window) setVisible(part fyne.CanvasObject, v bool) {
	if part.Visible() != v {
		dialogs.SetVisible(part, v)
		w.frame.Refresh()
	}
}

// Open makes the window count as visible, which it is about to be, and fetches the state.
func (w *Window) Open() {
	w.visible.Store(true)
	w.opens = true
	w.Fetch()
}

func (w *Window) Hide() {
	w.Fail(nil)
	w.visible.Store(false)
	dialogs.CloseMenus(w.Win)
	dialogs.HideWindow(w.Win)
}

// Visible reports whether the window is on screen or about to be. It is safe for concurrent use.
func (w *Window) Visible() bool { return w.visible.Load() }

// Changed updates the window after a change of the state. It is safe for concurrent use and never blocks.
func (w *Window) Changed() {
	if !w.Visible() || w.news.Swap(true) {
		return
	}
	w.After(pace, func() {
		w.news.Store(false)
		w.Fetch()
	})
}

// Fetch fetches the state and shows it. It does nothing while the window is not visible.
func (w *Window) Fetch() {
	if !w.Visible() {
		return
	}
	w.states.Aside = w.Aside
	Fetch(&w.states, w.operator.State, func(s operator.State, err error) {
		if w.Visible() && (w.acting == 0 || w.opens) { // else it may be older than what the user does
			w.opens = false
			w.show(s, err)
		}
	})
}

// Follow shows the problem of a state with the policy file, and what can be undone.
func (w *Window) Follow(s operator.State) {
	w.Banner.problem = s.Problem
	w.Banner.draw()
	w.Undo.show(s.Undos)
}

// Fail shows why an action failed, until another one succeeds; nil means success.
func (w *Window) Fail(err error) {
	w.Banner.failure = err
	w.Banner.draw()
}

// Act performs the user's actions off the UI goroutine, one after the other, and then calls done on it.
func (w *Window) Act(do func(context.Context) error, done func(error)) {
	before, ended := w.lastAct, make(chan struct{})
	w.lastAct = ended
	w.acting++
	w.Aside(func() {
		defer close(ended)
		if before != nil {
			<-before
		}
		err := do(context.Background())
		dialogs.Do(func() {
			w.acting--
			w.states.Drop() // a state on its way may be older
			done(err)
			w.Fetch()
		})
	})
}

// Reveal scrolls the page of an object until the object is in view, once it has been laid out.
func (w *Window) Reveal(o fyne.CanvasObject) {
	w.After(pace, func() { reveal(o) })
}

// banner is the strip above the tabs that shows a problem.
type banner struct {
	Content fyne.CanvasObject
	win     *Window
	head    *widget.Label
	text    *widget.Label
	open    *Button

	problem string // with the policy file
	failure error  // of the last action of the user
}

func newBanner(w *Window, open func()) *banner {
	b := &banner{
		win:  w,
		head: dialogs.Lines("", theme.SizeNameText, widget.DangerImportance),
		text: dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance),
		open: NewButton(lang.L("Open the file"), nil, open),
	}
	b.head.TextStyle.Bold = true
	b.text.Selectable = true
	icon := widget.NewIcon(theme.NewErrorThemedResource(theme.ErrorIcon()))
	words := dialogs.Column(4, dialogs.Tight(b.head), dialogs.Tight(b.text))
	b.Content = dialogs.Padded(8, 8, dialogs.Card(dialogs.ColorPaper, dialogs.Padded(12, 14,
		container.NewBorder(nil, nil, icon, container.NewCenter(b.open), dialogs.Padded(0, 12, words)))))
	b.Content.Hide()
	return b
}

func (b *banner) draw() {
	dialogs.SetVisible(b.open, b.problem != "")
	switch {
	case b.problem != "":
		b.head.SetText(lang.L("The policy file has an error, so nod asks about everything. Fix the file to " +
			"change settings here."))
		b.text.SetText(b.problem)
	case b.failure != nil:
		b.head.SetText(lang.L("That didn't work."))
		b.text.SetText(b.failure.Error())
	}
	b.win.setVisible(b.Content, b.problem != "" || b.failure != nil)
}

const resultTime = 5 * time.Second

// undoBar is a line with the last action that can be undone, and its button. It is hidden while nothing can be undone.
type undoBar struct {
	Content fyne.CanvasObject
	win     *Window
	list    []operator.Undo
	until   time.Time // until then the result of an undo is shown
	text    *widget.Label
	undo    fyne.CanvasObject
}

func newUndoBar(w *Window) *undoBar {
	b := &undoBar{win: w, text: dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance)}
	b.text.Wrapping, b.text.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	b.undo = widget.NewButton(lang.L("Undo")+"  "+dialogs.CommandName()+"+Z", b.TakeBack)
	line := container.NewBorder(nil, nil, nil, b.undo, container.NewVBox(
		layout.NewSpacer(), dialogs.Tight(b.text), layout.NewSpacer()))
	b.Content = dialogs.Column(0, dialogs.Rule(), dialogs.Surface(dialogs.ColorSunken, dialogs.Padded(5, 12, line)))
	b.Content.Hide()
	return b
}

func (b *undoBar) update() {
	b.win.setVisible(b.Content, len(b.list) > 0 || b.text.Text != "" && time.Now().Before(b.until))
}

// show shows the last action in list. If list is empty, the result of an undo stays for a while.
func (b *undoBar) show(list []operator.Undo) {
	if len(list) > 0 {
		last := list[len(list)-1]
		what := map[string]any{"What": prompt.SafeEnds(last.Text)}
		b.text.SetText(lang.L("Rule deleted: {{.What}}", what))
		if last.Kind == operator.UndoRevoke {
			b.text.SetText(lang.L("Revoked: {{.What}}", what))
		}
	} else if len(b.list) > 0 {
		b.text.SetText("")
	}
	b.list = list
	dialogs.SetVisible(b.undo, len(list) > 0)
	b.update()
}

func (b *undoBar) TakeBack() {
	if len(b.list) == 0 {
		return
	}
	id := b.list[len(b.list)-1].ID
	b.show(nil)
	b.win.Act(func(ctx context.Context) error { return b.win.operator.Undo(ctx, id) }, func(err error) {
		b.show(slices.DeleteFunc(slices.Clone(b.list), func(o operator.Undo) bool { return o.ID == id }))
		if err == nil && b.win.Done != nil {
			b.win.Done(lang.L("Restored."))
			return
		}
		if len(b.list) > 0 {
			return
		}
		b.text.SetText(lang.L("Restored."))
		if err != nil {
			b.text.SetText(lang.L("Not undone: {{.Problem}}", map[string]any{"Problem": prompt.PlainText(err.Error())}))
		}
		b.until = time.Now().Add(resultTime)
		b.update()
		b.win.After(resultTime, b.update)
	})
}
