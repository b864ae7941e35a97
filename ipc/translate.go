package ipc

import (
	"cmp"
	"time"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// The parts of the requests' bodies: what is asked, and the common fields.

func partsOfAsk(r api.AskRequest) (interact.Body, api.Common)         { return r.Ask, r.Common }
func partsOfConfirm(r api.ConfirmRequest) (interact.Body, api.Common) { return r.Confirm, r.Common }
func partsOfForm(r api.FormRequest) (interact.Body, api.Common)       { return r.Form, r.Common }
func partsOfNotify(r api.NotifyRequest) (interact.Body, api.Common)   { return r.Notify, r.Common }
func partsOfApprove(r api.ApproveRequest) (interact.Body, api.Common) {
	return approvalOf(r.Approve), r.Common
}

func approvalOf(a api.Approve) interact.Approve {
	return interact.Approve{
		Tool: a.Tool, Input: a.Input, Class: policy.Class(a.Class), Description: a.Description,
		ToolUseID: a.ToolUseID, Suggestions: a.Suggestions,
	}
}

// checkTimes refuses times that are out of range. The broker checks everything else.
func checkTimes(c api.Common) error {
	const problem = "want 0 to 86400 seconds"
	switch {
	case c.Timeout < 0 || c.Timeout > api.MaxSeconds:
		return &interact.ParamError{Param: "timeout", Problem: problem}
	case c.Hold < 0 || c.Hold > api.MaxSeconds:
		return &interact.ParamError{Param: "hold", Problem: problem}
	}
	return nil
}

// duration converts seconds that are in range. Only 0 becomes 0.
func duration(seconds float64) time.Duration {
	if seconds == 0 {
		return 0
	}
	return max(1, time.Duration(seconds*float64(time.Second)))
}

func outcomeOf(a interact.Answer) api.Outcome { return cmp.Or(a.Outcome, api.Pending) }
