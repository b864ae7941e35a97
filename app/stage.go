package app

import (
	"context"
	"sync"
	"sync/atomic"

	"nod/interact"
	"nod/policy"
)

// stage stands directly in front of the windows. It holds prompts back until the event loop runs, and wakes
// the loop for each.
type stage struct {
	prompter interact.Prompter
	wake     func()
	ready    chan struct{} // closed by open
	once     sync.Once
	prompts  atomic.Int32
}

func newStage(p interact.Prompter, wake func()) *stage {
	return &stage{prompter: p, wake: wake, ready: make(chan struct{})}
}

// open lets the prompts through.
func (s *stage) open() { s.once.Do(func() { close(s.ready) }) }

// live is the number of prompts under way.
func (s *stage) live() int { return int(s.prompts.Load()) }

// Prompt implements [interact.Prompter].
func (s *stage) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return interact.Answer{}, ctx.Err()
	}
	s.prompts.Add(1)
	defer s.prompts.Add(-1)
	s.wake()
	return s.prompter.Prompt(ctx, r, why)
}
