package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"nod/agents/registry"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
)

// prompter shows prompts. [*dialogs.Prompter] is one.
type prompter interface {
	Open(r interact.Request, why policy.Decision) (wait func(context.Context) (interact.Answer, error))
	Renew(r interact.Request)
	SetUndos(list []operator.Undo)
}

// prompts keeps the prompts on screen in step with what is pending, and tells nod what the person answers.
type prompts struct {
	wake    chan struct{} // cap 1: what is pending may have changed
	typed   chan struct{} // cap 1: there are drafts to save
	settled func()        // called whenever what is on screen is up to date

	mu     sync.Mutex
	shown  map[interact.ID]*shownPrompt
	drafts map[interact.ID][]byte // not sent yet
}

// shownPrompt is a prompt on screen.
type shownPrompt struct {
	operator.Prompt
	withdraw context.CancelFunc
}

func newPrompts(settled func()) *prompts {
	p := &prompts{
		wake: make(chan struct{}, 1), typed: make(chan struct{}, 1), settled: settled,
		shown: map[interact.ID]*shownPrompt{}, drafts: map[interact.ID][]byte{},
	}
	p.Changed()
	return p
}

// Changed has what is pending fetched. It never blocks.
func (p *prompts) Changed() { operator.Signal(p.wake) }

// follow calls f at every signal, until ctx ends or f fails: then the connection is gone, and with it this process.
func follow(ctx context.Context, c <-chan struct{}, what string, f func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c:
		}
		if err := f(ctx); err != nil {
			slog.Error(what, "err", err)
			return
		}
	}
}

// run keeps in step until ctx ends. show brings a window to the front.
func (p *prompts) run(ctx context.Context, op operator.Operator, window prompter, show func(operator.View)) {
	follow(ctx, p.wake, "fetch what is pending", func(ctx context.Context) error {
		pending, err := op.Prompts(ctx, p.known())
		if err != nil {
			return err
		}
		p.withdraw(pending.Prompts)
		for _, one := range pending.Prompts {
			p.take(ctx, one, op, window)
			if one.Request != nil {
				operator.Signal(p.wake) // there may be more
			}
		}
		window.SetUndos(pending.Undos)
		for _, v := range pending.Wanted {
			show(v)
		}
		p.settled()
		return nil
	})
}

// known are the revisions of the prompts on screen.
func (p *prompts) known() map[interact.ID]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := make(map[interact.ID]int, len(p.shown))
	for id, s := range p.shown {
		known[id] = s.Revision
	}
	return known
}

// withdraw takes away what is not pending any more.
func (p *prompts) withdraw(pending []operator.Prompt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, s := range p.shown {
		if !slices.ContainsFunc(pending, func(one operator.Prompt) bool { return one.ID == id }) {
			s.withdraw()
			delete(p.shown, id)
		}
	}
}

// take shows a prompt that is new, and takes in what has changed about one that is on screen.
func (p *prompts) take(ctx context.Context, one operator.Prompt, op operator.Operator, window prompter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one.Request != nil {
		r := one.Times.Of(*one.Request, time.Now())
		r.Requester.Title = registry.Title(r.Requester.Agent)
		one.Request = &r
	}
	old := p.shown[one.ID]
	switch {
	case one.Request == nil: // nothing new, or answered a moment ago
	case old != nil:
		old.Prompt = one
		window.Renew(*one.Request)
	default:
		ctx, withdraw := context.WithCancel(ctx)
		p.shown[one.ID] = &shownPrompt{one, withdraw}
		wait := window.Open(*one.Request, one.Why) // here, so that the oldest is the first
		go func() {
			defer withdraw()
			if answer, err := wait(ctx); ctx.Err() == nil {
				p.finish(ctx, one, op, answer, err)
			}
		}()
	}
}

// finish tells nod what came of a prompt.
func (p *prompts) finish(ctx context.Context, one operator.Prompt, op operator.Operator,
	answer interact.Answer, err error) {
	a := operator.Answer{ID: one.ID, Answer: answer, Saves: p.offers(one.ID).GrantText(answer.Scope, answer.Covers)}
	if err != nil {
		a = operator.Answer{ID: one.ID, Failure: err.Error()}
	}
	err = op.Answer(context.WithoutCancel(ctx), a) // which takes the prompt from what is pending, and so ends ctx
	p.mu.Lock()
	delete(p.shown, one.ID)
	p.mu.Unlock()
	if err != nil && !errors.Is(err, operator.ErrGone) {
		slog.Warn("an answer was not taken: the prompt is shown again", "id", one.ID, "err", err)
	}
	p.Changed()
}

// snooze has nod put a request off. Where it cannot be, the person is asked now.
func (p *prompts) snooze(ctx context.Context, op operator.Operator, window prompter, id interact.ID, d time.Duration) {
	err := op.Snooze(ctx, id, d)
	if err == nil || errors.Is(err, operator.ErrGone) {
		return
	}
	slog.Warn("a request was not snoozed", "id", id, "err", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.shown[id]; s != nil {
		window.Renew(*s.Request)
	}
}

// draft is what was typed into a prompt when it was fetched.
func (p *prompts) draft(id interact.ID) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.shown[id]; s != nil {
		return s.Draft
	}
	return nil
}

// saveDraft has nod keep what is typed into a prompt. It never blocks.
func (p *prompts) saveDraft(id interact.ID, draft []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drafts[id] = draft
	operator.Signal(p.typed)
}

// saveDrafts tells nod what is typed, one draft after the other, until ctx ends. A draft that cannot be kept is lost
// only when this process dies before the next one.
func (p *prompts) saveDrafts(ctx context.Context, op operator.Operator) {
	follow(ctx, p.typed, "save drafts", func(ctx context.Context) error {
		p.mu.Lock()
		drafts := p.drafts
		p.drafts = map[interact.ID][]byte{}
		p.mu.Unlock()
		for id, draft := range drafts {
			if err := op.SaveDraft(ctx, id, draft); err != nil && !errors.Is(err, operator.ErrGone) {
				slog.Warn("a draft was not saved", "id", id, "err", err)
			}
		}
		return nil
	})
}

// live is the number of prompts on screen or about to be.
func (p *prompts) live() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.shown)
}

// offers is what to say and offer about a request; nothing once it is gone.
func (p *prompts) offers(id interact.ID) policy.Offers {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.shown[id]; s != nil {
		return s.Offers
	}
	return policy.Offers{}
}
