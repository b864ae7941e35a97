package asking

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// absent is a prompter whose human is away until there is true.
type absent struct {
	asked int
	there bool
}

func (p *absent) Prompt(ctx context.Context, _ interact.Request, _ policy.Decision) (interact.Answer, error) {
	p.asked++
	if p.there {
		return interact.Answer{Outcome: api.Denied}, nil
	}
	<-ctx.Done()
	return interact.Answer{}, ctx.Err()
}

// newGate returns a gate for a user without devices.
// countSignals counts what comes on a channel until ctx ends.
func countSignals(ctx context.Context, c <-chan struct{}, n *atomic.Int32) {
	go func() {
		for {
			select {
			case <-c:
				n.Add(1)
			case <-ctx.Done():
				return
			}
		}
	}()
}

func newGate(p interact.Prompter, left func()) gate { return gate{newPresence(left), p, noDevices{}} }

type noDevices struct{}

func (noDevices) ready() bool { return false }

func TestAwayAfterTwoUnansweredPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		human, left := &absent{}, 0
		q := newGate(human, func() { left++ })
		ask := func(session string) error {
			who := interact.Requester{Agent: "a", Session: session}
			r := interact.Request{Requester: who, Deadline: time.Now().Add(time.Minute)}
			ctx, cancel := context.WithDeadlineCause(t.Context(), r.Deadline, interact.ErrTimedOut)
			defer cancel()
			_, err := q.Prompt(ctx, r, policy.Decision{})
			return err
		}
		ask("one")
		ask("one")
		if err := ask("one"); !errors.Is(err, interact.ErrUnavailable) || human.asked != 2 || left != 1 {
			t.Fatalf("third request: %v; asked %d times, left %d times", err, human.asked, left)
		}
		if sessions, missed := q.away(); sessions != 1 || missed != 1 {
			t.Errorf("away for %d sessions, %d missed; want 1 and 1", sessions, missed)
		}
		for range 3 { // a session of its own, and requests that name none
			if err := ask(""); errors.Is(err, interact.ErrUnavailable) {
				t.Fatal("a request without a session was turned away")
			}
		}
		human.there = true
		if err := ask("other"); err != nil {
			t.Fatalf("another session: %v", err)
		}
		if err := ask("one"); err != nil {
			t.Errorf("the human is back, but: %v", err)
		}
		if sessions, missed := q.away(); sessions != 0 || missed != 0 {
			t.Errorf("away for %d sessions, %d missed after the human came back", sessions, missed)
		}
	})
}

func TestAWithdrawnPromptIsNotUnanswered(t *testing.T) {
	q := newGate(&absent{}, func() { t.Error("left") })
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := interact.Request{Requester: interact.Requester{Session: "s"}, Deadline: time.Now().Add(time.Hour)}
		if _, err := q.Prompt(ctx, r, policy.Decision{}); errors.Is(err, interact.ErrUnavailable) {
			t.Fatal(err)
		}
	}
}

func TestAwayRemembersOnlySoManySessions(t *testing.T) {
	q := newGate(&absent{}, func() {})
	for i := range 3 * maxSessions {
		q.timedOut(interact.Request{Requester: interact.Requester{Session: fmt.Sprint(i)}})
	}
	if n := len(q.unanswered); n > maxSessions {
		t.Errorf("%d sessions are remembered", n)
	}
}
