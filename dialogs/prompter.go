// Package dialogs is the window that asks the user, and the queue of requests for it.
//
// [Prompter] shows each request as a prompt and returns the answer. Text from agents cannot imitate nod's: the title is
// constant, the agent's words are plain text with every hidden character spelled out, and all other words are nod's.
// Nothing is approved by accident: the affirmative works only after the prompt has been visible, focused and unchanged
// for a moment and its whole input has been in view, and no plain key ever presses it.
package dialogs

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"nod/api"
	"nod/interact"
	"nod/policy"
	"nod/policy/config"
)

// Options connect a [Prompter] to its surroundings. All fields are required.
type Options struct {
	Config func() config.Prompt // called for each prompt
	// Offers returns the parts of a request and the scopes to offer for it. Call [Prompter.Renew] after a change: it makes
	// the prompt read them again, and an answer is to those read last.
	Offers func(id interact.ID) policy.Offers
	// Snooze postpones a request, or ends that with 0, and does not block. The result arrives through [Prompter.Renew].
	Snooze func(id interact.ID, d time.Duration)
	// Draft returns the draft that SaveDraft got for a request from an earlier Prompter; nil if there is none.
	Draft func(id interact.ID) []byte
	// SaveDraft saves the draft of a prompt soon after a change, and does not block; an empty draft deletes it.
	SaveDraft func(id interact.ID, draft []byte)
	// Showing is called on the UI goroutine with the next request before its prompt is laid out, and with "" when none
	// is shown. A crash after that may be the fault of that prompt.
	Showing func(id interact.ID)
	// Changed is called on the UI goroutine whenever the queue or the focus of the window may have changed.
	Changed func(isFocused bool)
	Log     *slog.Logger // receives errors inside prompts
}

// Prompter shows requests to the user, one at a time, in one window.
type Prompter struct {
	app     fyne.App
	options Options

	now    func() time.Time
	do     func(func())                            // runs a function on the UI goroutine
	later  func(func())                            // runs a function soon, after the current event
	timer  func(time.Duration, func()) *time.Timer // [time.AfterFunc]
	screen func(fyne.Window) fyne.Size             // size of the screen that a window is on
	// aside runs work on another goroutine and then show on the UI goroutine.
	aside func(work func() (show func()))

	// mu serializes functions for the UI goroutine after the end of Fyne's loop.
	mu      sync.Mutex
	queue   *queue
	showing interact.ID // as last reported
	window  *window     // nil until it is needed
}

// New returns a Prompter that shows its window through a. It shows nothing before Fyne's loop runs.
func New(a fyne.App, o Options) *Prompter {
	p := &Prompter{
		app: a, options: o, now: time.Now, do: Do,
		later: func(f func()) { f() },
		timer: time.AfterFunc, screen: screenOf,
		queue: &queue{},
	}
	p.aside = func(work func() func()) { go func() { p.post(work()) }() }
	return p
}

// Open adds a request to the queue. The returned function waits for the answer; if ctx ends, it withdraws the prompt.
func (p *Prompter) Open(r interact.Request, why policy.Decision) func(ctx context.Context) (interact.Answer, error) {
	if kind := r.Body.Kind(); kind == api.KindNotify {
		err := fmt.Errorf("%w: there is no prompt for %s", interact.ErrUnavailable, kind)
		return func(context.Context) (interact.Answer, error) { return interact.Answer{}, err }
	}
	answered := make(chan interact.Answer, 1)
	p.post(func() { p.open(r, why, answered) })
	return func(ctx context.Context) (interact.Answer, error) {
		select {
		case a := <-answered:
			return a, nil
		case <-ctx.Done():
			p.post(func() { p.withdraw(r.ID) })
			return interact.Answer{}, ctx.Err()
		}
	}
}

// Prepare creates the window in advance, so that the first prompt appears immediately. Call it before any text is
// measured.
func (p *Prompter) Prepare() {
	p.post(func() {
		loadFonts()
		p.ensureWindow()
		// An invisible prompt loads the fonts, which takes a while the first time.
		body := interact.Approve{Tool: "warm", Input: []byte(`{"command":"true"}`)}
		p.window.measure(p.window.build(&entry{request: interact.Request{Body: body}}))
	})
}

// Show brings the prompt of a request to the front, and ends its snooze. For "" it shows the current prompt, if there
// is one.
func (p *Prompter) Show(id interact.ID) {
	p.post(func() {
		if e := p.queue.find(id); e != nil {
			p.show(e)
		} else if id != "" || p.window == nil {
			return
		}
		p.window.raise()
	})
}

func (p *Prompter) show(e *entry) {
	if p.queue.find(e.request.ID) != e { // it ended while it was in an open list
		return
	}
	if e.isSnoozed() {
		p.snooze(e, 0)
	}
	p.queue.current = e
	p.changed()
}

// Renew updates the deadline and the snooze of a request, and everything that prompts show about the policy.
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
			p.window.restore()
		}
	})
}

func (p *Prompter) post(f func()) {
	p.do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		f()
	})
}

func (p *Prompter) after(d time.Duration, f func()) *time.Timer {
	return p.timer(d, func() { p.post(f) })
}

func (p *Prompter) ensureWindow() {
	if p.window == nil {
		p.window = newWindow(p)
	}
}

func (p *Prompter) open(r interact.Request, why policy.Decision, to chan<- interact.Answer) {
	p.queue.add(r, why, to)
	p.ensureWindow()
	p.changed()
	if r.Snoozed.IsZero() {
		p.window.restore()
	}
}

func (p *Prompter) withdraw(id interact.ID) {
	e := p.queue.drop(id)
	if e == nil {
		return
	}
	if p.window.shows(e) && p.queue.current != e {
		p.window.noteInterrupted()
	}
	p.changed()
}

func (p *Prompter) answer(e *entry, a interact.Answer) {
	if p.queue.drop(e.request.ID) == nil { // ended already
		return
	}
	a.Shown = p.shown(e)
	e.answered <- a
	p.changed()
}

// shown returns what the user, who is deciding now, has seen of the prompt of e, which may be nothing.
func (p *Prompter) shown(e *entry) interact.Shown {
	s := interact.Shown{With: interact.WithMouse}
	if p.window.handlingKey {
		s.With = interact.WithKeys
	}
	if e.page == nil || e.page.shownAt.IsZero() {
		return s
	}
	s.At, s.Decided = e.page.shownAt, cmp.Or(p.now().Sub(e.page.shownAt), 1)
	if !e.page.armedAt.IsZero() {
		s.Armed = cmp.Or(e.page.armedAt.Sub(s.At), 1)
	}
	if e.page.approval != nil {
		s.Facts, s.Diff = e.page.approval.factsAndDiff()
	}
	return s
}

const maxFacts = 32

func (a *approvePage) factsAndDiff() (facts []string, diff string) {
	facts = []string{a.input.Class.Text}
	for _, f := range a.input.AllFacts() {
		facts = append(facts, f.Text)
	}
	facts = append(facts, a.input.Warnings...)
	return facts[:min(len(facts), maxFacts)], a.input.Diff
}

// snooze postpones an entry by d, or ends that with 0. nod then renews its deadline and the end of the snooze.
func (p *Prompter) snooze(e *entry, d time.Duration) {
	r := e.request
	if r.Snoozed = (time.Time{}); d > 0 {
		r.Snoozed = p.now().Add(d)
	}
	p.queue.retime(e, r)
	p.options.Snooze(e.request.ID, d)
	p.changed()
}

func (p *Prompter) changed() {
	p.notifyShowing()
	if p.window != nil {
		p.window.update()
	}
	p.options.Changed(p.window != nil && p.window.arm.focused)
}

func (p *Prompter) notifyShowing() {
	var now interact.ID
	if p.queue.current != nil {
		now = p.queue.current.request.ID
	}
	if now != p.showing {
		p.options.Showing(now)
	}
	p.showing = now
}
