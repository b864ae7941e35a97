package interact

import "nod/api"

// UnansweredError says that a request ended without an answer.
type UnansweredError struct {
	ID      ID
	Outcome api.Outcome
	Reason  string // for the model to read
}

func (e *UnansweredError) Error() string { return e.Reason }

// Code returns the name of what happened to the request instead of an answer.
func (e *UnansweredError) Code() api.Code {
	switch e.Outcome {
	case api.TimedOut:
		return api.CodeTimeout
	case api.Dismissed, api.Withdrawn, api.Cancelled:
		return api.CodeCancelled
	case api.Unavailable:
		return api.CodeNotSupported
	}
	return api.CodeInternal
}

// Reply converts an answer to r to its form on the wire: an [api.AskReply], [api.ConfirmReply], [api.FormReply],
// [api.ApproveReply] or [api.NotifyReply]. The error is an [*UnansweredError].
func (r Request) Reply(a Answer) (any, error) {
	h := api.Head{ID: string(r.ID), Outcome: a.Outcome}
	switch body := r.Body.(type) {
	case Approve:
		if reply, ok := replyToApprove(h, a); ok {
			return reply, nil
		}
	case api.Notify:
		return api.NotifyReply{Head: h, Sent: a.Sent && a.Outcome == api.Answered}, nil
	case api.Confirm:
		if a.Outcome == api.Answered || a.Outcome == api.TimedOut {
			return api.ConfirmReply{Head: h, Confirmed: a.Confirmed, Defaulted: a.Defaulted}, nil
		}
	case api.Ask:
		if a.Outcome == api.Answered {
			return api.AskReply{Head: h, Answer: a.Text}, nil
		}
	case api.Form:
		if a.Outcome == api.Answered && len(body.Questions) == 1 {
			v := a.Values[body.Questions[0].ID]
			return api.FormReply{Head: h, Answer: &v}, nil
		}
		if a.Outcome == api.Answered {
			return api.FormReply{Head: h, Answers: a.Values}, nil
		}
	}
	return nil, &UnansweredError{ID: r.ID, Outcome: a.Outcome, Reason: a.Undecided()}
}

// replyToApprove denies everything that was not explicitly allowed. Only an explicit denial names who decided; closing
// a prompt is no decision. If neither policy nor user decided the reason says so, so that the model does not treat
// silence as a refusal.
func replyToApprove(h api.Head, a Answer) (reply api.ApproveReply, ok bool) {
	reply = api.ApproveReply{Head: h, Decision: api.Deny, Reason: a.Reason, ShownSHA256: a.ShownSHA256}
	switch a.Outcome {
	case api.Allowed:
		reply.Decision, reply.By, reply.Rule = api.Allow, a.By, a.Rule
		reply.Scope, reply.Covers, reply.Suggestion = string(a.Scope), string(a.Covers), a.Suggestion
	case api.Denied:
		reply.By, reply.Rule = a.By, a.Rule
	case api.TimedOut:
		reply.By, reply.Reason = api.ByTimeout, a.Undecided()
	case api.Dismissed, api.Withdrawn:
		reply.Reason = a.Undecided()
	default:
		return reply, false
	}
	return reply, true
}
