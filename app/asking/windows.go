package asking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"nod/api"
	"nod/app/desktop"
	"nod/changes"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
)

const (
	startPatience = 10 * time.Second // how long the windows process may take to introduce itself
	pingEvery     = 2 * time.Second  // while something is on screen or should be …
	pingRarely    = 30 * time.Second // … and has been for minutes: each ping wakes them
	pingPatience  = 6 * time.Second  // how long the windows may take to handle an event; see [process.stopwatch]
	endPatience   = 3 * time.Second  // how long the windows process may take to end on its own
	maxDeaths     = 3                // of the windows process within deathWindow; then nod does not ask for a while
	deathWindow   = time.Minute
	maxShowings   = 2 // deaths with one prompt on screen; then that prompt ends

	upgradePause = time.Second // between two tries while nod-desktop may follow the windows to another version

	maxFresh = 8 // new prompts that the windows fetch at once: each may be a mebibyte
)

// windows holds the pending prompts and manages the process that shows them: it starts the process when it may be
// needed, replaces it when it dies or hangs, and ends it after a long idle time. It implements [interact.Prompter].
type windows struct {
	windowsConfig
	wake    changes.Signal // a process may be needed, or there may be something to watch it for
	changed changes.Signal // what is pending, on screen or can be undone has changed
	ended   chan struct{}  // closed when run has returned
	undos   undos
	repeats repeats

	mu        sync.Mutex
	pending   []*openPrompt          // oldest first
	policies  int                    // how often refetch was called, perhaps for another policy
	drafts    map[interact.ID][]byte // unfinished answers
	restored  map[interact.ID]bool   // was pending when nod ended, so it waits for a display, too
	process   *process               // nil while none is up
	screen    operator.Screen
	wanted    []operator.View // that the windows have not fetched yet
	opening   []opening       // callers that wait for the settings
	warm      bool            // an agent has called: a prompt may follow
	noDisplay time.Time       // when nod last found no display
	used      time.Time       // when the process was last needed
	typed     time.Time       // when the user last typed into a prompt
	deaths    []time.Time     // the last ones
	lastDeath error           // why the last one died
	since     time.Time       // when the current prompt was first on screen
}

// windowsConfig configures [windows]. All fields are required.
type windowsConfig struct {
	log         *slog.Logger
	start       func(context.Context, operator.Operator) (*process, error)
	reachable   func(context.Context) error     // says why no window can be shown
	offers      func(policy.Call) policy.Offers // what a prompt shows of an approval
	contains    func(interact.Requester) bool   // its commands run in the sandbox once that is on for the project
	keep        func() time.Duration            // how long an idle process is kept
	quiet       func(interact.Request) bool     // its prompt waits in the tray until the user asks for it
	undoFor     func() time.Duration            // how long what was saved can be undone
	failed      func(why error)                 // called when the process has died too often
	deviceReady func() bool                     // reports whether a device can answer
	outdated    func() bool                     // see [Config.Outdated]
}

type openPrompt struct {
	operator.Prompt
	call     policy.Call // of an approval
	shown    bool        // a windows process has fetched it, so it waits for a lost display
	inTray   bool        // no window shows it
	answered bool        // by the user; the broker does not know yet
	deaths   int         // of processes that showed it
	policy   int         // by which the offers were found: windows.policies then
	answer   interact.Answer
	err      error
	done     chan struct{} // closed when it is answered
}

// end ends the prompt. The caller holds windows.mu.
func (p *openPrompt) end(answer interact.Answer, err error) {
	p.answered, p.answer, p.err = true, answer, err
	close(p.done)
}

func newWindows(c windowsConfig) *windows {
	w := &windows{
		windowsConfig: c, wake: changes.NewSignal(), changed: changes.NewSignal(), ended: make(chan struct{}),
		drafts: map[interact.ID][]byte{}, restored: map[interact.ID]bool{},
	}
	w.undos.changed = w.undosChanged
	return w
}

// undosChanged shows the user what can be undone now.
func (w *windows) undosChanged() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil {
		w.process.session.State.Send()
	}
}

// Prompt implements [interact.Prompter].
func (w *windows) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	err := w.available(ctx, r.ID)
	if err != nil && !w.deviceReady() {
		return interact.Answer{}, fmt.Errorf("%w: %w", interact.ErrUnavailable, err)
	}
	p, err := w.add(r, why, err != nil)
	if err != nil {
		return interact.Answer{}, err
	}
	defer w.remove(p)
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	select {
	case <-p.done: // also if both came at once
		return p.answer, p.err
	default:
		return interact.Answer{}, ctx.Err()
	}
}

// available returns an error if the user cannot be asked now.
func (w *windows) available(ctx context.Context, id interact.ID) error {
	w.mu.Lock()
	up, crashing, isRestored := w.process != nil, w.crashing(), w.restored[id]
	w.mu.Unlock()
	switch {
	case up, isRestored:
		return nil
	case crashing != nil:
		return crashing
	}
	return w.reachable(ctx)
}

// crashing returns an error if the process has died too often lately. The caller holds w.mu.
func (w *windows) crashing() error {
	w.deaths = slices.DeleteFunc(w.deaths, func(t time.Time) bool { return time.Since(t) >= deathWindow })
	if len(w.deaths) < maxDeaths {
		return nil
	}
	return fmt.Errorf("nod's windows failed %d times within a minute, so nobody was asked: %w", maxDeaths, w.lastDeath)
}

// add makes a request pending, only in the tray if hidden.
func (w *windows) add(r interact.Request, why policy.Decision, hidden bool) (*openPrompt, error) {
	p := &openPrompt{Prompt: operator.Prompt{ID: r.ID, Revision: 1, Request: &r, Why: why}, done: make(chan struct{})}
	w.mu.Lock()
	p.policy = w.policies
	w.mu.Unlock()
	if a, ok := r.Body.(interact.Approve); ok && r.Requester.Machine == "" {
		p.call = a.Call(r.Requester)
		p.call.Contains = w.contains(r.Requester) // then it is offered
		p.Offers = w.offersOf(p.call)
	} else if r.Reported != nil {
		p.Offers = reportedOffers(*r.Reported)
	}
	if err := p.digest(); err != nil {
		return nil, err
	}
	quiet := w.quiet(r)
	w.mu.Lock()
	p.shown = w.restored[r.ID]
	delete(w.restored, r.ID)
	p.inTray = hidden || quiet && !w.waiting() // with others on screen it joins their queue
	w.pending = append(w.pending, p)
	slices.SortStableFunc(w.pending, func(x, y *openPrompt) int { // each is added by a goroutine of its own
		return x.Request.Created.Compare(y.Request.Created)
	})
	w.used = time.Now()
	isOld := p.policy != w.policies
	w.mu.Unlock()
	if isOld { // the policy changed while the offers were found
		w.reoffer(p)
	}
	w.refetchPrompts()
	return p, nil
}

// digest sets the digest of what the prompt shows. A request never changes, so its ID represents it.
func (p *openPrompt) digest() (err error) {
	p.Digest, err = digestOf(struct {
		ID     interact.ID
		Why    policy.Decision
		Offers policy.Offers
	}{p.ID, p.Why, p.Offers})
	return err
}

// maxParts is the length of an input, in bytes, above which a prompt does not list its parts: no user reads that many.
const maxParts = 10_000

func (w *windows) offersOf(c policy.Call) policy.Offers {
	offers := w.offers(c)
	offers.Allowed = w.repeats.of(c, time.Now())
	if len(c.Input.Raw) > maxParts {
		offers.Parts = nil
	}
	return offers
}

// reportedOffers returns the offers of a relay, which saves the approvals there. No relay can offer a rule, which would
// be this desk's.
func reportedOffers(r interact.Reported) policy.Offers {
	isRule := func(o policy.Offer) bool { return o.Scope.IsPermanent() }
	return policy.Offers{Parts: r.Offers.Parts, Grants: slices.DeleteFunc(slices.Clone(r.Offers.Grants), isRule)}
}

func (w *windows) keepTime(pending []interact.Request) {
	w.mu.Lock()
	changed := false
	for _, p := range w.pending {
		i := slices.IndexFunc(pending, func(r interact.Request) bool { return r.ID == p.ID })
		if i < 0 || pending[i].Snoozed.Equal(p.Request.Snoozed) && pending[i].Deadline.Equal(p.Request.Deadline) {
			continue
		}
		r := pending[i]
		p.Request = &r
		p.Revision++
		changed = true
	}
	w.mu.Unlock()
	if changed {
		w.refetchPrompts()
	}
}

func (w *windows) remove(p *openPrompt) {
	w.mu.Lock()
	w.pending = slices.DeleteFunc(w.pending, func(other *openPrompt) bool { return other == p })
	delete(w.drafts, p.ID)
	w.used = time.Now()
	w.mu.Unlock()
	w.refetchPrompts()
}

// refetchPrompts makes the windows fetch what is pending, and starts the process if none runs.
func (w *windows) refetchPrompts() {
	w.mu.Lock()
	if w.process != nil {
		w.process.session.Prompts.Send()
	}
	w.mu.Unlock()
	w.wake.Send()
	w.changed.Send()
}

// refetch makes the windows fetch everything again, because the configuration, the grants or the presence changed.
func (w *windows) refetch() {
	w.mu.Lock()
	w.policies++
	all := slices.Clone(w.pending)
	w.mu.Unlock()
	w.release(func(p *openPrompt) bool { return !w.quiet(*p.Request) })
	w.reoffer(all...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil {
		w.process.session.Prompts.Send()
		w.process.session.State.Send()
	}
}

// reoffer finds what the approvals among prompts offer by the current policy.
func (w *windows) reoffer(prompts ...*openPrompt) {
	w.mu.Lock()
	now := w.policies
	w.mu.Unlock()
	for _, p := range prompts {
		if p.call.Tool == "" {
			continue
		}
		offers := w.offersOf(p.call)
		w.mu.Lock()
		isOld := p.policy > now // a later policy was faster
		p.policy = max(p.policy, now)
		if !isOld && !reflect.DeepEqual(offers, p.Offers) {
			p.Offers = offers
			p.Revision++
			if err := p.digest(); err != nil {
				w.log.Error("a prompt can only be denied", "id", p.ID, "err", err)
			}
		}
		w.mu.Unlock()
	}
}

// HistoryChanged makes the windows fetch the journal's entries if a window that may show them is open.
func (w *windows) HistoryChanged() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil && w.screen.Open {
		w.process.session.History.Send()
	}
}

// release makes the windows show the prompts in the tray for which may returns true.
func (w *windows) release(may func(*openPrompt) bool) {
	w.mu.Lock()
	released := false
	for _, p := range w.pending {
		if p.inTray && may(p) {
			p.inTray, released = false, true
		}
	}
	w.mu.Unlock()
	if released {
		w.refetchPrompts()
	}
}

// Prompts implements [operator.Operator].
func (w *windows) Prompts(_ context.Context, known map[interact.ID]int) (operator.Pending, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all operator.Pending
	fresh := 0
	for _, p := range w.pending {
		switch {
		case p.answered, p.inTray:
		case known[p.ID] == p.Revision || fresh == maxFresh:
			all.Prompts = append(all.Prompts, operator.Prompt{ID: p.ID, Revision: p.Revision})
		default:
			one := p.Prompt
			one.Times, one.Draft = interact.TimesOf(*p.Request, time.Now()), w.drafts[p.ID]
			all.Prompts = append(all.Prompts, one)
			p.shown = true
			fresh++
		}
	}
	if fresh < maxFresh { // else what is wanted may be a prompt that is still missing
		all.Wanted, w.wanted = w.wanted, nil
	}
	return all, nil
}

// open lists the pending prompts, oldest first, including those in the tray.
func (w *windows) open() []operator.Prompt {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []operator.Prompt
	for _, p := range w.pending {
		if !p.answered {
			all = append(all, p.Prompt)
		}
	}
	return all
}

// unanswered returns rs without the requests whose answer is not in the journal yet.
func (w *windows) unanswered(rs []interact.Request) []interact.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(rs), func(r interact.Request) bool {
		return slices.ContainsFunc(w.pending, func(p *openPrompt) bool { return p.ID == r.ID && p.answered })
	})
}

// find returns the prompt of a request that the user has not answered, or nil. The caller holds w.mu.
func (w *windows) find(id interact.ID) *openPrompt {
	i := slices.IndexFunc(w.pending, func(p *openPrompt) bool { return p.ID == id && !p.answered })
	if i < 0 {
		return nil
	}
	return w.pending[i]
}

// invalidError says why an answer does not fit its request.
type invalidError struct{ error }

func (e invalidError) Unwrap() error { return e.error }

// take ends a prompt with the user's answer, wherever they gave it. Answers are checked only here and in
// [interact.Request.Check]. A no counts whatever was shown.
func (w *windows) take(a operator.Answer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.find(a.ID)
	if p == nil {
		return operator.ErrGone
	}
	isNo := a.Answer.Outcome == api.Denied || a.Answer.Outcome == api.Dismissed
	isKept := a.Answer.Scope != "" && a.Answer.Scope != policy.Once
	switch {
	case a.Failure != "":
		w.log.Error("a prompt could not be shown", "id", a.ID, "err", a.Failure)
		p.end(interact.Answer{}, fmt.Errorf("%w: the prompt could not be shown", interact.ErrUnavailable))
		return nil
	case !isNo && (p.Digest == "" || a.Digest != p.Digest),
		isKept && p.Offers.Grant(a.Answer.Scope, a.Answer.Covers).Text == "": // nothing that the prompt did not offer
		return operator.ErrChanged
	}
	if err := p.Request.Check(a.Answer); err != nil {
		return invalidError{err}
	}
	if p.call.Tool != "" && a.Answer.Outcome == api.Allowed {
		w.repeats.add(p.call, time.Now())
	}
	p.end(a.Answer, nil)
	return nil
}

// Report implements [operator.Operator].
func (w *windows) Report(_ context.Context, s operator.Screen) error {
	w.mu.Lock()
	if s.Prompt != w.screen.Prompt {
		w.since = time.Now()
	}
	if s.Open && !w.screen.Open && w.process != nil {
		w.process.session.History.Send() // a window is filled before it is reported: of what came since it was not told
	}
	w.screen, w.used = s, time.Now()
	isWanted := slices.ContainsFunc(w.wanted, func(v operator.View) bool { return v.Settings })
	if s.Settings && !isWanted { // else they were open before
		w.opened(nil)
	}
	w.mu.Unlock()
	w.wake.Send()
	w.changed.Send()
	return nil
}

func (w *windows) focused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.screen.Focused
}

// Show brings a window to the front. If that is a prompt, it also shows all prompts that wait in the tray.
func (w *windows) Show(v operator.View) {
	if !v.Settings && !v.History {
		w.release(func(*openPrompt) bool { return true })
	}
	w.mu.Lock()
	w.used = time.Now()
	w.deaths = nil // the user wants to see something: try again
	if !slices.Contains(w.wanted, v) {
		w.wanted = append(w.wanted, v)
	}
	w.mu.Unlock()
	w.refetchPrompts()
}

// opening is a caller that waits for the settings to open.
type opening struct {
	view operator.View
	done chan error // receives once
}

// openPatience is how long the settings may take to open.
const openPatience = 20 * time.Second

// bring opens the settings and waits until they are open. It fails if no window can be shown.
func (w *windows) bring(ctx context.Context, v operator.View) error {
	w.mu.Lock()
	isUp := w.process != nil
	w.mu.Unlock()
	if !isUp {
		if err := w.reachable(ctx); err != nil {
			return err
		}
	}
	o := opening{v, make(chan error, 1)}
	w.mu.Lock()
	w.opening = append(w.opening, o)
	w.mu.Unlock()
	w.Show(v)
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
	case <-time.After(openPatience):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opening = slices.DeleteFunc(w.opening, func(one opening) bool { return one == o })
	return fmt.Errorf("nod's windows did not open within %v: the log says why", openPatience)
}

// opened ends the wait of all callers that wait for the settings. The caller holds w.mu.
func (w *windows) opened(err error) {
	for _, o := range w.opening {
		o.done <- err
	}
	w.opening = nil
}

// displayPause is how long calls do not start the process after nod has found no display. Prompts start it.
const displayPause = time.Minute

// WarmUp starts the process because an agent has called, so that a prompt may follow.
func (w *windows) WarmUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = time.Now()
	if w.process == nil && w.used.Sub(w.noDisplay) >= displayPause {
		w.warm = true
		w.wake.Send()
	}
}

// retryDisplay is how long nod waits before it looks again for a display while something is pending.
var retryDisplay = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second}

// run keeps the process alive while it is needed, until ctx ends.
func (w *windows) run(ctx context.Context, op operator.Operator) {
	defer close(w.ended)
	for misses := 0; ctx.Err() == nil; {
		if !w.needed() {
			misses = 0
			select {
			case <-ctx.Done():
			case <-w.wake:
			}
			continue
		}
		err := w.reachable(ctx)
		isThere := err == nil
		if isThere {
			err = w.cause(ctx, w.runProcess(ctx, op))
		}
		if errors.Is(err, operator.ErrVersion) && w.outdated() { // what is pending waits for the next nod-desktop
			w.log.Info("the windows are of another version", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(upgradePause):
			}
			continue
		}
		if !errors.Is(err, desktop.ErrNoDisplay) {
			misses = 0
			w.account(ctx, err)
			continue
		}
		misses = w.awaitDisplay(ctx, err, isThere, misses)
	}
}

// awaitDisplay waits until it is time to look for a display again, and returns the new number of misses. A display that
// answers but refused the windows, or that has just ended, may be about to restart, as X servers do when their last
// client leaves, so nod tries it once more before it ends any request.
func (w *windows) awaitDisplay(ctx context.Context, why error, isThere bool, misses int) int {
	isLost := errors.Is(why, errDisplayLost)
	if isLost {
		misses = min(misses, 1) // it answered a moment ago
	}
	w.log.Warn("nod can't show windows: open prompts wait for a display", "err", why)
	w.mu.Lock()
	w.noDisplay = time.Now()
	for _, p := range w.pending {
		p.shown = p.shown || isLost // all wait for it, even those that no process has fetched yet
	}
	w.mu.Unlock()
	wake := w.wake
	if isThere && misses == 0 {
		wake = nil
	} else {
		w.giveUp(why, func(p *openPrompt) bool { return !p.shown })
	}
	select {
	case <-ctx.Done():
	case <-wake:
	case <-time.After(retryDisplay[min(misses, len(retryDisplay)-1)]):
		misses++
	}
	return misses
}

var errDisplayLost = fmt.Errorf("%w: the display server has ended", desktop.ErrNoDisplay)

// cause returns why a process ended with err. If the display is gone, that is the reason, whatever err says.
func (w *windows) cause(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, desktop.ErrNoDisplay) || errors.Is(err, operator.ErrVersion) {
		return err
	}
	if gone := w.reachable(ctx); errors.Is(gone, desktop.ErrNoDisplay) {
		return fmt.Errorf("%w: %w", errDisplayLost, gone)
	}
	return err
}

// needed reports whether there should be a process.
func (w *windows) needed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting() || len(w.wanted) > 0 || w.warm && w.crashing() == nil
}

// waiting reports whether a request is pending for the windows that has no answer yet. The caller holds w.mu.
func (w *windows) waiting() bool {
	return slices.ContainsFunc(w.pending, func(p *openPrompt) bool { return !p.answered && !p.inTray })
}

// giveUp ends the pending requests selected by which as unavailable, or puts them into the tray while a device can
// answer them, and drops the windows that were to be shown.
func (w *windows) giveUp(why error, which func(*openPrompt) bool) {
	deviceReady := w.deviceReady()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warm, w.wanted = false, nil
	w.opened(why)
	for _, p := range w.pending {
		switch {
		case p.answered || !which(p):
		case deviceReady:
			p.inTray = true
		default:
			p.end(interact.Answer{}, fmt.Errorf("%w: %w", interact.ErrUnavailable, why))
		}
	}
}

// account counts an end of the process. A nil err means that nod wanted it.
func (w *windows) account(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	w.lastDeath = err
	blamed := w.blame(err)
	crashing, pending := w.crashing(), len(w.pending)
	w.mu.Unlock()
	w.log.Error("the windows died", "err", err, "pending", pending, "blamed", blamed, "given_up", crashing != nil)
	switch {
	case crashing != nil:
		w.giveUp(crashing, func(*openPrompt) bool { return true })
		w.failed(crashing)
	case blamed != "":
		w.failed(errCannotShow)
	}
}

// blame counts a death of the process against the prompt on screen. After too many it ends the prompt and returns its
// ID. The caller holds w.mu.
func (w *windows) blame(err error) (ended interact.ID) {
	p := w.find(w.screen.Prompt) // which the windows showed when they died
	if p == nil {
		w.deaths = append(w.deaths, time.Now())
		return ""
	}
	if p.deaths++; p.deaths < maxShowings {
		return ""
	}
	p.end(interact.Answer{}, fmt.Errorf("%w: %w, so nobody was asked: %w", interact.ErrUnavailable, errCannotShow, err))
	return p.ID
}

// errCannotShow says that a request ended because the windows kept dying while they showed it.
var errCannotShow = fmt.Errorf("nod's windows failed %d times while they showed this request", maxShowings)

// forgive resets the deaths of the prompt on screen after it has been shown for a long time.
func (w *windows) forgive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.find(w.screen.Prompt); p != nil && time.Since(w.since) > deathWindow {
		p.deaths = 0
	}
}

// runProcess runs one process to its end. It returns nil if nod ended the process because it was not needed.
func (w *windows) runProcess(ctx context.Context, op operator.Operator) error {
	p, err := w.start(ctx, op)
	if err != nil {
		return err
	}
	began, had := time.Now(), p.stopwatch()
	w.setProcess(p)
	defer w.setProcess(nil)
	defer w.changed.Send()
	for isUp := false; !isUp; {
		select {
		case <-p.session.Ready:
			isUp = true
		case <-p.session.Done:
			return p.end(errEnded)
		case <-ctx.Done():
			return p.end(nil)
		case <-time.After(max(startPatience-had(), leastPatience)):
			if had() >= startPatience {
				return p.end(fmt.Errorf("the windows did not start within %v", startPatience))
			}
		}
	}
	w.mu.Lock()
	w.used = time.Now() // how long it took to come up is not idle time
	w.mu.Unlock()
	w.log.Info("the windows are up", "pid", p.pid, "after", time.Since(began).Round(time.Millisecond))
	return p.end(w.watch(ctx, p))
}

// setProcess sets the running process; nil means none. It remembers the prompt that the last process showed.
func (w *windows) setProcess(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	screen := operator.Screen{}
	if p == nil {
		screen.Prompt = w.screen.Prompt
		for _, o := range w.opening { // the process may have fetched it and died
			if !slices.Contains(w.wanted, o.view) {
				w.wanted = append(w.wanted, o.view)
			}
		}
	}
	w.process, w.screen, w.warm = p, screen, false
}

var errEnded = errors.New("the windows ended by themselves")

// watch returns nil when the process has not been needed for a long time or ctx ends, and an error when the process has
// ended or hangs. It pings only while something is on screen or should be.
func (w *windows) watch(ctx context.Context, p *process) error {
	for pinged := time.Now(); ; {
		busy, used := w.state()
		next := max(w.keep(), pingPatience) - time.Since(used) // a window that was just wanted may not be open yet
		switch {
		case busy:
			next = min(max(pingEvery, time.Since(used)/2), pingRarely) - time.Since(pinged)
		case next <= 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.session.Done:
			return errEnded
		case <-w.wake:
			continue
		case <-time.After(next):
		}
		if busy {
			if err := p.ping(ctx); err != nil {
				return err
			}
			w.forgive()
			pinged = time.Now()
		}
	}
}

// state reports whether something is or should be on screen, and when the process was last needed.
func (w *windows) state() (busy bool, used time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting() || w.screen.Open || len(w.opening) > 0, w.used
}
