package ipc

import (
	"time"

	"nod/interact"
	"nod/policy"
)

// common is what every request's body may carry besides its own fields.
type common struct {
	Agent          string  `json:"agent,omitempty" description:"who asks, as it calls itself" example:"claude-code"`
	Session        string  `json:"session,omitempty" description:"the agent's session, for grouping and session grants"`
	CWD            string  `json:"cwd,omitempty" description:"absolute folder that the agent works in"`
	Timeout        float64 `json:"timeout,omitempty" minimum:"0" maximum:"86400" description:"seconds from now; 0: the configured default"`
	IdempotencyKey string  `json:"idempotency_key,omitempty" description:"the same key from the same requester joins the first request and gets its answer"`
	Detach         bool    `json:"detach,omitempty" description:"answer 202 at once; fetch the answer later"`
	Hold           float64 `json:"hold,omitempty" minimum:"0" maximum:"86400" description:"seconds after which 202 is answered when the human has not; the request stays open"`
}

// The bodies of requests.
type (
	askRequest struct {
		interact.Ask
		common
	}
	confirmRequest struct {
		interact.Confirm
		common
	}
	formRequest struct {
		interact.Form
		common
	}
	approveRequest struct {
		interact.Approve
		common
	}
	notifyRequest struct {
		interact.Notify
		common
	}
)

// wireRequest is a request as it came in.
type wireRequest interface {
	body() interact.Body
	options() common
}

func (r askRequest) body() interact.Body     { return r.Ask }
func (r confirmRequest) body() interact.Body { return r.Confirm }
func (r formRequest) body() interact.Body    { return r.Form }
func (r approveRequest) body() interact.Body { return r.Approve }
func (r notifyRequest) body() interact.Body  { return r.Notify }
func (c common) options() common             { return c }

// check refuses times that are out of range; the broker looks at everything else.
func (c common) check() error {
	for param, seconds := range map[string]float64{"timeout": c.Timeout, "hold": c.Hold} {
		if seconds < 0 || seconds > interact.MaxTimeout.Seconds() {
			return &interact.ParamError{Param: param, Problem: "want 0 to 86400 seconds"}
		}
	}
	return nil
}

// requester is who asks: what nod found out and what the body claims.
func (c common) requester(p interact.Process) interact.Requester {
	return interact.Requester{Agent: c.Agent, Session: c.Session, CWD: c.CWD, Process: p}
}

// duration converts seconds that are in range. However few they are, they are not none.
func duration(seconds float64) time.Duration {
	if seconds == 0 {
		return 0
	}
	return max(1, time.Duration(seconds*float64(time.Second)))
}

// head is what every reply to a request begins with.
type head struct {
	ID      interact.ID      `json:"id" description:"the request"`
	Outcome interact.Outcome `json:"outcome" enum:"answered,allowed,denied,dismissed,timed_out,withdrawn,unavailable" description:"what came of it"`
}

// The replies.
type (
	askReply struct {
		head
		Answer string `json:"answer"`
	}
	confirmReply struct {
		head
		Confirmed bool `json:"confirmed"`
		Defaulted bool `json:"defaulted" description:"nobody answered in time: confirmed is the default"`
	}
	formReply struct {
		head
		Answer  *interact.Value           `json:"answer,omitempty" description:"of a form with one question"`
		Answers map[string]interact.Value `json:"answers,omitempty" description:"of a form with several questions, by their ids"`
	}
	approveReply struct {
		head
		Decision    policy.Effect `json:"decision" enum:"allow,deny" description:"only allow lets the call happen"`
		Reason      string        `json:"reason" description:"for the model to read; empty when the human gave none"`
		By          interact.By   `json:"by,omitempty" enum:"human,policy,timeout" description:"who decided; absent when nobody did"`
		Rule        string        `json:"rule,omitempty" description:"id of the rule or grant that decided"`
		Scope       policy.Scope  `json:"scope,omitempty" enum:"once,session,15m,quit,always" description:"how long the human's allow holds"`
		Covers      policy.Cover  `json:"covers,omitempty" enum:"input,commands,edits" description:"what a human's allow that holds longer than once is about: exactly this input, each new part of the command line, or changes of files in the project"`
		ShownSHA256 string        `json:"shown_sha256" description:"SHA-256 of the bytes of input that were judged or shown"`
	}
	notifyReply struct {
		head
		Sent bool `json:"sent" description:"the desktop took it"`
	}
	evaluateReply struct {
		Decision policy.Effect `json:"decision" enum:"allow,ask,deny"`
		Reason   string        `json:"reason"`
		Rule     string        `json:"rule,omitempty" description:"id of the rule, grant or built-in that decides"`
		Class    policy.Class  `json:"class" enum:"read_only,write,execute,network,destructive,unknown" description:"the class that counts"`
	}
	pendingReply struct {
		ID     interact.ID `json:"id"`
		Status string      `json:"status" enum:"pending"`
		URL    string      `json:"url" description:"where the answer will be"`
	}
	requestReply struct {
		ID     interact.ID   `json:"id"`
		Kind   interact.Kind `json:"kind" enum:"ask,confirm,form,approve,notify"`
		Status string        `json:"status" enum:"pending,answered,allowed,denied,dismissed,timed_out,cancelled,withdrawn,unavailable"`
		Answer any           `json:"answer,omitempty" description:"once there is one: the body that the request itself would have got, a problem included"`
	}
	listReply struct {
		Requests []listed `json:"requests" nullable:"false" description:"oldest first"`
	}
	listed struct {
		ID       interact.ID   `json:"id"`
		Kind     interact.Kind `json:"kind" enum:"ask,confirm,form,approve,notify"`
		Status   string        `json:"status" enum:"pending,answered,allowed,denied,dismissed,timed_out,cancelled,withdrawn,unavailable"`
		Created  time.Time     `json:"created"`
		Deadline time.Time     `json:"deadline"`
		Agent    string        `json:"agent,omitempty"`
		Session  string        `json:"session,omitempty"`
	}
	healthReply struct {
		Status  string `json:"status" enum:"ok"`
		Version string `json:"version"`
		Pending int    `json:"pending" description:"requests that wait for the human"`
	}
)

// statusPending is the status of a request that waits for the human.
const statusPending = "pending"

func statusOf(a interact.Answer) string {
	if a.Outcome == "" {
		return statusPending
	}
	return string(a.Outcome)
}

// replyTo is the reply to a request with its answer, or the problem that the answer amounts to.
func replyTo(r interact.Request, a interact.Answer) (any, *problem) {
	h := head{ID: r.ID, Outcome: a.Outcome}
	switch body := r.Body.(type) {
	case interact.Approve:
		return replyToApprove(h, a)
	case interact.Notify:
		return notifyReply{h, a.Sent && a.Outcome == interact.Answered}, nil
	case interact.Confirm:
		if a.Outcome == interact.TimedOut {
			return confirmReply{h, body.Default, true}, nil
		}
		if a.Outcome == interact.Answered {
			return confirmReply{h, a.Confirmed, a.Defaulted}, nil
		}
	case interact.Ask:
		if a.Outcome == interact.Answered {
			return askReply{h, a.Text}, nil
		}
	case interact.Form:
		if a.Outcome == interact.Answered {
			return replyToForm(h, body, a), nil
		}
	}
	return nil, unanswered(r.ID, a)
}

func replyToForm(h head, f interact.Form, a interact.Answer) formReply {
	if len(f.Questions) == 1 {
		v := a.Values[f.Questions[0].ID]
		return formReply{head: h, Answer: &v}
	}
	return formReply{head: h, Answers: a.Values}
}

// replyToApprove denies everything that was not allowed in so many words. Only a denial is put down to
// somebody: a prompt that was closed is nobody's decision.
func replyToApprove(h head, a interact.Answer) (any, *problem) {
	reply := approveReply{head: h, Decision: policy.Deny, Reason: reasonOf(a), ShownSHA256: a.ShownSHA256}
	switch a.Outcome {
	case interact.Allowed:
		reply.Decision, reply.By, reply.Rule, reply.Scope, reply.Covers = policy.Allow, a.By, a.Rule, a.Scope, a.Covers
	case interact.Denied:
		reply.By, reply.Rule = a.By, a.Rule
	case interact.TimedOut:
		reply.By = interact.ByTimeout
	case interact.Dismissed, interact.Withdrawn:
	default:
		return nil, unanswered(h.ID, a)
	}
	return reply, nil
}

// reasonOf is the reason of an answer, for the model to read. Where nobody decided it says so, lest the
// model takes silence for a refusal.
func reasonOf(a interact.Answer) string {
	if a.Outcome == interact.Allowed || a.Outcome == interact.Denied {
		return a.Reason
	}
	return a.Undecided()
}
