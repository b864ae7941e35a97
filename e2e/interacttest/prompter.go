// Package interacttest stands in for the parts of nod that a test has no use for: a human, a desktop, a policy file.
package interacttest

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// Prompter plays the human. The zero value answers nothing, ever.
type Prompter struct {
	Delay time.Duration // how long the human thinks
	// Answer is what the human does. nil: nothing, until the request ends by itself. A returned allow is completed with
	// the digest of the input, as a window does.
	Answer func(interact.Request, policy.Decision) (interact.Answer, error)

	mu     sync.Mutex // guards all below
	shown  []interact.Request
	closed []interact.ID
}

func (p *Prompter) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	p.mu.Lock()
	p.shown = append(p.shown, r)
	p.mu.Unlock()
	var thought <-chan time.Time // for ever, without an answer
	if p.Answer != nil {
		thought = time.After(p.Delay)
	}
	select {
	case <-thought:
	case <-ctx.Done():
		p.mu.Lock()
		p.closed = append(p.closed, r.ID)
		p.mu.Unlock()
		return interact.Answer{}, ctx.Err()
	}
	a, err := p.Answer(r, why)
	if a.Outcome == api.Allowed && a.ShownSHA256 == "" {
		a.ShownSHA256 = interact.Digest(r.Body.(interact.Approve).Input)
	}
	return a, err
}

// Shown lists the requests that were put before the human, in order.
func (p *Prompter) Shown() []interact.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.shown)
}

// Closed lists the prompts that were taken off the screen before the human answered.
func (p *Prompter) Closed() []interact.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.closed)
}

// Always answers every request with a.
func Always(a interact.Answer) func(interact.Request, policy.Decision) (interact.Answer, error) {
	return func(interact.Request, policy.Decision) (interact.Answer, error) { return a, nil }
}

// Notify plays a desktop that takes every notice.
func Notify(context.Context, interact.Request) bool { return true }

// Policy plays the policy file. The zero value asks about everything.
type Policy struct {
	mu      sync.Mutex // guards all below
	effects map[string]policy.Effect
	grants  []policy.Scope
	covers  []policy.Cover
	used    []policy.Decision
}

// Set makes every call of tool have this effect from now on.
func (p *Policy) Set(tool string, effect policy.Effect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.effects == nil {
		p.effects = map[string]policy.Effect{}
	}
	p.effects[tool] = effect
}

func (p *Policy) Decide(c policy.Call) policy.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	effect, known := p.effects[c.Tool]
	if !known || effect == policy.Sandbox && !c.Contains {
		return policy.Decision{Effect: policy.Ask, Reason: "no rule covers this", Class: policy.Unknown}
	}
	d := policy.Decision{Effect: effect, Rule: "test:" + c.Tool, Reason: "the test says so", Class: policy.Unknown}
	if effect == policy.Sandbox {
		d.Confinement = policy.Confinement{Project: c.CWD, Write: true}
	}
	return d
}

func (p *Policy) Used(d policy.Decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = append(p.used, d)
}

// Uses lists the decisions by which calls were allowed.
func (p *Policy) Uses() []policy.Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.used)
}

func (p *Policy) Grant(_ policy.Call, scope policy.Scope, cover policy.Cover) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grants, p.covers = append(p.grants, scope), append(p.covers, cover)
	return nil
}

// Grants lists the scopes of the grants that were kept.
func (p *Policy) Grants() []policy.Scope {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.grants)
}

// Covers lists what the grants that were kept are about.
func (p *Policy) Covers() []policy.Cover {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.covers)
}

// Broker returns a broker around p and pol, with a memory journal and a desktop that takes notices. Options change what
// it works with.
func Broker(p interact.Prompter, pol interact.Policy, options ...func(*interact.BrokerConfig)) *interact.Broker {
	cfg := interact.BrokerConfig{
		Policy: pol, Prompter: p, Notify: Notify,
		Journal: new(Journal),
		Timeout: func() time.Duration { return 5 * time.Minute },
		Log:     slog.New(slog.DiscardHandler),
	}
	for _, o := range options {
		o(&cfg)
	}
	return interact.NewBroker(cfg)
}
