// Package app is nod-desktop, the tray process: configuration, policy, journal, broker, HTTP server and MCP, tray icon
// and notifications, and the life of the windows process, which asks the person. It opens no display itself, so that
// nothing that happens to a window takes a pending request with it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2/lang"
	"github.com/cli/browser"

	"nod/agents/registry"
	"nod/assets"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
	"nod/ipc"
	"nod/ipc/endpoint"
	"nod/ipc/hooks"
	"nod/ipc/operator"
	"nod/ipc/peer"
	"nod/ipc/programs"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
	"nod/ownfile/ownlog"
	"nod/policy/config"
	"nod/policy/store"
)

// Options say how nod-desktop starts.
type Options struct {
	ConfigPath string    // the policy file; empty: the usual place
	Background bool      // started with the session: open no window that nobody asked for
	LogLevel   string    // debug, info, warn or error; empty: as NOD_LOG says, else info
	Version    string    //
	Stdout     io.Writer // gets "nod ready URL" once nod can be asked
}

const (
	trayPatience = 15 * time.Second // how long after nod, at login, the desktop's panel may start
)

// Run is nod-desktop: it returns when the person quits or ctx ends. It must be called on the main
// goroutine. An error that a caller may tell apart: [*RunningError].
func Run(ctx context.Context, o Options) error {
	logs, err := ownlog.NewLogger(o.LogLevel)
	if err != nil {
		return err
	}
	defer logs.Close()
	slog.SetDefault(logs.Logger) // what libraries log goes there too
	err = run(ctx, o, logs)
	if _, running := errors.AsType[*RunningError](err); err != nil && !running {
		logs.Error("nod ends", "err", err)
	}
	return err
}

func run(ctx context.Context, o Options, logs *ownlog.Logger) error {
	dir, err := endpoint.Dir()
	if err != nil {
		return err
	}
	lock, err := claimInstance(ctx, dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	ctx, quit := context.WithCancelCause(ctx)
	defer quit(nil)
	p, err := newProgram(ctx, quit, o, logs, dir)
	if err != nil {
		return err
	}
	return p.run()
}

// program is the running nod-desktop.
type program struct {
	ctx  context.Context         // ends with the program
	quit context.CancelCauseFunc // ends it
	opts Options
	log  *slog.Logger

	logPath string // for the person to read
	noLog   error  // why there is no log file
	noSeal  error  // why the policy is not sealed
	dir     string // where the endpoint is published
	dialogs string // path of nod-dialogs

	store     *store.Store
	broker    *interact.Broker
	hooks     *hooks.Hooks
	server    *ipc.Server
	journal   *journal.Journal
	archive   archive
	absence   *absence
	windows   *windows
	presence  *presence
	machines  *machines
	devices   *devices
	book      *book.Book       // who is paired
	identity  *remote.Identity // of this desk; nil: its keys cannot be read
	notifier  *notifier
	announcer *announcer
	tray      *tray
	shortcut  *shortcut
	autostart *autostart
	upgrade   *upgrade

	agentHooks *agentHooks

	journalChanged chan struct{} // cap 1: what is wrong with the journal
	journaled      chan struct{} // cap 1: the journal has other entries

	locked  atomic.Bool   // the screen is
	started config.Config // as it was when nod started
	welcome welcome
	parts   sync.WaitGroup // goroutines that end with ctx
}

// newProgram makes and connects the parts. Nothing runs yet but the listener, whose callers wait.
func newProgram(
	ctx context.Context, quit context.CancelCauseFunc, o Options, logs *ownlog.Logger, dir string,
) (p *program, err error) {
	p = &program{
		ctx: ctx, quit: quit, opts: o, log: logs.Logger, logPath: logs.Path, noLog: logs.Problem, dir: dir,
		welcome: newWelcome(), journalChanged: make(chan struct{}, 1),
		journaled: make(chan struct{}, 1),
	}
	if p.autostart, err = newAutostart(); err != nil {
		return nil, err
	}
	if err := p.openStore(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if err := p.openJournal(); err != nil {
		return nil, err
	}
	if err := assets.SetLanguage(p.store.Config().Look.Language); err != nil {
		return nil, err
	}
	nod, err := programs.Find("nod")
	if err != nil {
		p.log.Warn("without the nod command, agents are asked about the tools with which they ask you", "err", err)
	}
	p.agentHooks = newAgentHooks(nod)
	if err := p.openDesktop(); err != nil {
		return nil, err
	}
	if err := p.openMachines(); err != nil {
		return nil, err
	}
	if err := p.openDevices(); err != nil {
		return nil, err
	}
	p.broker = interact.NewBroker(interact.BrokerConfig{
		Policy: keeper{p.store, p.windows}, Prompter: p.machines, Notify: p.machines.Notify, Journal: p.journal,
		Timeout: p.store.Timeout, Processes: peer.Table{}, IsAgent: isAgent, Log: p.log,
	})
	sessions, err := hooks.NewSessions(hooks.SessionsIn(dir))
	if err != nil {
		p.log.Warn("which sessions come is not noted", "err", err)
		sessions = nil
	}
	p.hooks = hooks.New(hooks.Config{
		Sessions: sessions,
		Agents:   registry.Protocols(), Nod: nod, Broker: p.broker, Log: p.log, OpenURL: openURL, Timeout: p.store.Timeout,
		AskMore: func() bool { return p.store.Config().Agents.AskMore },
	})
	p.server, err = ipc.Listen(ipc.Config{
		Address: p.store.Config().IPC.Address, AnyPort: p.store.Config().IPC == config.Default().IPC, Dir: dir,
		Broker: p.broker, Version: o.Version, Log: p.log, Hooks: p.hooks, Raise: p.raise, Called: p.windows.warmUp,
		Paused: func() (bool, time.Time) { pause := p.presence.paused(); return pause.On, pause.Until },
	})
	return p, err
}

// openDesktop makes what stands between the broker and the person.
func (p *program) openDesktop() (err error) {
	if p.dialogs, err = programs.Find("nod-dialogs"); err != nil {
		return fmt.Errorf("the program with nod's windows: %w", err)
	}
	if p.upgrade, err = p.newUpgrade(); err != nil {
		return err
	}
	p.windows = newWindows(windowsConfig{
		log: p.log, start: p.startWindows, offers: p.store.Offers,
		keep:      func() time.Duration { return p.store.Config().Prompt.KeepReady },
		reachable: func(ctx context.Context) error { _, err := displayEnv(ctx); return err },
		quiet: func(r interact.Request) bool {
			return waitsInTray(p.store.Config(), r) || p.presence.hides(r)
		},
		told: func() { p.devices.look(p.ctx) }, elsewhere: func() bool { return p.devices.ready() },
		changed: p.screenChanged, failed: p.tellFailed, outdated: p.upgrade.outdated,
		present:   func() { p.presence.back() },
		undoFor:   func() time.Duration { return p.store.Config().Prompt.Undo },
		saveDraft: p.journal.SaveDraft,
		settled: func(ctx context.Context, id interact.ID) (interact.Answer, error) {
			return p.broker.Settled(ctx, id)
		},
	})
	p.notifier = newNotifier(beeepMessenger{p.sound}, p.wantsNotice, p.log)
	p.presence = newPresence(p.windows, p.presenceChanged, p.tellQuiet)
	p.absence = &absence{ctx: p.ctx, changed: p.refresh, log: p.log,
		count: func(ctx context.Context, from, to time.Time) (history.Away, error) {
			return lastAway{p.archive, p.broker.Pending()}.count(ctx, from, to)
		}}
	p.announcer = newAnnouncer(announcerConfig{
		ctx: p.ctx, post: newBoard(p.ctx, p.notifier), sound: p.sound, looking: p.windows.focused,
		wanted: p.wantsAnnouncement, hidden: p.windows.quiet,
		show: func(id interact.ID) { p.windows.show(operator.View{Request: id}) },
	})
	p.shortcut = newShortcut(func() string { return p.store.Config().Prompt.Shortcut },
		func() { _ = p.raise(p.ctx, false) }, p.windows.Changed, p.log)
	p.tray = newTray(trayActions{
		Show:          func(id interact.ID) { p.windows.show(operator.View{Request: id}) },
		Raise:         func() { p.windows.show(operator.View{}) },
		Settings:      p.showSettings,
		History:       func() { p.windows.show(operator.View{History: operator.HistoryEntries}) },
		WhileAway:     func() { p.windows.show(operator.View{History: operator.HistoryAway}) },
		Pause:         p.presence.setPause,
		AskEverything: p.askEverything,
		AskAgain:      p.presence.back,
		Quit:          func() { p.quit(nil) },
	}, p.log)
	return nil
}

// isAgent reports whether a program is the agent of a name, which may be nod itself.
func isAgent(name string, program interact.Parent) bool {
	return registry.IsAgent(name, program) || name == welcomeAgent && program.PID == int32(os.Getpid())
}

// browserPatience is how long nod waits to hear that a browser could not be started.
const browserPatience = 2 * time.Second

// openURL shows an address in the person's browser.
func openURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- browser.OpenURL(u.String()) }()
	select {
	case err := <-failed:
		return err
	case <-time.After(browserPatience): // some desktops' opener runs for as long as the browser
		return nil
	}
}

// run runs all parts until nod quits.
func (p *program) run() error {
	p.restore()
	watchLock(p.ctx, p.setLocked, p.log)
	if err := p.autostart.adopt(); err != nil {
		p.log.Warn("nod does not start again after a crash", "err", err)
	}
	withWindows, stopWindows := context.WithCancel(p.ctx)
	defer stopWindows()
	p.parts.Go(func() { p.windows.run(withWindows) })
	p.parts.Go(func() { p.followUpgrades(stopWindows) })
	p.parts.Go(p.watchJournal)
	p.parts.Go(p.followJournal)
	p.parts.Go(p.watchStore)
	p.parts.Go(func() { p.shortcut.run(p.ctx) })
	p.parts.Go(p.watchRequests)
	p.parts.Go(p.serve)
	p.parts.Go(p.checkTray)
	p.parts.Go(p.checkHooks)
	p.parts.Go(p.watchPublished)
	p.parts.Go(p.serveDevices)
	lines, endLines := context.WithCancel(context.WithoutCancel(p.ctx)) // what is answered last still goes out
	defer endLines()
	p.parts.Go(func() { p.runMachines(lines) })
	p.parts.Go(func() {
		<-p.ctx.Done()
		p.broker.Close()
		endLines()
	})
	for _, sentence := range limits(p.noLog, p.noSeal, p.server.Endpoint()) {
		p.say(interact.Warning, sentence)
	}
	p.refresh()
	if p.welcome.isDue() && !p.opts.Background {
		p.showMain()
	}
	fmt.Fprintln(p.opts.Stdout, programs.ReadyLine+p.server.Endpoint().URL)
	p.tray.run(p.ctx)
	<-p.ctx.Done()
	p.parts.Wait()
	err := p.close()
	if cause := context.Cause(p.ctx); !errors.Is(cause, context.Canceled) { // neither the person nor a signal ended it
		err = errors.Join(cause, err)
	}
	return err
}

// close closes the files.
func (p *program) close() error {
	err := p.store.Close()
	if p.journal != nil {
		err = errors.Join(err, p.journal.Close())
	}
	return err
}

// watchPublished keeps what agents find nod by as it is.
func (p *program) watchPublished() {
	tell := func(problem error) {
		sentence := lang.L("Another program changed the files by which agents find nod. nod has put them back.")
		if problem != nil {
			sentence = lang.L("Another program changed the files by which agents find nod, and nod could not put them back: "+
				"{{.Problem}}", map[string]any{"Problem": problem.Error()})
		}
		p.say(interact.Warning, sentence)
	}
	if err := p.server.Watch(p.ctx, tell); err != nil {
		p.log.Error("what agents find nod by is not watched", "err", err)
	}
}

// serve answers callers until nod quits. A server that fails ends nod: a program in the tray that nobody can
// reach only looks as if it worked.
func (p *program) serve() {
	if err := p.server.Serve(p.ctx); err != nil {
		p.quit(err)
	}
}

// snapshot is what the tray shows now.
func (p *program) snapshot() snapshot {
	away, missed := p.presence.away()
	held, isHeld := p.store.Held()
	waiting, snoozed := p.pending()
	return snapshot{
		Pending:       waiting,
		Snoozed:       snoozed,
		Pause:         p.presence.paused(),
		Away:          away,
		Missed:        missed,
		News:          p.absence.news(),
		Broken:        p.store.Err() != nil,
		Journal:       journalProblem(p.journal.Problem()),
		Hooks:         p.agentHooks.problem(),
		Machines:      p.machines.count(),
		Held:          isHeld,
		Unknown:       held.IsUnknown,
		AskEverything: p.store.Config().Policy.AskEverything,
	}
}

// pending is what waits for the person, now and later.
func (p *program) pending() (waiting, snoozed []interact.Request) {
	return toAnswer(p.windows.unanswered(p.broker.Pending()))
}

// refresh brings the tray up to date. It does not block.
func (p *program) refresh() {
	p.absence.look(p.isAway())
	p.tray.update(p.snapshot())
}

// presenceChanged takes in that the person is there, or no longer: what waits in the tray for that comes to the screen.
func (p *program) presenceChanged() {
	p.windows.Changed()
	p.refresh()
}

// serveDevices serves devices until nod quits.
func (p *program) serveDevices() {
	changes, stop := p.store.Changes()
	defer stop()
	p.devices.run(p.ctx, changes)
}

// isAway reports whether nobody can be expected to look at a prompt now.
func (p *program) isAway() bool {
	sessions, _ := p.presence.away()
	return sessions > 0 || p.locked.Load() || p.presence.paused().On ||
		p.store.Config().Notifications.Quiet(time.Now())
}

// setLocked takes in whether the screen is locked.
func (p *program) setLocked(locked bool) {
	p.locked.Store(locked)
	p.keepTime()
	p.refresh()
}

// keepTime has the time to answer stand still while the screen is locked, if the person wants that.
func (p *program) keepTime() {
	p.broker.StandStill(p.locked.Load() && p.store.Config().Prompt.Locked == config.LockedWait)
}

// watchRequests keeps the tray in step with what is pending, and announces it.
func (p *program) watchRequests() {
	changes, stop := p.broker.Changes()
	defer stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-changes:
			p.windows.keepTime(p.broker.Pending())
			waiting, _ := p.pending()
			p.announcer.look(waiting)
			p.refresh()
		}
	}
}

// screenChanged takes in what is on screen now, and what was just answered there: who looks at nod needs no
// notification.
func (p *program) screenChanged() {
	operator.Signal(p.agentHooks.screens)
	if p.windows.focused() {
		p.announcer.seen()
	}
	waiting, _ := p.pending()
	p.announcer.look(waiting)
	p.refresh()
}

// watchStore follows the policy file and the grants.
func (p *program) watchStore() {
	changes, stop := p.store.Changes()
	defer stop()
	p.parts.Go(func() {
		if err := p.store.Watch(p.ctx); err != nil && p.ctx.Err() == nil {
			p.log.Error("the policy file is not watched: changes count after a restart", "err", err)
		}
	})
	if len(p.store.HeldGrants()) > 0 {
		p.say(interact.Warning, lang.L("Another program changed your saved approvals. They don't count until "+
			"you accept them in nod's settings."))
		p.showSettings()
	}
	var broken error
	var held config.HeldChange
	for {
		broken, held = p.tellBroken(broken), p.tellHeld(held)
		select {
		case <-p.ctx.Done():
			return
		case <-changes:
			p.broker.Reconsider()
			p.keepTime()
			p.windows.Changed()
			p.shortcut.check()
			waiting, _ := p.pending()
			p.announcer.look(waiting)
			p.refresh()
		}
	}
}

// say tells the person a sentence of nod's own. Only what is no warning waits for another time.
func (p *program) say(level interact.Level, sentence string) {
	if level != interact.Info || !p.store.Config().Notifications.Quiet(time.Now()) {
		p.notifier.say(p.ctx, sentence, level)
	}
}

// tellHeld shows a change of the policy file that nod did not make, unless it is known already.
func (p *program) tellHeld(known config.HeldChange) config.HeldChange {
	held, isHeld := p.store.Held()
	if isHeld && held != known {
		sentence := lang.L("Another program changed the policy file. What it newly allows takes " +
			"effect only after you accept it in nod's settings.")
		if held.IsUnknown {
			sentence = lang.L("nod can't tell which policy you accepted, so it asks about everything. Accept yours in nod's " +
				"settings.")
		}
		p.say(interact.Warning, sentence)
		p.showSettings()
	}
	return held
}

// tellBroken says that the policy file broke, unless it was broken before.
func (p *program) tellBroken(before error) error {
	err := p.store.Err()
	if err != nil && before == nil {
		p.log.Error("the policy file has an error: everything is asked about", "err", err)
		p.say(interact.Error, lang.L("The policy file has an error, so nod asks about everything. Open nod's settings "+
			"to see it."))
	}
	return err
}

// tellQuiet says that nod no longer asks for a session. It says no word of the agent's.
func (p *program) tellQuiet() {
	p.say(interact.Info, lang.L("You didn't answer an agent's last prompts, so nod stopped asking for it. "+
		"Answer any prompt, or choose “I'm back” in the tray menu."))
}

// tellFailed says that nobody can be asked because the windows die.
func (p *program) tellFailed(why error) {
	text := lang.L("nod's windows keep failing, so nod stops asking for a minute. The log says why.")
	switch {
	case errors.Is(why, errCannotShow):
		text = lang.L("nod's windows failed over one request, so it ended unanswered. The log says why.")
	case errors.Is(why, operator.ErrVersion):
		text = lang.L("nod was updated. Quit it, in the menu of its tray icon, and start it again to be asked.")
	}
	p.say(interact.Error, text)
}

func (p *program) showSettings() { p.windows.show(operator.View{Settings: true}) }

// showMain shows the settings to who has seen the welcome, else the welcome.
func (p *program) showMain() {
	p.windows.show(operator.View{Settings: true, Welcome: p.welcome.isDue()})
}

// raise shows what a person who starts nod again expects: the prompt that is pending, else the settings. Where those
// are wanted it returns once they are on screen.
func (p *program) raise(ctx context.Context, settings bool) error {
	waiting, _ := p.pending()
	switch {
	case settings:
		return p.windows.bring(ctx, operator.View{Settings: true, Welcome: p.welcome.isDue()})
	case len(waiting) > 0:
		p.windows.show(operator.View{})
	default:
		p.showMain()
	}
	return nil
}

// askEverything switches the rule that nothing passes without a prompt.
func (p *program) askEverything(on bool) {
	err := p.store.Update(func(c *config.Config) error {
		c.Policy.AskEverything = on
		return nil
	})
	if err != nil {
		p.log.Error("ask about everything", "err", err)
		p.say(interact.Error, lang.L("nod could not save the setting: {{.Problem}}", map[string]any{"Problem": err.Error()}))
	}
}

// checkTray tells the person when the desktop shows no tray icons, once the desktop had time to start.
func (p *program) checkTray() {
	if p.opts.Background {
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(trayPatience):
		}
	}
	if trayService() {
		return
	}
	p.log.Warn("this desktop shows no tray icons: nothing owns org.kde.StatusNotifierWatcher")
	p.say(interact.Warning, lang.L("This desktop shows no tray icons. nod runs all the same; start it again to open its "+
		"settings."))
	if !p.opts.Background {
		p.showMain()
	}
}

// openStore reads the policy file, and makes one when there is none.
func (p *program) openStore() error {
	path := p.opts.ConfigPath
	if path == "" {
		var err error
		if path, err = config.DefaultPath(); err != nil {
			return err
		}
	}
	grantsPath, err := store.GrantsPath()
	if err != nil {
		return err
	}
	if p.opts.ConfigPath, err = filepath.Abs(path); err != nil {
		return err
	}
	if p.store, err = store.Open(p.opts.ConfigPath, grantsPath, p.log); err != nil {
		return err
	}
	if p.noSeal = p.store.Seal(); p.noSeal != nil { // nod runs as well, but remembers less
		p.log.Warn("the policy cannot be sealed", "err", p.noSeal)
	}
	p.started = p.store.Config()
	isFirstRun, err := p.store.Create()
	if err != nil { // nod runs as well by its defaults
		p.log.Warn("could not write a first policy file", "err", err)
	}
	if isFirstRun {
		if err := p.welcome.owe(); err != nil {
			p.log.Warn("the welcome is not shown", "err", err)
		}
	}
	return nil
}

// limits says what nod has to do without on this machine, in a sentence each, for the person. The errors say why there
// is no log file and why the policy is not sealed; nil where all is well.
func limits(noLog, noSeal error, where endpoint.Endpoint) []string {
	var sentences []string
	if noLog != nil {
		sentences = append(sentences, noLog.Error()+".")
	}
	if noSeal != nil {
		problem := map[string]any{"Problem": noSeal.Error()}
		sentences = append(sentences, lang.L("nod runs, but cannot save its policy: {{.Problem}}.", problem))
	}
	if where.Socket == "" && runtime.GOOS != "windows" {
		sentences = append(sentences, lang.L(
			"nod runs, but without its socket, whose path would be too long: set XDG_RUNTIME_DIR to a shorter one."))
	}
	return sentences
}
