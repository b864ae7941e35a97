package interact

import (
	"time"

	"nod/api"
	"nod/policy"
)

// TextValue returns a Value that is a text.
func TextValue(s string) api.Value { return api.Value{Items: []string{s}} }

// ListValue returns a Value that is a list of picks.
func ListValue(items ...string) api.Value { return api.Value{List: true, Items: items} }

// Answer is the outcome of a request.
type Answer struct {
	Outcome    api.Outcome          `json:"outcome"`
	By         api.By               `json:"by,omitempty"`
	Rule       string               `json:"rule,omitempty"`       // id of the rule or grant that decided
	Reason     string               `json:"reason,omitempty"`     // for the model to read
	Scope      policy.Scope         `json:"scope,omitempty"`      // approve: how long the user's allow holds
	Covers     policy.Cover         `json:"covers,omitempty"`     // approve: of a wider allow; empty: this input
	Suggestion int                  `json:"suggestion,omitempty"` // approve: the agent's own rule to keep, counted from 1
	Text       string               `json:"text,omitempty"`       // ask
	Confirmed  bool                 `json:"confirmed,omitempty"`
	Defaulted  bool                 `json:"defaulted,omitempty"` // confirm: not answered, Confirmed is the default
	Values     map[string]api.Value `json:"values,omitempty"`    // form: by question id
	Sent       bool                 `json:"sent,omitempty"`      // notify: the desktop took it
	// Confinement is the confinement of a command that the policy runs in the sandbox.
	Confinement policy.Confinement `json:"confinement,omitzero"`
	// ShownSHA256 is the digest of an approval's input bytes that were judged or shown.
	ShownSHA256 string    `json:"shown_sha256,omitempty"`
	Shown       Shown     `json:"shown,omitzero"` // what the user saw; for the journal
	At          time.Time `json:"at,omitzero"`
	// Request is the request that the policy answered without the user, in [Broker.Judge].
	Request ID `json:"-"`
	// Device is the name of the paired device, or of the other desk, on which the user answered; empty: this desk.
	Device string `json:"device,omitempty"`
}

func (a Answer) passes() bool { return a.Outcome == api.Allowed && a.By == api.ByPolicy }

// Refusal returns the reason of a denial for the model. It is never empty, because some agents ignore a denial without
// a reason.
func (a Answer) Refusal() string {
	switch {
	case a.Reason != "":
		return a.Reason
	case a.By == api.ByPolicy:
		return "denied by the rules in nod"
	}
	return "the user denied this and gave no reason"
}

// Undecided returns the reason for the model if neither the policy nor the user decided, which counts as a no.
func (a Answer) Undecided() string {
	if a.Reason != "" {
		return "nobody decided: " + a.Reason
	}
	return "nobody decided, so it did not happen; the user has not refused"
}
