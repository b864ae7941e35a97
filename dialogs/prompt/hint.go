package prompt

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"nod/api"
	"nod/dialogs/safetext"
	"nod/interact"
)

// HeaderOf returns the word or two above q. A long one is visibly cut, as it does not wrap.
func HeaderOf(q api.Question) string { return safetext.Line(q.Header, maxName) }

// HintOf says which answers to q are valid, or returns "" if all are.
func HintOf(q api.Question) string {
	parts := []string{formatHint(q.Format), boundsHint(q)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// ProblemOf explains err, the reason why an answer to q is invalid.
func ProblemOf(q api.Question, err error) string {
	invalid, ok := errors.AsType[*interact.AnswerError](err)
	switch {
	case !ok || invalid.Problem == "":
		return tr("This needs an answer.")
	case invalid.Problem == interact.BlankPick:
		return tr("“Other…” is picked, but empty.")
	}
	return cmp.Or(HintOf(q), tr("This {{.Problem}}.", values{"Problem": tr(invalid.Problem)}))
}

func formatHint(f string) string {
	return map[string]string{
		interact.Integer: tr("A whole number"), interact.Number: tr("A number"), interact.Email: tr("An e-mail address"),
		interact.URI:      tr("An address such as https://example.com"),
		interact.Date:     tr("A date such as 2030-12-31"),
		interact.DateTime: tr("A date and time such as 2030-12-31T18:00:00Z"),
	}[f]
}

func boundsHint(q api.Question) string {
	if q.Min == nil && q.Max == nil {
		return ""
	}
	bounds := values{"Min": bound(q.Min), "Max": bound(q.Max)}
	switch {
	case q.InputType == interact.Choice && !q.MultiSelect:
		return ""
	case q.InputType == interact.Choice && q.Min != nil && q.Max != nil && *q.Min == *q.Max:
		return tr("Pick {{.Min}}", bounds)
	case q.InputType == interact.Choice:
		return oneOf(q, tr("Pick {{.Min}} to {{.Max}}", bounds),
			tr("Pick at least {{.Min}}", bounds), tr("Pick at most {{.Max}}", bounds))
	case q.Format == interact.Integer || q.Format == interact.Number:
		return oneOf(q, tr("from {{.Min}} to {{.Max}}", bounds),
			tr("at least {{.Min}}", bounds), tr("at most {{.Max}}", bounds))
	}
	return oneOf(q, tr("{{.Min}} to {{.Max}} characters", bounds),
		tr("at least {{.Min}} characters", bounds), tr("at most {{.Max}} characters", bounds))
}

func oneOf(q api.Question, both, least, most string) string {
	switch {
	case q.Max == nil:
		return least
	case q.Min == nil:
		return most
	}
	return both
}

func bound(limit *float64) string {
	if limit == nil {
		return ""
	}
	return strconv.FormatFloat(*limit, 'f', -1, 64)
}
