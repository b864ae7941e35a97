package interact

import (
	"time"

	"nod/policy"
)

// Outcome says what came of a request: one vocabulary in replies, journal, log and windows.
type Outcome string

// The outcomes. Only Allowed lets a tool call happen.
const (
	Answered    Outcome = "answered"    // a question has its answer; a notice was shown
	Allowed     Outcome = "allowed"     // by a rule or by the human
	Denied      Outcome = "denied"      // by a rule or by the human, with a Reason or an explicit empty one
	Dismissed   Outcome = "dismissed"   // the human closed the prompt: nobody decided
	TimedOut    Outcome = "timed_out"   // the human was away, and has not refused
	Cancelled   Outcome = "cancelled"   // the caller went away
	Withdrawn   Outcome = "withdrawn"   // answered elsewhere, or taken back by the caller
	Unavailable Outcome = "unavailable" // no screen, paused, or nod is shutting down
)

// By says who decided.
type By string

// Who can decide. Empty where nobody did.
const (
	ByHuman   By = "human"
	ByPolicy  By = "policy"
	ByTimeout By = "timeout"
)

// Answer is what came of a request. Which fields are set depends on the request's kind and the outcome.
type Answer struct {
	Outcome     Outcome          `json:"outcome"`
	By          By               `json:"by,omitempty"`
	Rule        string           `json:"rule,omitempty"`       // id of the rule or grant that decided
	Reason      string           `json:"reason,omitempty"`     // for the model to read
	Scope       policy.Scope     `json:"scope,omitempty"`      // approve: how long the human's allow holds
	Covers      policy.Cover     `json:"covers,omitempty"`     // approve: what an allow wider than once is about; empty: exactly this input
	Suggestion  int              `json:"suggestion,omitempty"` // approve: the agent's own rule to keep, counted from 1
	Text        string           `json:"text,omitempty"`       // ask
	Confirmed   bool             `json:"confirmed,omitempty"`
	Defaulted   bool             `json:"defaulted,omitempty"`    // confirm: nobody answered, Confirmed is the default
	Values      map[string]Value `json:"values,omitempty"`       // form: by question id
	Sent        bool             `json:"sent,omitempty"`         // notify: the desktop took it
	ShownSHA256 string           `json:"shown_sha256,omitempty"` // approve: of the input's bytes that were judged or shown
	At          time.Time        `json:"at,omitzero"`
}

// Refusal is the reason that a model reads where a denies. It is never empty: some agents take a deny
// without a reason for none.
func (a Answer) Refusal() string {
	switch {
	case a.Reason != "":
		return a.Reason
	case a.By == ByPolicy:
		return "denied by the rules in nod"
	}
	return "the person denied this and gave no reason"
}

// Undecided is the reason that a model reads where nobody decided and that must be a no.
func (a Answer) Undecided() string {
	if a.Reason != "" {
		return "nobody decided: " + a.Reason
	}
	return "nobody decided, so it did not happen; the person has not refused"
}
