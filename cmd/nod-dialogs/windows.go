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

// windows are all of nod's windows.
type windows struct {
	ctx         context.Context
	app         fyne.App
	client      *operator.Client
	state       atomic.Pointer[operator.State] // as last fetched
	prompts     *prompts
	dialogs     *dialogs.Prompter
	settings    *settings.Window
	history     *history.Window
	park        *park
	theme       string        // by its name, as last applied; for the UI goroutine
	inFront     bool          // Fyne says that one of the windows has the focus; for the UI goroutine
	focused     atomic.Bool   // one of them has
	shown       atomic.Value  // [interact.ID] of the prompt that is shown, or about to be
	states      chan struct{} // cap 1: something else is in force
	entries     chan struct{} // cap 1: the journal has other entries
	reports     chan struct{} // cap 1: what is on screen has changed
	hasSettings atomic.Bool   // the settings are on screen, and not only about to be
	isUp        atomic.Bool   // the display has taken the windows in
}

func newWindows(ctx context.Context) *windows {
	w := &windows{
		ctx: ctx, app: fyneapp.NewWithID("io.nod.Desktop"),
		states: make(chan struct{}, 1), entries: make(chan struct{}, 1), reports: make(chan struct{}, 1),
	}
	w.shown.Store(interact.ID(""))
	w.park = newPark(ctx, w.busy)
	w.prompts = newPrompts(func() { w.onUI(w.park.settle) })
	return w
}

const fetchState = "fetch the state of nod" // in errors

// fetch takes in what is in force.
func (w *windows) fetch(ctx context.Context) error {
	state, err := w.client.State(ctx)
	if err == nil {
		w.state.Store(&state)
	}
	return err
}

// renew shows what is in force now.
func (w *windows) renew(ctx context.Context) error {
	if err := w.fetch(ctx); err != nil {
		return err
	}
	w.onUI(w.look)
	w.settings.Changed()
	w.history.Changed()
	return nil
}

// settled shows what was settled, where the history is in view.
func (w *windows) settled(context.Context) error {
	w.history.Added()
	w.park.Wake()
	return nil
}

// ping returns once the windows have handled an event.
func (w *windows) ping(ctx context.Context) error {
	handled := make(chan struct{})
	w.onUI(func() { close(handled) })
	select {
	case <-handled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open makes the windows. None is shown yet.
func (w *windows) open(client *operator.Client) error {
	w.client = client
	if err := w.fetch(w.ctx); err != nil {
		return fmt.Errorf("%s: %w", fetchState, err)
	}
	w.app.SetIcon(fyne.NewStaticResource("nod.png", assets.App()))
	if err := assets.SetLanguage(w.state.Load().Config.Look.Language); err != nil {
		return err
	}
	w.look()
	w.dialogs = dialogs.New(w.app, dialogs.Options{
		Config: func() config.Prompt { return w.state.Load().Config.Prompt },
		Offers: w.prompts.offers,
		Draft:  w.prompts.draft, SaveDraft: w.prompts.saveDraft,
		Snooze: func(id interact.ID, d time.Duration) {
			go w.prompts.snooze(w.ctx, w.client, w.dialogs, id, d)
		},
		Settle:  w.settle,
		Showing: w.showing,
		Changed: w.screenChanged,
		Log:     slog.Default(),
	})
	w.settings = settings.New(w.app, settings.Options{
		Operator: client, Machine: machine,
		Shown:  func() { w.settingsCame(true) },
		Closed: func() { w.settingsCame(false) },
	})
	w.history = history.New(w.app, history.Options{
		Operator: client, Rule: w.showRule, Prompt: w.dialogs.Show, Closed: w.screenChanged,
	})
	return nil
}

// run handles events until the process ends. It must be called on the main goroutine.
func (w *windows) run() (err error) {
	if os.Getenv("FYNE_PLATFORM") == "x11" {
		if err := dialogs.CheckX11(); err != nil {
			return fmt.Errorf("%w: %w", errNoDisplay, err)
		}
	}
	// Fyne panics when the display server takes a connection and then refuses to talk, as X does without the right
	// authority.
	defer func() {
		switch r := recover(); {
		case r == nil:
		case w.isUp.Load():
			panic(r) // this is no refusal: it happened long after
		default:
			err = fmt.Errorf("%w: %v", errNoDisplay, r)
		}
	}()
	w.app.Lifecycle().SetOnStarted(w.started)
	w.app.Lifecycle().SetOnEnteredForeground(func() { w.focus(true) })
	w.app.Lifecycle().SetOnExitedForeground(func() { w.focus(false) })
	exitOfLibraries(operator.ExitNoDisplay)
	w.app.Run()
	return errDisplayLost // nothing else has Fyne return
}

// started runs on the UI goroutine, once windows can be shown.
func (w *windows) started() {
	leaveFocus()
	w.isUp.Store(true)
	exitOfLibraries(operator.ExitDisplayLost)
	w.dialogs.Prepare()
	go w.prompts.run(w.ctx, w.client, w.dialogs, w.show)
	go w.prompts.saveDrafts(w.ctx, w.client)
	go follow(w.ctx, w.states, fetchState, w.renew)
	go follow(w.ctx, w.entries, "show what was settled", w.settled)
	go follow(w.ctx, w.reports, "tell nod what is on screen", w.report)
	w.park.settle()
}

// show brings a window to the front.
func (w *windows) show(v operator.View) {
	switch {
	case v.Settings:
		w.onUI(func() {
			if v.Welcome {
				w.settings.ShowWelcome()
			} else {
				w.settings.Show()
			}
			w.screenChanged()
		})
	case v.History != "":
		w.onUI(func() {
			w.history.Show(v)
			w.screenChanged()
		})
	case v.Request != "":
		w.dialogs.Show(v.Request)
	default:
		w.dialogs.Raise()
	}
	w.park.Wake()
}

// showRule shows a rule or a saved approval in the settings. It runs on the UI goroutine.
func (w *windows) showRule(id string) {
	w.settings.ShowRule(id)
	w.screenChanged()
}

// isOpen reports whether a window is open beside the prompts.
func (w *windows) isOpen() bool { return w.settings.Visible() || w.history.Visible() }

// onUI runs f on the UI goroutine, soon even when the loop is parked.
func (w *windows) onUI(f func()) {
	fyne.Do(f)
	w.park.Wake()
}

// busy reports whether something is on screen or about to be. It runs on the UI goroutine.
func (w *windows) busy() bool {
	return w.prompts.live() > 0 || w.dialogs.Waiting() > 0 || w.dialogs.Undoing() || w.isOpen()
}

func (w *windows) focus(on bool) {
	w.inFront = on
	w.screenChanged()
}

// screenChanged has nod told what is on screen, and parks the loop when nothing is. It runs on the UI goroutine.
func (w *windows) screenChanged() {
	w.focused.Store(w.dialogs.Focused() || w.isOpen() && w.inFront)
	operator.Signal(w.reports)
	w.park.settle()
}

// settingsCame takes in that the settings are on screen, or no longer. It runs on the UI goroutine.
func (w *windows) settingsCame(on bool) {
	w.hasSettings.Store(on)
	w.screenChanged()
}

// report tells nod what is on screen.
func (w *windows) report(ctx context.Context) error {
	return w.client.Report(ctx, operator.Screen{
		Focused: w.focused.Load(), Open: w.isOpen(), Settings: w.hasSettings.Load(), Prompt: w.shown.Load().(interact.ID),
	})
}

// showing tells nod which prompt is about to be laid out, and waits until it knows: this may be the last that it hears.
func (w *windows) showing(id interact.ID) {
	w.shown.Store(id)
	if err := w.report(w.ctx); err != nil {
		slog.Error("tell nod what is shown", "err", err)
	}
}

// look applies the theme that the person chose. The same one again would have all that is open drawn anew, which takes
// its time. It runs on the UI goroutine.
func (w *windows) look() {
	if name := w.state.Load().Config.Look.Theme; name != w.theme {
		w.theme = name
		w.app.Settings().SetTheme(dialogs.Theme(name))
	}
}

// settle takes back what the person did a moment ago, or lets it stand.
func (w *windows) settle(undo int, back bool, done func(error)) {
	go func() { done(w.client.Settle(w.ctx, undo, back)) }()
}

// machine is this machine, with hooks that run the nod command.
func machine() (agent.Machine, error) {
	nod, err := programs.Find("nod")
	if err != nil {
		return agent.Machine{}, fmt.Errorf("the nod command, which agents' hooks run: %w", err)
	}
	return agent.ThisMachine(nod)
}

// parkTurn is how long the parked loop sleeps at most: what nobody wakes it for waits this long at worst.
const parkTurn = time.Second

// park keeps Fyne's event loop from ticking 60 times a second while nothing is on screen, which costs more
// than one per cent of a core for ever. It queues a function on the UI goroutine that waits, and queues
// itself again: the loop turns once a [parkTurn].
type park struct {
	ctx  context.Context // ends the parking
	busy func() bool     // something is on screen, or about to be; called on the UI goroutine
	wake chan struct{}   // cap 1
	on   bool            // a turn is queued; for the UI goroutine
}

func newPark(ctx context.Context, busy func() bool) *park {
	return &park{ctx: ctx, busy: busy, wake: make(chan struct{}, 1)}
}

// Wake makes the loop turn now. Safe for concurrent use.
func (p *park) Wake() {
	operator.Signal(p.wake)
}

// settle parks the loop when nothing is on screen. It runs on the UI goroutine, after every change of what
// is on screen.
func (p *park) settle() {
	if p.on || p.busy() {
		return
	}
	p.on = true
	fyne.Do(p.turn)
}

// turn is one parked turn of the loop.
func (p *park) turn() {
	p.on = false
	if p.sleep() {
		p.settle()
	}
}

// sleep waits until there may be something to do. It reports whether to go on parking.
func (p *park) sleep() bool {
	if p.ctx.Err() != nil || p.busy() {
		return false
	}
	timer := time.NewTimer(parkTurn)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.wake:
		return true
	case <-p.ctx.Done():
		return false
	}
}
