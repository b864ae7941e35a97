// Package app is the lifecycle of nod-desktop, the tray process: it starts once, opens configuration, policy and
// journal, restores pending requests, serves agents, follows changes of its files, becomes the new program in an
// upgrade, and quits. Package asking asks the user.
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
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2/lang"
	"github.com/cli/browser"

	"nod/agents/registry"
	"nod/api"
	"nod/app/asking"
	"nod/app/contain"
	"nod/assets"
	"nod/changes"
	"nod/interact"
	"nod/interact/journal"
	"nod/ipc"
	"nod/ipc/endpoint"
	"nod/ipc/hooks"
	"nod/ipc/operator"
	"nod/ipc/peer"
	"nod/ipc/programs"
	"nod/ownfile/ownlog"
	"nod/policy/config"
)

// Options configure the start of nod-desktop.
type Options struct {
	ConfigPath string    // the policy file; empty: the usual place
	Background bool      // started with the session: open no window unasked
	LogLevel   string    // debug, info, warn or error; empty: as NOD_LOG says, else info
	Version    string    //
	Stdout     io.Writer // gets "nod ready URL" once nod can be asked
}

// heapGrowth is the growth of Go's heap, in per cent, that triggers a collection. The live heap is small, and each
// collection delays calls that arrive meanwhile. nod returns memory when no calls arrive.
const heapGrowth = 200

// Run runs nod-desktop until the user quits or ctx ends. It must be called on the main goroutine. The error is a
// [*RunningError] if nod-desktop runs already.
func Run(ctx context.Context, o Options) error {
	logs, err := ownlog.NewLogger(o.LogLevel)
	if err != nil {
		return err
	}
	defer logs.Close()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	slog.SetDefault(logs.Logger) // what libraries log goes there too
	err = run(ctx, o, logs)
	if _, running := errors.AsType[*RunningError](err); err != nil && !running {
		logs.Error("nod ends", "err", err)
		asking.NotifyEnd(err, logs.Logger)
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

type program struct {
	ctx  context.Context         // ends with the program
	quit context.CancelCauseFunc // ends it
	opts Options
	log  *slog.Logger

	logPath string
	noLog   error  // why there is no log file
	noSeal  error  // why the policy is not sealed
	dir     string // where the endpoint is published
	self    string // path of nod-desktop
	dialogs string // path of nod-dialogs

	store     *config.Store
	broker    *interact.Broker
	hooks     *hooks.Hooks
	server    *ipc.Server
	journal   *journal.Journal
	desk      *asking.Desk
	autostart *autostart
	versions  *versions

	agentHooks *agentHooks
	runs       *contain.Runs
	noSandbox  atomic.Pointer[string] // why this machine cannot contain commands; nil: it can, or has not tried yet

	journalChanged changes.Signal // what is wrong with the journal
	journaled      changes.Signal // the journal has other entries

	started config.Config // as it was when nod started
	welcome welcome
	parts   sync.WaitGroup // goroutines that end with ctx
}

// newProgram creates and connects the parts. Only the listener runs yet, and its callers wait.
func newProgram(
	ctx context.Context, quit context.CancelCauseFunc, o Options, logs *ownlog.Logger, dir string,
) (p *program, err error) {
	p = &program{
		ctx: ctx, quit: quit, opts: o, log: logs.Logger, logPath: logs.Path, noLog: logs.Problem, dir: dir,
		welcome: newWelcome(), versions: newVersions(), journalChanged: changes.NewSignal(),
		journaled: changes.NewSignal(),
	}
	if p.autostart, err = newAutostart(); err != nil {
		return nil, err
	}
	if err := p.openStore(); err != nil {
		return nil, err
	}
	opened := p // an error returns no program
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.close())
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
		p.log.Warn("without the nod command, nod asks about agents' own ask tools", "err", err)
	}
	p.agentHooks = newAgentHooks(nod)
	if p.dialogs, err = programs.Find("nod-dialogs"); err != nil {
		return nil, fmt.Errorf("the program with nod's windows: %w", err)
	}
	if p.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find the path of nod: %w", err)
	}
	p.desk, err = asking.New(ctx, asking.Config{
		Log: p.log, Version: o.Version, Dialogs: p.dialogs, Background: o.Background, Store: p.store, Journal: p.journal,
		HooksProblem: p.agentHooks.problem, RecheckHooks: p.agentHooks.screens.Send, IsWelcomeDue: p.welcome.isDue,
		Processes: peer.Table{}, IsAgent: isAgent, Contains: p.contains, Outdated: p.versions.outdated,
		Quit: func() { quit(nil) },
	})
	if err != nil {
		return nil, err
	}
	p.broker = p.desk.Broker()
	p.openRuns()
	p.hooks = hooks.New(hooks.Config{
		Sandbox: p.runs, Agents: registry.Protocols(), Nod: nod, Broker: p.broker, Log: p.log, OpenURL: openURL,
		Timeout: p.store.Timeout, Settings: registry.Settings,
		AskMore: func() bool { return p.store.Config().Agents.AskMore },
	})
	p.server, err = ipc.Listen(ipc.Config{
		Address: p.store.Config().IPC.Address, AnyPort: p.store.Config().IPC == config.Default().IPC, Dir: dir,
		Broker: p.broker, Version: o.Version, Log: p.log, Hooks: p.hooks, Raise: p.desk.Raise, Called: p.desk.WarmUp,
		Health: p.health, Runs: p.runs,
	})
	return p, err
}

func (p *program) health(h *api.HealthReply) {
	if pause := p.desk.Paused(); pause.On {
		h.Status, h.PausedUntil = "paused", pause.Until
	}
	if err := p.journal.Problem(); err != nil {
		h.History = err.Error()
	}
}

// isAgent reports whether a program is the agent with this name, which may be nod itself.
func isAgent(name string, program api.Parent) bool {
	return registry.IsAgent(name, program) || name == welcomeAgent && program.PID == int32(os.Getpid())
}

// browserPatience is how long nod waits to hear that a browser could not be started.
const browserPatience = 2 * time.Second

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

func (p *program) run() error {
	p.restore(p.desk.Restore)
	p.parts.Go(p.followUpgrades)
	p.parts.Go(p.watchJournal)
	p.parts.Go(p.followJournal)
	p.parts.Go(p.watchStore)
	p.parts.Go(p.serve)
	p.parts.Go(p.checkHooks)
	p.parts.Go(p.followSandbox)
	p.parts.Go(p.watchPublished)
	for _, sentence := range limits(p.noLog, p.noSeal, p.server.Endpoint()) {
		p.desk.Say(interact.Warning, sentence)
	}
	if p.welcome.isDue() && !p.opts.Background {
		p.desk.Show(operator.View{Settings: true, Welcome: true})
	}
	fmt.Fprintln(p.opts.Stdout, programs.ReadyLine+p.server.Endpoint().URL)
	p.desk.Run(operatorAPI{p.desk, p.runs, p.journal, p})
	p.parts.Wait()
	err := p.close()
	if cause := context.Cause(p.ctx); !errors.Is(cause, context.Canceled) { // neither the user nor a signal ended it
		err = errors.Join(cause, err)
	}
	return err
}

func (p *program) close() error {
	err := p.store.Close()
	if p.journal != nil {
		err = errors.Join(err, p.journal.Close())
	}
	return err
}

// watchPublished restores the endpoint's files when another program changes them.
func (p *program) watchPublished() {
	warn := func(problem error) {
		sentence := lang.L("Another program changed the files agents use to find nod. nod restored them.")
		if problem != nil {
			sentence = lang.L("Another program changed the files agents use to find nod, and nod could not restore them: "+
				"{{.Problem}}", map[string]any{"Problem": problem.Error()})
		}
		p.desk.Say(interact.Warning, sentence)
	}
	if err := p.server.Watch(p.ctx, warn); err != nil {
		p.log.Error("the endpoint files are not watched", "err", err)
	}
}

// serve answers callers until nod quits. If the server fails nod ends, because the tray icon of a nod that callers
// cannot reach would mislead.
func (p *program) serve() {
	if err := p.server.Serve(p.ctx); err != nil {
		p.quit(err)
	}
}

// watchStore tells the user about changes of the policy file and the grants that nod did not make.
func (p *program) watchStore() {
	changes, stop := p.store.Changes()
	defer stop()
	p.parts.Go(func() { p.store.Watch(p.ctx) })
	if len(p.store.HeldGrants()) > 0 {
		p.desk.Say(interact.Warning, lang.L("Another program changed your saved approvals. They don't count until "+
			"you accept them in nod's settings."))
		p.desk.Show(operator.View{Settings: true})
	}
	var broken error
	var held config.HeldChange
	for {
		broken, held = p.warnBroken(broken), p.warnHeld(held)
		select {
		case <-p.ctx.Done():
			return
		case <-changes:
		}
	}
}

// warnHeld tells the user about another program's change to the policy file, unless it is known.
func (p *program) warnHeld(known config.HeldChange) config.HeldChange {
	held, isHeld := p.store.Held()
	if isHeld && held != known {
		sentence := lang.L("Another program changed the policy file. Anything it newly allows takes effect only after you " +
			"accept it in nod's settings.")
		if held.IsUnknown {
			sentence = lang.L("nod can't tell which policy you accepted, so it asks about everything. Accept yours in nod's " +
				"settings.")
		}
		p.desk.Say(interact.Warning, sentence)
		p.desk.Show(operator.View{Settings: true})
	}
	return held
}

// warnBroken tells the user that the policy file has an error, unless it had one before.
func (p *program) warnBroken(before error) error {
	err := p.store.Err()
	if err != nil && before == nil {
		p.log.Error("the policy file has an error: nod asks about everything", "err", err)
		p.desk.Say(interact.Error, lang.L("The policy file has an error, so nod asks about everything. Open nod's settings "+
			"to see it."))
	}
	return err
}

// openStore reads the policy file, or writes the first one.
func (p *program) openStore() error {
	path := p.opts.ConfigPath
	if path == "" {
		var err error
		if path, err = config.DefaultPath(); err != nil {
			return err
		}
	}
	grantsPath, err := config.GrantsPath()
	if err != nil {
		return err
	}
	if p.opts.ConfigPath, err = filepath.Abs(path); err != nil {
		return err
	}
	if p.store, err = config.Open(p.opts.ConfigPath, grantsPath, p.log); err != nil {
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
		if err := p.welcome.schedule(); err != nil {
			p.log.Warn("the welcome is not shown", "err", err)
		}
	}
	return nil
}

// limits returns a sentence for each thing that does not work on this machine. noLog says why there is no log file,
// noSeal why the policy is not sealed; both may be nil.
func limits(noLog, noSeal error, where endpoint.Endpoint) []string {
	var sentences []string
	if noLog != nil {
		sentences = append(sentences, noLog.Error()+".")
	}
	if noSeal != nil {
		problem := map[string]any{"Problem": noSeal.Error()}
		sentences = append(sentences, lang.L("nod is running but can't save its policy: {{.Problem}}.", problem))
	}
	if where.Socket == "" && runtime.GOOS != "windows" {
		sentences = append(sentences, lang.L(
			"nod is running without its socket, because its path is too long: set XDG_RUNTIME_DIR to a shorter path."))
	}
	return sentences
}
