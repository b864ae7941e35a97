package hooks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

func TestContacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, interact.Answer{Outcome: api.Denied})
		if n := len(r.Contacts()); n != 0 {
			t.Fatalf("%d agents have called", n)
		}
		handle := func(agent, file string) {
			t.Helper()
			if _, err := r.Handle(t.Context(), call(t, agent, file)); err != nil {
				t.Fatal(err)
			}
		}
		handle("opencode", "00-permission.asked") // by the user
		time.Sleep(time.Minute)
		handle("opencode", "01-permission.replied") // a call that wants nothing decided
		r.policy.Set("bash", policy.Allow)
		handle("opencode", "00-permission.asked")
		r.policy.Set("bash", policy.Deny)
		handle("opencode", "00-permission.asked")
		handle("codex", "07-Stop") // a notice
		want := interact.Contact{Last: time.Now(), Calls: 4, Passed: 1, Refused: 1, Denied: 1}
		if got := r.Contacts()["opencode"]; got != want {
			t.Errorf("opencode: %+v, want %+v", got, want)
		}
		if got := r.Contacts()["codex"]; got != (interact.Contact{Last: time.Now(), Calls: 1}) {
			t.Errorf("codex: %+v", got)
		}
		if _, err := r.Handle(t.Context(), hooks.Call{Agent: "nobody"}); err == nil || len(r.Contacts()) != 2 {
			t.Errorf("an agent that nod doesn't know: %v, %v", err, r.Contacts())
		}
	})
}
