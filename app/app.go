// Package app puts nod's parts together: configuration, the broker and its doors, the windows, the tray, and
// everything that is one per person: a single instance, pausing, notifications, starting with the session.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"

	"nod/app/settings"
	"nod/assets"
	"nod/dialogs"
	"nod/interact"
	"nod/ipc"
	"nod/ipc/endpoint"
	"nod/ipc/hooks"
	"nod/ipc/hooks/install"
	"nod/policy"
)

// Options say how nod-desktop starts.
type Options struct {
	ConfigPath string    // the policy file; empty: the usual place
	Background bool      // started with the session: open no window that nobody asked for
	LogLevel   string    // debug, info, warn or error
	Version    string    //
	Stdout     io.Writer // gets "nod ready URL" once nod can be asked
}

const (
	journalSize  = 1000             // finished requests that the journal keeps
	quitPatience = 2 * time.Second  // how long the prompts may take to leave the screen at the end
	trayPatience = 15 * time.Second // how long after nod, at login, the desktop's panel may start
)

// Run is nod-desktop: it returns when the person quits or ctx ends. It must be called on the main
// goroutine. Errors that a caller may tell apart: [ErrNoDisplay], [*RunningError].
func Run(ctx context.Context, o Options) error {
	logs, err := openLog(o.LogLevel)
	if err != nil {
		return err
	}
	defer logs.Close()
	slog.SetDefault(logs.Logger) // what libraries log goes there too
	err = run(ctx, o, logs)
	var running *RunningError
	if err != nil && !errors.As(err, &running) {
		logs.Error("nod ends", "err", err)
	}
	return err
}

func run(ctx context.Context, o Options, logs *logFile) error {
	dir, err := endpoint.Dir()
	if err != nil {
		return err
	}
	if err := endpoint.Ensure(dir); err != nil {
		return err
	}
	instance, err := claimInstance(ctx, dir)
	if err != nil {
		return err
	}
	defer instance.Close()
	if err := useDisplay(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := newProgram(ctx, o, logs, dir)
	if err != nil {
		return err
	}
	defer p.close(cancel)
	instance.serve(p.raise)
	return p.run()
}

// program is the running nod-desktop.
type program struct {
	ctx  context.Context
	opts Options
	log  *slog.Logger

	logPath string // for the person to read
	dir     string // where the endpoint is published

	fyne      fyne.App
	store     *policy.Store
	broker    *interact.Broker
	hooks     *hooks.Hooks
	server    *ipc.Server
	journal   interact.Journal
	prompts   *dialogs.Prompter
	stage     *stage
	pauser    *pauser
	quieter   *quieter
	notifier  *notifier
	announcer *announcer
	tray      *tray
	park      *park
	settings  *settings.Window

	foreground atomic.Bool
	isUp       atomic.Bool // the display has taken nod in
	firstRun   bool
	parts      sync.WaitGroup // goroutines that end with ctx
	stopping   sync.Once
}

// newProgram makes and connects the parts. Nothing runs yet but the listener, whose callers wait.
func newProgram(ctx context.Context, o Options, logs *logFile, dir string) (*program, error) {
	p := &program{ctx: ctx, opts: o, log: logs.Logger, logPath: logs.path, dir: dir}
	if err := p.openStore(); err != nil {
		return nil, err
	}
	if err := p.openFace(); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	p.journal = interact.NewMemoryJournal(journalSize)
	p.broker = interact.NewBroker(interact.BrokerConfig{
		Policy: p.store, Prompter: p.pauser, Notifier: p.notifier,
		Journal: p.journal,
		Timeout: func() time.Duration { return p.store.Config().Prompt.Timeout },
		Log:     p.log,
	})
	p.hooks = hooks.New(hooks.Config{
		Broker: p.broker, Log: p.log, OpenURL: p.openURL,
		Timeout: func() time.Duration { return p.store.Config().Prompt.Timeout },
	})
	server, err := ipc.Listen(ipc.Config{
		Address: p.store.Config().IPC.Address, Dir: dir, Broker: p.broker, Version: o.Version, Log: p.log,
		Hooks: p.hooks,
	})
	if err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	p.server = server
	if p.settings, err = p.openSettings(); err != nil {
		return nil, errors.Join(err, p.store.Close())
	}
	return p, nil
}

// openURL shows an address in the person's browser.
func (p *program) openURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	return p.fyne.OpenURL(u)
}

// run shows the tray and handles events until nod quits.
func (p *program) run() (err error) {
	// Fyne panics when the display server takes a connection and then refuses to talk, as X does without
	// the right authority.
	defer func() {
		r := recover()
		if r != nil && p.isUp.Load() {
			panic(r) // this is no refusal: it happened long after
		}
		if r != nil {
			err = fmt.Errorf("%w: the display server refused nod (%v); check DISPLAY and XAUTHORITY", ErrNoDisplay, r)
		}
	}()
	p.tray.update(p.snapshot())
	p.fyne.Lifecycle().SetOnStarted(p.started)
	p.fyne.Lifecycle().SetOnEnteredForeground(func() { p.foreground.Store(true) })
	p.fyne.Lifecycle().SetOnExitedForeground(func() { p.foreground.Store(false) })
	p.fyne.Run()
	return nil
}

// started runs on the UI goroutine, once the tray is up.
func (p *program) started() {
	p.isUp.Store(true)
	p.parts.Go(func() { p.notifier.run(p.ctx) })
	p.parts.Go(p.watchStore)
	p.parts.Go(p.watchRequests)
	p.parts.Go(p.serve)
	p.parts.Go(func() {
		<-p.ctx.Done()
		p.quit()
	})
	p.parts.Go(p.checkTray)
	p.parts.Go(p.keepEndpoint)
	p.prompts.Prepare()
	p.stage.open()
	if p.firstRun && !p.opts.Background {
		p.settings.Show()
	}
	p.refresh()
	fmt.Fprintln(p.opts.Stdout, "nod ready", p.server.Endpoint().URL)
}

// keepEndpoint keeps the file by which agents find nod as it is.
func (p *program) keepEndpoint() {
	k := &keeper{dir: p.dir, own: p.server.Endpoint(), log: p.log,
		tell: func(sentence string) { p.notifier.say(p.ctx, sentence, interact.Warning) }}
	if err := k.watch(p.ctx); err != nil {
		p.log.Error("the endpoint is not watched", "err", err)
	}
}

// serve answers callers until nod quits. A door that fails ends nod: a program in the tray that nobody can
// reach only looks as if it worked.
func (p *program) serve() {
	err := p.server.Serve(p.ctx)
	if err != nil && p.ctx.Err() == nil {
		p.log.Error("serve", "err", err)
		p.quit()
	}
}

// snapshot is what the tray shows now.
func (p *program) snapshot() snapshot {
	quiet, missed := p.quieter.state()
	_, held := p.store.Held()
	return snapshot{
		Pending:       withoutNotices(p.broker.Pending()),
		Pause:         p.pauser.state(),
		Quiet:         quiet,
		Missed:        missed,
		Broken:        p.store.Err() != nil,
		Held:          held,
		AskEverything: p.store.Config().Policy.AskEverything,
	}
}

// refresh brings everything on screen up to date. It runs on the UI goroutine.
func (p *program) refresh() {
	if p.park.done.Load() {
		return // Fyne has quit, and the tray with it
	}
	p.tray.update(p.snapshot())
	p.settings.Refresh()
	p.park.settle()
}

// onUI runs f on the UI goroutine, soon even when the loop is parked.
func (p *program) onUI(f func()) {
	fyne.Do(f)
	p.park.Wake()
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
			p.announcer.look(withoutNotices(p.broker.Pending()))
			p.onUI(p.refresh)
		}
	}
}

// watchStore follows the policy file.
func (p *program) watchStore() {
	changes, stop := p.store.Changes()
	defer stop()
	p.parts.Go(func() {
		if err := p.store.Watch(p.ctx); err != nil && p.ctx.Err() == nil {
			p.log.Error("the policy file is not watched: changes count after a restart", "err", err)
		}
	})
	p.tellBroken(nil)
	p.showHeld(policy.HeldChange{})
	if len(p.store.HeldGrants()) > 0 {
		p.notifier.say(p.ctx, "Another program changed what you always allow. None of that counts until you accept it in nod's settings.", interact.Warning)
		p.onUI(p.settings.Show)
	}
	before := p.store.Err()
	for held, _ := p.store.Held(); ; {
		select {
		case <-p.ctx.Done():
			return
		case <-changes:
			p.broker.Reconsider()
			p.tellBroken(before)
			before = p.store.Err()
			held = p.showHeld(held)
			p.onUI(func() {
				p.look()
				p.refresh()
			})
		}
	}
}

// showHeld shows a change of the policy file that nod did not make, unless it is known already.
func (p *program) showHeld(known policy.HeldChange) policy.HeldChange {
	held, isHeld := p.store.Held()
	if isHeld && held != known {
		p.notifier.say(p.ctx, "Another program changed the policy file. What it newly allows is not in force until you accept it in nod's settings.", interact.Warning)
		p.onUI(p.settings.Show)
	}
	return held
}

// tellBroken says that the policy file broke, unless it was broken before.
func (p *program) tellBroken(before error) {
	err := p.store.Err()
	if err == nil || before != nil {
		return
	}
	p.log.Error("the policy file has an error: everything is asked about", "err", err)
	p.notifier.say(p.ctx, "The policy file has an error, so nod asks about everything. Open nod's settings to see it.", interact.Error)
}

// tellQuiet says that nod no longer asks for a session. It says no word of the agent's.
func (p *program) tellQuiet() {
	p.notifier.say(p.ctx, "Nobody answered an agent's last prompts, so nod is quiet for it. Answer any prompt, or use the tray's menu, to be asked again.", interact.Info)
}

// raise shows what a person who starts nod again expects: the prompt that waits, else the settings.
func (p *program) raise() {
	p.quieter.back()
	p.onUI(func() {
		if p.prompts.Waiting() > 0 {
			p.prompts.Raise()
			return
		}
		p.settings.Show()
	})
}

// askEverything switches the rule that nothing passes without a prompt. Off the UI goroutine: it writes a file.
func (p *program) askEverything(on bool) {
	p.parts.Go(func() {
		err := p.store.Update(func(c *policy.Config) error {
			c.Policy.AskEverything = on
			return nil
		})
		if err != nil {
			p.log.Error("ask about everything", "err", err)
			p.notifier.say(p.ctx, "nod could not save the setting: "+err.Error(), interact.Error)
		}
	})
}

// quit ends what is pending as unavailable, takes the windows away and ends run. It returns at once.
func (p *program) quit() {
	p.stopping.Do(func() {
		go func() {
			closed := make(chan struct{})
			go func() { p.broker.Close(); close(closed) }()
			p.park.Wake()
			select {
			case <-closed:
			case <-time.After(quitPatience):
				p.log.Warn("prompts did not leave the screen in time")
			}
			p.onUI(func() {
				p.park.done.Store(true)
				p.fyne.Quit()
			})
		}()
	})
}

// close ends what run left running.
func (p *program) close(cancel context.CancelFunc) {
	cancel()
	p.parts.Wait()
	if err := p.store.Close(); err != nil {
		p.log.Error("close the policy store", "err", err)
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
	p.notifier.say(p.ctx, "This desktop shows no tray icons. nod runs all the same; start it again to open its settings.", interact.Warning)
	if !p.opts.Background {
		p.onUI(p.settings.Show)
	}
}

// openStore reads the policy file, and makes one when there is none.
func (p *program) openStore() error {
	path := p.opts.ConfigPath
	if path == "" {
		var err error
		if path, err = policy.DefaultPath(); err != nil {
			return err
		}
	}
	grants, err := policy.DefaultGrantsPath()
	if err != nil {
		return err
	}
	if p.opts.ConfigPath, err = filepath.Abs(path); err != nil {
		return err
	}
	if p.store, err = policy.OpenStore(p.opts.ConfigPath, grants, p.log); err != nil {
		return err
	}
	if err := p.store.Seal(); err != nil {
		return err
	}
	if p.firstRun, err = p.store.Create(); err != nil { // nod runs as well by its defaults
		p.log.Warn("could not write a first policy file", "err", err)
	}
	return nil
}

// openFace makes everything that a person sees, and what stands between it and the broker.
func (p *program) openFace() (err error) {
	p.fyne = fyneapp.NewWithID(ID)
	p.fyne.SetIcon(fyne.NewStaticResource("nod.png", assets.App()))
	if err := dialogs.SetLanguage(p.store.Config().Look.Language); err != nil {
		return err
	}
	p.look()
	p.notifier = newNotifier(beeepMessenger{}, func() bool { return p.store.Config().Notifications.Notices }, p.log)
	p.prompts = dialogs.New(p.fyne, dialogs.Options{
		Config:    func() policy.PromptConfig { return p.store.Config().Prompt },
		GrantText: p.store.GrantText, Parts: p.store.Parts,
		Changed: func() { p.onUI(p.refresh) },
		Log:     p.log,
	})
	p.park = newPark(p.ctx, p.busy)
	p.stage = newStage(p.prompts, p.park.Wake)
	changed := func() { p.onUI(p.refresh) }
	p.quieter = newQuieter(p.stage, changed, p.tellQuiet)
	p.pauser = &pauser{prompter: p.quieter, changed: changed}
	p.announcer = newAnnouncer(p.ctx, p.notifier.say, func() bool { return p.store.Config().Notifications.Prompts }, p.looking)
	p.tray, err = newTray(p.fyne, trayActions{
		Show: p.prompts.Show, Raise: p.prompts.Raise, Pause: p.pauser.set, AskEverything: p.askEverything,
		AskAgain: p.quieter.back, Settings: func() { p.settings.Show() }, Quit: p.quit,
	})
	return err
}

// openSettings makes the settings window; it is built when it is first shown.
func (p *program) openSettings() (*settings.Window, error) {
	auto, err := NewAutostart()
	if err != nil {
		return nil, err
	}
	where := p.server.Endpoint()
	return settings.New(p.fyne, settings.Options{
		Store: p.store, Suggest: p.suggest, Replay: p.replay, Autostart: auto,
		Agents: settings.Agents{Machine: machine, Contacts: p.contacts},
		Closed: p.park.settle,
		About: settings.About{
			Version: p.opts.Version, URL: where.URL, Socket: where.Socket,
			Config: p.opts.ConfigPath, Log: p.logPath,
			Tray:          trayService,
			Notifications: func() bool { ok, _ := notificationService(); return ok },
		},
	}), nil
}

// contacts says what came of the agents' hooks.
func (p *program) contacts() map[string]settings.Contact {
	all := map[string]settings.Contact{}
	for agent, c := range p.hooks.Contacts() {
		all[agent] = settings.Contact(c)
	}
	return all
}

// machine is this machine, with hooks that run the nod command beside this program or, where a package puts the
// two apart, the one in PATH.
func machine() (install.Machine, error) {
	self, err := os.Executable()
	if err != nil {
		return install.Machine{}, fmt.Errorf("find the path of nod: %w", err)
	}
	beside := filepath.Join(filepath.Dir(self), "nod"+filepath.Ext(self)) // .exe on Windows
	if _, err := os.Stat(beside); err == nil {
		return install.ThisMachine(beside)
	}
	found, err := exec.LookPath("nod")
	if err != nil {
		return install.Machine{}, fmt.Errorf("find the nod command, which agents' hooks run: %w: put it beside %s", err, self)
	}
	return install.ThisMachine(found)
}

// suggest proposes rules for what the person always answered alike.
func (p *program) suggest() []policy.Suggestion {
	records, err := p.journal.Recent(p.ctx, journalSize)
	if err != nil {
		p.log.Error("read the journal", "err", err)
		return nil
	}
	return p.store.Suggest(pastOf(records))
}

// pastOf picks what the person decided, oldest first.
func pastOf(records []interact.Record) []policy.Past {
	effects := map[interact.Outcome]policy.Effect{interact.Allowed: policy.Allow, interact.Denied: policy.Deny}
	var past []policy.Past
	for _, r := range slices.Backward(records) {
		effect, isDecision := effects[r.Answer.Outcome]
		if approve, ok := r.Request.Body.(interact.Approve); ok && isDecision && r.Answer.By == interact.ByHuman {
			past = append(past, policy.Past{Call: approve.Call(r.Request.Requester), Effect: effect})
		}
	}
	return past
}

// looking reports whether one of nod's windows has the focus.
func (p *program) looking() bool { return p.foreground.Load() }

// look applies the theme that the person chose.
func (p *program) look() { p.fyne.Settings().SetTheme(dialogs.Theme(p.store.Config().Look.Theme)) }

// busy reports whether something is on screen or about to be. It runs on the UI goroutine.
func (p *program) busy() bool {
	return p.stage.live() > 0 || p.prompts.Waiting() > 0 || p.settings.Visible()
}
