// Package asking asks the user: it shows what is pending in windows, in the tray, in notifications, on phones and for
// other machines, and takes the answers. It opens no display itself: the windows run in their own process, so a window
// that crashes takes no pending request with it.
package asking

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/api"
	"nod/changes"
	"nod/interact"
	"nod/interact/journal"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
	"nod/policy/config"
	processes "nod/policy/process"
)

// trayPatience is how long after nod the desktop's panel may start at login.
const trayPatience = 15 * time.Second

// Config configures a [Desk]. All fields are required.
type Config struct {
	Log        *slog.Logger
	Version    string
	Dialogs    string // path of nod-dialogs
	Background bool   // started with the session: open no window unasked
	Store      *config.Store
	Journal    *journal.Journal
	Processes  processes.Table // tells which callers have ended
	// IsWelcomeDue reports whether the user has not seen the welcome.
	IsWelcomeDue func() bool
	// HooksProblem says in a sentence which agents' hooks do not run nod; it is empty if all do.
	HooksProblem func() string
	// RecheckHooks checks the hooks again soon, because the user may have repaired them.
	RecheckHooks func()
	// IsAgent reports whether a program on this machine is the agent of that name.
	IsAgent func(name string, program api.Parent) bool
	// Contains reports whether an agent's commands run in the sandbox once that is on for the project.
	Contains func(interact.Requester) bool
	// Outdated reports whether nod-desktop may restart as another version. It is called when the windows are of another
	// version.
	Outdated func() bool
	Quit     func()
}

// Desk is where the user answers: in windows, in the tray, on phones. It owns the broker of this machine's requests,
// and implements the parts of [operator.Operator] for requests, other machines and devices.
type Desk struct {
	*windows
	answers
	*presence
	cfg   Config
	ctx   context.Context // ends with the program
	log   *slog.Logger
	store *config.Store

	book     *book.Book       // of the paired peers
	identity *remote.Identity // of this desk; nil: its keys cannot be read
	machines *machines        // that ask this desk
	devices  *devices         // that answer with it

	broker    *interact.Broker
	notifier  *notifier
	showing   context.Context // ends with the windows
	hide      context.CancelFunc
	announcer *announcer
	tray      *tray
	changed   changes.Signal // the tray may show something else
}

// New returns a desk that lasts until ctx ends. It shows nothing before [Desk.Run].
func New(ctx context.Context, c Config) (*Desk, error) {
	path, err := book.DefaultPath()
	if err != nil {
		return nil, err
	}
	d := &Desk{store: c.Store, cfg: c, ctx: ctx, log: c.Log, changed: changes.NewSignal()}
	d.showing, d.hide = context.WithCancel(ctx)
	d.book = book.Open(path, d.store.SealKey())
	if _, err := d.book.Problem(); err != nil {
		d.log.Warn("no pairing works", "err", err)
	}
	folder := filepath.Dir(path)
	d.openWindows()
	d.answers = answers{d.windows, d.ownerOf}
	d.openDevices(folder)
	asks := gate{d.presence, d.windows, d.devices}
	d.openMachines(folder, asks)
	d.broker = interact.NewBroker(interact.BrokerConfig{
		Policy: d.store, Prompter: asks, Notify: d.notifier.notify, Journal: c.Journal,
		Timeout: d.store.Timeout, Processes: c.Processes, IsAgent: c.IsAgent, Log: d.log,
	})
	d.openTray()
	return d, nil
}

// openWindows prepares the windows, and the notifications that replace them.
func (d *Desk) openWindows() {
	d.presence = newPresence(d.notifyAway)
	d.notifier = newNotifier(showByBeeep(d.sound), d.wantsNotice, d.log)
	d.windows = newWindows(windowsConfig{
		log: d.log, start: d.startWindows, offers: d.store.Offers, contains: d.cfg.Contains, quiet: d.waitsInTray,
		failed: d.notifyFailed, outdated: d.cfg.Outdated,
		deviceReady: func() bool { return d.devices.ready() },
		keep:        func() time.Duration { return d.store.Config().Prompt.KeepReady },
		undoFor:     func() time.Duration { return d.store.Config().Prompt.Undo },
		reachable:   func(ctx context.Context) error { _, err := displayEnv(ctx); return err },
	})
}

// openTray prepares everything else that tells the user about requests.
func (d *Desk) openTray() {
	d.announcer = &announcer{
		ctx: d.ctx, post: newBoard(d.ctx, d.notifier), sound: d.sound, looking: d.windows.focused,
		wanted: d.wantsAnnouncement, hidden: d.windows.quiet,
		show: func(id interact.ID) { d.Show(operator.View{Request: id}) },
	}
	d.tray = newTray(trayActions{
		Show:          d.Show,
		Pause:         d.presence.setPause,
		AskEverything: d.askEverything,
		AskAgain:      d.presence.back,
		Quit:          d.cfg.Quit,
	}, d.log)
}

// Broker returns the broker of this machine's requests.
func (d *Desk) Broker() *interact.Broker { return d.broker }

// Run shows what is pending until the context of [New] ends. It serves op to the windows. On macOS it must be
// called on the main goroutine.
func (d *Desk) Run(op operator.Operator) {
	var parts sync.WaitGroup
	parts.Go(func() { d.windows.run(d.showing, op) })
	parts.Go(d.follow)
	parts.Go(func() {
		d.presence.followClock(d.ctx, func() bool {
			return d.Paused().On || d.store.Config().Notifications.Quiet(time.Now())
		})
	})
	parts.Go(d.checkTray)
	parts.Go(func() {
		changes, stop := d.store.Changes()
		defer stop()
		d.devices.run(d.ctx, changes)
	})
	lines, endLines := context.WithCancel(context.WithoutCancel(d.ctx)) // what is answered last still goes out
	defer endLines()
	parts.Go(func() { d.runMachines(lines) })
	parts.Go(func() {
		<-d.ctx.Done()
		var closing sync.WaitGroup
		closing.Go(d.broker.Close)
		closing.Go(d.machines.Close)
		closing.Wait()
		endLines()
	})
	d.Refresh()
	d.tray.run(d.ctx)
	<-d.ctx.Done()
	parts.Wait()
}

// follow brings everything that shows requests up to date after every change.
func (d *Desk) follow() {
	requests, stop := d.broker.Changes()
	defer stop()
	settings, end := d.store.Changes()
	defer end()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-requests:
			d.windows.keepTime(d.allPending())
		case <-d.machines.requests:
			d.windows.keepTime(d.allPending())
		case <-settings:
			d.broker.Reconsider()
			d.windows.refetch()
		case <-d.presence.changed:
			d.windows.refetch()
		case <-d.windows.changed:
			d.cfg.RecheckHooks()
			d.devices.look(d.ctx)
		case <-d.changed:
		}
		if d.windows.focused() { // then the user needs no notification
			d.announcer.seen()
		}
		waiting, _ := d.pending()
		d.announcer.look(waiting)
		d.tray.update(d.snapshot())
	}
}

// Refresh brings the tray up to date soon.
func (d *Desk) Refresh() { d.changed.Send() }

func (d *Desk) snapshot() snapshot {
	away, missed := d.presence.away()
	held, isHeld := d.store.Held()
	waiting, snoozed := d.pending()
	return snapshot{
		Pending:       waiting,
		Snoozed:       snoozed,
		Pause:         d.Paused(),
		Away:          away,
		Missed:        missed,
		Broken:        d.store.Err() != nil,
		Journal:       JournalProblem(d.cfg.Journal.Problem()),
		Hooks:         d.cfg.HooksProblem(),
		Machines:      d.machines.count(),
		Held:          isHeld,
		Unknown:       held.IsUnknown,
		AskEverything: d.store.Config().Policy.AskEverything,
		Contains:      len(d.store.Config().Policy.Sandbox.Projects) > 0,
	}
}

// pending lists the requests that the user has to answer now, and those they snoozed.
func (d *Desk) pending() (waiting, snoozed []interact.Request) {
	return toAnswer(d.windows.unanswered(d.allPending()))
}

// Say shows the user a notification from nod itself. During quiet hours it shows only warnings and errors.
func (d *Desk) Say(level, sentence string) {
	if level != interact.Info || !d.store.Config().Notifications.Quiet(time.Now()) {
		d.notifier.say(d.ctx, sentence, level)
	}
}

// notifyAway tells the user that nod no longer asks for a session, without quoting the agent.
func (d *Desk) notifyAway() {
	d.Say(interact.Info, lang.L("You didn't answer an agent's last prompts, so nod stopped asking for it. "+
		"Answer any prompt, or choose “I'm back” in the tray menu."))
}

// notifyFailed tells the user that nod cannot ask them because the windows fail.
func (d *Desk) notifyFailed(why error) {
	text := lang.L("nod's windows keep failing, so nod stops asking for a minute. The log says why.")
	switch {
	case errors.Is(why, errCannotShow):
		text = lang.L("nod's windows failed on one request, which ended unanswered. The log says why.")
	case errors.Is(why, operator.ErrVersion):
		text = lang.L("nod was updated. Quit it from its tray menu and start it again, so that it can ask you.")
	}
	d.Say(interact.Error, text)
}

// mainView returns the settings, or the welcome until the user has seen it.
func (d *Desk) mainView() operator.View {
	return operator.View{Settings: true, Welcome: d.cfg.IsWelcomeDue()}
}

// Raise shows what a user who starts nod again expects: the pending prompt, else the settings. With settings it waits
// until these are open.
func (d *Desk) Raise(ctx context.Context, settings bool) error {
	waiting, _ := d.pending()
	switch {
	case settings:
		return d.windows.bring(ctx, d.mainView())
	case len(waiting) > 0:
		d.Show(operator.View{})
	default:
		d.Show(d.mainView())
	}
	return nil
}

func (d *Desk) askEverything(on bool) {
	err := d.store.Update(func(c *config.Config) error {
		c.Policy.AskEverything = on
		return nil
	})
	if err != nil {
		d.log.Error("ask about everything", "err", err)
		d.Say(interact.Error, lang.L("nod could not save the setting: {{.Problem}}", map[string]any{"Problem": err.Error()}))
	}
}

// checkTray tells the user if the desktop shows no tray icons, after giving it time to start.
func (d *Desk) checkTray() {
	if d.cfg.Background {
		select {
		case <-d.ctx.Done():
			return
		case <-time.After(trayPatience):
		}
	}
	if trayService() {
		return
	}
	d.log.Warn("this desktop shows no tray icons: nothing owns org.kde.StatusNotifierWatcher")
	d.Say(interact.Warning, lang.L("This desktop shows no tray icons. nod is running anyway; start it again to open its "+
		"settings."))
	if !d.cfg.Background {
		d.Show(d.mainView())
	}
}

// StopWindows ends the windows for good.
func (d *Desk) StopWindows() {
	d.hide()
	<-d.windows.ended
}
