package interrupt

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"nod/ipc/api"
)

// Type says how a [Request] is answered.
type Type string

// The types of request.
const (
	Confirm   Type = "confirm"   // yes or no
	Selection Type = "selection" // one of the options
	Form      Type = "form"      // a text for each of the fields
)

// DefaultTimeout is how long a request without a time-out waits.
const DefaultTimeout = 5 * time.Minute

// ErrUnknown means that a [Registry] has no such request, or no longer: it was never made, has its answer, was waited
// for already or has timed out.
var ErrUnknown = errors.New("no such request, or it is over")

// Request is one question to the human.
type Request struct {
	ID      string        `json:"id"` // set by the registry
	Type    Type          `json:"type"`
	Message string        `json:"message"`
	Options []string      `json:"options,omitempty"` // of a selection
	Fields  []string      `json:"fields,omitempty"`  // of a form: the names of its fields
	Timeout time.Duration `json:"-"`                 // 0: DefaultTimeout
}

// Answer is what the human said; which member counts is for the request's type to say.
type Answer struct {
	Confirmed bool              `json:"confirmed"`
	Selected  string            `json:"selected,omitempty"`
	Values    map[string]string `json:"values,omitempty"`
}

// Registry is a table of the requests that wait for the human in this process: an agent makes a request and waits, its
// user interface lists what is pending and completes it. The zero value is ready for use, also by many goroutines.
//
// A request is in the table until its Wait returns, and at most for its time-out: what nobody waits for and nobody
// answers is forgotten by itself.
type Registry struct {
	mu     sync.Mutex // guards all below
	table  map[string]*entry
	made   uint64 // requests so far
	closed bool
}

type entry struct {
	Request
	number  uint64 // in the order in which they were made
	clock   *time.Timer
	waited  bool          // somebody waits, or did
	done    chan struct{} // closed once answer or err says what came of it
	isDone  bool
	answer  Answer
	outcome api.Outcome // when there is no answer
}

// Request enters q into the table and returns its id.
func (r *Registry) Request(q Request) (id string, err error) {
	if err := q.validate(); err != nil {
		return "", err
	}
	q.ID, q.Options, q.Fields = rand.Text(), slices.Clone(q.Options), slices.Clone(q.Fields)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return "", &UndecidedError{RequestID: q.ID, Outcome: api.Unavailable}
	}
	if r.table == nil {
		r.table = map[string]*entry{}
	}
	r.made++
	e := &entry{Request: q, number: r.made, done: make(chan struct{})}
	e.clock = time.AfterFunc(cmp.Or(q.Timeout, DefaultTimeout), func() { r.expire(e) })
	r.table[q.ID] = e
	return q.ID, nil
}

func (q Request) validate() error {
	switch {
	case q.Message == "":
		return errors.New("message: is missing")
	case q.Timeout < 0:
		return errors.New("timeout: is negative")
	case q.Type == Confirm:
		return nil
	case q.Type == Selection:
		return distinct("options", q.Options)
	case q.Type == Form:
		return distinct("fields", q.Fields)
	}
	return fmt.Errorf("type: got %q, want confirm, selection or form", q.Type)
}

// distinct returns an error unless there are texts, none of them empty and no two the same.
func distinct(param string, texts []string) error {
	if len(texts) == 0 {
		return fmt.Errorf("%s: are missing", param)
	}
	for i, text := range texts {
		if text == "" || slices.Contains(texts[:i], text) {
			return fmt.Errorf("%s[%d]: %q is empty or stands there twice", param, i, text)
		}
	}
	return nil
}

// Pending lists the requests without an answer, oldest first.
func (r *Registry) Pending() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := slices.DeleteFunc(slices.Collect(maps.Values(r.table)), func(e *entry) bool { return e.isDone })
	slices.SortFunc(open, func(a, b *entry) int { return cmp.Compare(a.number, b.number) })
	pending := make([]Request, len(open))
	for i, e := range open {
		pending[i] = e.Request
	}
	return pending
}

// Wait returns the answer to a request, which is over then, whatever Wait returns. Only one caller can wait. The error
// is an [*UndecidedError], [ErrUnknown], or the cause of ctx: when that ends first the request is withdrawn.
func (r *Registry) Wait(ctx context.Context, id string) (Answer, error) {
	r.mu.Lock()
	e := r.table[id]
	if e == nil || e.waited {
		r.mu.Unlock()
		return Answer{}, ErrUnknown
	}
	e.waited = true
	r.mu.Unlock()
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(e)
	switch {
	case !e.isDone:
		return Answer{}, context.Cause(ctx)
	case e.outcome != "":
		return Answer{}, &UndecidedError{RequestID: id, Outcome: e.outcome}
	}
	return e.answer, nil
}

// Complete answers a request, once: of several calls one returns nil, and [ErrUnknown] the others. An answer that does
// not fit is an error and leaves the request open. Wait returns what Complete returned nil for.
func (r *Registry) Complete(id string, a Answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.table[id]
	if e == nil || e.isDone {
		return ErrUnknown
	}
	if err := e.check(a); err != nil {
		return err
	}
	a.Values = maps.Clone(a.Values)
	e.answer = a
	e.end("")
	return nil
}

// check returns an error unless a is an answer to q.
func (q Request) check(a Answer) error {
	switch {
	case q.Type == Selection && !slices.Contains(q.Options, a.Selected):
		return fmt.Errorf("selected: %q is none of the options", a.Selected)
	case q.Type != Form:
		return nil
	}
	for _, field := range q.Fields {
		if _, ok := a.Values[field]; !ok {
			return fmt.Errorf("values: %q is missing", field)
		}
	}
	if len(a.Values) != len(q.Fields) {
		return errors.New("values: one belongs to no field")
	}
	return nil
}

// Dismiss ends a request that the human closed without an answer.
func (r *Registry) Dismiss(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.table[id]
	if e == nil || e.isDone {
		return ErrUnknown
	}
	e.end(api.Dismissed)
	return nil
}

// Close ends every request that has no answer, and refuses new ones. Answers that are there can still be waited for.
func (r *Registry) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, e := range r.table {
		if !e.isDone {
			e.end(api.Unavailable)
		}
	}
}

// expire ends e when its time is over, and forgets it when nobody waits.
func (r *Registry) expire(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !e.isDone {
		e.end(api.TimedOut)
	}
	if !e.waited {
		r.forget(e)
	}
}

// end says what came of e; no outcome: it has its answer. The caller holds the registry's mu.
func (e *entry) end(o api.Outcome) {
	e.outcome, e.isDone = o, true
	close(e.done)
}

// forget takes e out of the table. The caller holds r.mu.
func (r *Registry) forget(e *entry) {
	e.clock.Stop()
	delete(r.table, e.ID)
}
