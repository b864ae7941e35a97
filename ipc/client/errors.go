package client

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"nod/api"
)

// ErrForeign means that the server runs as another user. Nothing was sent to it.
var ErrForeign = errors.New("the server on nod's address belongs to another user")

// Problem is a reply that is no answer, as an error.
type Problem struct {
	api.Problem
	RetryAfter time.Duration // when Code is [api.CodeRateLimited]
}

// Error implements error.
func (p *Problem) Error() string {
	switch {
	case p.Detail != "":
		return p.Detail
	case p.Title != "":
		return p.Title
	}
	return fmt.Sprintf("refused with %s", p.Code)
}

// Pending means that the user has not answered yet, and that the request is still open: it was detached,
// or Hold went by. [Client.Request] fetches the answer.
type Pending struct{ api.PendingReply }

// Error implements error.
func (p *Pending) Error() string { return fmt.Sprintf("no answer yet: request %s is pending", p.ID) }

// LostError means that the connection broke before an answer: nod-desktop went away, or is going.
type LostError struct {
	Err error // what the network said

	waited error // what ended the wait for the next nod-desktop; nil: nobody waited
}

// Error implements error.
func (e *LostError) Error() string {
	if e.waited != nil {
		return fmt.Sprintf("lost nod-desktop before it answered, and it did not come back in time: %v", e.Err)
	}
	return fmt.Sprintf("lost nod-desktop before it answered: %v", e.Err)
}

// Unwrap returns what the network said and, when the next nod-desktop was waited for, what ended that.
func (e *LostError) Unwrap() []error {
	if e.waited == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.waited}
}

// ReplyError means that the reply is nothing that nod-desktop would say. Whoever said it, nobody decided.
type ReplyError struct{ Problem string }

// Error implements error.
func (e *ReplyError) Error() string { return "not a reply of nod-desktop: " + e.Problem }

func badReply(format string, args ...any) error {
	return &ReplyError{Problem: fmt.Sprintf(format, args...)}
}

// parseProblem reads a refusal. A body that is none is a [*ReplyError].
func parseProblem(resp *response, body []byte) error {
	problem, err := parse[api.Problem](body)
	if err != nil {
		return err
	}
	p := &Problem{Problem: problem}
	p.Status = resp.status
	if seconds, err := strconv.Atoi(resp.header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}
