package prompt

import (
	"cmp"

	"nod/api"
	"nod/dialogs/safetext"
	"nod/interact"
)

// Labels are the texts of the buttons. If Why is empty, a denial has no reason, because no agent would read it.
type Labels struct{ Yes, No, Why, Send, Placeholder string }

// LabelsOf returns the labels of an approval; those of a plan differ.
func LabelsOf(a interact.Approve) Labels {
	if IsPlan(a) {
		return Labels{
			Yes: tr("Approve plan"), No: tr("Keep planning"), Why: tr("Keep planning with feedback…"),
			Send: tr("Keep planning with this feedback"), Placeholder: tr("What to change (the agent reads it)"),
		}
	}
	if a.Refused {
		return Labels{Yes: tr("Allow once"), No: tr("Leave it")}
	}
	return Labels{
		Yes: tr("Allow"), No: tr("Deny"), Why: tr("Deny with reason…"),
		Send: tr("Deny with this reason"), Placeholder: tr("Reason (the agent reads it)"),
	}
}

// ConfirmLabels returns the labels of a confirmation.
func ConfirmLabels(b api.Confirm) (yes, no string) {
	return safetext.Line(cmp.Or(b.YesLabel, tr("Yes")), MaxName), safetext.Line(cmp.Or(b.NoLabel, tr("No")), MaxName)
}

// Silence says what happens in time without an answer.
func Silence(r interact.Request, time string) string {
	what := values{"Time": time, "Agent": AgentOf(r.Requester)}
	switch r.Silence {
	case api.AsksInTerminal:
		return tr("Goes back to the terminal in {{.Time}}", what)
	case api.AsksItself:
		return tr("Goes back to {{.Agent}} in {{.Time}}", what)
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
	return tr("Ends unanswered in {{.Time}}", what)
}
