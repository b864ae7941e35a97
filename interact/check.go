package interact

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nod/policy"
)

// Check reports whether a is an answer that a prompt may give to r. The error is a sentence for the human
// who is answering; the request stays open until Check is content.
func (r Request) Check(a Answer) error {
	switch a.Outcome {
	case Dismissed, Withdrawn:
		return nil
	case Allowed, Denied:
		return r.checkDecision(a)
	case Answered:
		return r.checkAnswer(a)
	}
	return fmt.Errorf("%q is not for a prompt to say", a.Outcome)
}

func (r Request) checkDecision(a Answer) error {
	if r.Body.Kind() != KindApprove {
		return errors.New("only an approval is allowed or denied")
	}
	if a.Outcome == Allowed && !slices.Contains([]policy.Scope{"", policy.Once, policy.ThisSession, policy.QuarterHour, policy.Always}, a.Scope) {
		return fmt.Errorf("%q is no scope", a.Scope)
	}
	if a.Outcome == Allowed && a.Scope == policy.ThisSession && r.Requester.Session == "" {
		return errors.New("the agent named no session to allow this for")
	}
	return nil
}

func (r Request) checkAnswer(a Answer) error {
	switch b := r.Body.(type) {
	case Ask:
		return b.check(a.Text)
	case Form:
		return b.check(a.Values)
	case Confirm, Notify:
		return nil
	}
	return errors.New("an approval is allowed or denied, not answered")
}

func (a Ask) check(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the answer is empty")
	case len(a.Options) > 0 && !a.OffersOther() && !slices.Contains(a.Options, text):
		return errors.New("pick one of the options")
	}
	return nil
}

func (f Form) check(values map[string]Value) error {
	for _, q := range f.Questions {
		v, given := values[q.ID]
		if !given {
			return &MissingError{ID: q.ID}
		}
		if err := q.check(v); err != nil {
			return err
		}
	}
	if len(values) != len(f.Questions) {
		return errors.New("an answer belongs to no question")
	}
	return nil
}

// MissingError says that a required question of a form has no answer yet.
type MissingError struct{ ID string }

func (e *MissingError) Error() string { return fmt.Sprintf("%q has no answer yet", e.ID) }

func (q Question) check(v Value) error {
	if v.List != (q.InputType == Choice) {
		return fmt.Errorf("%q: wrong kind of answer", q.ID)
	}
	if !v.List {
		if q.IsRequired() && strings.TrimSpace(v.String()) == "" {
			return &MissingError{ID: q.ID}
		}
		return nil
	}
	switch {
	case q.IsRequired() && len(v.Items) == 0:
		return &MissingError{ID: q.ID}
	case !q.MultiSelect && len(v.Items) > 1:
		return fmt.Errorf("%q takes one answer", q.ID)
	}
	for _, item := range v.Items {
		if strings.TrimSpace(item) == "" {
			return &MissingError{ID: q.ID}
		}
	}
	return nil
}
