package interact

import (
	"context"
	"errors"
	"time"

	"nod/policy"
)

// Journal is where the broker notes every request and what comes of it. What a method has returned nil for survives
// the death of the process.
type Journal interface {
	// Open notes a request before anybody is asked about it.
	Open(ctx context.Context, r Record) error
	// Update notes what has changed of an open request: its times, who joined it, and whether it outlives its caller.
	Update(ctx context.Context, r Record) error
	// Settle notes what came of a request, once; it may never have been open. Later the error wraps [ErrSettled].
	Settle(ctx context.Context, r Record) error
}

// ErrSettled says that a request has its outcome already.
var ErrSettled = errors.New("the journal has an outcome of this request already")

// Record is one request in the journal. Its Answer has no Outcome while the request is pending.
type Record struct {
	Request  Request         `json:"request"`
	Why      policy.Decision `json:"why,omitzero"`      // what the policy made of an approval
	Detached bool            `json:"detached,omitzero"` // it outlives its caller, who looks its answer up …
	// … as long as the program runs that asked.
	Postponed bool `json:"postponed,omitzero"`
	// Content is the digest of what was asked, if it was pending or has an idempotency key: what comes again with that
	// key must have the same.
	Content string   `json:"content,omitzero"`
	Joined  []string `json:"joined,omitzero"` // idempotency keys of others that asked the same and have its answer
	Event   EventID  `json:"event,omitzero"`  // that came of it last
	Answer  Answer   `json:"answer,omitzero"`
}

// noted is what the journal has of a request that can change. The zero value is nothing.
type noted struct {
	isOpen, isSettled       bool
	isDetached, isPostponed bool
	joined                  int
	deadline, snoozed       time.Time
}

func (r Record) noted() noted {
	isSettled := r.Answer.Outcome != ""
	return noted{
		isOpen: !isSettled, isSettled: isSettled, isDetached: r.Detached, isPostponed: r.Postponed,
		joined: len(r.Joined), deadline: r.Request.Deadline, snoozed: r.Request.Snoozed,
	}
}

// isLike reports whether nothing has changed since.
func (n noted) isLike(old noted) bool {
	isSameTime := n.deadline.Equal(old.deadline) && n.snoozed.Equal(old.snoozed)
	n.deadline, n.snoozed = old.deadline, old.snoozed
	return isSameTime && n == old
}

// Shown is what a person saw of a request before they decided, and how they did.
type Shown struct {
	At      time.Time     `json:"at,omitzero"`       // when the prompt was first on screen
	Armed   time.Duration `json:"armed,omitempty"`   // … how long after that Allow first worked; 0: it never did
	Decided time.Duration `json:"decided,omitempty"` // … and how long after it the person decided
	With    string        `json:"with,omitempty"`    // one of [WithKeys] and [WithMouse]
	Facts   []string      `json:"facts,omitempty"`   // in the words of the prompt
	Diff    string        `json:"diff,omitempty"`    // of a file that would change, as lines of a unified diff
}

// How a person decided.
const (
	WithKeys  = "keys"
	WithMouse = "mouse"
)
