package interact

import (
	"time"

	"nod/api"
	"nod/policy"
)

// Outcome says what came of a request.
type Outcome = api.Outcome

// The outcomes. Only Allowed lets a tool call happen.
const (
	Answered    = api.Answered
	Allowed     = api.Allowed
	Denied      = api.Denied // with a Reason or an explicit empty one
	Dismissed   = api.Dismissed
	TimedOut    = api.TimedOut
	Cancelled   = api.Cancelled
	Withdrawn   = api.Withdrawn
	Unavailable = api.Unavailable
)

// By says who decided; empty: nobody.
type By = api.By

// Who can decide.
const (
	ByHuman   = api.ByHuman
	ByPolicy  = api.ByPolicy
	ByTimeout = api.ByTimeout
)

// TextValue is a Value that is a text.
func TextValue(s string) Value { return Value{Items: []string{s}} }

// ListValue is a Value that is a list of picks.
func ListValue(items ...string) Value { return Value{List: true, Items: items} }

// Answer is what came of a request.
type Answer struct {
	Outcome     Outcome          `json:"outcome"`
	By          By               `json:"by,omitempty"`
	Rule        string           `json:"rule,omitempty"`       // id of the rule or grant that decided
	Reason      string           `json:"reason,omitempty"`     // for the model to read
	Scope       policy.Scope     `json:"scope,omitempty"`      // approve: how long the user's allow holds
	Covers      policy.Cover     `json:"covers,omitempty"`     // approve: what a wider allow is about; empty: this input
	Suggestion  int              `json:"suggestion,omitempty"` // approve: the agent's own rule to keep, counted from 1
	Text        string           `json:"text,omitempty"`       // ask
	Confirmed   bool             `json:"confirmed,omitempty"`
	Defaulted   bool             `json:"defaulted,omitempty"`    // confirm: nobody answered, Confirmed is the default
	Values      map[string]Value `json:"values,omitempty"`       // form: by question id
	Sent        bool             `json:"sent,omitempty"`         // notify: the desktop took it
	ShownSHA256 string           `json:"shown_sha256,omitempty"` // approve: of the input's bytes that were judged or shown
	Shown       Shown            `json:"shown,omitzero"`         // what the user saw; for the journal
	At          time.Time        `json:"at,omitzero"`
	// Device is the name of the paired device, or of the other desk, on which the user answered; empty: this desk.
	Device string `json:"device,omitempty"`
}

// passes reports whether the policy allowed it.
func (a Answer) passes() bool { return a.Outcome == Allowed && a.By == ByPolicy }

// Refusal is the reason of a denial for the model. It is never empty: some agents ignore a denial without a reason.
func (a Answer) Refusal() string {
	switch {
	case a.Reason != "":
		return a.Reason
	case a.By == ByPolicy:
		return "denied by the rules in nod"
	}
	return "the person denied this and gave no reason"
}

// Undecided is the reason for the model if nobody decided, which counts as a no.
func (a Answer) Undecided() string {
	if a.Reason != "" {
		return "nobody decided: " + a.Reason
	}
	return "nobody decided, so it did not happen; the person has not refused"
}
