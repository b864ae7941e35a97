package interact_test

import (
	"testing"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

func TestUnsentNotice(t *testing.T) {
	for _, outcome := range []api.Outcome{api.Answered, api.TimedOut, api.Unavailable} {
		reply, err := interact.Request{ID: "id", Body: api.Notify{}}.Reply(interact.Answer{Outcome: outcome})
		want := api.NotifyReply{Head: api.Head{ID: "id", Outcome: outcome}}
		if err != nil || reply != any(want) {
			t.Errorf("%s: %+v, %v; want %+v", outcome, reply, err, want)
		}
	}
}

// Only one outcome allows, and only in so many words.
func TestOnlyAllowedAllows(t *testing.T) {
	for _, outcome := range []api.Outcome{
		"", "allow", "ALLOWED", api.Answered, api.Denied, api.Dismissed, api.TimedOut, api.Cancelled,
		api.Withdrawn, api.Unavailable,
	} {
		a := interact.Answer{Outcome: outcome, By: api.ByHuman, Confirmed: true, Scope: policy.Always}
		reply, _ := interact.Request{Body: interact.Approve{}}.Reply(a)
		if r, ok := reply.(api.ApproveReply); ok && (r.Decision != api.Deny || r.Scope != "") {
			t.Errorf("%q: %+v", outcome, r)
		}
	}
}
