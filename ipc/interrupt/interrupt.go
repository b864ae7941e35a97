// Package interrupt lets an agent stop while its user thinks, and go on later, in another process if need be.
//
// A call that needs the user and must not wait for them fails with an [*Error]: the run is interrupted. The agent finds
// it with [Get], however far up it was wrapped, keeps it beside its own state and stops. The request stays open in nod
// meanwhile, whatever becomes of the agent. To go on, the agent makes the same call again, in a context that carries
// the interrupt:
//
//	ctx = interrupt.WithResumeValue(ctx, stored)
//
// The call then returns the answer, or the same interrupt while there is none. What was asked is a part of the
// interrupt, and it counts for exactly that: the answer to one call never lets another happen.
//
// [nod/ipc/client.Approver] and [nod/ipc/client.Asker] interrupt and resume in this way.
//
// An error is never a decision. [*Error] means "not yet", [*UndecidedError] means that nobody will decide any more, and
// neither says that the user refused or agreed.
package interrupt

import (
	"encoding/json"
	"fmt"

	"nod/api"
)

// Kind says what a run was interrupted for.
type Kind string

// The kinds of interrupt.
const (
	Clarify  Kind = "clarify"  // the user is asked something: a question, a confirmation, a form
	Approval Kind = "approval" // the user is asked leave for a tool call
)

// Error interrupts a run: the user has been asked and has not answered. It is kept as JSON.
type Error struct {
	Kind      Kind            `json:"kind"`
	RequestID string          `json:"request_id"`
	Payload   json.RawMessage `json:"payload"` // what was asked, as JSON
}

func (e *Error) Error() string {
	return fmt.Sprintf("interrupted for %s: request %s has no answer yet", e.Kind, e.RequestID)
}

// Get returns the interrupt that err is, wraps or was joined from, the first when there are several.
func Get(err error) (*Error, bool) {
	all := All(err)
	if len(all) == 0 {
		return nil, false
	}
	return all[0], true
}

// All returns every interrupt in err: tool calls that ran side by side may have one each.
func All(err error) []*Error {
	switch err := err.(type) {
	case *Error:
		if err == nil {
			return nil
		}
		return []*Error{err}
	case interface{ Unwrap() error }:
		return All(err.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*Error
		for _, e := range err.Unwrap() {
			all = append(all, All(e)...)
		}
		return all
	}
	return nil
}

// UndecidedError says that a request has ended and nobody decided: it timed out, was dismissed or withdrawn, or there
// was nobody to ask. It is neither a refusal by the user nor leave.
type UndecidedError struct {
	RequestID string
	Outcome   api.Outcome
	Reason    string // for the model to read
}

func (e *UndecidedError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("nobody decided: request %s was %s", e.RequestID, e.Outcome)
	}
	return e.Reason
}
