package interact_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"nod/interact"
	"nod/interact/interacttest"
	"nod/policy"
)

// elsewhere is what asks on a paired machine, in a process whose id means another one here.
func elsewhere(machine string) interact.Request {
	r := approve("Bash")
	r.Requester.Machine = machine
	r.Requester.Process = interact.Process{PID: 1, UID: 1000, Exe: "/usr/bin/agent"}
	r.Reported = &interact.Reported{Why: policy.Decision{Effect: policy.Allow, Class: policy.Write, Reason: "reported"}}
	return r
}

// nobodyKnows fails the test when anybody looks for a process of another machine among those of this one.
type nobodyKnows struct{ t *testing.T }

func (n nobodyKnows) IsInline(interact.Parent) bool { n.t.Error("asked about a shell"); return false }
func (n nobodyKnows) LeadsTerminal(interact.Parent) bool {
	n.t.Error("asked about a terminal")
	return false
}
func (n nobodyKnows) Ended(...interact.Parent) bool {
	n.t.Error("asked whether it has ended")
	return true
}
func (n nobodyKnows) AwaitEnd(context.Context, ...interact.Parent) bool {
	n.t.Error("waited for its end")
	return true
}

// noPolicy fails the test when it is asked about a call of another machine.
type noPolicy struct{ t *testing.T }

func (n noPolicy) Decide(policy.Call) policy.Decision {
	n.t.Error("the policy was asked")
	return policy.Decision{Effect: policy.Allow}
}
func (n noPolicy) Used(policy.Decision) {}
func (n noPolicy) Grant(policy.Call, policy.Scope, policy.Cover) error {
	n.t.Error("a grant was kept")
	return nil
}

func TestRemoteRequestIsForTheHumanAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		human := says(interact.Answer{Outcome: interact.Allowed, Scope: policy.UntilQuit})
		b := interact.NewBroker(interact.BrokerConfig{
			Policy: noPolicy{t}, Prompter: human, Processes: nobodyKnows{t}, Journal: new(interacttest.Journal),
			Timeout: func() time.Duration { return time.Minute }, Log: slog.New(slog.DiscardHandler),
		})
		defer b.Close()
		ticket, err := b.Begin(t.Context(), elsewhere("build-1"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.Reconsider()
		a, err := ticket.Wait(t.Context())
		if err != nil || a.Outcome != interact.Allowed || a.By != interact.ByHuman || a.Scope != policy.UntilQuit {
			t.Errorf("got %+v, %v", a, err)
		}
	})
}

// An allow that a machine only claims is none, and two machines never share an answer.
func TestMachinesAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		defer b.Close()
		var tickets []*interact.Ticket
		for _, machine := range []string{"", "build-1", "build-2", "build-1"} {
			r := elsewhere(machine)
			if machine == "" {
				r.Reported = nil
			}
			ticket, err := b.Begin(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			defer ticket.Release()
			if a, isSettled := ticket.Answer(); isSettled {
				t.Errorf("%q: settled as %+v", machine, a)
			}
			tickets = append(tickets, ticket)
		}
		if len(b.Pending()) != 3 || tickets[1].ID() != tickets[3].ID() {
			t.Errorf("%d are pending, want 3", len(b.Pending()))
		}
		if _, err := b.Find(t.Context(), elsewhere("build-2").Requester, tickets[1].ID()); err == nil {
			t.Error("a machine can look up what another asked")
		}
		if _, err := b.Find(t.Context(), elsewhere("").Requester, tickets[1].ID()); err == nil {
			t.Error("a program here can look up what a machine asked")
		}
	})
}

// What a relay tells apart is answered one by one: it has joined what asks the same.
func TestWhatARelayTellsApartIsNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		defer b.Close()
		ids := map[interact.ID]bool{}
		for _, key := range []string{"a", "b", "a"} {
			r := elsewhere("build-1")
			r.IdempotencyKey = key
			ticket, err := b.Begin(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			defer ticket.Release()
			ids[ticket.ID()] = true
		}
		if len(ids) != 2 || len(b.Pending()) != 2 {
			t.Errorf("%d requests, %d pending: want 2", len(ids), len(b.Pending()))
		}
	})
}

// How its relay ended a request is how it ended; nothing of that is the human's.
func TestRelayEnds(t *testing.T) {
	for _, tt := range []struct {
		came, want interact.Answer
		machine    string
	}{
		{interact.Answer{Outcome: interact.TimedOut, By: interact.ByTimeout},
			interact.Answer{Outcome: interact.TimedOut, By: interact.ByTimeout}, "build-1"},
		{interact.Answer{Outcome: interact.Withdrawn, Device: "desk-2"},
			interact.Answer{Outcome: interact.Withdrawn, Device: "desk-2"}, "build-1"},
		{interact.Answer{Outcome: interact.Cancelled}, interact.Answer{Outcome: interact.Cancelled}, "build-1"},
		{interact.Answer{Outcome: interact.TimedOut}, interact.Answer{Outcome: interact.Unavailable}, ""},
		{interact.Answer{Outcome: interact.Answered}, interact.Answer{Outcome: interact.Unavailable}, "build-1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := interacttest.Broker(says(tt.came), &interacttest.Policy{})
			defer b.Close()
			r := elsewhere(tt.machine)
			if tt.machine == "" {
				r.Reported = nil
			}
			a := do(t, b, r)
			if a.Outcome != tt.want.Outcome || a.By != tt.want.By || a.Device != tt.want.Device {
				t.Errorf("%q: %+v became %+v", tt.machine, tt.came, a)
			}
		})
	}
}
