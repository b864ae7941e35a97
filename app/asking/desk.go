// Package asking asks the user: it shows what is pending in windows, in the tray, in notifications, on phones and for
// other machines, and takes the answers. It opens no display itself: the windows have a process of their own, so that
// nothing that happens to a window takes a pending request with it.
package asking

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/interact"
	"nod/interact/history"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
	"nod/policy"
	"nod/policy/config"
	"nod/policy/store"
)

// trayPatience is how long after nod, at login, the desktop's panel may start.
const trayPatience = 15 * time.Second

// Config is what a [Desk] works with. All fields are required.
type Config struct {
	Log        *slog.Logger
	Version    string
	Dialogs    string // path of nod-dialogs
	Background bool   // started with the session: open no window that nobody asked for
	Store      *store.Store
	Journal    Journal
	Hooks      Hooks
	Welcome    interface{ IsDue() bool }
	// Outdated is told that the windows are of another version. It reports whether nod-desktop may follow.
	Outdated func() bool
	Quit     func()
}

// Journal is the record of all requests.
type Journal interface {
	Past
	SaveDraft(ctx context.Context, id interact.ID, draft []byte) error
	Settle(ctx context.Context, r interact.Record) error
	// Problem says what is wrong with the journal; nil if nothing is.
	Problem() error
}

// Hooks are what agents run to reach nod.
type Hooks interface {
	// Problem says in a sentence which hooks run no nod; empty if all do.
	Problem() string
	// Recheck looks again soon: the user may have repaired them.
	Recheck()
}

// Desk asks the user at this desk. It implements [interact.Prompter], and the parts of [operator.Operator] that are
// about requests and about other machines and devices.
type Desk struct {
	*windows
	cfg    Config
	ctx    context.Context // ends with the program
	log    *slog.Logger
	store  *store.Store
	broker *interact.Broker // set by Attach

	absence   *absence
	presence  *presence
	machines  *machines
	devices   *devices
	book      *book.Book       // who is paired
	identity  *remote.Identity // of this desk; nil: its keys cannot be read
	notifier  *notifier
	announcer *announcer
	tray      *tray
	shortcut  *shortcut

	locked  atomic.Bool     // the screen is
	showing context.Context // ends the windows
	hide    context.CancelFunc
}

// New makes and connects the parts of a desk. Nothing runs before [Desk.Run].
func New(ctx context.Context, c Config) (*Desk, error) {
	d := &Desk{cfg: c, ctx: ctx, log: c.Log, store: c.Store}
	d.showing, d.hide = context.WithCancel(ctx)
	d.windows = newWindows(windowsConfig{
		log: d.log, start: d.startWindows, offers: d.store.Offers,
		keep:      func() time.Duration { return d.store.Config().Prompt.KeepReady },
		reachable: func(ctx context.Context) error { _, err := displayEnv(ctx); return err },
		quiet: func(r interact.Request) bool {
			return waitsInTray(d.store.Config(), r) || d.presence.hides(r)
		},
		told: func() { d.devices.look(ctx) }, elsewhere: func() bool { return d.devices.ready() },
		changed: d.screenChanged, failed: d.tellFailed, outdated: c.Outdated,
		present:   func() { d.presence.back() },
		undoFor:   func() time.Duration { return d.store.Config().Prompt.Undo },
		saveDraft: c.Journal.SaveDraft,
		settled: func(ctx context.Context, id interact.ID) (interact.Answer, error) {
			return d.broker.Settled(ctx, id)
		},
	})
	d.notifier = newNotifier(beeepMessenger{d.sound}, d.wantsNotice, d.log)
	d.presence = newPresence(d.windows, d.presenceChanged, d.tellQuiet)
	d.absence = &absence{ctx: ctx, changed: d.Refresh, log: d.log,
		count: func(ctx context.Context, from, to time.Time) (history.Away, error) {
			return lastAway{c.Journal, d.broker.Pending()}.count(ctx, from, to)
		}}
	d.announcer = newAnnouncer(announcerConfig{
		ctx: ctx, post: newBoard(ctx, d.notifier), sound: d.sound, looking: d.windows.focused,
		wanted: d.wantsAnnouncement, hidden: d.windows.quiet,
		show: func(id interact.ID) { d.Show(operator.View{Request: id}) },
	})
	d.shortcut = newShortcut(func() string { return d.store.Config().Prompt.Shortcut },
		func() { _ = d.Raise(ctx, false) }, d.windows.Changed, d.log)
	d.tray = newTray(trayActions{
		Show:          func(id interact.ID) { d.Show(operator.View{Request: id}) },
		Raise:         func() { d.Show(operator.View{}) },
		Settings:      d.ShowSettings,
		History:       func() { d.Show(operator.View{History: operator.HistoryEntries}) },
		WhileAway:     func() { d.Show(operator.View{History: operator.HistoryAway}) },
		Pause:         d.presence.setPause,
		AskEverything: d.askEverything,
		AskAgain:      d.presence.back,
		Quit:          c.Quit,
	}, d.log)
	if err := d.openMachines(); err != nil {
		return nil, err
	}
	return d, d.openDevices()
}

// Prompt implements [interact.Prompter].
func (d *Desk) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	return d.machines.Prompt(ctx, r, why)
}

// Notify shows an agent's notice, and reports whether the desktop took it.
func (d *Desk) Notify(ctx context.Context, r interact.Request) bool { return d.machines.Notify(ctx, r) }

// Policy is the policy of the store, of which the user can undo what an answer saves.
func (d *Desk) Policy() interact.Policy { return keeper{d.store, d.windows} }

// Attach has the desk ask for a broker.
func (d *Desk) Attach(b *interact.Broker) { d.broker = b }

// Run asks the user about what is pending until the context of [New] ends. It serves op to the windows. On macOS it
// must be called on the main goroutine.
func (d *Desk) Run(op operator.Operator) {
	watchLock(d.ctx, d.setLocked, d.log)
	var parts sync.WaitGroup
	parts.Go(func() { d.windows.run(d.showing, op) })
	parts.Go(d.watchStore)
	parts.Go(func() { d.shortcut.run(d.ctx) })
	parts.Go(d.watchRequests)
	parts.Go(d.checkTray)
	parts.Go(d.serveDevices)
	lines, endLines := context.WithCancel(context.WithoutCancel(d.ctx)) // what is answered last still goes out
	defer endLines()
	parts.Go(func() { d.runMachines(lines) })
	parts.Go(func() {
		<-d.ctx.Done()
		d.broker.Close()
		endLines()
	})
	d.Refresh()
	d.tray.run(d.ctx)
	<-d.ctx.Done()
	parts.Wait()
}

// snapshot is what the tray shows now.
func (d *Desk) snapshot() snapshot {
	away, missed := d.presence.away()
	held, isHeld := d.store.Held()
	waiting, snoozed := d.pending()
	return snapshot{
		Pending:       waiting,
		Snoozed:       snoozed,
		Pause:         d.presence.paused(),
		Away:          away,
		Missed:        missed,
		News:          d.absence.news(),
		Broken:        d.store.Err() != nil,
		Journal:       JournalProblem(d.cfg.Journal.Problem()),
		Hooks:         d.cfg.Hooks.Problem(),
		Machines:      d.machines.count(),
		Held:          isHeld,
		Unknown:       held.IsUnknown,
		AskEverything: d.store.Config().Policy.AskEverything,
	}
}

// pending is what waits for the person, now and later.
func (d *Desk) pending() (waiting, snoozed []interact.Request) {
	return toAnswer(d.windows.unanswered(d.broker.Pending()))
}

// Refresh brings the tray up to date. It does not block.
func (d *Desk) Refresh() {
	d.absence.look(d.isAway())
	d.tray.update(d.snapshot())
}

// presenceChanged takes in that the person is there, or no longer: what waits in the tray for that comes to the screen.
func (d *Desk) presenceChanged() {
	d.windows.Changed()
	d.Refresh()
}

// serveDevices serves devices until nod quits.
func (d *Desk) serveDevices() {
	changes, stop := d.store.Changes()
	defer stop()
	d.devices.run(d.ctx, changes)
}

// isAway reports whether nobody can be expected to look at a prompt now.
func (d *Desk) isAway() bool {
	sessions, _ := d.presence.away()
	return sessions > 0 || d.locked.Load() || d.presence.paused().On ||
		d.store.Config().Notifications.Quiet(time.Now())
}

// setLocked takes in whether the screen is locked.
func (d *Desk) setLocked(locked bool) {
	d.locked.Store(locked)
	d.keepTime()
	d.Refresh()
}

// keepTime has the time to answer stand still while the screen is locked, if the person wants that.
func (d *Desk) keepTime() {
	d.broker.StandStill(d.locked.Load() && d.store.Config().Prompt.Locked == config.LockedWait)
}

// watchRequests keeps the tray in step with what is pending, and announces it.
func (d *Desk) watchRequests() {
	changes, stop := d.broker.Changes()
	defer stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-changes:
			d.windows.keepTime(d.broker.Pending())
			waiting, _ := d.pending()
			d.announcer.look(waiting)
			d.Refresh()
		}
	}
}

// screenChanged takes in what is on screen now, and what was just answered there: who looks at nod needs no
// notification.
func (d *Desk) screenChanged() {
	d.cfg.Hooks.Recheck()
	if d.windows.focused() {
		d.announcer.seen()
	}
	waiting, _ := d.pending()
	d.announcer.look(waiting)
	d.Refresh()
}

// Say tells the person a sentence of nod's own. Only what is no warning waits for another time.
func (d *Desk) Say(level interact.Level, sentence string) {
	if level != interact.Info || !d.store.Config().Notifications.Quiet(time.Now()) {
		d.notifier.say(d.ctx, sentence, level)
	}
}

// tellQuiet says that nod no longer asks for a session. It says no word of the agent's.
func (d *Desk) tellQuiet() {
	d.Say(interact.Info, lang.L("You didn't answer an agent's last prompts, so nod stopped asking for it. "+
		"Answer any prompt, or choose “I'm back” in the tray menu."))
}

// tellFailed says that nobody can be asked because the windows die.
func (d *Desk) tellFailed(why error) {
	text := lang.L("nod's windows keep failing, so nod stops asking for a minute. The log says why.")
	switch {
	case errors.Is(why, errCannotShow):
		text = lang.L("nod's windows failed over one request, so it ended unanswered. The log says why.")
	case errors.Is(why, operator.ErrVersion):
		text = lang.L("nod was updated. Quit it, in the menu of its tray icon, and start it again to be asked.")
	}
	d.Say(interact.Error, text)
}

// ShowMain shows the settings to who has seen the welcome, else the welcome.
func (d *Desk) ShowMain() {
	d.Show(operator.View{Settings: true, Welcome: d.cfg.Welcome.IsDue()})
}

// Raise shows what a person who starts nod again expects: the prompt that is pending, else the settings. Where those
// are wanted it returns once they are on screen.
func (d *Desk) Raise(ctx context.Context, settings bool) error {
	waiting, _ := d.pending()
	switch {
	case settings:
		return d.windows.bring(ctx, operator.View{Settings: true, Welcome: d.cfg.Welcome.IsDue()})
	case len(waiting) > 0:
		d.Show(operator.View{})
	default:
		d.ShowMain()
	}
	return nil
}

// askEverything switches the rule that nothing passes without a prompt.
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

// checkTray tells the person when the desktop shows no tray icons, once the desktop had time to start.
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
	d.Say(interact.Warning, lang.L("This desktop shows no tray icons. nod runs all the same; start it again to open its "+
		"settings."))
	if !d.cfg.Background {
		d.ShowMain()
	}
}

// ShowSettings brings the settings to the front.
func (d *Desk) ShowSettings() { d.Show(operator.View{Settings: true}) }

// watchStore takes in changes of the configuration, the rules and the grants.
func (d *Desk) watchStore() {
	changes, stop := d.store.Changes()
	defer stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-changes:
			d.broker.Reconsider()
			d.keepTime()
			d.windows.Changed()
			d.shortcut.check()
			waiting, _ := d.pending()
			d.announcer.look(waiting)
			d.Refresh()
		}
	}
}

// ShortcutProblem says why the shortcut does not work; empty if it does, or there is none.
func (d *Desk) ShortcutProblem() string { return d.shortcut.Problem() }

// IsPending reports whether a request waits for an answer now.
func (d *Desk) IsPending() bool { waiting, _ := d.pending(); return len(waiting) > 0 }

// Paused is the pause as it stands now.
func (d *Desk) Paused() Pause { return d.presence.paused() }

// StopWindows ends the windows for good.
func (d *Desk) StopWindows() {
	d.hide()
	<-d.windows.ended
}
