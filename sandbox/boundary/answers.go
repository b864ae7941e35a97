package boundary

import (
	"context"
	"errors"
	"sync"
)

const (
	maxOpen  = 4   // questions that wait for the user at once; others wait their turn
	maxAsked = 200 // questions of one run, including withdrawn ones
)

// answers holds the question about each target, and its answer, for one run.
type answers struct {
	run   context.Context
	ask   func(context.Context, Target) error
	turns chan struct{}

	mu    sync.Mutex
	list  map[Target]*answer
	asked int
}

type answer struct {
	given    chan struct{} // closed when err is set
	err      error
	waiting  int // waiting connections
	withdraw context.CancelFunc
}

// about asks the user about a target, once for the run. If ctx ends and no other connection waits, the question is
// withdrawn.
func (a *answers) about(ctx context.Context, t Target) error {
	if a.ask == nil {
		return errors.New("only hosts allowed beforehand can be reached")
	}
	key := t
	if t.isWeb() {
		key.Port = 443
	}
	got, err := a.join(key, t)
	if err != nil {
		return err
	}
	select {
	case <-got.given:
		return got.err
	case <-ctx.Done():
		a.leave(key, got)
		return ctx.Err()
	}
}

func (a *answers) join(key, t Target) (*answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	got := a.list[key]
	if got == nil {
		if a.asked == maxAsked {
			return nil, errors.New("the command asked for too many hosts")
		}
		a.asked++
		got = &answer{given: make(chan struct{})}
		var ctx context.Context
		ctx, got.withdraw = context.WithCancel(a.run)
		a.list[key] = got
		go a.put(ctx, t, got)
	}
	got.waiting++
	return got, nil
}

func (a *answers) leave(key Target, got *answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	got.waiting--
	select {
	case <-got.given:
	default:
		if got.waiting == 0 {
			got.withdraw()
			delete(a.list, key)
		}
	}
}

func (a *answers) put(ctx context.Context, t Target, got *answer) {
	defer got.withdraw()
	defer close(got.given)
	select {
	case a.turns <- struct{}{}:
		defer func() { <-a.turns }()
		got.err = a.ask(ctx, t)
	case <-ctx.Done():
		got.err = ctx.Err()
	}
}
