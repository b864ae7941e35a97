package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/agents/registry"
	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/interact/journal"
	"nod/ipc"
	"nod/ipc/endpoint"
	"nod/ipc/hooks"
	"nod/policy"
	"nod/policy/config"
	"nod/sandbox"
	"nod/sandbox/snapshot"
	"nod/version"
)

// commands are what the test program is under other names.
var commands = map[string]func(){"nod": main, "nod-desktop": fakeDesktop}

// hurries belongs in the environment of programs under test: with the race detector each sleeps for a second before it
// exits.
const hurries = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	// The sandbox passes on no variables.
	isInside := os.Args[0] == "nod-sandbox" || os.Args[0] == "/run/nod/inside"
	if isInside && os.Getenv("GORACE") == "" {
		_ = syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), hurries))
	}
	sandbox.Main() // nod doctor tries a sandbox with the program that it finds as nod, which is this one
	testscript.Main(m, commands)
}

// TestScripts runs the scripts in testdata/script: nod as a user types it, against a real broker behind a
// real server; only the user is played.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"desktop":   desktopCommand,
			"exits":     exitsCommand,
			"interrupt": interruptCommand,
			"closed":    closedCommand,
			"quit":      quitCommand,
			"appears":   appearsCommand,
			"shown":     shownCommand,
			"prompted":  promptedCommand,
			"mcp":       mcpCommand,
			"journal":   journalCommand,
			"tamper":    tamperCommand,
			"ran":       ranCommand,
			"started":   startedCommand,
		},
	})
}

// setup gives the script folders of its own.
func setup(env *testscript.Env) error {
	// Not under $WORK: a socket's address has no more than 104 bytes on some systems.
	runtimeDir, err := os.MkdirTemp("", "nod")
	if err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(runtimeDir) })
	home := filepath.Join(env.WorkDir, "home")
	for name, dir := range map[string]string{
		"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"XDG_DATA_HOME": filepath.Join(home, "data"), "XDG_CACHE_HOME": filepath.Join(home, "cache"),
	} {
		env.Setenv(name, dir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	env.Setenv("XDG_RUNTIME_DIR", runtimeDir)
	name, value, _ := strings.Cut(hurries, "=")
	env.Setenv(name, value)
	env.Defer(func() { quit(filepath.Join(home, pidFile)) })
	env.Values[desktopKey{}] = new(desktop)
	return nil
}

// desktop is the nod-desktop of a script.
type desktop struct {
	prompter *human
	stop     func() // nil: it does not run
	crash    func() error
}

// start starts one in place of the one that runs.
func (d *desktop) start(dir string, words []string) error {
	if d.stop != nil {
		d.stop()
	}
	next, err := startDesktop(dir, words)
	if err == nil {
		*d = *next
	}
	return err
}

type desktopKey struct{}

func desktopOf(ts *testscript.TestScript) *desktop { return ts.Value(desktopKey{}).(*desktop) }

// human is a prompter that tells when something came on the screen or went off it.
type human struct {
	interacttest.Prompter

	mu      sync.Mutex // guards all below
	prompts int        // that came on the screen
	changed chan struct{}
}

func (h *human) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	h.mu.Lock()
	h.prompts++
	h.mu.Unlock()
	h.signal()
	defer h.signal()
	return h.Prompter.Prompt(ctx, r, why)
}

// seen is how many prompts came on the screen.
func (h *human) seen() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.prompts
}

func (h *human) signal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.changed)
	h.changed = make(chan struct{})
}

// until waits until done says so.
func (h *human) until(t interface{ Fatalf(string, ...any) }, what string, done func() bool) {
	late := time.After(time.Minute)
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if done() {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// desktopCommand is the script command "desktop WORD…": it starts a nod-desktop, in place of the one that
// runs, whose human does what the words say.
//
//	allow, deny=REASON, yes, no, text=TEXT, dismiss    answers; TEXT may be quoted as in Go
//	values=JSON                                        fills a form in: {"id": "text" or ["pick"]}
//	silent                                             never answers
//	blind                                              has no screen
//	paused                                             says that it is paused until a Friday, 15:04
//	full                                               says that the disk is full
//	undelivered                                        has no notification service
//	version=V                                          is another version than nod
//	stop                                               no nod-desktop any longer
//	crash                                              the same, but it is not told
func desktopCommand(ts *testscript.TestScript, neg bool, args []string) {
	d := desktopOf(ts)
	switch {
	case neg || len(args) == 0:
		ts.Fatalf("usage: desktop WORD…")
	case args[0] == "crash":
		ts.Check(d.crash())
		d.stop()
		d.stop = nil
	case args[0] == "stop":
		d.stop()
		d.stop = nil
	default:
		ts.Check(d.start(filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "nod"), args))
		ts.Defer(func() {
			if d.stop != nil {
				d.stop()
				d.stop = nil
			}
		})
	}
}

// startDesktop serves in dir until stop is called. To crash it leaves its callers without a word, and its endpoint
// behind.
func startDesktop(dir string, words []string) (*desktop, error) {
	h := &human{changed: make(chan struct{})}
	if !slices.Contains(words, "silent") {
		h.Answer = func(r interact.Request, _ policy.Decision) (interact.Answer, error) { return answers(words, r) }
	}
	rules := new(interacttest.Policy)
	rules.Set("Read", policy.Allow)
	rules.Set("Rm", policy.Deny)
	broker := interact.NewBroker(interact.BrokerConfig{
		Policy: rules, Prompter: h,
		Notify:  func(context.Context, interact.Request) bool { return !slices.Contains(words, "undelivered") },
		Journal: new(interacttest.Journal), Timeout: func() time.Duration { return time.Minute },
		Log: slog.New(slog.DiscardHandler),
	})
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	number := version.Number()
	for _, word := range words {
		if v, ok := strings.CutPrefix(word, "version="); ok {
			number = v
		}
	}
	server, err := ipc.Listen(ipc.Config{
		Address: "127.0.0.1:0", Dir: dir, Broker: broker, Version: number, Log: slog.New(slog.DiscardHandler),
		Hooks: hooks.New(hooks.Config{
			Agents: registry.Protocols(), Broker: broker, Log: slog.New(slog.DiscardHandler),
			Timeout: func() time.Duration { return time.Minute },
			AskMore: func() bool { return false },
			OpenURL: func(string) error { return nil },
		}),
		Raise: func(_ context.Context, settings bool) error {
			fmt.Println("raised, settings:", settings)
			if slices.Contains(words, "blind") {
				return errors.New("no screen to ask on: DISPLAY is not set")
			}
			return nil
		},
		Health: func(h *api.HealthReply) {
			if slices.Contains(words, "paused") {
				h.Status, h.PausedUntil = "paused", time.Date(2026, 1, 2, 15, 4, 0, 0, time.Local)
			}
			if slices.Contains(words, "full") {
				h.History = "the disk is full"
			}
		},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(ctx) // a crash is an error
	}()
	return &desktop{
		prompter: h,
		stop:     func() { cancel(); broker.Close(); <-served },
		crash: func() error {
			if err := os.Chmod(endpoint.Path(dir), 0o644); err != nil { // so that Close leaves it there
				return err
			}
			_ = server.Close() // what serves has closed some of it already
			<-served           // it takes the endpoint away, too
			return os.Chmod(endpoint.Path(dir), 0o600)
		},
	}, nil
}

// answers is what a human does who follows the words.
func answers(words []string, r interact.Request) (interact.Answer, error) {
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "allow":
			return interact.Answer{Outcome: api.Allowed}, nil
		case "deny":
			return interact.Answer{Outcome: api.Denied, Reason: value}, nil
		case "yes", "no":
			return interact.Answer{Outcome: api.Answered, Confirmed: name == "yes"}, nil
		case "text":
			if text, err := strconv.Unquote(value); err == nil {
				value = text
			}
			return interact.Answer{Outcome: api.Answered, Text: value}, nil
		case "values":
			a := interact.Answer{Outcome: api.Answered}
			return a, json.Unmarshal([]byte(value), &a.Values)
		case "dismiss":
			return interact.Answer{Outcome: api.Dismissed}, nil
		case "blind":
			return interact.Answer{}, fmt.Errorf("%w: no screen", interact.ErrUnavailable)
		}
	}
	return interact.Answer{}, fmt.Errorf("no word for a %s", r.Body.Kind())
}

// exitsCommand is the script command "exits STATUS PROGRAM ARG…".
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG…")
	}
	err := ts.Exec(args[1], args[2:]...)
	expectStatus(ts, args[0], err)
}

func expectStatus(ts *testscript.TestScript, want string, err error) {
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit status %d, want %s", got, want)
	}
}

// interruptCommand is the script command "interrupt [-QUIT|-HUP] STATUS PROGRAM ARG…": the program is interrupted, or
// gets that signal, as soon as the user sees the prompt.
func interruptCommand(ts *testscript.TestScript, neg bool, args []string) {
	by := os.Interrupt
	if len(args) > 0 {
		if other, ok := map[string]os.Signal{"-QUIT": syscall.SIGQUIT, "-HUP": syscall.SIGHUP}[args[0]]; ok {
			by, args = other, args[1:]
		}
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt [-QUIT|-HUP] STATUS PROGRAM ARG…")
	}
	program, err := exec.LookPath(args[1])
	ts.Check(err)
	before := desktopOf(ts).prompter.seen()
	cmd := exec.Command(program, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	for _, name := range []string{"HOME", "PATH", "XDG_RUNTIME_DIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(cmd.Start())
	desktopOf(ts).prompter.until(ts, "prompt", func() bool { return desktopOf(ts).prompter.seen() > before })
	ts.Check(cmd.Process.Signal(by))
	expectStatus(ts, args[0], cmd.Wait())
}

// closedCommand is the script command "closed N": so many prompts went off the screen without an answer.
func closedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: closed N")
	}
	h := desktopOf(ts).prompter
	h.until(ts, "closed "+args[0], func() bool { return strconv.Itoa(len(h.Closed())) == args[0] })
}

// promptedCommand is the script command "prompted": the user of this nod-desktop has seen a prompt.
func promptedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: prompted")
	}
	h := desktopOf(ts).prompter
	h.until(ts, "prompted", func() bool { return h.seen() > 0 })
}

// ranCommand has a shell run a command in the current folder, as if that had been in the sandbox: with snapshots.
func ranCommand(ts *testscript.TestScript, neg bool, args []string) { runAs(ts, "ran", neg, args) }

// startedCommand is ranCommand for one that was lost: nobody saw its end.
func startedCommand(ts *testscript.TestScript, neg bool, args []string) {
	runAs(ts, "started", neg, args)
}

func runAs(ts *testscript.TestScript, name string, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: %s COMMAND", name)
	}
	project := ts.MkAbs(".")
	r, err := snapshot.Open(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "nod", "snapshots"), project, policy.IsSecret)
	ts.Check(err)
	run := snapshot.Run{Time: time.Now(), Agent: "claude-code", Command: args[0]}
	run.Before, err = r.Take(context.Background())
	ts.Check(err)
	ts.Check(ts.Exec("sh", "-c", args[0]))
	if name == "ran" {
		run.After, err = r.Take(context.Background())
		ts.Check(err)
		run.Ended = time.Now()
	}
	_, err = r.Note(context.Background(), run)
	ts.Check(err)
}

// journalCommand is the script command "journal": it writes a journal of four requests where nod-desktop does, one
// an hour.
func journalCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: journal")
	}
	j := journal.Open(filepath.Join(ts.Getenv("XDG_DATA_HOME"), "nod", "nod.db"),
		journal.Options{Log: slog.New(slog.DiscardHandler), Config: func() config.History {
			return config.History{Keep: 36500 * 24 * time.Hour, MaxSize: 100, KeepInputs: true}
		}})
	for n, r := range []interact.Record{
		{
			Request: interact.Request{
				Requester: interact.Requester{
					Agent: "claude-code", IsAgent: true, Session: "s1", CWD: ts.Getenv("WORK") + "/shop",
				},
				Body: interact.Approve{Tool: "Bash", Input: []byte(`{"command":"git status"}`)},
			},
			Why: policy.Decision{Effect: policy.Sandbox, Rule: "built-in", Reason: "it only reads", Class: policy.ReadOnly},
			Answer: interact.Answer{Outcome: api.Allowed, By: api.ByPolicy, Rule: "built-in",
				Confinement: policy.Confinement{Project: "/src/shop"}},
		},
		{
			Request: interact.Request{
				Requester: interact.Requester{
					Agent: "claude-code", IsAgent: true, Session: "s1", CWD: ts.Getenv("WORK") + "/shop",
				},
				Body: interact.Approve{Tool: "Bash", Input: []byte("{\"command\":\"git push\\u001b[2J --force\"}")},
			},
			Why: policy.Decision{Effect: policy.Ask, Reason: "no rule covers this", Class: policy.Execute},
			Answer: interact.Answer{
				Outcome: api.Denied, By: api.ByHuman, Reason: "=not\x1b[31m today",
				Shown: interact.Shown{Armed: time.Second, Decided: 3 * time.Second, With: "keys", Facts: []string{"runs git"}},
			},
		},
		{
			Request: interact.Request{
				Requester: interact.Requester{Agent: "codex\x1b]0;x\a", CWD: ts.Getenv("WORK") + "/blog"},
				Body:      api.Ask{Question: "Which database?"},
			},
			Answer: interact.Answer{Outcome: api.Answered, By: api.ByHuman, Text: "SQLite"},
		},
		{
			Request: interact.Request{
				Requester: interact.Requester{Agent: "codex", CWD: ts.Getenv("WORK") + "/blog"},
				Body:      api.Confirm{Message: "Deploy?"},
			},
			Answer: interact.Answer{Outcome: api.TimedOut, By: api.ByTimeout},
		},
	} {
		r.Request.ID = interact.ID(fmt.Sprintf("019a0000-0000-7000-8000-%012d", n))
		r.Request.Created = time.Date(2026, 1, 2, 8+n, 0, 0, 0, time.UTC)
		r.Answer.At = r.Request.Created.Add(5 * time.Second)
		if r.Answer.Shown.With != "" {
			r.Answer.Shown.At = r.Request.Created
		}
		ts.Check(j.Settle(context.Background(), r))
	}
	ts.Check(j.Close())
}

// tamperCommand is the script command "tamper SQL": it changes the journal behind nod's back.
func tamperCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tamper SQL")
	}
	conn, err := sqlite.OpenConn(filepath.Join(ts.Getenv("XDG_DATA_HOME"), "nod", "nod.db"), sqlite.OpenReadWrite)
	ts.Check(err)
	ts.Check(errors.Join(sqlitex.ExecScript(conn, args[0]), conn.Close()))
}

// shownCommand is the script command "shown JSON…": the last requests that the user saw had these bodies,
// agents, sessions and folders. A key that nod made is "a UUID".
func shownCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: shown FILE")
	}
	shown := desktopOf(ts).prompter.Shown()
	if len(shown) == 0 {
		ts.Fatalf("nothing was shown")
	}
	last := shown[len(shown)-1]
	if uuid.Validate(last.IdempotencyKey) == nil {
		last.IdempotencyKey = "a UUID"
	}
	got, err := json.MarshalIndent(struct {
		Agent   string        `json:"agent"`
		Session string        `json:"session"`
		CWD     string        `json:"cwd"`
		Timeout string        `json:"timeout"`
		Key     string        `json:"key"`
		Body    interact.Body `json:"body"`
	}{
		last.Requester.Agent, last.Requester.Session, last.Requester.CWD, last.Timeout.String(), last.IdempotencyKey,
		last.Body,
	}, "", "  ")
	ts.Check(err)
	want := strings.ReplaceAll(ts.ReadFile(args[0]), "$WORK", ts.Getenv("WORK"))
	if string(got) != strings.TrimSpace(want) {
		ts.Fatalf("shown:\n%s\nwant:\n%s", got, want)
	}
}

// mcpCommand is the script command "mcp TOOL ARGUMENTS WANT [WORD…]": a client that calls itself claude-code starts
// nod mcp, calls a tool, and gets this structured content back. With words, the nod-desktop that runs crashes once its
// human sees the prompt, and one that does what they say takes its place.
func mcpCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: mcp TOOL ARGUMENTS WANT [WORD…]")
	}
	if words := args[3:]; len(words) > 0 {
		replaced := make(chan struct{})
		defer func() { <-replaced }()
		go func() {
			defer close(replaced)
			promptedCommand(ts, false, nil)
			desktopCommand(ts, false, []string{"crash"})
			desktopCommand(ts, false, words)
		}()
	}
	program, err := exec.LookPath(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "nod"))
	ts.Check(err)
	cmd := exec.Command(program, "mcp")
	cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{
		"HOME", "PATH", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
	} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "claude-code", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
	ts.Check(err)
	defer session.Close()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: args[0], Arguments: json.RawMessage(args[1])})
	ts.Check(err)
	got, err := json.Marshal(result.StructuredContent)
	ts.Check(err)
	if string(got) != args[2] {
		ts.Fatalf("got %s, want %s", got, args[2])
	}
}

// pidFile is where, in the home folder, the nod-desktop that nod start started leaves its process id and an
// address that it listens at for as long as it lives.
const pidFile = "desktop.pid"

// quit ends the nod-desktop that nod start started, if it lives, and waits for its end.
func quit(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	pid, address, _ := strings.Cut(string(text), " ")
	alive, err := net.Dial("tcp", address)
	if err != nil {
		return // it has ended
	}
	defer alive.Close()
	id, err := strconv.Atoi(pid)
	if err != nil {
		return
	}
	if p, err := os.FindProcess(id); err == nil {
		p.Signal(syscall.SIGTERM)
	}
	alive.SetReadDeadline(time.Now().Add(time.Minute))
	io.Copy(io.Discard, alive) // the connection ends with the process
}

// quitCommand is the script command "quit": what nod start started ends.
func quitCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: quit")
	}
	file := filepath.Join(ts.Getenv("HOME"), pidFile)
	ts.Check(appears(file))
	quit(file)
}

// appearsCommand is the script command "appears FILE": there is something in it, or will be.
func appearsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: appears FILE")
	}
	ts.Check(appears(ts.MkAbs(args[0])))
}

// appears waits until there is something in file: a program that was just started takes its time.
func appears(file string) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Add(filepath.Dir(file)); err != nil {
		return err
	}
	late := time.After(time.Minute)
	for {
		if text, err := os.ReadFile(file); err == nil && len(text) > 0 {
			return nil
		}
		select {
		case <-w.Events:
		case err := <-w.Errors:
			return err
		case <-late:
			return fmt.Errorf("%s: not within a minute", file)
		}
	}
}

// fakeDesktop is a nod-desktop in a process of its own. NOD_TEST_DESKTOP says what it does, NOD_TEST_HUMAN what its
// human does.
func fakeDesktop() {
	if slices.Contains(os.Args, "--version") {
		fmt.Println("nod-desktop", version.Get())
		return
	}
	if slices.Contains(os.Args, "--autostart=off") {
		if os.Getenv("NOD_TEST_DESKTOP") == "no autostart" {
			fmt.Fprintln(os.Stderr, "nod-desktop: not made by nod")
			os.Exit(1)
		}
		os.WriteFile(filepath.Join(os.Getenv("HOME"), "autostart"), []byte("off\n"), 0o600)
		return
	}
	alive, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer alive.Close()
	os.WriteFile(filepath.Join(os.Getenv("HOME"), pidFile), fmt.Appendf(nil, "%d %s", os.Getpid(), alive.Addr()), 0o600)
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	switch os.Getenv("NOD_TEST_DESKTOP") {
	case "no port":
		fmt.Fprintln(os.Stderr, "nod-desktop: the port is taken")
		os.Exit(1)
	case "silent":
		os.Exit(0)
	case "hangs":
		<-ctx.Done()
		os.Exit(1)
	}
	dir, err := endpoint.Dir()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	d, err := startDesktop(dir, []string{cmp.Or(os.Getenv("NOD_TEST_HUMAN"), "yes")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	e, err := endpoint.Read(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("nod ready", e.URL)
	<-ctx.Done()
	fmt.Println("nod-desktop: bye") // into the file, not into a broken pipe
	d.stop()
}
