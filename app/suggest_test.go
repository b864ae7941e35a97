package app

import (
	"encoding/json"
	"testing"

	"nod/interact"
	"nod/policy"
)

// Only what a person decided counts, oldest first.
func TestPastOf(t *testing.T) {
	record := func(command string, by interact.By, o interact.Outcome) interact.Record {
		return interact.Record{
			Request: interact.Request{Body: interact.Approve{Tool: "Bash", Input: json.RawMessage(`"` + command + `"`)}},
			Answer:  interact.Answer{Outcome: o, By: by},
		}
	}
	past := pastOf([]interact.Record{ // newest first
		record("pending", "", ""),
		record("third", interact.ByHuman, interact.Denied),
		record("policy", interact.ByPolicy, interact.Allowed),
		record("late", interact.ByHuman, interact.TimedOut),
		{Request: interact.Request{Body: interact.Ask{}},
			Answer: interact.Answer{Outcome: interact.Answered, By: interact.ByHuman}},
		record("first", interact.ByHuman, interact.Allowed),
	})
	if len(past) != 2 || past[0].Call.Input.String() != `"first"` ||
		past[0].Effect != policy.Allow || past[1].Effect != policy.Deny {
		t.Errorf("past %+v", past)
	}
}
