package interact

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nod/api"
	"nod/policy"
	"nod/policy/invisible"
)

// Limits on a request, in Unicode code points unless stated otherwise.
const (
	MaxTimeout   = 24 * time.Hour
	MaxName      = 200     // agent, session, idempotency key, tool, ids, headers, titles, button labels
	MaxText      = 10_000  // a question, a message, a description
	maxInput     = 1 << 20 // bytes of a tool call's input
	maxOptions   = 200     // options of one question
	maxQuestions = 50      // questions of one form
)

// ParamError says which parameter of a request is wrong, and how. Its text is meant for the caller.
type ParamError struct {
	Param   string // path of the parameter, as in "questions[1].options[0].label"
	Problem string
	Missing bool // a required string is missing, empty or not a string
}

func (e *ParamError) Error() string { return e.Param + ": " + e.Problem }

// Normalize fills in what a caller may omit.
func Normalize(b Body) Body {
	switch b := b.(type) {
	case api.Form:
		b.Questions = slices.Clone(b.Questions)
		for i := range b.Questions {
			b.Questions[i] = normalizeQuestion(b.Questions[i])
		}
		return b
	case Approve:
		if b.Class == "mutating" {
			b.Class = policy.Write
		}
		return b
	case api.Notify:
		b.Level = cmp.Or(b.Level, Info)
		return b
	}
	return b
}

func normalizeQuestion(q api.Question) api.Question {
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
		return wrong("kind", "the request has no body")
	case r.Timeout < 0 || r.Timeout > MaxTimeout:
		return wrong("timeout", "want 0 to %d seconds", int(MaxTimeout.Seconds()))
	case !slices.Contains([]api.Silence{api.TakesNo, api.AsksInTerminal, api.AsksItself}, r.Silence):
		return wrong("silence", "want terminal or agent, or leave it out")
	case r.Requester.CWD != "" && !filepath.IsAbs(r.Requester.CWD):
		return wrong("cwd", "want an absolute folder")
	}
	err := cmp.Or(
		short("agent", r.Requester.Agent),
		short("session", r.Requester.Session),
		short("subagent", r.Requester.Subagent.ID),
		short("subagent", r.Requester.Subagent.Type),
		short("idempotency_key", r.IdempotencyKey),
		limit("cwd", r.Requester.CWD, 4096),
	)
	if err != nil {
		return err
	}
	return validate(r.Body)
}

func validate(b Body) error {
	switch b := b.(type) {
	case api.Ask:
		return validateAsk(b)
	case api.Confirm:
		return cmp.Or(required("message", b.Message, MaxText), short("yes_label", b.YesLabel),
			short("no_label", b.NoLabel), validateLabels(b))
	case api.Form:
		return validateForm(b)
	case Approve:
		return b.validate()
	case api.Notify:
		return validateNotify(b)
	}
	return wrong("kind", "a %T is no body of a request", b)
}

func validateAsk(a api.Ask) error {
	if err := cmp.Or(required("question", a.Question, MaxText), short("placeholder", a.Placeholder)); err != nil {
		return err
	}
	if len(a.Options) > maxOptions {
		return wrong("options", "more than %d", maxOptions)
	}
	for i, o := range a.Options {
		param := fmt.Sprintf("options[%d]", i)
		if err := required(param, o, MaxText); err != nil {
			return err
		}
		if slices.Contains(a.Options[:i], o) {
			return wrong(param, "%q stands twice in the list", o)
		}
	}
	return nil
}

func validateForm(f api.Form) error {
	if err := short("title", f.Title); err != nil {
		return err
	}
	switch {
	case len(f.Questions) == 0:
		return wrong("questions", "want at least one question")
	case len(f.Questions) > maxQuestions:
		return wrong("questions", "more than %d", maxQuestions)
	}
	seen := map[string]bool{}
	for i, q := range f.Questions {
		at := fmt.Sprintf("questions[%d].", i)
		if err := validateQuestion(q, at); err != nil {
			return err
		}
		if seen[q.ID] {
			return wrong(at+"id", "%q names two questions", q.ID)
		}
		seen[q.ID] = true
	}
	return nil
}

func validateQuestion(q api.Question, at string) error {
	err := cmp.Or(
		required(at+"id", q.ID, MaxName),
		required(at+"question", q.Question, MaxText),
		short(at+"header", q.Header),
		short(at+"placeholder", q.Placeholder),
	)
	if err != nil {
		return err
	}
	if q.Min != nil && q.Max != nil && *q.Min > *q.Max {
		return wrong(at+"min", "is more than max")
	}
	isNumber := q.Format == Integer || q.Format == Number
	if q.Max != nil && *q.Max < 1 && !isNumber {
		return wrong(at+"max", "want at least 1")
	}
	switch q.InputType {
	case Text:
		return validateText(q, at)
	case Choice:
		return validateChoice(q, at)
	}
	return wrong(at+"input_type", "%q: want choice or text", q.InputType)
}

func validateText(q api.Question, at string) error {
	switch {
	case len(q.Options) > 0:
		return wrong(at+"options", "a text question has no options")
	case q.MultiSelect:
		return wrong(at+"multi_select", "a text question has nothing to select")
	case q.Default.List:
		return wrong(at+"default", "a text question's default is a string")
	case !slices.Contains([]string{"", Email, URI, Date, DateTime, Integer, Number}, q.Format):
		return wrong(at+"format", "%q: want email, uri, date, date-time, integer or number", q.Format)
	}
	return limit(at+"default", q.Default.String(), MaxText)
}

func validateChoice(q api.Question, at string) error {
	switch {
	case len(q.Options) == 0:
		return wrong(at+"options", "a choice question needs options")
	case len(q.Options) > maxOptions:
		return wrong(at+"options", "more than %d", maxOptions)
	case q.Format != "":
		return wrong(at+"format", "a choice question has no format")
	}
	values := map[string]bool{}
	for i, o := range q.Options {
		at := fmt.Sprintf("%soptions[%d].", at, i)
		err := cmp.Or(
			required(at+"label", o.Label, MaxText),
			limit(at+"value", o.Value, MaxText),
			limit(at+"description", o.Description, MaxText),
			limit(at+"preview", o.Preview, MaxText),
		)
		if err != nil {
			return err
		}
		if marked(o.Label) {
			return wrong(at+"label", `leave "(Recommended)" out of the label and set recommended: true`)
		}
		if values[o.Value] {
			return wrong(at+"value", "%q stands for two options", o.Value)
		}
		values[o.Value] = true
	}
	all := len(q.Options)
	if q.OffersOther() {
		all++
	}
	if q.Min != nil && *q.Min > float64(all) {
		return wrong(at+"min", "is more than the %d that can be picked", all)
	}
	return validateDefault(q, at, values)
}

// validateLabels refuses buttons that cannot be told apart, or that say the opposite of what they do.
func validateLabels(c api.Confirm) error {
	yes := strings.ToLower(cmp.Or(strings.TrimSpace(c.YesLabel), "yes"))
	no := strings.ToLower(cmp.Or(strings.TrimSpace(c.NoLabel), "no"))
	switch {
	case yes == no:
		return wrong("yes_label", "%q is on both buttons", yes)
	case yes == "no":
		return wrong("yes_label", "%q is the opposite of what the button does", yes)
	case no == "yes":
		return wrong("no_label", "%q is the opposite of what the button does", no)
	}
	return nil
}

func validateDefault(q api.Question, at string, values map[string]bool) error {
	if !q.MultiSelect && len(q.Default.Items) > 1 {
		return wrong(at+"default", "several defaults need multi_select: true")
	}
	for _, d := range q.Default.Items {
		if !values[d] {
			return wrong(at+"default", "%q is no option's value", d)
		}
	}
	return nil
}

// marked reports whether a label carries the recommendation that belongs in a badge.
func marked(label string) bool {
	l := strings.ToLower(strings.TrimSpace(label))
	return strings.HasSuffix(l, "(recommended)") || strings.HasSuffix(l, "(推荐)") || strings.HasSuffix(l, "（推荐）")
}

func (a Approve) validate() error {
	err := cmp.Or(
		required("tool", a.Tool, MaxName),
		limit("description", a.Description, MaxText),
		short("tool_use_id", a.ToolUseID),
	)
	if err != nil {
		return err
	}
	if len(a.Suggestions) > maxOptions {
		return wrong("suggestions", "more than %d", maxOptions)
	}
	for i, s := range a.Suggestions {
		if err := required(fmt.Sprintf("suggestions[%d]", i), s, MaxText); err != nil {
			return err
		}
	}
	switch input := bytes.TrimSpace(a.Input); {
	case len(input) == 0 || bytes.Equal(input, []byte("null")):
		return wrong("input", "want the tool's input as a JSON object")
	case len(input) > maxInput:
		return wrong("input", "longer than %d bytes", maxInput)
	case input[0] != '{':
		return wrong("input", "want a JSON object")
	}
	if a.Class != "" && !slices.Contains(policy.Classes, a.Class) {
		return wrong("class", "%q: want one of read_only, write, execute, network, destructive, unknown", a.Class)
	}
	return nil
}

func validateNotify(n api.Notify) error {
	if err := cmp.Or(required("message", n.Message, MaxText), short("title", n.Title)); err != nil {
		return err
	}
	if !slices.Contains([]string{Info, Warning, Error}, n.Level) {
		return wrong("level", `want "info", "warning" or "error", got %q`, n.Level)
	}
	return nil
}

func required(param, s string, max int) error {
	if err := limit(param, s, max); err != nil {
		return err
	}
	if !strings.ContainsFunc(s, shows) {
		return &ParamError{Param: param, Problem: "want a text that is not blank", Missing: true}
	}
	return nil
}

// shows reports whether r is visible. JSON decodes half of a surrogate pair as RuneError, which does not count as
// visible.
func shows(r rune) bool { return r != ' ' && r != utf8.RuneError && !invisible.Is(r) }

func short(param, s string) error { return limit(param, s, MaxName) }

func limit(param, s string, max int) error {
	switch {
	case !utf8.ValidString(s):
		return wrong(param, "not valid UTF-8")
	case len(s) > max && utf8.RuneCountInString(s) > max:
		return wrong(param, "longer than %d characters", max)
	}
	return nil
}

func wrong(param, problem string, args ...any) error {
	return &ParamError{Param: param, Problem: fmt.Sprintf(problem, args...)}
}
