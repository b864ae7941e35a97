package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"nod/api"
)

// parse reads a reply. It fails unless the reply is complete, has every required member and does not contradict itself.
func parse[T any](text []byte) (T, error) {
	var reply, none T
	if err := api.Decode(text, &reply); err != nil {
		return none, badReply("%v", err)
	}
	if t := reflect.TypeFor[T](); t != reflect.TypeFor[api.Problem]() {
		if err := checkMembers(text, t); err != nil {
			return none, err
		}
	}
	if err := check(&reply); err != nil {
		return none, err
	}
	return reply, nil
}

// optional are members that the reply of an older nod-desktop may lack.
var optional = []string{"id", "outcome", "class"}

// checkMembers returns an error unless text, an object, has every member that a reply of type t always has.
func checkMembers(text []byte, t reflect.Type) error {
	var members map[string]json.RawMessage
	if err := api.Decode(text, &members); err != nil || members == nil {
		return badReply("not a JSON object")
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || strings.Contains(options, "omit") || slices.Contains(optional, name) {
			continue
		}
		if value, ok := members[name]; !ok || string(value) == "null" {
			return badReply("%q is missing", name)
		}
	}
	return nil
}

// check returns an error if reply, a pointer to a reply, contradicts itself. It sets the outcome of an approval that
// lacks it.
func check(reply any) error {
	switch r := reply.(type) {
	case *api.AskReply:
		return checkOutcome(r.Head, api.Answered)
	case *api.ConfirmReply:
		return checkOutcome(r.Head, api.Answered, api.TimedOut)
	case *api.FormReply:
		if (r.Answer == nil) == (r.Answers == nil) {
			return badReply("want either an answer or answers")
		}
		return checkOutcome(r.Head, api.Answered)
	case *api.NotifyReply:
		return checkOutcome(r.Head, api.Answered)
	case *api.ApproveReply:
		return checkApproval(r)
	case *api.EvaluateReply:
		if !slices.Contains([]api.Decision{api.Allow, api.AskIt, api.Deny}, r.Decision) {
			return badReply("decision %q, want allow, ask or deny", r.Decision)
		}
	case *api.Problem:
		if r.Code == "" {
			return badReply("%q is missing", "code")
		}
	case *api.PendingReply:
		return checkStatus(r.ID, r.Status)
	case *api.RequestReply:
		return checkStatus(r.ID, r.Status)
	case *api.ListReply:
		for _, l := range r.Requests {
			if err := checkStatus(l.ID, l.Status); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOutcome returns an error if a reply states an outcome that is not in fit.
func checkOutcome(h api.Head, fit ...api.Outcome) error {
	if h.Outcome != "" && !slices.Contains(fit, h.Outcome) {
		return badReply("an answer to what was %q", h.Outcome)
	}
	return nil
}

func checkStatus(id string, status api.Outcome) error {
	if id == "" || !slices.Contains(api.Outcomes, status) {
		return badReply("request %q has status %q", id, status)
	}
	return nil
}

func checkApproval(r *api.ApproveReply) error {
	switch {
	case r.Decision != api.Allow && r.Decision != api.Deny:
		return badReply("decision %q, want allow or deny", r.Decision)
	case r.Allowed() && r.By != api.ByHuman && r.By != api.ByPolicy:
		return badReply("allowed by %q", r.By)
	case !r.Allowed() && r.Outcome == api.Allowed:
		return badReply("denied and %q", r.Outcome)
	case r.Allowed() && r.Outcome == "":
		r.Outcome = api.Allowed
	case r.Allowed():
		return checkOutcome(r.Head, api.Allowed)
	case r.Outcome != "":
	case r.By == api.ByTimeout:
		r.Outcome = api.TimedOut
	case r.By == "":
		r.Outcome = api.Dismissed
	default:
		r.Outcome = api.Denied
	}
	return nil
}

// Answer returns the answer of a request that has ended, as the method that sent it would have: an [api.AskReply],
// [api.ConfirmReply], [api.FormReply], [api.ApproveReply] or [api.NotifyReply]. The error is a [*Pending] if it has not
// ended, and a [*Problem] if it ended without an answer.
func Answer(r api.RequestReply) (any, error) {
	if r.Status == api.Pending {
		return nil, &Pending{api.PendingReply{ID: r.ID, Status: r.Status}}
	}
	if problem, err := parse[api.Problem](r.Answer); err == nil {
		return nil, &Problem{Problem: problem}
	}
	parsers := map[api.Kind]func([]byte) (any, error){
		api.KindAsk: parseAny[api.AskReply], api.KindConfirm: parseAny[api.ConfirmReply],
		api.KindForm: parseAny[api.FormReply], api.KindApprove: parseAny[api.ApproveReply],
		api.KindNotify: parseAny[api.NotifyReply],
	}
	if parse, isKnown := parsers[r.Kind]; isKnown {
		return parse(r.Answer)
	}
	return nil, badReply("a request of kind %q", r.Kind)
}

func parseAny[T any](text []byte) (any, error) { return parse[T](text) }

// ErrForeign means that the server runs as another user. Nothing was sent to it.
var ErrForeign = errors.New("the server on nod's address belongs to another user")

// Problem is a reply that is not an answer, as an error.
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

// Pending means that the answer comes later: the request was detached, or its Hold is over. [Client.Request] fetches
// the answer, which is there already if the Status says so.
type Pending struct{ api.PendingReply }

// Error implements error.
func (p *Pending) Error() string { return fmt.Sprintf("no answer yet: request %s is pending", p.ID) }

// LostError means that the connection broke before an answer: nod-desktop has ended, or is ending.
type LostError struct {
	Err error // what the network said

	waited error // what ended the wait for the next nod-desktop; nil: it did not wait
}

// Error implements error.
func (e *LostError) Error() string {
	if e.waited != nil {
		return fmt.Sprintf("lost nod-desktop before it answered, and it did not come back in time: %v", e.Err)
	}
	return fmt.Sprintf("lost nod-desktop before it answered: %v", e.Err)
}

// Unwrap returns the network's error and, if the call waited for the next nod-desktop, the error that ended the wait.
func (e *LostError) Unwrap() []error {
	if e.waited == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.waited}
}

// badReply returns an error for a reply that nod-desktop would not send. It means that there is no decision.
func badReply(format string, args ...any) error {
	return fmt.Errorf("not a reply of nod-desktop: "+format, args...)
}

// parseProblem reads a refusal. Any other body is a bad reply.
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
