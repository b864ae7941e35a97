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
	// AgentTitle is what a person knows the agent of a name by. Nil means that the names themselves are shown.
	AgentTitle func(name string) string
	// Changed, if not nil, is called on the UI goroutine whenever what waits may have changed. Of the
	// Prompter it may call Waiting only.
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

	// mu keeps functions sent to the UI goroutine apart once Fyne's loop is over: then Fyne runs them on the
	// goroutine that sent them.
	mu     sync.Mutex
	queue  *queue
	window *window // nil until it is needed
	wake   *time.Timer
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
	if o.AgentTitle == nil {
		o.AgentTitle = func(name string) string { return name }
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Prompter{
		app: a, options: o, now: time.Now, do: fyne.Do,
		later: func(f func()) { f() },
		timer: time.AfterFunc, screen: screenOf,
		queue: &queue{now: time.Now},
	}
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
		p.queue.show(e)
		p.window.update()
		p.window.raise()
	})
}

// Renew brings what prompts say of the policy up to date.
func (p *Prompter) Renew() { p.post(p.changed) }

// Waiting is the number of requests that wait for the human. It is for the UI goroutine.
func (p *Prompter) Waiting() int { return len(p.queue.entries) }

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
		p.window = newWindow(p)
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
	p.window.comeBack()
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
	e.answered <- reply{answer: a}
	p.changed()
}

// snooze puts an entry away for a while. What was typed stays.
func (p *Prompter) snooze(e *entry, d time.Duration) {
	p.queue.snooze(e, p.now().Add(d))
	p.changed()
}

// changed brings everything that depends on the queue up to date.
func (p *Prompter) changed() {
	stop(p.wake)
	if next := p.queue.wake(); !next.IsZero() {
		p.wake = p.after(next.Sub(p.now()), p.changed)
	}
	if p.window != nil {
		p.window.update()
	}
	if p.options.Changed != nil {
		p.options.Changed()
	}
}
