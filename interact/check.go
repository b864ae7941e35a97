package interact

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"nod/api"
	"nod/policy"
)

// Check returns what is wrong with a as a prompt's answer to r, as a sentence for the user.
func (r Request) Check(a Answer) error {
	switch a.Outcome {
	case api.Dismissed, api.Withdrawn:
		return nil
	case api.Allowed, api.Denied:
		return r.checkDecision(a)
	case api.Answered:
		return r.checkAnswer(a)
	}
	return fmt.Errorf("a prompt can't answer %q", a.Outcome)
}

func (r Request) checkDecision(a Answer) error {
	approve, ok := r.Body.(Approve)
	if !ok {
		return errors.New("only an approval is allowed or denied")
	}
	allows := a.Outcome == api.Allowed
	switch {
	case Clip(a.Reason) != a.Reason:
		return fmt.Errorf("the reason is %w", errTooLong)
	case a.Suggestion < 0 || a.Suggestion > len(approve.Suggestions) || a.Suggestion > 0 && !allows:
		return errors.New("the agent suggested no such rule")
	case allows && a.ShownSHA256 != Digest(approve.Input):
		return errors.New("the request differs from the one shown")
	case allows && a.Scope != "" && !slices.Contains(policy.Scopes, a.Scope):
		return fmt.Errorf("unknown scope %q", a.Scope)
	case a.Scope.IsPermanent() && r.Requester.IsRemote():
		return errors.New("only approvals of this desk's own agents can be permanent")
	case a.Covers != "" && a.Covers != policy.CoverSandbox && !slices.Contains(policy.Covers, a.Covers):
		return fmt.Errorf("unknown cover %q", a.Covers)
	case a.Covers != "" && (!allows || a.Scope == "" || a.Scope == policy.Once):
		return errors.New("an answer for once covers only this call")
	case allows && a.Scope == policy.ThisSession && r.Requester.Session == "":
		return errors.New("the agent named no session")
	}
	return nil
}

func (r Request) checkAnswer(a Answer) error {
	switch b := r.Body.(type) {
	case api.Ask:
		return checkText(b, a.Text)
	case api.Form:
		return checkValues(b, a.Values)
	case api.Confirm, api.Notify:
		return nil
	}
	return errors.New("an approval is allowed or denied, not answered")
}

// Limits on what a user may write as an answer or a reason.
const (
	MaxAnswer      = MaxText
	MaxAnswerLines = 1000
)

// Clip cuts text to the limits of what a user may write.
func Clip(text string) string {
	chars, lines := 0, 1
	for i, c := range text {
		if c == '\n' {
			lines++
		}
		if chars++; chars > MaxAnswer || lines > MaxAnswerLines {
			return text[:i]
		}
	}
	return text
}

var (
	tooLong    = fmt.Sprintf("%d characters and %d lines", MaxAnswer, MaxAnswerLines)
	errTooLong = errors.New("longer than " + tooLong)
)

func checkText(a api.Ask, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the answer is empty")
	case !slices.Contains(a.Options, text) && Clip(text) != text:
		return errTooLong
	case len(a.Options) > 0 && !a.OffersOther() && !slices.Contains(a.Options, text):
		return errors.New("pick one of the options")
	}
	return nil
}

func checkValues(f api.Form, values map[string]api.Value) error {
	for _, q := range f.Questions {
		v, given := values[q.ID]
		if !given {
			return &AnswerError{ID: q.ID}
		}
		if err := CheckValue(q, v); err != nil {
			return err
		}
	}
	if len(values) != len(f.Questions) {
		return errors.New("an answer belongs to no question")
	}
	return nil
}

// AnswerError says why the answer to one question of a form is not valid.
type AnswerError struct {
	ID      string
	Problem string // empty: a required question has no answer yet
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("%q %s", e.ID, cmp.Or(e.Problem, "has no answer yet"))
}

// BlankPick is the problem of the user's own answer beside the options, if nothing is in it.
const BlankPick = "has a blank answer"

func invalid(q api.Question, problem string) error { return &AnswerError{ID: q.ID, Problem: problem} }

// CheckValue returns why v does not answer q. The error is an [*AnswerError] if v is of the right kind.
func CheckValue(q api.Question, v api.Value) error {
	if v.List != (q.InputType == Choice) {
		return fmt.Errorf("%q: wrong kind of answer", q.ID)
	}
	if v.List {
		return checkPicks(q, v.Items)
	}
	text := v.String()
	if Clip(text) != text {
		return invalid(q, "wants at most "+tooLong)
	}
	if strings.TrimSpace(text) != "" {
		return checkFormat(q, text)
	}
	if q.IsRequired() {
		return &AnswerError{ID: q.ID}
	}
	return nil
}

func checkPicks(q api.Question, picks []string) error {
	if q.IsRequired() && len(picks) == 0 {
		return &AnswerError{ID: q.ID}
	}
	if !q.MultiSelect && len(picks) > 1 {
		return invalid(q, "takes one answer")
	}
	for i, pick := range picks {
		switch {
		case strings.TrimSpace(pick) == "":
			return invalid(q, BlankPick)
		case slices.Contains(picks[:i], pick):
			return invalid(q, "has the same answer twice")
		case Clip(pick) != pick:
			return invalid(q, "wants at most "+tooLong)
		case !q.OffersOther() && !slices.ContainsFunc(q.Options, func(o api.Option) bool { return o.Value == pick }):
			return invalid(q, "takes only the options")
		}
	}
	if len(picks) == 0 {
		return nil
	}
	return between(q, float64(len(picks)), "pick")
}

func checkFormat(q api.Question, text string) error {
	switch q.Format {
	case Integer, Number:
		return checkNumber(q, text)
	case Email:
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return invalid(q, "wants an e-mail address")
		}
	case URI:
		if u, err := url.Parse(text); err != nil || u.Scheme == "" {
			return invalid(q, "wants an address such as https://example.com")
		}
	case Date:
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return invalid(q, "wants a date such as 2030-12-31")
		}
	case DateTime:
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return invalid(q, "wants a date and time such as 2030-12-31T18:00:00Z")
		}
	}
	return between(q, float64(utf8.RuneCountInString(text)), "character")
}

func checkNumber(q api.Question, text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return invalid(q, "wants a number")
	}
	if q.Format == Integer && n != math.Trunc(n) {
		return invalid(q, "wants a whole number")
	}
	return between(q, n, "")
}

// between checks that n is between Min and Max. unit is what n counts; it is empty if n is the answer itself.
func between(q api.Question, n float64, unit string) error {
	bound := func(limit float64) string {
		s := strconv.FormatFloat(limit, 'f', -1, 64)
		switch {
		case unit == "":
			return s
		case limit == 1:
			return s + " " + unit
		}
		return s + " " + unit + "s"
	}
	switch {
	case q.Min != nil && n < *q.Min:
		return invalid(q, "wants at least "+bound(*q.Min))
	case q.Max != nil && n > *q.Max:
		return invalid(q, "wants at most "+bound(*q.Max))
	}
	return nil
}
