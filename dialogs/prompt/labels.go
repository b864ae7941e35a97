package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"nod/api"
	"nod/dialogs/safetext"
	"nod/interact"
)

// labels are the texts of the buttons. If Why is empty, a denial has no reason, because no agent would read it.
type labels struct{ Yes, No, Why, Send, Placeholder string }

// LabelsOf returns the labels of an approval. A plan has different ones.
func LabelsOf(a interact.Approve) labels {
	if IsPlan(a) {
		return labels{
			Yes: tr("Approve plan"), No: tr("Keep planning"), Why: tr("Keep planning with feedback…"),
			Send: tr("Keep planning with this feedback"), Placeholder: tr("What to change (the agent reads it)"),
		}
	}
	if a.Refused {
		return labels{Yes: tr("Allow once"), No: tr("Leave it")}
	}
	return labels{
		Yes: tr("Allow"), No: tr("Deny"), Why: tr("Deny with reason…"),
		Send: tr("Deny with this reason"), Placeholder: tr("Reason (the agent reads it)"),
	}
}

func ConfirmLabels(b api.Confirm) (yes, no string) {
	return safetext.Line(cmp.Or(b.YesLabel, tr("Yes")), maxName), safetext.Line(cmp.Or(b.NoLabel, tr("No")), maxName)
}

// Silence says what happens after time without an answer.
func Silence(r interact.Request, time string) string {
	what := values{"Time": time}
	switch r.Silence {
	case api.AsksInTerminal:
		return tr("Goes back to the terminal in {{.Time}}", what)
	case api.AsksItself:
		return tr("Goes back to the agent in {{.Time}}", what)
	}
	switch b := r.Body.(type) {
	case interact.Approve:
		return tr("Denied in {{.Time}} unless you decide", what)
	case api.Confirm:
		yes, no := ConfirmLabels(b)
		what["Answer"] = no
		if b.Default {
			what["Answer"] = yes
		}
		return tr("Answers “{{.Answer}}” in {{.Time}}", what)
	}
	return tr("Times out in {{.Time}}", what)
}

// Spelled spells out a duration: "5 minutes", "1 hour 30 minutes".
func Spelled(d time.Duration) string {
	for _, u := range []struct {
		unit      time.Duration
		one, many string
	}{
		{24 * time.Hour, "1 day", "{{.N}} days"}, {time.Hour, "1 hour", "{{.N}} hours"},
		{time.Minute, "1 minute", "{{.N}} minutes"},
	} {
		if d < u.unit {
			continue
		}
		whole := tr(u.one)
		if n := d / u.unit; n > 1 {
			whole = tr(u.many, values{"N": int64(n)})
		}
		if rest := d % u.unit; rest > 0 {
			whole += " " + Spelled(rest)
		}
		return whole
	}
	if d == time.Second {
		return tr("1 second")
	}
	return tr("{{.N}} seconds", values{"N": d.Seconds()})
}

// MaxMarkdownBytes is the size of the longest text shown as Markdown, in bytes. A longer one is shown as plain text.
const MaxMarkdownBytes = 64 << 10

// IsPlan reports whether a asks to carry out a plan that can be shown.
func IsPlan(a interact.Approve) bool {
	if a.Tool != interact.ExitPlanMode {
		return false
	}
	args, ok := parseArguments(a.Input)
	_, isPlan := planOf(a, args)
	return ok && isPlan
}

func planOf(a interact.Approve, args arguments) (plan string, ok bool) {
	_, plan, ok = args.text("plan")
	return plan, ok && a.Tool == interact.ExitPlanMode && strings.TrimSpace(plan) != "" && len(a.Input) <= MaxMarkdownBytes
}

func planContent(a interact.Approve, args arguments, _ places) (Content, bool) {
	plan, ok := planOf(a, args)
	if !ok {
		return Content{}, false
	}
	c := Content{Lines: fieldLines(args), Original: plan, Plan: plan}
	for _, field := range args.without("plan") {
		text, _ := field.value()
		c.Beside += fmt.Sprintf("%s: %s\n", field.key, text)
	}
	return c, true
}

// PlanWays returns the indexes of two of the agent's suggestions: carry out the plan and ask for each edit, or let
// edits pass. ok is false if the agent does not offer both.
func PlanWays(a interact.Approve) (ask, pass int, ok bool) {
	ask = slices.Index(a.Suggestions, interact.AskForEdits)
	pass = slices.Index(a.Suggestions, interact.LetEditsPass)
	return ask, pass, ask >= 0 && pass >= 0
}
