// Package settings is the window in which a person sets nod up: when it asks, what passes without asking,
// and where its files are. Everything it changes is the policy file that the person may as well edit.
package settings

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/policy"
)

// Store is what the window changes. [*policy.Store] is one.
type Store interface {
	Config() policy.Config
	Err() error // the policy file cannot be read: nothing can be changed
	Update(func(*policy.Config) error) error
	Explain(policy.Call) (policy.Decision, []string)
	Parts(policy.Call) []policy.CommandPart
	Grants() []policy.Grant
	Revoke(id string) error
	RevokeAll() error
	HeldGrants() []policy.Grant // what another program made of the file of grants; not in force
	AcceptGrants() error
	Held() (policy.HeldChange, bool) // a change of the policy file that nod did not make
	Accept(policy.HeldChange) error
	Undo(policy.HeldChange) error
}

// Autostart starts nod with the session.
type Autostart interface {
	Enabled() (bool, error)
	Enable() error
	Disable() error
}

// About is what the window says of the running program.
type About struct {
	Version string
	URL     string // where nod listens
	Socket  string // the same as a Unix socket; empty where there is none
	Config  string // path of the policy file
	Log     string // path of the log
	// Tray and Notifications ask the desktop. They may take a moment.
	Tray          func() bool
	Notifications func() bool
}

// Options are what a [Window] works with. All fields but Replay are required.
type Options struct {
	Store   Store
	Suggest func() []policy.Suggestion // rules for what the person always answered alike
	// Replay puts what agents did in the past before the policy, and tells what part of it is done, from 0 to 1. It
	// is called on a goroutine of its own, and only when the person says so. Nil: that is not offered.
	Replay    func(ctx context.Context, progress func(part float64)) (Replay, error)
	Autostart Autostart
	Agents    Agents
	About     About
	Closed    func() // called on the UI goroutine when the window was closed
}

// title is constant: on X11 it becomes the window's class.
const title = "nod settings"

// Window is the settings window. It is built when it is first shown. All of it belongs to the UI goroutine.
type Window struct {
	app     fyne.App
	opts    Options
	win     fyne.Window // nil until shown
	visible bool

	review  *review
	main    fyne.CanvasObject // everything, while there is nothing to review
	banner  *banner
	tabs    *container.AppTabs
	general *generalPage
	allow   *allowPage
	grants  *grantList
	folders *foldersPage
	ideas   *suggestionsPage
	agents  *agentsPage
	about   *aboutPage

	aside func(func())                // runs what may take a moment; tests have it done at once
	after func(time.Duration, func()) // runs something on the UI goroutine in a while
}

// New returns a window that is not shown.
func New(a fyne.App, o Options) *Window {
	return &Window{
		app: a, opts: o,
		aside: func(f func()) { go f() },
		after: func(d time.Duration, f func()) { time.AfterFunc(d, func() { fyne.Do(f) }) },
	}
}

// Visible reports whether the window is on screen.
func (w *Window) Visible() bool { return w.visible }

// Show brings the window to the front.
func (w *Window) Show() {
	if w.win == nil {
		w.build()
	}
	w.visible = true
	w.Refresh()
	w.about.ask(w.aside)
	w.agents.look()
	w.win.Show()
	w.win.RequestFocus()
}

// Refresh shows what the store says now. It does nothing while the window is not visible.
func (w *Window) Refresh() {
	if !w.visible {
		return
	}
	setVisible(w.main, !w.review.refresh())
	err := w.opts.Store.Err()
	w.banner.set(err)
	w.general.refresh(err == nil)
	w.allow.refresh(err == nil)
	w.grants.refresh()
	w.folders.refresh(w.opts.Store.Config().Policy.TrustedRoots, err == nil)
	w.ideas.refresh(err == nil)
	w.agents.refresh(w.opts.Store.Config(), err == nil)
}

func (w *Window) build() {
	w.win = w.app.NewWindow(title)
	w.win.SetContent(w.content())
	w.win.Resize(fyne.NewSize(900, 600))
	w.win.CenterOnScreen()
	w.win.SetCloseIntercept(w.close)
	w.win.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyW, Modifier: fyne.KeyModifierShortcutDefault},
		func(fyne.Shortcut) { w.close() })
	w.win.Canvas().SetOnTypedKey(func(k *fyne.KeyEvent) {
		if k.Name == fyne.KeyEscape {
			w.allow.escape()
		}
	})
}

// content builds what is in the window.
func (w *Window) content() fyne.CanvasObject {
	w.banner = newBanner(func() { w.open(w.opts.About.Config) })
	w.general = newGeneralPage(w.opts, w.change)
	w.allow = newAllowPage(w.opts.Store, w.opts.Agents.Machine, w.change, w.aside)
	w.grants = newGrantList(w.opts.Store)
	w.folders = newFoldersPage(w.change)
	w.ideas = newSuggestionsPage(w.opts, w.change, w.aside)
	w.agents = newAgentsPage(w.opts.Agents, w.change, w.aside)
	w.about = newAboutPage(w.opts.About, w.open)
	w.tabs = container.NewAppTabs(
		container.NewTabItemWithIcon(lang.L("General"), theme.SettingsIcon(), w.general.content),
		container.NewTabItemWithIcon(lang.L("Auto-allow"), theme.ConfirmIcon(), w.allow.content),
		container.NewTabItemWithIcon(lang.L("Answers"), theme.HistoryIcon(), page(w.grants.content)),
		container.NewTabItemWithIcon(lang.L("Folders"), theme.FolderIcon(), w.folders.content),
		container.NewTabItemWithIcon(lang.L("Suggestions"), theme.QuestionIcon(), w.ideas.content),
		container.NewTabItemWithIcon(lang.L("Agents"), theme.ComputerIcon(), w.agents.content),
		container.NewTabItemWithIcon(lang.L("About"), theme.InfoIcon(), w.about.content),
	)
	w.tabs.OnSelected = func(*container.TabItem) { w.Refresh() } // what agents did meanwhile
	w.main = container.NewBorder(w.banner.content, nil, nil, nil, w.tabs)
	w.review = newReview(w.opts.Store, w.Refresh, w.after)
	return container.NewStack(w.main, w.review.content)
}

func setVisible(o fyne.CanvasObject, visible bool) {
	if visible {
		o.Show()
	} else {
		o.Hide()
	}
}

func (w *Window) close() {
	w.win.Canvas().Unfocus() // a field that was edited is saved when it loses the focus
	w.ideas.past.stop()
	w.visible = false
	w.win.Hide()
	w.opts.Closed()
}

// change saves a change of the policy file and shows what came of it.
func (w *Window) change(f func(*policy.Config) error) error {
	err := w.opts.Store.Update(f)
	w.Refresh()
	if err != nil {
		w.banner.failed(err)
	}
	return err
}

// open opens a file or a folder with the desktop's program for it.
func (w *Window) open(path string) {
	if err := w.app.OpenURL(fileURL(path)); err != nil {
		w.banner.failed(err)
	}
}

// banner is the strip above the tabs that says what is wrong.
type banner struct {
	content fyne.CanvasObject
	head    *widget.Label
	text    *widget.Label
	open    *widget.Button
}

func newBanner(open func()) *banner {
	b := &banner{
		head: dialogs.Lines("", theme.SizeNameText, widget.DangerImportance),
		text: dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance),
		open: widget.NewButton(lang.L("Open the file"), open),
	}
	b.head.TextStyle.Bold = true
	b.text.Selectable = true
	words := dialogs.Column(4, dialogs.Tight(b.head), dialogs.Tight(b.text))
	b.content = dialogs.Padded(8, 8, dialogs.Card(dialogs.ColorPaper, dialogs.Padded(12, 14,
		container.NewBorder(nil, nil, widget.NewIcon(theme.NewErrorThemedResource(theme.ErrorIcon())), container.NewCenter(b.open),
			dialogs.Padded(0, 12, words)))))
	b.content.Hide()
	return b
}

// set shows that the policy file is broken, or nothing.
func (b *banner) set(err error) {
	if err == nil {
		b.content.Hide()
		return
	}
	b.open.Show()
	b.say(lang.L("The policy file has an error, so nod asks about everything. Nothing can be changed here until it is mended."), err)
}

// failed shows that a change could not be made.
func (b *banner) failed(err error) {
	b.open.Hide()
	b.say(lang.L("That did not work."), err)
}

func (b *banner) say(head string, err error) {
	b.head.SetText(head)
	b.text.SetText(err.Error())
	b.content.Show()
}
