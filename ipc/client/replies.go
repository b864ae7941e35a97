package client

import (
	"encoding/json"
	"slices"
	"time"

	"nod/interact"
	"nod/policy"
)

// AskReply answers an Ask.
type AskReply struct {
	Answer string
	Raw    []byte // the reply's body as it came
}

// ConfirmReply answers a Confirm.
type ConfirmReply struct {
	Confirmed bool
	Defaulted bool   // nobody answered in time: Confirmed is the default
	Raw       []byte // the reply's body as it came
}

// FormReply answers a Form.
type FormReply struct {
	Answer  *interact.Value           // of a form with one question
	Answers map[string]interact.Value // of a form with several, by question id
	Raw     []byte                    // the reply's body as it came
}

// ApproveReply answers an Approve.
type ApproveReply struct {
	Decision    policy.Effect // Allow or Deny
	Outcome     interact.Outcome
	By          interact.By // empty when nobody decided
	Rule        string      // id of the rule or grant that decided
	Reason      string      // for the model to read
	Scope       policy.Scope
	Covers      policy.Cover
	ShownSHA256 string // of the input's bytes that were judged or shown
	Raw         []byte // the reply's body as it came
}

// Allowed reports whether the tool call may happen.
func (r ApproveReply) Allowed() bool { return r.Decision == policy.Allow }

// EvaluateReply says what the policy would decide.
type EvaluateReply struct {
	Decision policy.Effect
	Class    policy.Class // the class that counts
	Rule     string       // id of the rule, grant or built-in that decides
	Reason   string
	Raw      []byte // the reply's body as it came
}

// NotifyReply answers a Notify.
type NotifyReply struct {
	Sent bool   // the desktop took it
	Raw  []byte // the reply's body as it came
}

// RequestReply is what became of a request.
type RequestReply struct {
	ID     interact.ID
	Kind   interact.Kind
	Status interact.Outcome // "pending" until it has ended
	Answer []byte           // once it has ended: the body that the request itself would have got; see Reply
	Raw    []byte           // the reply's body as it came
}

// StatusPending is the Status of a request that waits for the human.
const StatusPending interact.Outcome = "pending"

// Pending reports whether the human has yet to answer.
func (r RequestReply) Pending() bool { return r.Status == StatusPending }

// RequestsReply lists requests, oldest first.
type RequestsReply struct {
	Requests []Listed
	Raw      []byte // the reply's body as it came
}

// Listed is one request of a list.
type Listed struct {
	ID       interact.ID
	Kind     interact.Kind
	Status   interact.Outcome
	Created  time.Time
	Deadline time.Time
	Agent    string // as it called itself
	Session  string
}

// HealthReply says how nod-desktop is.
type HealthReply struct {
	Status  string // "ok" when all is well
	Version string
	Pending int
	Raw     []byte // the reply's body as it came
}

func parseAsk(text []byte) (AskReply, error) {
	r, o := AskReply{Raw: text}, parseObject(text)
	o.want("answer", &r.Answer)
	o.outcome(interact.Answered)
	return read(r, o)
}

func parseConfirm(text []byte) (ConfirmReply, error) {
	r, o := ConfirmReply{Raw: text}, parseObject(text)
	o.want("confirmed", &r.Confirmed)
	o.want("defaulted", &r.Defaulted)
	o.outcome(interact.Answered, interact.TimedOut)
	return read(r, o)
}

func parseForm(text []byte) (FormReply, error) {
	r, o := FormReply{Raw: text}, parseObject(text)
	o.may("answer", &r.Answer)
	o.may("answers", &r.Answers)
	o.outcome(interact.Answered)
	o.must((r.Answer == nil) != (r.Answers == nil), "want either an answer or answers")
	return read(r, o)
}

// fits returns an error unless r answers every question of f.
func (r FormReply) fits(f interact.Form) error {
	if len(f.Questions) == 1 {
		if r.Answer == nil {
			return badReply("%q is missing", "answer")
		}
		return nil
	}
	for _, q := range f.Questions {
		if _, ok := r.Answers[q.ID]; !ok {
			return badReply("question %q has no answer", q.ID)
		}
	}
	return nil
}

func parseApprove(text []byte) (ApproveReply, error) {
	r, o := ApproveReply{Raw: text}, parseObject(text)
	o.want("decision", &r.Decision)
	o.want("reason", &r.Reason)
	o.want("shown_sha256", &r.ShownSHA256)
	o.may("outcome", &r.Outcome)
	o.may("by", &r.By)
	o.may("rule", &r.Rule)
	o.may("scope", &r.Scope)
	o.may("covers", &r.Covers)
	switch r.Decision {
	case policy.Allow:
		o.must(r.By == interact.ByHuman || r.By == interact.ByPolicy, "allowed by %q", r.By)
		o.outcome(interact.Allowed)
	case policy.Deny:
		o.must(r.Outcome != interact.Allowed, "denied and %q", r.Outcome)
	default:
		o.must(false, "decision %q, want allow or deny", r.Decision)
	}
	if r.Outcome == "" {
		r.Outcome = r.outcome()
	}
	return read(r, o)
}

// outcome works out the outcome of a reply that does not state it.
func (r ApproveReply) outcome() interact.Outcome {
	switch {
	case r.Decision == policy.Allow:
		return interact.Allowed
	case r.By == interact.ByTimeout:
		return interact.TimedOut
	case r.By == "":
		return interact.Dismissed
	}
	return interact.Denied
}

func parseEvaluate(text []byte) (EvaluateReply, error) {
	r, o := EvaluateReply{Raw: text}, parseObject(text)
	o.want("decision", &r.Decision)
	o.want("reason", &r.Reason)
	o.may("rule", &r.Rule)
	o.may("class", &r.Class)
	known := slices.Contains([]policy.Effect{policy.Allow, policy.Ask, policy.Deny}, r.Decision)
	o.must(known, "decision %q, want allow, ask or deny", r.Decision)
	return read(r, o)
}

func parseNotify(text []byte) (NotifyReply, error) {
	r, o := NotifyReply{Raw: text}, parseObject(text)
	o.want("sent", &r.Sent)
	o.outcome(interact.Answered)
	return read(r, o)
}

func parseRequest(text []byte) (RequestReply, error) {
	r, o := RequestReply{Raw: text}, parseObject(text)
	o.want("id", &r.ID)
	o.want("kind", &r.Kind)
	o.want("status", &r.Status)
	o.must(knownStatus(r.Status), "status %q", r.Status)
	if o.has("answer") {
		r.Answer = o.members["answer"]
	}
	return read(r, o)
}

func parseRequests(text []byte) (RequestsReply, error) {
	r, o := RequestsReply{Raw: text}, parseObject(text)
	var list []json.RawMessage
	o.want("requests", &list)
	for _, item := range list {
		l, err := parseListed(item)
		if err != nil {
			return RequestsReply{}, err
		}
		r.Requests = append(r.Requests, l)
	}
	return read(r, o)
}

func parseListed(text []byte) (Listed, error) {
	var l Listed
	o := parseObject(text)
	o.want("id", &l.ID)
	o.want("kind", &l.Kind)
	o.want("status", &l.Status)
	o.want("created", &l.Created)
	o.want("deadline", &l.Deadline)
	o.may("agent", &l.Agent)
	o.may("session", &l.Session)
	o.must(knownStatus(l.Status), "status %q", l.Status)
	return read(l, o)
}

func parseHealth(text []byte) (HealthReply, error) {
	r, o := HealthReply{Raw: text}, parseObject(text)
	o.want("status", &r.Status)
	o.want("version", &r.Version)
	o.want("pending", &r.Pending)
	return read(r, o)
}

func knownStatus(s interact.Outcome) bool {
	switch s {
	case StatusPending, interact.Answered, interact.Allowed, interact.Denied, interact.Dismissed,
		interact.TimedOut, interact.Cancelled, interact.Withdrawn, interact.Unavailable:
		return true
	}
	return false
}

// Reply returns the answer of a request that has ended, as the method that sent it would have: an
// [AskReply], [ConfirmReply], [FormReply], [ApproveReply] or [NotifyReply]. The error is a [*Pending] when
// it has not ended, and a [*Problem] when nobody answered.
func (r RequestReply) Reply() (any, error) {
	if r.Pending() {
		return nil, &Pending{ID: r.ID, Raw: r.Raw}
	}
	if r.Answer == nil {
		return nil, badReply("%q is missing", "answer")
	}
	if p, err := readProblem(r.Answer); err == nil {
		p.Raw = r.Raw
		return nil, p
	}
	switch r.Kind {
	case interact.KindAsk:
		return asAny(parseAsk(r.Answer))
	case interact.KindConfirm:
		return asAny(parseConfirm(r.Answer))
	case interact.KindForm:
		return asAny(parseForm(r.Answer))
	case interact.KindApprove:
		return asAny(parseApprove(r.Answer))
	case interact.KindNotify:
		return asAny(parseNotify(r.Answer))
	}
	return nil, badReply("a request of kind %q", r.Kind)
}

func asAny[T any](r T, err error) (any, error) { return r, err }
