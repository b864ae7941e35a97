// Package dialogs is the window that asks the human, and the queue of what waits for it.
//
// [Prompter] shows each request as a prompt and returns the answer. Nothing that an agent writes can change
// what the window says beside it: the title is constant, the agent's words are plain text with every hidden
// character spelled out, and all other words are nod's. Nothing is approved by accident: the affirmative
// works only after the prompt has been visible, focused and unchanged for a moment and its whole input has
// been in view, and no plain key ever presses it.
package dialogs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"nod/interact"
	"nod/policy"
	"nod/policy/config"
)

// Options are what a [Prompter] needs of its surroundings.
type Options struct {
	// Config is read at each prompt. Nil means the default configuration.
	Config func() config.Prompt
	// Offers are what the prompt of that request says and offers. Nil means that no parts are shown, and only
	// "once" is offered. After a change of it call [Prompter.Renew].
	Offers func(id interact.ID) policy.Offers
	// Settle takes back what [Prompter.SetUndos] has told of. It may call done on any goroutine.
	Settle Settle
	// Snooze puts a request off for a while, or ends that with 0, and does not block. What comes of it is told by
	// [Prompter.Renew]. Nil means that nothing can be put off.
	Snooze func(id interact.ID, d time.Duration)
	// Draft is what was typed into the prompt of that request before this Prompter was there, as SaveDraft got it. Nil
	// means that nothing was.
	Draft func(id interact.ID) []byte
	// SaveDraft keeps what is typed into a prompt, soon after that, and does not block; an empty draft says that nothing
	// is any more. Nil means that it lasts only as long as this Prompter.
	SaveDraft func(id interact.ID, draft []byte)
	// Showing, if not nil, is called on the UI goroutine before another prompt is laid out, with its request: "" when none
	// is shown any more. What fails from then on may be the fault of that prompt.
	Showing func(id interact.ID)
	// Changed, if not nil, is called on the UI goroutine whenever what waits may have changed, or whether the window
	// has the focus. Of the Prompter it may call Waiting and Focused only.
	Changed func()
	// Log takes what goes wrong inside a prompt. Nil means the default logger.
	Log *slog.Logger
}

// Prompter shows requests to the human, one at a time, in one window.
type Prompter struct {
	app     fyne.App
	options Options

	now    func() time.Time
	do     func(func())                            // runs a function on the UI goroutine
	later  func(func())                            // runs a function soon, after the event at hand
	timer  func(time.Duration, func()) *time.Timer // [time.AfterFunc]
	screen func(fyne.Window) fyne.Size             // of the screen that a window is on
	// aside does work on another goroutine, and then what it returns on that of the UI.
	aside func(work func() (show func()))

	hasRoomBeside func(w fyne.Window, width float32) bool

	// mu keeps functions sent to the UI goroutine apart once Fyne's loop is over: then Fyne runs them on the
	// goroutine that sent them.
	mu      sync.Mutex
	queue   *queue
	showing interact.ID // as told
	window  *window     // nil until it is needed
	strip   *undoStrip
}

// reply is what came of a request.
type reply struct {
	answer interact.Answer
	err    error
}

// New returns a Prompter that shows its window through a. Nothing is shown before Fyne's loop runs.
func New(a fyne.App, o Options) *Prompter {
	if o.Config == nil {
		o.Config = func() config.Prompt { return config.Default().Prompt }
	}
	if o.Offers == nil {
		o.Offers = func(interact.ID) policy.Offers { return policy.Offers{} }
	}
	if o.Draft == nil {
		o.Draft = func(interact.ID) []byte { return nil }
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	p := &Prompter{
		app: a, options: o, now: time.Now, do: fyne.Do,
		later: func(f func()) { f() },
		timer: time.AfterFunc, screen: screenOf, hasRoomBeside: hasRoomBeside,
		queue: &queue{},
	}
	p.aside = func(work func() func()) { go func() { p.post(work()) }() }
	return p
}

// Open shows a request, after those that were opened before it. The function it returns waits for the answer; when
// ctx ends first, the prompt goes.
func (p *Prompter) Open(r interact.Request, why policy.Decision) func(ctx context.Context) (interact.Answer, error) {
	answered := make(chan reply, 1)
	p.post(func() { p.open(r, why, answered) })
	return func(ctx context.Context) (interact.Answer, error) {
		select {
		case got := <-answered:
			return got.answer, got.err
		case <-ctx.Done():
			p.post(func() { p.withdraw(r.ID) })
			return interact.Answer{}, ctx.Err()
		}
	}
}

// Prepare makes the window while there is nothing to do, so that the first prompt appears at once.
func (p *Prompter) Prepare() {
	p.post(func() {
		p.ready()
		p.window.warm()
	})
}

// Raise brings the current prompt to the front. Without one it does nothing.
func (p *Prompter) Raise() {
	p.post(func() {
		if p.window != nil {
			p.window.raise()
		}
	})
}

// Show brings the prompt of the request to the front, also when it was snoozed.
func (p *Prompter) Show(id interact.ID) {
	p.post(func() {
		e := p.queue.find(id)
		if e == nil {
			return
		}
		p.show(e)
		p.window.raise()
	})
}

// show makes e the current entry, also when it was snoozed.
func (p *Prompter) show(e *entry) {
	if e.isSnoozed() {
		p.snooze(e, 0)
	}
	p.queue.current = e
	p.changed()
}

// Renew takes in the times of a request as they are now, and brings what prompts say of the policy up to date.
func (p *Prompter) Renew(r interact.Request) {
	p.post(func() {
		e := p.queue.find(r.ID)
		if e == nil {
			return
		}
		wasSnoozed := e.isSnoozed()
		p.queue.retime(e, r)
		p.changed()
		if wasSnoozed && !e.isSnoozed() {
			p.window.comeBack()
		}
	})
}

// Waiting is the number of requests that wait for the human. It is for the UI goroutine.
func (p *Prompter) Waiting() int { return len(p.queue.entries) }

// Focused reports whether the window has the focus. It is for the UI goroutine.
func (p *Prompter) Focused() bool { return p.window != nil && p.window.arm.focused }

// post runs f on the UI goroutine.
func (p *Prompter) post(f func()) {
	p.do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		f()
	})
}

// after runs f on the UI goroutine in a while.
func (p *Prompter) after(d time.Duration, f func()) *time.Timer {
	return p.timer(d, func() { p.post(f) })
}

// ready makes the window if there is none.
func (p *Prompter) ready() {
	if p.window == nil {
		p.window, p.strip = newWindow(p), newUndoStrip(p)
	}
}

// open puts a request into the queue and shows it when its turn is now.
func (p *Prompter) open(r interact.Request, why policy.Decision, to chan<- reply) {
	if kind := r.Body.Kind(); kind == interact.KindNotify {
		p.options.Log.Error("there is no prompt for such a request", "request", r.ID, "kind", kind)
		to <- reply{err: fmt.Errorf("%w: there is no prompt for %s", interact.ErrUnavailable, kind)}
		return
	}
	p.queue.add(r, why, to)
	p.ready()
	p.changed()
	if r.Snoozed.IsZero() {
		p.window.comeBack()
	}
}

// withdraw takes a request off the screen because its caller no longer waits.
func (p *Prompter) withdraw(id interact.ID) {
	e := p.queue.drop(id)
	if e == nil {
		return
	}
	if p.window.shows(e) && p.queue.current != e {
		p.window.endedByItself()
	}
	p.changed()
}

// answer ends an entry with the human's answer.
func (p *Prompter) answer(e *entry, a interact.Answer) {
	if p.queue.drop(e.request.ID) == nil { // ended already
		return
	}
	a.Shown = p.shown(e)
	e.answered <- reply{answer: a}
	p.changed()
}

// snooze puts an entry away for a while, or ends that with 0. What was typed stays. How long its caller waits for the
// answer, and when it is back, is for nod to say.
func (p *Prompter) snooze(e *entry, d time.Duration) {
	r := e.request
	if r.Snoozed = (time.Time{}); d > 0 {
		r.Snoozed = p.now().Add(d)
	}
	p.queue.retime(e, r)
	p.options.Snooze(e.request.ID, d)
	p.changed()
}

// changed brings everything that depends on the queue up to date.
func (p *Prompter) changed() {
	p.tellShowing()
	if p.window != nil {
		p.window.update()
		p.strip.update()
	}
	p.tell()
}

// tellShowing says which prompt is about to be in the window.
func (p *Prompter) tellShowing() {
	var now interact.ID
	if p.queue.current != nil {
		now = p.queue.current.request.ID
	}
	if now != p.showing && p.options.Showing != nil {
		p.options.Showing(now)
	}
	p.showing = now
}

// tell says that what waits may have changed, or the focus, or what can be undone.
func (p *Prompter) tell() {
	if p.options.Changed != nil {
		p.options.Changed()
	}
}
