package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"

	"nod/agents/agent"
	"nod/assets"
	"nod/changes"
	"nod/dialogs"
	"nod/dialogs/history"
	"nod/dialogs/settings"
	"nod/interact"
	"nod/ipc/operator"
	"nod/ipc/programs"
	"nod/policy/config"
)

var (
	errNoDisplay   = errors.New("no display")
	errDisplayLost = errors.New("the display has ended")
)

type windows struct {
	ctx         context.Context
	app         fyne.App
	client      *operator.Client
	state       atomic.Pointer[operator.State] // last fetched
	prompts     *prompts
	dialogs     *dialogs.Prompter
	settings    *settings.Window
	history     *history.Window
	spare       *spare
	theme       string         // name of the current theme; only on the UI goroutine
	inFront     bool           // one of the windows has the focus, by Fyne; only on the UI goroutine
	prompting   bool           // the window with the prompts has it; only on the UI goroutine
	welcomes    bool           // the welcome is about to open; only on the UI goroutine
	focused     atomic.Bool    // one of the windows has the focus
	shown       atomic.Value   // [interact.ID] of the prompt that is shown, or about to be
	states      changes.Signal // the state has changed
	entries     changes.Signal // the journal has new entries
	reports     changes.Signal // the screen has changed
	hasSettings atomic.Bool    // the settings are on screen
	isUp        atomic.Bool    // the display server has accepted the windows
}

func newWindows(ctx context.Context) *windows {
	w := &windows{
		ctx: ctx, app: fyneapp.NewWithID("io.nod.Desktop"),
		states: changes.NewSignal(), entries: changes.NewSignal(), reports: changes.NewSignal(),
	}
	w.shown.Store(interact.ID(""))
	w.spare = newSpare(w.busy, func() { dialogs.Do(w.giveBack) })
	w.prompts = newPrompts(func() { dialogs.Do(w.spare.settle) })
	return w
}

const fetchState = "fetch the state of nod" // in errors

func (w *windows) fetch(ctx context.Context) error {
	state, err := w.client.State(ctx)
	if err == nil {
		w.state.Store(&state)
	}
	return err
}

func (w *windows) renew(ctx context.Context) error {
	if err := w.fetch(ctx); err != nil {
		return err
	}
	dialogs.Do(w.applyTheme)
	w.settings.Changed()
	w.history.Changed()
	return nil
}

func (w *windows) ping(ctx context.Context) error {
	select {
	case <-dialogs.Answers():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *windows) open(client *operator.Client) error {
	w.client = client
	if err := w.fetch(w.ctx); err != nil {
		return fmt.Errorf("%s: %w", fetchState, err)
	}
	w.app.SetIcon(fyne.NewStaticResource("nod.png", assets.App()))
	if err := assets.SetLanguage(w.state.Load().Config.Look.Language); err != nil {
		return err
	}
	w.applyTheme()
	w.dialogs = dialogs.New(w.app, dialogs.Options{
		Config: func() config.Prompt { return w.state.Load().Config.Prompt },
		Offers: w.prompts.offers,
		Draft:  func(id interact.ID) []byte { return w.prompts.find(id).Draft }, SaveDraft: w.prompts.saveDraft,
		Snooze: func(id interact.ID, d time.Duration) {
			go w.prompts.snooze(w.ctx, w.client, w.dialogs, id, d)
		},
		Showing: w.showing,
		Changed: func(isFocused bool) {
			w.prompting = isFocused
			w.screenChanged()
		},
		Log: slog.Default(),
	})
	w.settings = settings.New(w.app, settings.Options{
		Operator: client, Machine: machine,
		Shown:  func() { w.settingsShown(true) },
		Closed: func() { w.settingsShown(false) },
	})
	w.history = history.New(w.app, history.Options{
		Operator: client, Closed: w.screenChanged,
		Rule: func(id string) {
			w.settings.ShowRule(id)
			w.screenChanged()
		},
	})
	return nil
}

// run handles events until the process ends. Call it on the main goroutine.
func (w *windows) run() (err error) {
	if os.Getenv("FYNE_PLATFORM") == "x11" {
		if err := dialogs.CheckX11(); err != nil {
			return fmt.Errorf("%w: %w", errNoDisplay, err)
		}
	}
	// Fyne panics if the display server accepts a connection and then refuses to serve it.
	defer func() {
		switch r := recover(); {
		case r == nil:
		case w.isUp.Load():
			panic(r) // not a refusal: the windows had started
		default:
			err = fmt.Errorf("%w: %v", errNoDisplay, r)
		}
	}()
	w.app.Lifecycle().SetOnStarted(w.started)
	w.app.Lifecycle().SetOnEnteredForeground(func() { w.focus(true) })
	w.app.Lifecycle().SetOnExitedForeground(func() { w.focus(false) })
	exitOfLibraries(operator.ExitNoDisplay)
	w.app.Run()
	return errDisplayLost // Fyne returns for no other reason
}

// started runs on the UI goroutine once windows can be shown.
func (w *windows) started() {
	leaveFocus()
	w.isUp.Store(true)
	exitOfLibraries(operator.ExitDisplayLost)
	w.dialogs.Prepare()
	go w.prompts.run(w.ctx, w.client, w.dialogs, w.show)
	go w.prompts.saveDrafts(w.ctx, w.client)
	go follow(w.ctx, w.states, fetchState, w.renew)
	go follow(w.ctx, w.entries, "show what was settled", func(context.Context) error { w.history.Added(); return nil })
	go follow(w.ctx, w.reports, "tell nod what is on screen", w.report)
	w.spare.settle()
}

func (w *windows) show(v operator.View) {
	switch {
	case v.Settings:
		dialogs.Do(func() {
			w.welcomes = v.Welcome
			w.settings.Show(v.Welcome)
			w.screenChanged()
		})
	case v.History:
		dialogs.Do(func() {
			w.history.Show(v.Query)
			w.screenChanged()
		})
	default:
		w.dialogs.Show(v.Request)
	}
}

func (w *windows) isOpen() bool { return w.settings.Visible() || w.history.Visible() }

// busy reports whether anything is on screen or about to be. Call it on the UI goroutine.
func (w *windows) busy() bool {
	return w.prompts.count() > 0 || w.isOpen()
}

func (w *windows) focus(on bool) {
	w.inFront = on
	w.screenChanged()
}

// screenChanged reports the screen to nod. Call it on the UI goroutine.
func (w *windows) screenChanged() {
	w.focused.Store(w.prompting || w.isOpen() && w.inFront)
	w.reports.Send()
	w.spare.settle()
}

func (w *windows) settingsShown(on bool) {
	w.hasSettings.Store(on)
	if w.welcomes { // which the user did not ask for, so it leaves the keyboard to a prompt
		w.welcomes = false
		w.dialogs.Show("")
	}
	w.screenChanged()
}

func (w *windows) report(ctx context.Context) error {
	return w.client.Report(ctx, operator.Screen{
		Focused: w.focused.Load(), Open: w.isOpen(), Settings: w.hasSettings.Load(), Prompt: w.shown.Load().(interact.ID),
	})
}

// showing tells nod which prompt is about to be laid out, and waits until nod knows, in case the layout crashes this
// process.
func (w *windows) showing(id interact.ID) {
	w.shown.Store(id)
	if err := w.report(w.ctx); err != nil {
		slog.Error("report the visible prompt", "err", err)
	}
}

// applyTheme applies the user's theme if it has changed, since that redraws everything. Call it on the UI goroutine.
func (w *windows) applyTheme() {
	if name := w.state.Load().Config.Look.Theme; name != w.theme {
		w.theme = name
		w.app.Settings().SetTheme(dialogs.Theme(name))
	}
}

func machine() (agent.Machine, error) {
	nod, err := programs.Find("nod")
	if err != nil {
		return agent.Machine{}, fmt.Errorf("the nod command, which agents' hooks run: %w", err)
	}
	return agent.ThisMachine(nod)
}
