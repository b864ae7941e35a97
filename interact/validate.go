package interact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nod/policy"
)

// Limits of a request. Lengths are in Unicode code points unless said otherwise.
const (
	MaxTimeout   = 24 * time.Hour
	MaxName      = 200     // agent, session, idempotency key, tool, ids, headers, titles, button labels
	MaxText      = 10_000  // a question, a message, a description
	MaxInput     = 1 << 20 // bytes of a tool call's input
	MaxOptions   = 200     // options of one question
	MaxQuestions = 50      // questions of one form
)

// ParamError says which parameter of a request is wrong, and how. Its text is meant for the caller.
type ParamError struct {
	Param   string // path of the parameter, as in "questions[1].options[0].label"
	Problem string
	Missing bool // a required string is missing, empty or not a string
}

func (e *ParamError) Error() string { return e.Param + ": " + e.Problem }

// Normalize fills in what a caller may leave out: the input type of a question, the value of an option,
// the level of a notice. It never repairs what is wrong; Validate refuses that.
func Normalize(b Body) Body {
	switch b := b.(type) {
	case Form:
		b.Questions = slices.Clone(b.Questions)
		for i := range b.Questions {
			b.Questions[i] = b.Questions[i].normalize()
		}
		return b
	case Approve:
		if b.Class == "mutating" {
			b.Class = policy.Write
		}
		return b
	case Notify:
		b.Level = cmp.Or(b.Level, Info)
		return b
	}
	return b
}

func (q Question) normalize() Question {
	if q.InputType == "" {
		q.InputType = Text
		if len(q.Options) > 0 {
			q.InputType = Choice
		}
	}
	q.Options = slices.Clone(q.Options)
	for i, o := range q.Options {
		q.Options[i].Value = cmp.Or(o.Value, o.Label)
	}
	if q.InputType == Choice && !q.Default.IsZero() && !q.Default.List {
		q.Default = ListValue(q.Default.Items...)
	}
	return q
}

// Validate reports the first thing wrong with the request as a [*ParamError].
func (r Request) Validate() error {
	switch {
	case r.Body == nil:
		return &ParamError{Param: "kind", Problem: "the request has no body"}
	case r.Timeout < 0 || r.Timeout > MaxTimeout:
		return &ParamError{Param: "timeout", Problem: fmt.Sprintf("want 0 to %d seconds", int(MaxTimeout.Seconds()))}
	case r.Requester.CWD != "" && !filepath.IsAbs(r.Requester.CWD):
		return &ParamError{Param: "cwd", Problem: "want an absolute folder"}
	}
	err := first(
		short("agent", r.Requester.Agent),
		short("session", r.Requester.Session),
		short("idempotency_key", r.IdempotencyKey),
		limit("cwd", r.Requester.CWD, 4096),
	)
	if err != nil {
		return err
	}
	return r.Body.Validate()
}

// Validate implements [Body].
func (a Ask) Validate() error {
	if err := first(required("question", a.Question, MaxText), short("placeholder", a.Placeholder)); err != nil {
		return err
	}
	if len(a.Options) > MaxOptions {
		return tooMany("options", MaxOptions)
	}
	for i, o := range a.Options {
		param := fmt.Sprintf("options[%d]", i)
		if err := required(param, o, MaxText); err != nil {
			return err
		}
		if slices.Contains(a.Options[:i], o) {
			return &ParamError{Param: param, Problem: fmt.Sprintf("%q stands twice in the list", o)}
		}
	}
	return nil
}

// OffersOther reports whether a free text may be typed in place of an option.
func (a Ask) OffersOther() bool { return a.AllowOther == nil || *a.AllowOther }

// Validate implements [Body].
func (c Confirm) Validate() error {
	return first(required("message", c.Message, MaxText), short("yes_label", c.YesLabel), short("no_label", c.NoLabel))
}

// Validate implements [Body].
func (f Form) Validate() error {
	if err := short("title", f.Title); err != nil {
		return err
	}
	switch {
	case len(f.Questions) == 0:
		return &ParamError{Param: "questions", Problem: "want at least one question"}
	case len(f.Questions) > MaxQuestions:
		return tooMany("questions", MaxQuestions)
	}
	seen := map[string]bool{}
	for i, q := range f.Questions {
		at := fmt.Sprintf("questions[%d].", i)
		if err := q.validate(at); err != nil {
			return err
		}
		if seen[q.ID] {
			return &ParamError{Param: at + "id", Problem: fmt.Sprintf("%q names two questions", q.ID)}
		}
		seen[q.ID] = true
	}
	return nil
}

func (q Question) validate(at string) error {
	err := first(
		required(at+"id", q.ID, MaxName),
		required(at+"question", q.Question, MaxText),
		short(at+"header", q.Header),
		short(at+"placeholder", q.Placeholder),
	)
	if err != nil {
		return err
	}
	if q.Min != nil && q.Max != nil && *q.Min > *q.Max {
		return &ParamError{Param: at + "min", Problem: "is more than max"}
	}
	switch q.InputType {
	case Text:
		return q.validateText(at)
	case Choice:
		return q.validateChoice(at)
	}
	return &ParamError{Param: at + "input_type", Problem: fmt.Sprintf("%q: want choice or text", q.InputType)}
}

func (q Question) validateText(at string) error {
	switch {
	case len(q.Options) > 0:
		return &ParamError{Param: at + "options", Problem: "a text question has no options"}
	case q.MultiSelect:
		return &ParamError{Param: at + "multi_select", Problem: "a text question has nothing to select"}
	case q.Default.List:
		return &ParamError{Param: at + "default", Problem: "a text question's default is a string"}
	case !slices.Contains([]Format{"", Email, URI, Date, DateTime, Integer, Number}, q.Format):
		return &ParamError{Param: at + "format", Problem: fmt.Sprintf("%q: want email, uri, date, date-time, integer or number", q.Format)}
	}
	return limit(at+"default", q.Default.String(), MaxText)
}

func (q Question) validateChoice(at string) error {
	switch {
	case len(q.Options) == 0:
		return &ParamError{Param: at + "options", Problem: "a choice question needs options"}
	case len(q.Options) > MaxOptions:
		return tooMany(at+"options", MaxOptions)
	case q.Format != "":
		return &ParamError{Param: at + "format", Problem: "a choice question has no format"}
	}
	values := map[string]bool{}
	for i, o := range q.Options {
		at := fmt.Sprintf("%soptions[%d].", at, i)
		err := first(required(at+"label", o.Label, MaxText), limit(at+"value", o.Value, MaxText), limit(at+"description", o.Description, MaxText), limit(at+"preview", o.Preview, MaxText))
		if err != nil {
			return err
		}
		if marked(o.Label) {
			return &ParamError{Param: at + "label", Problem: `leave "(Recommended)" out of the label and set recommended: true`}
		}
		if values[o.Value] {
			return &ParamError{Param: at + "value", Problem: fmt.Sprintf("%q stands for two options", o.Value)}
		}
		values[o.Value] = true
	}
	return q.validateDefault(at, values)
}

func (q Question) validateDefault(at string, values map[string]bool) error {
	if !q.MultiSelect && len(q.Default.Items) > 1 {
		return &ParamError{Param: at + "default", Problem: "several defaults need multi_select: true"}
	}
	for _, d := range q.Default.Items {
		if !values[d] {
			return &ParamError{Param: at + "default", Problem: fmt.Sprintf("%q is no option's value", d)}
		}
	}
	return nil
}

// marked reports whether a label carries the recommendation that belongs in a badge.
func marked(label string) bool {
	l := strings.ToLower(strings.TrimSpace(label))
	return strings.HasSuffix(l, "(recommended)") || strings.HasSuffix(l, "(推荐)") || strings.HasSuffix(l, "（推荐）")
}

// Validate implements [Body].
func (a Approve) Validate() error {
	err := first(required("tool", a.Tool, MaxName), limit("description", a.Description, MaxText), short("tool_use_id", a.ToolUseID))
	if err != nil {
		return err
	}
	switch input := bytes.TrimSpace(a.Input); {
	case len(input) == 0 || bytes.Equal(input, []byte("null")):
		return &ParamError{Param: "input", Problem: "want the tool's input as a JSON object"}
	case len(input) > MaxInput:
		return &ParamError{Param: "input", Problem: fmt.Sprintf("longer than %d bytes", MaxInput)}
	case input[0] != '{' || !json.Valid(input):
		return &ParamError{Param: "input", Problem: "want a JSON object"}
	}
	if a.Class != "" && !slices.Contains(policy.Classes, a.Class) {
		return &ParamError{Param: "class", Problem: fmt.Sprintf("%q: want one of read_only, write, execute, network, destructive, unknown", a.Class)}
	}
	return nil
}

// Validate implements [Body].
func (n Notify) Validate() error {
	if err := first(required("message", n.Message, MaxText), short("title", n.Title)); err != nil {
		return err
	}
	if !slices.Contains([]Level{Info, Warning, Error}, n.Level) {
		return &ParamError{Param: "level", Problem: fmt.Sprintf("`level` must be \"info\", \"warning\", or \"error\", got %q", n.Level)}
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func required(param, s string, max int) error {
	if strings.TrimSpace(s) == "" {
		return &ParamError{Param: param, Problem: "want a text that is not blank", Missing: true}
	}
	return limit(param, s, max)
}

func short(param, s string) error { return limit(param, s, MaxName) }

func limit(param, s string, max int) error {
	switch {
	case !utf8.ValidString(s):
		return &ParamError{Param: param, Problem: "not valid UTF-8"}
	case len(s) > max && utf8.RuneCountInString(s) > max:
		return &ParamError{Param: param, Problem: fmt.Sprintf("longer than %d characters", max)}
	}
	return nil
}

func tooMany(param string, max int) error {
	return &ParamError{Param: param, Problem: fmt.Sprintf("more than %d", max)}
}
