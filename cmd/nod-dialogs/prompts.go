package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"nod/agents/registry"
	"nod/changes"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
)

// prompter shows prompts. It is a [*dialogs.Prompter].
type prompter interface {
	Open(r interact.Request, why policy.Decision) (wait func(context.Context) (interact.Answer, error))
	Renew(r interact.Request)
}

// prompts keeps the prompts on screen in sync with the pending requests, and sends the user's answers to nod.
type prompts struct {
	wake    changes.Signal // pending requests may have changed
	typed   changes.Signal // there are drafts to save
	settled func()         // called after each update of the screen

	mu     sync.Mutex
	shown  map[interact.ID]*shownPrompt
	drafts map[interact.ID][]byte // not sent yet
}

type shownPrompt struct {
	operator.Prompt
	seen     string // digest of the prompt whose offers the page has read last
	withdraw context.CancelFunc
}

func newPrompts(settled func()) *prompts {
	p := &prompts{
		wake: changes.NewSignal(), typed: changes.NewSignal(), settled: settled,
		shown: map[interact.ID]*shownPrompt{}, drafts: map[interact.ID][]byte{},
	}
	p.changed()
	return p
}

func (p *prompts) changed() { p.wake.Send() }

// follow calls f at every signal until ctx ends or f fails, for example because the connection is lost.
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

// run keeps the prompts in sync until ctx ends. show brings a window to the front.
func (p *prompts) run(ctx context.Context, op operator.Operator, window prompter, show func(operator.View)) {
	follow(ctx, p.wake, "fetch what is pending", func(ctx context.Context) error {
		known := p.known()
		pending, err := op.Prompts(ctx, known)
		if err != nil {
			return err
		}
		p.withdraw(pending.Prompts)
		for _, one := range pending.Prompts {
			p.update(ctx, one, known[one.ID] > 0, op, window)
			if one.Request != nil {
				p.wake.Send() // there may be more
			}
		}
		for _, v := range pending.Wanted {
			show(v)
		}
		p.settled()
		return nil
	})
}

func (p *prompts) known() map[interact.ID]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := make(map[interact.ID]int, len(p.shown))
	for id, s := range p.shown {
		known[id] = s.Revision
	}
	return known
}

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

// update shows one as it is now. wasShown reports whether it was shown when it was fetched.
func (p *prompts) update(
	ctx context.Context, one operator.Prompt, wasShown bool, op operator.Operator, window prompter,
) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one.Request != nil {
		r := one.Times.Of(*one.Request, time.Now())
		r.Requester.Title = registry.Title(r.Requester.Agent)
		one.Request = &r
	}
	old := p.shown[one.ID]
	switch {
	case one.Request == nil, old == nil && wasShown: // unchanged, or just answered
	case old != nil:
		old.Prompt = one
		window.Renew(*one.Request)
	default:
		ctx, withdraw := context.WithCancel(ctx)
		p.shown[one.ID] = &shownPrompt{Prompt: one, withdraw: withdraw}
		wait := window.Open(*one.Request, one.Why) // not on the goroutine: the oldest must be first
		go func() {
			defer withdraw()
			if answer, err := wait(ctx); ctx.Err() == nil {
				p.finish(ctx, one, op, answer, err)
			}
		}()
	}
}

func (p *prompts) finish(ctx context.Context, one operator.Prompt, op operator.Operator,
	answer interact.Answer, err error) {
	shown := p.find(one.ID)
	// What has changed since the page read its offers is not what the user answered. A question has no offers.
	a := operator.Answer{ID: one.ID, Digest: cmp.Or(shown.seen, shown.Digest), Answer: answer}
	if err != nil {
		a = operator.Answer{ID: one.ID, Failure: err.Error()}
	}
	err = op.Answer(context.WithoutCancel(ctx), a) // this withdraws the prompt, which ends ctx
	p.mu.Lock()
	delete(p.shown, one.ID)
	p.mu.Unlock()
	if err != nil && !errors.Is(err, operator.ErrGone) {
		slog.Warn("an answer was not accepted: the prompt is shown again", "id", one.ID, "err", err)
	}
	p.changed()
}

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

// find returns a prompt as it is shown now, or the zero value once its request has ended.
func (p *prompts) find(id interact.ID) shownPrompt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.shown[id]; s != nil {
		return *s
	}
	return shownPrompt{}
}

// offers returns what a page shows of the rules, and notes which prompt it has read.
func (p *prompts) offers(id interact.ID) policy.Offers {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shown[id]
	if s == nil {
		return policy.Offers{}
	}
	s.seen = s.Digest
	return s.Offers
}

func (p *prompts) saveDraft(id interact.ID, draft []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drafts[id] = draft
	p.typed.Send()
}

// saveDrafts sends drafts to nod until ctx ends. A draft that could not be saved is lost only if this process ends
// before the next one.
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

func (p *prompts) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.shown)
}
