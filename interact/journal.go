package interact

import (
	"context"
	"errors"
	"time"

	"nod/policy"
)

// Journal records every request and its answer. Once a method returns nil, what it recorded survives the death of the
// process.
type Journal interface {
	// Open records a request before the user is asked.
	Open(ctx context.Context, r Record) error
	// Update records changes of an open request.
	Update(ctx context.Context, r Record) error
	// Settle records the answer, even of a request that was never open. It fails with [ErrSettled] the second time.
	Settle(ctx context.Context, r Record) error
}

// ErrSettled says that a request already has its outcome.
var ErrSettled = errors.New("the journal already has an outcome of this request")

// Record is one request in the journal. Its Answer has no Outcome while the request is pending.
type Record struct {
	Request  Request         `json:"request"`
	Why      policy.Decision `json:"why,omitzero"`      // what the policy made of an approval
	Detached bool            `json:"detached,omitzero"` // it outlives its caller, who looks its answer up …
	// … as long as the program runs that asked.
	Postponed bool `json:"postponed,omitzero"`
	// Content is the digest of what was asked, if it was pending or has an idempotency key: a later request with that key
	// must have the same digest.
	Content string   `json:"content,omitzero"`
	Joined  []string `json:"joined,omitzero"` // idempotency keys of others that asked the same and have its answer
	Answer  Answer   `json:"answer,omitzero"`
	// Sent is the user's answer to a pending request of another machine, whose relay may not have accepted it yet.
	Sent Answer `json:"sent,omitzero"`
	// Draft is the user's unfinished answer to a request that was pending when nod ended; may be nil.
	Draft []byte `json:"-"`
}

// noted is the part of a request in the journal that can change.
type noted struct {
	isOpen, isSettled       bool
	isDetached, isPostponed bool
	joined                  int
	deadline, snoozed       int64 // in microseconds, because == tells apart equal times of different clocks
}

func (r Record) noted() noted {
	isSettled := r.Answer.Outcome != ""
	return noted{
		isOpen: !isSettled, isSettled: isSettled, isDetached: r.Detached, isPostponed: r.Postponed,
		joined: len(r.Joined), deadline: r.Request.Deadline.UnixMicro(), snoozed: r.Request.Snoozed.UnixMicro(),
	}
}

// Shown is what the user saw of a request before they decided, and how they decided.
type Shown struct {
	At      time.Time     `json:"at,omitzero"`       // when the prompt was first on screen
	Armed   time.Duration `json:"armed,omitempty"`   // … how long after that Allow first worked; 0: it never did
	Decided time.Duration `json:"decided,omitempty"` // … and how long after it the user decided
	With    string        `json:"with,omitempty"`    // one of [WithKeys] and [WithMouse]
	Facts   []string      `json:"facts,omitempty"`   // in the words of the prompt
	Diff    string        `json:"diff,omitempty"`    // of a file that would change, as lines of a unified diff
}

// How the user decided.
const (
	WithKeys  = "keys"
	WithMouse = "mouse"
)

// Contact summarizes the calls of one agent's hooks since nod started.
type Contact struct {
	Last            time.Time // call of a hook
	Calls           int       // of its hooks
	Passed, Refused int       // by the policy
	Allowed, Denied int       // by the user
	Answered        int       // questions and forms
	Undecided       int       // not decided: closed, timed out, withdrawn
}
