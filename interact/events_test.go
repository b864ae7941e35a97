package interact_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy"
)

// agentOf is a requester that owns what it asks.
func agentOf(exe string) interact.Requester {
	return interact.Requester{Agent: "a", Process: api.Process{UID: 1, Exe: exe}}
}

// asks is a request of an agent's.
func asks(exe, question string) interact.Request {
	return interact.Request{Requester: agentOf(exe), Body: api.Ask{Question: question}}
}

// told spells what a feed has to say: "?" for what is pending and "!" for what is settled.
func told(f *interact.Feed) string {
	happened, _, reset := f.Next()
	var words []string
	if reset {
		words = append(words, "reset")
	}
	for _, e := range happened {
		mark := "?"
		if e.Answer.Outcome != "" {
			mark = "!"
		}
		words = append(words, e.Request.Body.(api.Ask).Question+mark)
	}
	return strings.Join(words, " ")
}

func taken(t *testing.T, b *interact.Broker, r interact.Request) *interact.Ticket {
	t.Helper()
	return begin(t, b, r, r.Requester.Process)
}

// settle ends a pending request.
func settle(t *testing.T, b *interact.Broker, ticket *interact.Ticket, exe string) {
	t.Helper()
	if err := b.Withdraw(agentOf(exe), ticket.ID()); err != nil {
		t.Fatal(err)
	}
}

func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		defer b.Close()
		one := taken(t, b, asks("/x", "one"))
		settle(t, b, taken(t, b, asks("/x", "over")), "/x")
		taken(t, b, asks("/y", "foreign"))
		f := b.Follow(agentOf("/x"), 0)
		defer f.Close()
		expect := func(want string) {
			t.Helper()
			if got := told(f); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		expect("one?")
		expect("")
		select {
		case <-f.News():
			t.Error("news of nothing")
		default:
		}
		two := taken(t, b, asks("/x", "two"))
		<-f.News()
		expect("two?")
		settle(t, b, one, "/x")
		<-f.News()
		expect("one!")
		// What happened twice before anybody read is told once.
		three := taken(t, b, asks("/x", "three"))
		settle(t, b, two, "/x")
		settle(t, b, three, "/x")
		expect("two! three!")
	})
}

// What the policy decides is settled at once, and told.
func TestFeedTellsOfThePolicy(t *testing.T) {
	rules := &interacttest.Policy{}
	rules.Set("T", policy.Allow)
	b := interacttest.Broker(&interacttest.Prompter{}, rules)
	defer b.Close()
	f := b.Follow(agentOf("/x"), 0)
	defer f.Close()
	f.Next()
	taken(t, b, interact.Request{Requester: agentOf("/x"), Body: interact.Approve{Tool: "T", Input: []byte("{}")}})
	<-f.News()
	if happened, _, _ := f.Next(); len(happened) != 1 || happened[0].Answer.Outcome != api.Allowed {
		t.Errorf("told %+v", happened)
	}
}

// Who reads on where it was has all that happened since; who was away for too long learns how things stand.
func TestFollowAfter(t *testing.T) {
	b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
	defer b.Close()
	first := b.Follow(agentOf("/x"), 0)
	defer first.Close()
	_, start, _ := first.Next()
	one := taken(t, b, asks("/x", "one"))
	_, afterOne, _ := first.Next()
	taken(t, b, asks("/x", "two"))
	settle(t, b, one, "/x")
	for after, want := range map[interact.EventID]string{
		0: "two?", start: "two? one!", afterOne: "two? one!", start - 1: "reset two?", 1 << 62: "reset two?",
	} {
		f := b.Follow(agentOf("/x"), after)
		if got := told(f); got != want {
			t.Errorf("after %d: told %q, want %q", after-start, got, want)
		}
		if got := told(f); got != "" {
			t.Errorf("after %d: told %q, and then %q", after-start, want, got)
		}
		f.Close()
	}
	for range 1100 { // more than are kept
		settle(t, b, taken(t, b, asks("/x", "more")), "/x")
	}
	f := b.Follow(agentOf("/x"), afterOne)
	defer f.Close()
	if got := told(f); got != "reset two?" {
		t.Errorf("told %q of what is forgotten", got)
	}
}

// slowJournal writes answers of some when it is told to.
type slowJournal struct {
	*interacttest.Journal
	written chan struct{}
}

func (j slowJournal) Settle(ctx context.Context, r interact.Record) error {
	if r.Request.Body.(api.Ask).Question == "slow" {
		<-j.written
	}
	return j.Journal.Settle(ctx, r)
}

// Nobody hears of an event before those with a smaller id: who reads on after it would never hear of them.
func TestEventsComeInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := slowJournal{&interacttest.Journal{}, make(chan struct{})}
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{}, func(c *interact.BrokerConfig) {
			c.Journal = j
		})
		defer b.Close()
		f := b.Follow(agentOf("/x"), 0)
		defer f.Close()
		foreign := taken(t, b, asks("/y", "slow"))
		own := taken(t, b, asks("/x", "own"))
		if got := told(f); got != "own?" {
			t.Errorf("told %q", got)
		}
		go b.Withdraw(agentOf("/y"), foreign.ID())
		synctest.Wait()
		settle(t, b, own, "/x")
		if got := told(f); got != "" {
			t.Errorf("told %q while a smaller event is written", got)
		}
		for len(f.News()) > 0 {
			<-f.News()
		}
		close(j.written)
		<-f.News()
		if got := told(f); got != "own!" {
			t.Errorf("told %q", got)
		}
	})
}

// A restart of nod is no event: who reads on hears of what was missed, and of nothing else.
func TestFeedGoesOnAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDesktop(&interacttest.Journal{}, &interacttest.Prompter{})
		defer func() { d.Close() }()
		var last interact.EventID
		restart := func(want string) {
			t.Helper()
			time.Sleep(time.Second) // of fake time
			d.kill(&interacttest.Prompter{})
			f := d.Follow(agentOf("/x"), last)
			defer f.Close()
			if got := told(f); got != want {
				t.Errorf("told %q after the restart, want %q", got, want)
			}
			_, last, _ = f.Next()
		}
		mustBegin(t, d.Broker, asks("/x", "open")).Detach()
		over := mustBegin(t, d.Broker, asks("/x", "over"))
		f := d.Follow(agentOf("/x"), 1)
		if got := told(f); got != "reset open? over?" {
			t.Errorf("told %q of what nobody knows", got)
		}
		_, last, _ = f.Next()
		restart("")
		settle(t, d.Broker, over, "/x")
		restart("over!")
		restart("")
		const kept = 1024
		for range kept + 1 {
			settle(t, d.Broker, mustBegin(t, d.Broker, asks("/x", "more")), "/x")
		}
		time.Sleep(time.Second) // of fake time
		next := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		defer next.Close()
		open, settled := d.journal.Left()
		next.Restore(open, settled[len(settled)-kept:])
		f = next.Follow(agentOf("/x"), last)
		defer f.Close()
		if got := told(f); got != "reset open?" {
			t.Errorf("told %q of more than is known", got)
		}
	})
}

// Whatever happens, to nod as well, who reads on where it was knows what is pending: a random history says so.
func TestFeedKnowsWhatIsPending(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { followHistory(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func followHistory(t *testing.T, r *rand.Rand) {
	d := startDesktop(&interacttest.Journal{}, &interacttest.Prompter{})
	defer func() { d.Close() }()
	known := map[interact.ID]bool{} // as the reader has it: is it pending?
	var last interact.EventID
	f := d.Follow(agentOf("/x"), 0)
	read := func() {
		happened, until, reset := f.Next()
		if until < last {
			t.Fatalf("told up to %d after %d", until, last)
		}
		if reset {
			clear(known)
		}
		for _, e := range happened {
			if e.ID != 0 && e.ID <= last {
				t.Fatalf("told of %d after %d", e.ID, last)
			}
			known[e.Request.ID] = e.Answer.Outcome == ""
		}
		last = until
	}
	for range 200 {
		switch n := r.IntN(20); {
		case n < 8:
			who := []string{"/x", "/y"}[r.IntN(2)]
			mustBegin(t, d.Broker, asks(who, fmt.Sprint(r.Int()))).Detach()
		case n < 14:
			if pending := d.Pending(); len(pending) > 0 {
				p := pending[r.IntN(len(pending))]
				if err := d.Withdraw(p.Requester, p.ID); err != nil {
					t.Fatal(err)
				}
			}
		case n < 17:
			read()
		case n < 19: // it is hung up on
			f.Close()
			f = d.Follow(agentOf("/x"), last)
		default:
			d.kill(&interacttest.Prompter{})
			f = d.Follow(agentOf("/x"), last)
		}
	}
	read()
	f.Close()
	var want, got []interact.ID
	for _, p := range d.Pending() {
		if p.Requester.Process.Exe == "/x" {
			want = append(want, p.ID)
		}
	}
	for id, isPending := range known {
		if isPending {
			got = append(got, id)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the reader knows of %v, pending are %v", got, want)
	}
}
