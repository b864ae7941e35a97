package asking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/app/desktop"
	"nod/changes"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
)

// desk runs windows with windows processes that are goroutines of the test.
type desk struct {
	t        *testing.T
	w        *windows
	mu       sync.Mutex             // guards display, crash and started
	crash    error                  // how every process exits as soon as it is connected
	display  error                  // why no display can be reached
	created  time.Time              // of the requests
	deadline time.Time              // of the requests
	saves    string                 // what an allow of any scope would save
	started  []*fakeProcess         // in order
	slow     time.Duration          // how long a process takes before it fetches anything
	quiet    atomic.Bool            // prompts wait in the tray
	follows  atomic.Bool            // nod-desktop is about to follow the windows to another version
	failed   int                    // how often the user was told that the windows fail
	saved    map[interact.ID]string // drafts beyond the end of nod
	saveErr  error                  // why none can be

	settled func(context.Context, interact.ID) (interact.Answer, error) // what came of a request
}

// fakeProcess is a windows process.
type fakeProcess struct {
	client *operator.Client
	shown  chan []operator.Prompt
	views  chan operator.View
	news   changes.Signal // the journal has other entries
	hangs  atomic.Bool    // it answers no ping
	killed atomic.Bool
	waited atomic.Int64 // for a processor
	die    context.CancelCauseFunc
}

// fakeOperator answers requests, and nothing else.
type fakeOperator struct {
	*windows
	answers
	others
}

type others struct{ operator.Operator }

var errKilled = errors.New("signal: killed")

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, deadline: time.Now().Add(time.Hour), saved: map[interact.ID]string{}}
	d.settled = func(context.Context, interact.ID) (interact.Answer, error) {
		return interact.Answer{By: api.ByHuman}, nil
	}
	ctx, stop := context.WithCancel(t.Context())
	d.w = newWindows(windowsConfig{
		log: slog.New(slog.DiscardHandler), start: d.start,
		reachable: func(context.Context) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.display
		},
		offers: func(policy.Call) policy.Offers {
			return policy.Offers{Grants: []policy.Offer{{Scope: policy.Always, Cover: policy.CoverInput, Text: d.saves}}}
		},
		keep:        func() time.Duration { return 10 * time.Minute },
		quiet:       func(interact.Request) bool { return d.quiet.Load() },
		contains:    func(interact.Requester) bool { return false },
		deviceReady: func() bool { return false },
		failed:      func(error) { d.failed++ }, outdated: func() bool { return d.follows.Load() },
		undoFor: func() time.Duration { return 10 * time.Second },
	})
	go d.w.run(ctx, nil)
	t.Cleanup(func() {
		stop()
		<-d.w.ended
	})
	return d
}

func (d *desk) answers() answers { return answers{d.w, func(interact.ID) owner { return d }} }

// Settled is a broker's.
func (d *desk) Settled(ctx context.Context, id interact.ID) (interact.Answer, error) {
	return d.settled(ctx, id)
}

// Snooze is a broker's.
func (d *desk) Snooze(interact.ID, time.Duration) error { return nil }

// SaveDraft is a journal's.
func (d *desk) SaveDraft(_ context.Context, id interact.ID, draft []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if delete(d.saved, id); d.saveErr == nil && len(draft) > 0 {
		d.saved[id] = string(draft)
	}
	return d.saveErr
}

// start is [Desk.startWindows] without a process.
func (d *desk) start(context.Context, operator.Operator) (*process, error) {
	fromTray, toWindows := io.Pipe()
	fromWindows, toTray := io.Pipe()
	ctx, die := context.WithCancelCause(context.Background())
	p := &fakeProcess{shown: make(chan []operator.Prompt, 100), views: make(chan operator.View, 10),
		news: changes.NewSignal(), die: die}
	exited := make(chan error, 1)
	op := fakeOperator{windows: d.w, answers: d.answers()}
	session := operator.Serve(fromWindows, toWindows, op, "test", slog.New(slog.DiscardHandler))
	var once sync.Once
	exit := func(err error) {
		once.Do(func() {
			_, _ = fromTray.Close(), toTray.Close()
			exited <- err
			die(err)
		})
	}
	d.mu.Lock()
	d.started = append(d.started, p)
	d.mu.Unlock()
	go func() {
		<-ctx.Done()
		exit(context.Cause(ctx))
	}()
	go func() {
		err := d.connect(ctx, p, fromTray, toTray)
		if err != nil {
			die(err)
			return
		}
		<-p.client.Done()
		exit(nil)
	}()
	return &process{
		session: session, exited: exited,
		hangUp: func() { _ = toWindows.Close() },
		kill:   func() { p.killed.Store(true); die(errKilled) },
		usage:  func() usage { return usage{waited: time.Duration(p.waited.Load())} },
	}, nil
}

// connect is what a windows process does.
func (d *desk) connect(ctx context.Context, p *fakeProcess, r io.Reader, w io.WriteCloser) (err error) {
	changed := changes.NewSignal()
	p.client, err = operator.Connect(ctx, r, w, "test", operator.Events{
		PromptsChanged: func() { changed.Send() }, StateChanged: func() {},
		HistoryChanged: func() { p.news.Send() },
		Ping: func(ctx context.Context) error {
			if p.hangs.Load() {
				<-ctx.Done()
			}
			return ctx.Err()
		},
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	err = d.crash
	d.mu.Unlock()
	if err != nil {
		return err
	}
	go func() {
		time.Sleep(d.slow)
		for {
			if pending, err := p.client.Prompts(ctx, nil); err == nil {
				p.shown <- pending.Prompts
				for _, v := range pending.Wanted {
					p.views <- v
				}
			}
			select {
			case <-changed:
			case <-p.client.Done():
				return
			}
		}
	}()
	return nil
}

func (d *desk) set(what *error, to error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*what = to
}

// now is the process that runs.
func (d *desk) now() *fakeProcess {
	d.t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.started) == 0 {
		d.t.Fatal("no windows process was started")
	}
	return d.started[len(d.started)-1]
}

// starts is how many processes were started so far.
func (d *desk) starts() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.started)
}

// shows returns what the running process shows.
func (d *desk) shows() []operator.Prompt {
	d.t.Helper()
	p := d.now()
	var last []operator.Prompt
	for len(p.shown) > 0 {
		last = <-p.shown
	}
	return last
}

// asked is a request under way.
type asked struct {
	id     interact.ID
	answer interact.Answer
	err    error
	done   chan struct{}
	cancel context.CancelFunc
}

var askedInput = []byte(`{"command":"make"}`)

func (d *desk) ask(id interact.ID) *asked {
	d.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a := &asked{id: id, done: make(chan struct{}), cancel: cancel}
	body := interact.Approve{Tool: "Bash", Input: askedInput}
	r := interact.Request{ID: id, Created: d.created, Deadline: d.deadline, Body: body}
	go func() {
		a.answer, a.err = d.w.Prompt(ctx, r, policy.Decision{Effect: policy.Ask})
		close(a.done)
	}()
	d.t.Cleanup(cancel)
	synctest.Wait()
	return a
}

func (d *desk) answer(a *asked, with operator.Answer) error {
	d.t.Helper()
	with.ID = a.id
	if with.Digest == "" {
		with.Digest = d.digest(a.id)
	}
	err := d.now().client.Answer(context.Background(), with)
	synctest.Wait()
	return err
}

// digest is that of a prompt as it is pending now.
func (d *desk) digest(id interact.ID) string {
	for _, p := range d.w.open() {
		if p.ID == id {
			return p.Digest
		}
	}
	return ""
}

func (d *desk) wantPending(a *asked) {
	d.t.Helper()
	synctest.Wait()
	select {
	case <-a.done:
		d.t.Fatalf("%s ended: %+v, %v", a.id, a.answer, a.err)
	default:
	}
}

func (d *desk) wantUnavailable(a *asked, why string) {
	d.t.Helper()
	synctest.Wait()
	select {
	case <-a.done:
	default:
		d.t.Fatalf("%s is still pending", a.id)
	}
	if !errors.Is(a.err, interact.ErrUnavailable) || !strings.Contains(a.err.Error(), why) || a.answer.Outcome != "" {
		d.t.Errorf("%s: %+v, %v; want unavailable, because %s", a.id, a.answer, a.err, why)
	}
}

func allowed() operator.Answer {
	return operator.Answer{Answer: interact.Answer{
		Outcome: api.Allowed, Scope: policy.Once, ShownSHA256: interact.Digest(askedInput),
	}}
}

func ids(prompts []operator.Prompt) string {
	var all []string
	for _, p := range prompts {
		all = append(all, string(p.ID))
	}
	return strings.Join(all, " ")
}

// The windows hear that an answer was taken when the journal has it, and not at all when something else came first.
func TestAnAnswerIsTakenOnceItIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		settles := make(chan interact.Answer)
		d.settled = func(context.Context, interact.ID) (interact.Answer, error) { return <-settles, nil }
		for _, tt := range []struct {
			came interact.Answer
			want error
		}{
			{interact.Answer{Outcome: api.Allowed, By: api.ByHuman}, nil},
			{interact.Answer{Outcome: api.Cancelled}, operator.ErrGone},
		} {
			a, taken := d.ask("a"), make(chan error, 1)
			d.shows()
			answer := allowed()
			answer.ID, answer.Digest = a.id, d.digest(a.id)
			go func() { taken <- d.answers().Answer(t.Context(), answer) }()
			synctest.Wait()
			select {
			case err := <-taken:
				t.Fatalf("%v, before anything was settled", err)
			default:
			}
			settles <- tt.came
			if err := <-taken; !errors.Is(err, tt.want) {
				t.Errorf("%+v came of it, and the windows hear %v", tt.came, err)
			}
			<-a.done
		}
	})
}

func TestWindowsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		synctest.Wait()
		if d.starts() != 0 {
			t.Fatal("a process runs although nobody needs one")
		}
		a, b := d.ask("a"), d.ask("b")
		if got := ids(d.shows()); got != "a b" {
			t.Errorf("shown: %q", got)
		}
		if err := d.answer(b, allowed()); err != nil {
			t.Fatal(err)
		}
		<-b.done
		if b.answer.Outcome != api.Allowed || b.err != nil {
			t.Errorf("%+v, %v", b.answer, b.err)
		}
		d.wantPending(a)
		a.cancel()
		if got := ids(d.shows()); got != "" {
			t.Errorf("shown after the caller went away: %q", got)
		}
		if err := d.answer(a, allowed()); !errors.Is(err, operator.ErrGone) {
			t.Errorf("an answer to a withdrawn request: %v", err)
		}
		if d.starts() != 1 {
			t.Errorf("%d processes", d.starts())
		}
	})
}

// What is put off, and later comes back, the windows hear of as something new about a prompt that they know.
func TestWindowsKeepTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		now := time.Now()
		a := d.ask("a")
		d.wantPending(a)
		r := interact.Request{ID: "a", Created: now, Deadline: now.Add(time.Hour), Until: now.Add(2 * time.Hour),
			Body: interact.Approve{Tool: "Bash", Input: []byte("{}")}}
		for revision, snoozed := range []time.Time{now.Add(time.Minute), {}} {
			r.Snoozed = snoozed
			d.w.keepTime([]interact.Request{r})
			d.w.keepTime([]interact.Request{r}) // nothing new
			all, err := d.w.Prompts(t.Context(), map[interact.ID]int{"a": revision + 1})
			if err != nil || len(all.Prompts) != 1 {
				t.Fatalf("%+v, %v", all, err)
			}
			want := interact.Times{Left: time.Hour, Patient: 2 * time.Hour}
			if !snoozed.IsZero() {
				want.Snoozed = time.Minute
			}
			if p := all.Prompts[0]; p.Request == nil || p.Times != want || p.Revision != revision+2 {
				t.Errorf("%+v, want %+v in revision %d", p, want, revision+2)
			}
		}
	})
}

// However much is pending, the windows fetch a little at a time.
func TestWindowsFetchTheOldestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.created = time.Now()
		d.ask("second")
		d.created = d.created.Add(-time.Millisecond)
		d.ask("first")
		if got := ids(d.shows()); got != "first second" {
			t.Errorf("shown: %q", got)
		}
	})
}

func TestWindowsFetchALittleAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for i := range 3 * maxFresh {
			d.ask(interact.ID(fmt.Sprint(i)))
		}
		pending, err := d.now().client.Prompts(t.Context(), nil)
		list := pending.Prompts
		if err != nil || len(list) != 3*maxFresh {
			t.Fatalf("%d prompts, %v", len(list), err)
		}
		for i, p := range list {
			if (p.Request != nil) != (i < maxFresh) {
				t.Errorf("prompt %d comes with its request: %v", i, p.Request != nil)
			}
		}
	})
}

// A process that dies or hangs takes no request with it: the next one shows what is pending.
func TestWindowsThatDieAreReplaced(t *testing.T) {
	kills := map[string]func(*fakeProcess){
		"killed": func(p *fakeProcess) { p.die(errKilled) },
		"hangs":  func(p *fakeProcess) { p.hangs.Store(true) },
	}
	for name, kill := range kills {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				a, b := d.ask("a"), d.ask("b")
				first := d.now()
				kill(first)
				time.Sleep(pingEvery + pingPatience + time.Second)
				if got := ids(d.shows()); got != "a b" || d.starts() != 2 {
					t.Fatalf("%d processes, the last shows %q", d.starts(), got)
				}
				if name == "hangs" && !first.killed.Load() {
					t.Error("the one that hangs still runs")
				}
				if err := d.answer(a, allowed()); err != nil {
					t.Fatal(err)
				}
				<-a.done
				d.wantPending(b)
			})
		})
	}
}

func TestWindowsThatDieAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.set(&d.crash, errors.New("exit status 2"))
		a := d.ask("a")
		d.wantUnavailable(a, "failed 3 times within a minute, so nobody was asked: "+
			"the windows ended by themselves: exit status 2")
		d.wantUnavailable(d.ask("b"), "exit status 2")
		d.w.WarmUp()
		synctest.Wait()
		if d.starts() != maxDeaths || d.failed != 1 {
			t.Errorf("%d processes, told %d times", d.starts(), d.failed)
		}
		d.set(&d.crash, nil)
		time.Sleep(deathWindow)
		d.w.WarmUp()
		synctest.Wait()
		if d.starts() != maxDeaths+1 {
			t.Errorf("a minute later: %d processes, want one that waits for a prompt", d.starts())
		}
		c := d.ask("c")
		if got := ids(d.shows()); got != "c" {
			t.Errorf("a minute later: shown: %q", got)
		}
		d.wantPending(c)
	})
}

// Without a display nobody can be asked; what was pending when it went waits for it.
func TestWindowsWithoutDisplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		a := d.ask("a")
		if got := ids(d.shows()); got != "a" {
			t.Fatalf("shown: %q", got)
		}
		d.set(&d.display, desktop.ErrNoDisplay)
		d.now().die(errors.New("exit status 1"))
		synctest.Wait()
		d.wantUnavailable(d.ask("b"), "no screen")
		time.Sleep(time.Hour)
		d.wantPending(a)
		if d.starts() != 1 {
			t.Errorf("%d processes were started without a display", d.starts()-1)
		}
		d.set(&d.display, nil)
		time.Sleep(retryDisplay[len(retryDisplay)-1])
		if got := ids(d.shows()); got != "a" {
			t.Errorf("the display is back, shown: %q", got)
		}
		if err := d.answer(a, allowed()); err != nil {
			t.Error(err)
		}
	})
}

// A display server that ends again and again takes the windows with it, which costs nothing of what waits. Whether the
// process says so, or there is no display any more when it has died: it is not the windows that fail.
func TestADisplayThatEndsAgainAndAgain(t *testing.T) {
	for name, end := range map[string]func(d *desk){
		"the process says so": func(d *desk) { d.now().die(errDisplayLost) },
		"it is not there": func(d *desk) {
			d.set(&d.display, desktop.ErrNoDisplay)
			d.now().die(errors.New("exit status 1"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				var all []*asked
				for i := range maxFresh + 2 { // more than the windows fetch at once
					all = append(all, d.ask(interact.ID(fmt.Sprint(i))))
				}
				for i := range 2 * maxDeaths {
					if d.starts() != i+1 {
						t.Fatalf("%d processes, want %d", d.starts(), i+1)
					}
					end(d)
					synctest.Wait()
					d.set(&d.display, nil)
					time.Sleep(retryDisplay[1] + time.Second)
				}
				for _, a := range all {
					d.wantPending(a)
				}
				if d.failed != 0 {
					t.Error("the user was told that the windows fail")
				}
				d.wantPending(d.ask("new"))
			})
		})
	}
}

// The settings are there once the windows say so, or it is known why they are not.
func TestTheSettingsAreBroughtToTheScreen(t *testing.T) {
	view := operator.View{Settings: true}
	report := func(d *desk, s operator.Screen) {
		if err := d.now().client.Report(d.t.Context(), s); err != nil {
			d.t.Error(err)
		}
	}
	there := operator.Screen{Open: true, Settings: true}
	for name, tt := range map[string]struct {
		before func(d *desk)
		then   func(d *desk)
		want   string
	}{
		"shown": {then: func(d *desk) { report(d, there) }},
		"another window": {
			then: func(d *desk) { report(d, operator.Screen{Open: true}) }, want: "did not open",
		},
		"died before they came": {then: func(d *desk) {
			<-d.now().views
			d.now().die(errKilled)
			synctest.Wait()
			if got := <-d.now().views; got != view {
				t.Errorf("the next windows are to show %+v", got)
			}
			report(d, there)
		}},
		"hang":    {then: func(d *desk) { d.now().hangs.Store(true) }, want: "did not open"},
		"crash":   {before: func(d *desk) { d.set(&d.crash, errors.New("exit status 2")) }, want: "exit status 2"},
		"blind":   {before: func(d *desk) { d.set(&d.display, desktop.ErrNoDisplay) }, want: "no screen to ask on"},
		"refused": {before: func(d *desk) { d.set(&d.crash, desktop.ErrNoDisplay) }, want: "no screen to ask on"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				if tt.before != nil {
					tt.before(d)
				}
				done := make(chan error, 1)
				go func() { done <- d.w.bring(t.Context(), view) }()
				synctest.Wait()
				if tt.then != nil {
					tt.then(d)
				}
				if err := <-done; (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				d.w.mu.Lock()
				defer d.w.mu.Unlock()
				if len(d.w.opening) != 0 {
					t.Error("somebody still waits")
				}
			})
		})
	}
}

// A display that takes a connection and then refuses it is found out by the process only. It is tried twice: an X
// server refuses everybody while it begins anew.
func TestWindowsWithoutAuthority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.set(&d.crash, fmt.Errorf("%w: refused", desktop.ErrNoDisplay))
		begins := d.ask("begins")
		synctest.Wait()
		d.set(&d.crash, nil)
		time.Sleep(retryDisplay[0])
		if got := ids(d.shows()); got != "begins" {
			t.Fatalf("shown: %q", got)
		}
		if err := d.answer(begins, allowed()); err != nil {
			t.Fatal(err)
		}
		d.set(&d.crash, fmt.Errorf("%w: refused", desktop.ErrNoDisplay))
		d.now().die(errDisplayLost)
		synctest.Wait()
		a := d.ask("a")
		synctest.Wait()
		time.Sleep(retryDisplay[1])
		d.wantUnavailable(a, "refused")
		d.set(&d.crash, nil)
		d.ask("b")
		if got := ids(d.shows()); got != "b" || d.failed != 0 {
			t.Errorf("shown: %q; told of failures %d times", got, d.failed)
		}
	})
}

// Each call of an agent would start a process, and log a line, if a missing display did not count for a while.
func TestCallsDoNotLookForADisplayEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.set(&d.crash, fmt.Errorf("%w: refused", desktop.ErrNoDisplay))
		warmUp := func(times int) {
			for range times {
				d.w.WarmUp()
				synctest.Wait()
				time.Sleep(2 * time.Second) // that a refusal may be a display that restarts is over
			}
		}
		warmUp(1)
		begun := d.starts()
		warmUp(20)
		if d.starts() != begun {
			t.Errorf("20 calls started %d processes", d.starts()-begun)
		}
		d.set(&d.crash, nil)
		time.Sleep(displayPause)
		warmUp(1)
		if d.starts() != begun+1 {
			t.Errorf("a minute later %d processes started, want 1", d.starts()-begun)
		}
	})
}

func TestWindowsEndWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.w.WarmUp()
		p := d.now()
		time.Sleep(9 * time.Minute)
		d.w.WarmUp() // an agent is still there
		time.Sleep(9 * time.Minute)
		select {
		case <-p.client.Done():
			t.Fatal("it ended although an agent called nine minutes ago")
		default:
		}
		time.Sleep(2 * time.Minute)
		<-p.client.Done()
		if p.killed.Load() || d.starts() != 1 {
			t.Errorf("killed: %v, processes: %d", p.killed.Load(), d.starts())
		}
		d.ask("a")
		if got := ids(d.shows()); got != "a" || d.starts() != 2 {
			t.Errorf("%d processes, shown: %q", d.starts(), got)
		}
		time.Sleep(time.Hour)
		if got := d.now(); got.killed.Load() || d.starts() != 2 {
			t.Error("a process with a prompt on screen counts as idle")
		}
	})
}

// An open window keeps the process.
func TestWindowsStayWhileOneIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.w.Show(operator.View{Settings: true})
		p := d.now()
		if v := <-p.views; !v.Settings {
			t.Errorf("%+v", v)
		}
		ctx := context.Background()
		if err := p.client.Report(ctx, operator.Screen{Open: true, Focused: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if !d.w.focused() || d.starts() != 1 {
			t.Error("it ended with a window open")
		}
		if err := p.client.Report(ctx, operator.Screen{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		<-p.client.Done()
		if d.w.focused() {
			t.Error("what is gone has the focus")
		}
	})
}

// Only a window that may show the history hears that it has other entries.
func TestAnOpenWindowFollowsTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.w.HistoryChanged()
		d.w.Show(operator.View{History: true})
		p := d.now()
		for _, open := range []bool{false, true, false} {
			if err := p.client.Report(t.Context(), operator.Screen{Open: open}); err != nil {
				t.Fatal(err)
			}
			d.w.HistoryChanged()
			synctest.Wait()
			select {
			case <-p.news:
				if !open {
					t.Error("it is told with no window open")
				}
			default:
				if open {
					t.Error("an open window is not told")
				}
			}
		}
	})
}

// What comes between the filling of a window and the report that it is open is told with the report.
func TestHistoryChangesWhileAWindowOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.w.Show(operator.View{History: true})
		p := d.now()
		d.w.HistoryChanged()
		for _, told := range []bool{true, false} { // once
			if err := p.client.Report(t.Context(), operator.Screen{Open: true}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if (len(p.news) > 0) != told {
				t.Errorf("told: %v, want %v", !told, told)
			}
			select {
			case <-p.news:
			default:
			}
		}
	})
}

// The prompt that the user wants to see comes before the word to show it, however many others come first.
func TestAWantedPromptComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for i := range maxFresh + 1 {
			d.ask(interact.ID(fmt.Sprint(i)))
		}
		want := operator.View{Request: interact.ID(fmt.Sprint(maxFresh))}
		d.w.Show(want)
		known := map[interact.ID]int{}
		for _, p := range d.shows() {
			if p.Request != nil {
				known[p.ID] = p.Revision
			}
		}
		if got := len(d.now().views); got != 0 || len(known) != maxFresh {
			t.Errorf("%d views to show with the first %d prompts", got, len(known))
		}
		next, err := d.now().client.Prompts(t.Context(), known)
		if err != nil || !slices.Equal(next.Wanted, []operator.View{want}) || next.Prompts[maxFresh].Request == nil {
			t.Errorf("then: %+v, %v", next, err)
		}
	})
}

// What waits in the tray needs no process, until the user asks for it.
func TestPromptsWaitInTheTray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.quiet.Store(true)
		a, b := d.ask("a"), d.ask("b")
		d.wantPending(a)
		d.w.Show(operator.View{Settings: true})
		if got := ids(d.shows()); got != "" {
			t.Fatalf("shows %s, want the settings only", got)
		}
		d.w.Show(operator.View{Request: "b"})
		if got := ids(d.shows()); got != "a b" {
			t.Errorf("shows %q, want both", got)
		}
		c := d.ask("c")
		if got := ids(d.shows()); got != "a b c" {
			t.Errorf("shows %q, want the new one behind the others", got)
		}
		for _, one := range []*asked{a, b, c} {
			if err := d.answer(one, allowed()); err != nil {
				t.Error(err)
			}
		}
		d.shows()
		e := d.ask("e")
		if got := ids(d.shows()); got != "" {
			t.Errorf("shows %q, want it in the tray again", got)
		}
		d.quiet.Store(false)
		d.w.refetch()
		if got := ids(d.shows()); got != "e" {
			t.Errorf("shows %q once it need not wait any more", got)
		}
		d.wantPending(e)
	})
}

// An allow that is kept saves what was shown, or is not taken.
func TestAllowSavesWhatWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.saves = "allow make"
		a := d.ask("a")
		first := d.shows()
		always := allowed()
		always.Digest, always.Answer.Scope, always.Answer.Covers = d.digest("a"), policy.Always, policy.CoverInput
		d.saves = "allow make and git push"
		d.w.refetch()
		second := d.shows()
		if len(first) != 1 || len(second) != 1 || second[0].Revision <= first[0].Revision {
			t.Fatalf("%+v, then %+v", first, second)
		}
		if err := d.answer(a, always); !errors.Is(err, operator.ErrChanged) {
			t.Errorf("%v, want ErrChanged", err)
		}
		once := allowed()
		once.Digest = always.Digest
		if err := d.answer(a, once); !errors.Is(err, operator.ErrChanged) {
			t.Errorf("once: %v, want ErrChanged", err)
		}
		d.wantPending(a)
		always.Digest = d.digest("a")
		always.Answer.Scope = policy.ThisSession
		if err := d.answer(a, always); !errors.Is(err, operator.ErrChanged) {
			t.Errorf("a scope that was not offered: %v, want ErrChanged", err)
		}
		always.Answer.Scope, always.Answer.ShownSHA256 = policy.Always, interact.Digest([]byte("{}"))
		if err := d.answer(a, always); err == nil {
			t.Error("another input than the one shown was allowed")
		}
		d.wantPending(a)
		always.Answer.ShownSHA256 = interact.Digest(askedInput)
		if err := d.answer(a, always); err != nil {
			t.Fatal(err)
		}
		<-a.done
		if a.answer.Scope != policy.Always {
			t.Errorf("%+v", a.answer)
		}
	})
}

// What a prompt offers is what the latest policy offers, in whatever order that is worked out.
func TestTheLatestOffersAreShown(t *testing.T) {
	for name, isAsked := range map[string]bool{"while it is asked": true, "while another change is taken in": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				offer := func(text string) policy.Offers {
					return policy.Offers{Grants: []policy.Offer{{Scope: policy.Always, Text: text}}}
				}
				slow := make(chan struct{})
				d.w.offers = func(policy.Call) policy.Offers { <-slow; return offer("old") }
				d.ask("a")
				if !isAsked {
					slow <- struct{}{}
					synctest.Wait()
					go d.w.refetch()
					synctest.Wait()
				}
				d.w.offers = func(policy.Call) policy.Offers { return offer("new") }
				d.w.refetch()
				close(slow)
				synctest.Wait()
				if all := d.w.open(); len(all) != 1 || all[0].Offers.Grants[0].Text != "new" {
					t.Errorf("%+v", all)
				}
			})
		})
	}
}

// A prompt that cannot be shown is nobody's decision.
func TestPromptThatCannotBeShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		a := d.ask("a")
		if err := d.answer(a, operator.Answer{Failure: "out of memory"}); err != nil {
			t.Fatal(err)
		}
		d.wantUnavailable(a, "could not be shown")
	})
}

// A window that was wanted while nothing ran opens, however briefly the process is kept when it is idle.
func TestAWantedWindowOutlivesAShortKeep(t *testing.T) {
	for _, keep := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			d.w.keep, d.slow = func() time.Duration { return keep }, 2*time.Second
			d.w.Show(operator.View{Settings: true})
			time.Sleep(d.slow + 300*time.Millisecond)
			p := d.now()
			if len(p.views) != 1 {
				t.Fatalf("kept for %v: %d windows were asked for", keep, len(p.views))
			}
			if err := p.client.Report(t.Context(), operator.Screen{Open: true}); err != nil {
				t.Errorf("kept for %v: the process ended before its window was open: %v", keep, err)
			}
		})
	}
}
