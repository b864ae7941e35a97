package app

import (
	"path/filepath"
	"testing"
	"time"

	"nod/interact"
	"nod/policy"
)

func TestTheWelcomeIsDueUntilItWasSeen(t *testing.T) {
	w := welcome{filepath.Join(t.TempDir(), "nod", "welcome")}
	if w.isDue() {
		t.Error("due without a first run")
	}
	if err := w.schedule(); err != nil || !w.isDue() {
		t.Errorf("not due after the first run: %v", err)
	}
	for range 2 {
		if err := w.seen(); err != nil || w.isDue() {
			t.Errorf("due after it was seen: %v", err)
		}
	}
}

// With the policy of a fresh installation the user is asked about the test.
func TestATestRequestIsAsked(t *testing.T) {
	r := testRequest("a test")
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	rules, err := policy.Compile(policy.Default(), policy.DefaultPlaces())
	if err != nil {
		t.Fatal(err)
	}
	call := r.Body.(interact.Approve).Call(r.Requester)
	if d := policy.Decide(call, rules, time.Now()); d.Effect != policy.Ask {
		t.Errorf("%+v, want ask", d)
	}
}
