// Package asking asks the user: it shows what is pending in windows, in the tray, in notifications, on phones and for
// other machines, and takes the answers. It opens no display itself: the windows have a process of their own, so that
// nothing that happens to a window takes a pending request with it.
package asking

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/changes"
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
	Journal    records
	Hooks      hooks
	Welcome    interface{ IsDue() bool }
	// Outdated is told that the windows are of another version. It reports whether nod-desktop may follow.
	Outdated func() bool
	Quit     func()
}

// records are the journal.
type records interface {
	past
	requestJournal
	// Problem says what is wrong with the journal; nil if nothing is.
	Problem() error
}

// hooks are what agents run to reach nod.
type hooks interface {
	// Problem says in a sentence which hooks run no nod; empty if all do.
	Problem() string
	// Recheck looks again soon: the user may have repaired them.
	Recheck()
}

// Prompter has the pending prompts and the windows that show them. It implements [interact.Prompter]. What else shows
// requests, and takes the answers, is a [Desk] on top of it and of the broker.
type Prompter struct {
	*windows
	cfg   Config
	ctx   context.Context // ends with the program
	log   *slog.Logger
	store *store.Store

	notifier *notifier
	presence *presence
	devices  *devices
	machines *machines
	broker   *interact.Broker // of the Desk
	book     *book.Book       // who is paired
	identity *remote.Identity // of this desk; nil: its keys cannot be read
	showing  context.Context  // ends with the windows
	hide     context.CancelFunc
}

// NewPrompter returns a prompter that lasts until ctx ends. It shows nothing before [Desk.Run].
func NewPrompter(ctx context.Context, c Config) (*Prompter, error) {
	p := &Prompter{cfg: c, ctx: ctx, log: c.Log, store: c.Store}
	p.showing, p.hide = context.WithCancel(ctx)
	path, err := book.DefaultPath()
	if err != nil {
		return nil, err
	}
	p.book = book.Open(path, p.store.SealKey())
	if _, err := p.book.Problem(); err != nil {
		p.log.Warn("nothing that was paired counts", "err", err)
	}
	p.presence = newPresence(p.tellAway)
	p.notifier = newNotifier(beeepMessenger{p.sound}, p.wantsNotice, p.log)
	p.devices = p.newDevices(filepath.Dir(path))
	p.windows = newWindows(windowsConfig{
		log: p.log, start: p.startWindows, offers: p.store.Offers,
		keep:      func() time.Duration { return p.store.Config().Prompt.KeepReady },
		undoFor:   func() time.Duration { return p.store.Config().Prompt.Undo },
		reachable: func(ctx context.Context) error { _, err := displayEnv(ctx); return err },
		quiet: func(r interact.Request) bool {
			return waitsInTray(p.store.Config(), r) || p.presence.hides(r)
		},
		deviceReady: p.devices.ready, failed: p.tellFailed, outdated: c.Outdated,
	})
	return p, p.openMachines(filepath.Dir(path))
}

// Prompt implements [interact.Prompter].
func (p *Prompter) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	return p.asks().Prompt(ctx, r, why)
}

// asks has the user asked who is there.
func (p *Prompter) asks() gate { return gate{p.presence, p.windows, p.devices} }

// Notify shows an agent's notice, and reports whether the desktop took it.
func (p *Prompter) Notify(ctx context.Context, r interact.Request) bool {
	return p.notifier.Notify(ctx, r)
}

// Policy is the policy of the store, of which the user can undo what an answer saves.
func (p *Prompter) Policy() interact.Policy { return keeper{p.store, p.windows} }

// Desk is where the user answers: in windows, in the tray, on phones. It implements the parts of [operator.Operator]
// that are about requests and about other machines and devices.
type Desk struct {
	*Prompter
	answers
	broker *interact.Broker

	absence   *absence
	devices   *deviceDesk
	announcer *announcer
	tray      *tray
	shortcut  *shortcut
	changed   changes.Signal // the tray may show something else
	locked    atomic.Bool    // the screen is
}

// NewDesk returns a desk that answers the requests of b, whose prompter is p.
func NewDesk(p *Prompter, b *interact.Broker) *Desk {
	p.broker = b
	d := &Desk{
		Prompter: p, broker: b, changed: changes.NewSignal(),
		answers: answers{p.windows, owners{b, p.machines, p.cfg.Journal}},
	}
	d.devices = newDeviceDesk(p.devices, d.answers)
	d.absence = &absence{ctx: p.ctx, changed: d.changed, log: p.log,
		count: func(ctx context.Context, from, to time.Time) (history.Away, error) {
			return lastAway{p.cfg.Journal, d.allPending()}.count(ctx, from, to)
		}}
	d.announcer = newAnnouncer(announcerConfig{
		ctx: p.ctx, post: newBoard(p.ctx, p.notifier), sound: p.sound, looking: p.windows.focused,
		wanted: p.wantsAnnouncement, hidden: p.windows.quiet,
		show: func(id interact.ID) { d.show(operator.View{Request: id}) },
	})
	d.shortcut = newShortcut(func() string { return p.store.Config().Prompt.Shortcut },
		func() { _ = d.Raise(p.ctx, false) }, p.windows.refetch, p.log)
	d.tray = newTray(trayActions{
		Show:          d.show,
		Pause:         p.presence.setPause,
		AskEverything: d.askEverything,
		AskAgain:      p.presence.back,
		Quit:          p.cfg.Quit,
	}, p.log)
	return d
}

// Run shows what is pending until the context of [NewPrompter] ends. It serves op to the windows. On macOS it must be
// called on the main goroutine.
func (d *Desk) Run(op operator.Operator) {
	watchLock(d.ctx, d.setLocked, d.log)
	var parts sync.WaitGroup
	parts.Go(func() { d.windows.run(d.showing, op) })
	parts.Go(func() { d.shortcut.run(d.ctx) })
	parts.Go(d.follow)
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
			d.keepTime()
			d.windows.refetch()
			d.shortcut.check()
		case <-d.presence.changed:
			d.windows.refetch()
		case <-d.windows.changed:
			d.cfg.Hooks.Recheck()
			d.devices.look(d.ctx)
		case <-d.changed:
		}
		if d.windows.focused() { // then the user needs no notification
			d.announcer.seen()
		}
		waiting, _ := d.pending()
		d.announcer.look(waiting)
		d.absence.look(d.isAway())
		d.tray.update(d.snapshot())
	}
}

// Refresh brings the tray up to date soon.
func (d *Desk) Refresh() { d.changed.Send() }

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

// pending lists the requests that the user has to answer now, and those that they snoozed.
func (d *Desk) pending() (waiting, snoozed []interact.Request) {
	return toAnswer(d.windows.unanswered(d.allPending()))
}

// isAway reports whether the user probably looks at no prompt now.
func (d *Desk) isAway() bool {
	sessions, _ := d.presence.away()
	return sessions > 0 || d.locked.Load() || d.presence.paused().On ||
		d.store.Config().Notifications.Quiet(time.Now())
}

// setLocked notes whether the screen is locked.
func (d *Desk) setLocked(locked bool) {
	d.locked.Store(locked)
	d.keepTime()
	d.Refresh()
}

// keepTime stops the clock of all requests while the screen is locked, if the user wants that.
func (d *Desk) keepTime() {
	d.broker.StandStill(d.locked.Load() && d.store.Config().Prompt.Locked == config.LockedWait)
}

// Say shows the user a notification of nod's own. During quiet hours it shows only warnings and errors.
func (d *Prompter) Say(level interact.Level, sentence string) {
	if level != interact.Info || !d.store.Config().Notifications.Quiet(time.Now()) {
		d.notifier.say(d.ctx, sentence, level)
	}
}

// tellAway says that nod no longer asks for a session, without a word of the agent's.
func (d *Prompter) tellAway() {
	d.Say(interact.Info, lang.L("You didn't answer an agent's last prompts, so nod stopped asking for it. "+
		"Answer any prompt, or choose “I'm back” in the tray menu."))
}

// tellFailed says that nobody can be asked because the windows fail.
func (d *Prompter) tellFailed(why error) {
	text := lang.L("nod's windows keep failing, so nod stops asking for a minute. The log says why.")
	switch {
	case errors.Is(why, errCannotShow):
		text = lang.L("nod's windows failed over one request, so it ended unanswered. The log says why.")
	case errors.Is(why, operator.ErrVersion):
		text = lang.L("nod was updated. Quit it, in the menu of its tray icon, and start it again to be asked.")
	}
	d.Say(interact.Error, text)
}

// ShowMain shows the settings, or the welcome until the user has seen it.
func (d *Desk) ShowMain() {
	d.show(operator.View{Settings: true, Welcome: d.cfg.Welcome.IsDue()})
}

// Raise shows what a user who starts nod again expects: the pending prompt, else the settings. With settings it waits
// until these are open.
func (d *Desk) Raise(ctx context.Context, settings bool) error {
	waiting, _ := d.pending()
	switch {
	case settings:
		return d.windows.bring(ctx, operator.View{Settings: true, Welcome: d.cfg.Welcome.IsDue()})
	case len(waiting) > 0:
		d.show(operator.View{})
	default:
		d.ShowMain()
	}
	return nil
}

// askEverything sets whether everything is asked about.
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

// checkTray tells the user if the desktop shows no tray icons, once the desktop had time to start.
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
func (d *Desk) ShowSettings() { d.show(operator.View{Settings: true}) }

// ShortcutProblem says why the shortcut does not work; empty if it works or none is set.
func (d *Desk) ShortcutProblem() string { return d.shortcut.why() }

// Paused reports whether nobody is asked now, and until when; zero: until the user resumes.
func (p *Prompter) Paused() (bool, time.Time) {
	now := p.presence.paused()
	return now.On, now.Until
}

// StopWindows ends the windows for good.
func (d *Prompter) StopWindows() {
	d.hide()
	<-d.windows.ended
}
