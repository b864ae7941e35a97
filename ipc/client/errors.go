package client

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"nod/interact"
)

// ErrForeign means that the server runs as another user. Nothing was sent to it.
var ErrForeign = errors.New("the server on nod's address belongs to another user")

// Code is the stable code of a [Problem].
type Code string

// The codes that nod-desktop refuses with.
const (
	CodeInvalidParam Code = "INTERACT_INVALID_PARAM" // Param names it
	CodeInvalidPath  Code = "INVALID_PATH"           // a required string is missing or not a string
	CodeUnauthorized Code = "UNAUTHORIZED"
	CodeForbidden    Code = "FORBIDDEN"
	CodeNotFound     Code = "NOT_FOUND" // also a request of somebody else's
	CodeTimeout      Code = "INTERACT_TIMEOUT"
	CodeCancelled    Code = "INTERACT_CANCELLED"
	CodeTooLarge     Code = "TOO_LARGE"
	CodeRateLimited  Code = "RATE_LIMITED"
	CodeNotSupported Code = "INTERACT_NOT_SUPPORTED" // no screen to prompt on
	CodeInternal     Code = "INTERNAL"
)

// Problem is a reply that is no answer: what nod-desktop refused, or what came of a request that nobody
// answered.
type Problem struct {
	Status     int
	Code       Code
	Title      string
	Detail     string
	Param      string           // the offending parameter, when Code is CodeInvalidParam or CodeInvalidPath
	ID         interact.ID      // the request, when it came to exist
	Outcome    interact.Outcome // what came of it
	RetryAfter time.Duration    // when Code is CodeRateLimited
	Raw        []byte           // the reply's body as it came
}

// Error implements error.
func (p *Problem) Error() string {
	what := p.Detail
	if what == "" {
		what = p.Title
	}
	if what == "" {
		what = fmt.Sprintf("refused with %s", p.Code)
	}
	return what
}

// Pending means that the human has not answered yet, and that the request is still open: it was detached,
// or Hold went by. [Client.Request] fetches the answer.
type Pending struct {
	ID  interact.ID
	URL string
	Raw []byte // the reply's body as it came
}

// Error implements error.
func (p *Pending) Error() string { return fmt.Sprintf("no answer yet: request %s is pending", p.ID) }

// LostError means that the connection broke before an answer: nod-desktop went away, or is going.
type LostError struct{ Err error }

// Error implements error.
func (e *LostError) Error() string {
	return fmt.Sprintf("lost nod-desktop before it answered: %v", e.Err)
}

// Unwrap returns what the network said.
func (e *LostError) Unwrap() error { return e.Err }

// ReplyError means that the reply is nothing that nod-desktop would say. Whoever said it, nobody decided.
type ReplyError struct{ Problem string }

// Error implements error.
func (e *ReplyError) Error() string { return "not a reply of nod-desktop: " + e.Problem }

func badReply(format string, args ...any) error {
	return &ReplyError{Problem: fmt.Sprintf(format, args...)}
}

// parseProblem reads a refusal. A body that is none is a [*ReplyError].
func parseProblem(resp *http.Response, body []byte) error {
	p, err := readProblem(body)
	if err != nil {
		return err
	}
	p.Status = resp.StatusCode
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}

// readProblem reads an RFC 9457 body.
func readProblem(text []byte) (*Problem, error) {
	p, o := &Problem{Raw: text}, parseObject(text)
	o.want("code", &p.Code)
	o.may("status", &p.Status)
	o.may("title", &p.Title)
	o.may("detail", &p.Detail)
	o.may("param", &p.Param)
	o.may("id", &p.ID)
	o.may("outcome", &p.Outcome)
	return read(p, o)
}

// parsePending reads the body of a 202.
func parsePending(body []byte) error {
	p, o := &Pending{Raw: body}, parseObject(body)
	var status interact.Outcome
	o.want("id", &p.ID)
	o.want("status", &status)
	o.may("url", &p.URL)
	o.must(status == StatusPending && p.ID != "", "status 202 for a request that is %q", status)
	if o.err != nil {
		return o.err
	}
	return p
}
