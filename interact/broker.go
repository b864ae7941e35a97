package interact

import (
	"context"

	"nod/policy"
)

// Prompter shows a request to the human and returns the answer. It returns as soon as ctx ends, and takes
// the prompt off the screen when it does. The error wraps [ErrUnavailable] when nothing can be shown.
type Prompter interface {
	Prompt(ctx context.Context, r Request, why policy.Decision) (Answer, error)
}

// Notifier passes a notice on to the desktop. It reports whether the desktop took it.
type Notifier interface {
	Notify(ctx context.Context, r Request) (sent bool)
}

// Policy decides calls and keeps the grants that answers create.
type Policy interface {
	Decide(call policy.Call) policy.Decision
	// Grant keeps an allow wider than once. It is called only for the answer that won.
	Grant(call policy.Call, scope policy.Scope) error
}

// Journal remembers every request and its outcome.
type Journal interface {
	Open(ctx context.Context, r Request) error
	Close(ctx context.Context, id ID, a Answer) error
	Recent(ctx context.Context, n int) ([]Record, error)
}

// Record is one request in the journal; Answer has no Outcome while it is pending.
type Record struct {
	Request Request
	Answer  Answer
}
