// Package settings is the settings window: when nod asks, what it allows without asking, and where its files are. It
// changes the policy file, which the user can also edit.
//
// The window gets all of its data from the tray process, and sends it all changes. The UI goroutine waits neither for
// these nor for a file.
package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/agents/agent"
	"nod/dialogs"
	"nod/dialogs/controls"
	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

// Options connect a [Window] to its surroundings. All fields are required.
type Options struct {
	Operator operator.Operator
	Machine  func() (agent.Machine, error) // where to look for agents, and the command of their hooks; may be slow
	Shown    func()                        // called on the UI goroutine after the window came to the front
	Closed   func()                        // … and after it was closed
}

// title is constant: X11 uses it as the class of the window.
const title = "nod settings"

// Indices of pages with links to them.
const (
	onRules          = 1
	onSavedApprovals = 2
	onSandbox        = 4
)

const doneShown = 2 * time.Second

// Window is the settings window. It is built when it is first shown. Call its methods on the UI goroutine, except
// Changed and Visible.
type Window struct {
	*controls.Window
	opts    Options
	wanted  *string                       // id of the rule to show next; nil for none
	opening bool                          // the next state brings it to the front
	state   operator.State                // as last fetched
	saved   atomic.Pointer[config.Config] // the base of the next change

	review  *review
	welcome *welcome          // nil until shown
	place   *fyne.Container   // holds the content of the window
	greets  bool              // the welcome replaces the pages
	main    fyne.CanvasObject // everything except the review
	deeds   int               // number of things said to be done
	tabs    *navigation
	dialog  dialog.Dialog // over the window; nil for none
	fields  []func()      // show in a field what is saved, instead of what the user typed

	general     *generalPage
	allow       *allowPage
	grants      *grantList
	folders     *textList
	sandbox     *sandboxPage
	suggestions *suggestionsPage
	agents      *agentsPage
	attention   *attentionPage
	machines    *machinesPage
	history     *historyPage

	desktopFolder func(title string) (string, error) // lets the user choose a folder
}

// New returns a hidden window.
func New(a fyne.App, o Options) *Window {
	w := &Window{opts: o, desktopFolder: portalFolder}
	w.Window = controls.NewWindow(a, o.Operator, w.show)
	w.Done = w.sayDone
	w.saved.Store(&config.Config{})
	return w
}

// ShowRule opens the editor of a rule. For a saved approval it opens the approvals page, for an empty id the rules
// page.
func (w *Window) ShowRule(id string) {
	w.wanted = &id
	w.Show(false)
}

func (w *Window) reveal() {
	if w.wanted == nil {
		return
	}
	id := *w.wanted
	w.wanted = nil
	isIt := func(r policy.Rule) bool { return r.ID == id }
	isGrant := slices.ContainsFunc(w.state.Grants, func(g policy.Grant) bool { return g.ID == id })
	i := slices.IndexFunc(w.state.Config.Policy.Rules, isIt)
	switch {
	case isGrant:
		w.tabs.selectIndex(onSavedApprovals)
		return
	case i < 0 && id != "":
		w.Fail(errors.New(lang.L("{{.Rule}} is no longer there: it was deleted, revoked, or has expired.",
			map[string]any{"Rule": safetext.Line(id, controls.QuoteLimit)})))
	}
	w.tabs.selectIndex(onRules)
	if i >= 0 {
		w.allow.edit(w.state.Config.Policy.Rules[i])
	}
}

// Show brings the window to the front as soon as its state is known, with the settings or the welcome page.
func (w *Window) Show(greets bool) {
	if w.greets && !greets {
		w.welcomed()
	}
	w.greets = greets
	if !w.Visible() {
		for _, restore := range w.fields {
			restore()
		}
	}
	w.opening = true
	w.Open()
}

func (w *Window) welcomed() {
	w.Act(w.opts.Operator.Welcomed, w.Fail)
}

func (w *Window) show(s operator.State, err error) {
	if err == nil {
		w.state = s
		w.saved.Store(&s.Config)
	}
	if w.Win == nil {
		w.build()
	}
	if err != nil {
		w.Fail(err)
	}
	w.refresh()
	if w.opening {
		w.opening = false
		w.tabs.page().enter()
		w.reveal()
		dialogs.ShowWindow(w.Win)
		w.Win.SetTitle(w.title())
		w.opts.Shown()
	}
}

func (w *Window) greet(on bool) {
	if w.welcome == nil {
		if !on {
			return
		}
		w.welcome = newWelcome(w)
		w.place.Add(w.welcome.content)
	}
	w.welcome.show(on)
	w.welcome.refresh(w.state)
}

// title returns the title for the current content. X11 keeps the class from the first title.
func (w *Window) title() string {
	if w.greets {
		return lang.L("Welcome to nod")
	}
	return lang.L("nod settings")
}

func (w *Window) refresh() {
	reviewing := w.review.refresh(w.state)
	dialogs.SetVisible(w.main, !reviewing && !w.greets)
	w.greet(!reviewing && w.greets)
	w.Follow(w.state)
	w.tabs.page().refresh(w.state)
}

func (w *Window) build() {
	next, previous := func() { w.step(+1) }, func() { w.step(-1) }
	accept, restore := func() { w.review.press(w.review.accept) }, func() { w.review.press(w.review.undo) }
	const control = fyne.KeyModifierControl // also on macOS, where Command+Tab switches programs
	w.Build(title, map[desktop.CustomShortcut]func(){
		{KeyName: fyne.KeyTab, Modifier: control}:                            next,
		{KeyName: fyne.KeyTab, Modifier: control | fyne.KeyModifierShift}:    previous,
		{KeyName: fyne.KeyPageDown, Modifier: control}:                       next,
		{KeyName: fyne.KeyPageUp, Modifier: control}:                         previous,
		{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierShortcutDefault}: accept,
		{KeyName: fyne.KeyEnter, Modifier: fyne.KeyModifierShortcutDefault}:  accept,
		{KeyName: fyne.KeyD, Modifier: fyne.KeyModifierShortcutDefault}:      restore,
	}, func() { w.open(w.state.About.Config) }, w.close, w.typedKey)
	w.Win.SetContent(w.content())
	w.Win.Resize(fyne.NewSize(900, 600))
}

func (w *Window) typedKey(k *fyne.KeyEvent) (isUsed bool) {
	isEscape := k.Name == fyne.KeyEscape
	if isEscape && !w.escape() {
		w.close()
	}
	return isEscape
}

// ask shows a dialog over the window, which Escape closes.
func (w *Window) ask(d dialog.Dialog) {
	w.dialog = d
	d.SetOnClosed(func() { w.dialog = nil })
	d.Show()
}

// escape closes the dialog, or what is open on the page. It reports whether there was any.
func (w *Window) escape() bool {
	switch {
	case w.dialog != nil:
		w.dialog.Hide()
		return true
	case w.greets:
		return w.welcome.agents.escape()
	case w.allow.content.Visible():
		return w.allow.escape()
	case w.agents.content.Visible():
		return w.agents.escape()
	case w.machines.content.Visible():
		return w.machines.escape()
	}
	return false
}

func (w *Window) step(by int) {
	if w.main.Visible() {
		w.tabs.step(by)
	}
}

func (w *Window) content() fyne.CanvasObject {
	w.review = newReview(w)
	w.tabs = newNavigation(w.makePages(), func() {
		w.refresh()
		w.Fetch()
	})
	w.main = w.Frame(w.tabs.content)
	w.place = container.NewStack(w.main, w.review.content)
	return w.place
}

func (w *Window) makePages() []windowPage {
	w.general = newGeneralPage(w)
	w.allow = newAllowPage(w)
	w.grants = newGrantList(w)
	w.folders = newFoldersPage(w)
	w.sandbox = newSandboxPage(w)
	w.suggestions = newSuggestionsPage(w)
	w.agents = newAgentsPage(w)
	w.attention = newAttentionPage(w)
	w.machines = newMachinesPage(w)
	w.history = newHistoryPage(w)
	nothing := func() {}
	return []windowPage{
		{lang.L("General"), theme.SettingsIcon(), w.general.content, w.general.refresh, nothing, nothing},
		{lang.L("Rules"), theme.ConfirmIcon(), w.allow.content, w.allow.refresh, nothing, nothing},
		{lang.L("Saved approvals"), theme.HistoryIcon(), page(w.grants.content), w.grants.refresh,
			nothing, nothing},
		{lang.L("Folders"), theme.FolderIcon(), w.folders.content, w.folders.refresh, nothing, nothing},
		{lang.L("Sandbox"), theme.LoginIcon(), w.sandbox.content, w.sandbox.refresh, nothing, nothing},
		{lang.L("Suggestions"), theme.QuestionIcon(), w.suggestions.content, w.suggestions.refresh,
			nothing, w.suggestions.leave},
		{lang.L("Agents"), theme.ComputerIcon(), w.agents.content, w.agents.refresh, w.agents.look, nothing},
		{lang.L("Attention"), theme.VolumeUpIcon(), w.attention.content, w.attention.refresh, nothing, nothing},
		{lang.L("Machines and devices"), theme.DesktopIcon(), w.machines.content, w.machines.refresh,
			nothing, w.machines.leave},
		{lang.L("History"), theme.StorageIcon(), w.history.content, w.history.refresh, nothing, nothing},
		{lang.L("About"), theme.InfoIcon(), aboutPage(w), func(operator.State) {}, nothing, nothing},
	}
}

func (w *Window) close() {
	if w.dialog != nil {
		w.dialog.Hide()
	}
	w.Win.Canvas().Unfocus() // an edited field is saved when it loses the focus
	w.tabs.page().leave()
	w.suggestions.replay.stop()
	if w.greets {
		w.greet(false)
		w.welcomed()
	}
	w.greets = false
	w.Hide()
	w.opts.Closed()
}

func (w *Window) open(path string) {
	if err := w.App.OpenURL(fileURL(path)); err != nil {
		w.Fail(err)
	}
}

type part struct {
	win     *Window
	content fyne.CanvasObject
	body    *fyne.Container  // the changing part of the content
	problem *controls.Remark // with the last action of the user
	work    controls.Worker
	drawn   drawn
}

func newPart(w *Window) part {
	return part{
		win: w, work: controls.Worker{Aside: w.Aside}, body: container.NewStack(),
		problem: controls.NewRemark(widget.DangerImportance),
	}
}

// change saves a change of the configuration. It calls f off the UI goroutine, more than once if another program
// changes the configuration meanwhile, and then done on the UI goroutine.
func (w *Window) change(f func(*config.Config) error, done func(error)) {
	w.Act(func(ctx context.Context) error {
		saved, err := operator.Change(ctx, w.opts.Operator, *w.saved.Load(), f)
		w.saved.Store(&saved)
		if errors.Is(err, config.ErrChanged) {
			return fmt.Errorf("%s: %w", lang.L("The settings keep changing; try again"), err)
		}
		return err
	}, func(err error) {
		if err == nil {
			w.Fail(nil)
			w.sayDone(lang.L("Saved"))
		}
		done(err)
	})
}

// sayDone says it for a moment below the list of pages, where it covers nothing.
func (w *Window) sayDone(what string) {
	w.deeds++
	this := w.deeds
	w.tabs.note(dialogs.Badge(what, theme.ColorNameSuccess))
	w.After(doneShown, func() {
		if w.deeds == this {
			w.tabs.note()
		}
	})
}

func with[T comparable](list []T, x T, in bool) []T {
	list = slices.DeleteFunc(list, func(y T) bool { return y == x })
	if in {
		list = append(list, x)
	}
	return list
}
