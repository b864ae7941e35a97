// Package dialogs is the face of nod: the one window that asks the human, and the queue in front of it.
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
	stdatomic "sync/atomic"
	"time"

	"fyne.io/fyne/v2"

	"nod/interact"
	"nod/policy"
)

// Options are what a [Prompter] needs of its surroundings.
type Options struct {
	// Config is read at each prompt. Nil means the default configuration.
	Config func() policy.PromptConfig
	// GrantText is what an allow for that scope will save, word for word, one rule a line; empty where it can
	// save nothing. Nil means that only "once" is offered.
	GrantText func(call policy.Call, scope policy.Scope, cover policy.Cover) string
	// Parts says of each part of a command line what it is to the policy. Nil means that no parts are shown.
	Parts func(policy.Call) []policy.CommandPart
	// Changed, if not nil, is called on the UI goroutine whenever what waits may have changed. Of the
	// Prompter it may call Waiting only.
	Changed func()
	// Log takes what goes wrong inside a prompt. Nil means the default logger.
	Log *slog.Logger
}

// Prompter shows requests to the human, one at a time, in one window. It implements [interact.Prompter].
type Prompter struct {
	app     fyne.App
	options Options
	waits   stdatomic.Int64

	now   func() time.Time
	do    func(func())                            // runs a function on the UI goroutine
	later func(func())                            // runs a function soon, after the event at hand
	timer func(time.Duration, func()) *time.Timer // [time.AfterFunc]

	// mu keeps functions sent to the UI goroutine apart once Fyne's loop is over: then Fyne runs them on the
	// goroutine that sent them.
	mu      sync.Mutex
	queue   *queue
	window  *window // nil until it is needed
	replies map[interact.ID]chan<- reply
	wake    *time.Timer
}

// reply is what a waiting Prompt gets.
type reply struct {
	answer interact.Answer
	err    error
}

// New returns a Prompter that shows its window through a. Nothing is shown before Fyne's loop runs.
func New(a fyne.App, o Options) *Prompter {
	if o.Config == nil {
		o.Config = func() policy.PromptConfig { return policy.Default().Prompt }
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Prompter{
		app: a, options: o, now: time.Now, do: fyne.Do,
		later:   func(f func()) { f() },
		timer:   time.AfterFunc,
		queue:   &queue{now: time.Now},
		replies: map[interact.ID]chan<- reply{},
	}
}

// Prompt implements [interact.Prompter].
func (p *Prompter) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	answered := make(chan reply, 1)
	p.post(func() { p.open(r, why, answered) })
	select {
	case got := <-answered:
		return got.answer, got.err
	case <-ctx.Done():
		p.post(func() { p.withdraw(r.ID) })
		return interact.Answer{}, ctx.Err()
	}
}

// Prepare makes the window while there is nothing to do, so that the first prompt appears at once.
func (p *Prompter) Prepare() {
	p.post(func() {
		if err := p.ready(); err != nil {
			p.options.Log.Error("the window for prompts could not be made", "error", err)
			return
		}
		p.window.warm()
	})
}

// Raise brings the current prompt to the front. Without one it does nothing.
func (p *Prompter) Raise() {
	p.post(func() {
		if p.queue.current != nil {
			p.window.win.Show()
			p.window.win.RequestFocus()
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
		p.window.win.RequestFocus()
	})
}

// Waiting is the number of requests that wait for the human.
func (p *Prompter) Waiting() int { return int(p.waits.Load()) }

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

// ready makes the window if there is none. Without a display Fyne panics.
func (p *Prompter) ready() (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("no window: %v", fault)
		}
	}()
	if p.window == nil {
		p.window = newWindow(p)
	}
	return nil
}

// open puts a request into the queue and shows it when its turn is now.
func (p *Prompter) open(r interact.Request, why policy.Decision, to chan<- reply) {
	p.replies[r.ID] = to
	e := p.queue.add(r, why)
	if err := p.ready(); err != nil {
		p.fail(e, err)
		return
	}
	if e == p.queue.current {
		p.window.disturb() // an identical request may have joined what is being read
	}
	p.changed()
}

// fail ends an entry that cannot be shown: a prompt that nobody can see must not stay.
func (p *Prompter) fail(e *entry, err error) {
	p.options.Log.Error("a prompt could not be shown", "request", e.request().ID, "error", err)
	p.end(e, reply{err: fmt.Errorf("%w: the prompt could not be shown", interact.ErrUnavailable)})
}

// withdraw takes a request off the screen because its caller no longer waits.
func (p *Prompter) withdraw(id interact.ID) {
	delete(p.replies, id)
	if p.queue.drop(id) != nil {
		p.changed()
	}
}

// answer gives a to everybody who waits for the entry.
func (p *Prompter) answer(e *entry, a interact.Answer) { p.end(e, reply{answer: a}) }

func (p *Prompter) end(e *entry, what reply) {
	for _, r := range e.requests {
		if to, waits := p.replies[r.ID]; waits {
			to <- what
			delete(p.replies, r.ID)
		}
	}
	p.queue.remove(e)
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
	p.waits.Store(int64(p.queue.size()))
	if p.window != nil {
		p.window.update()
	}
	if p.options.Changed != nil {
		p.options.Changed()
	}
}
