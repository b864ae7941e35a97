package interact_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy"
)

func approve(tool string) interact.Request {
	return interact.Request{
		Requester: interact.Requester{Agent: "tester", Session: "s1", CWD: "/src"},
		Body:      interact.Approve{Tool: tool, Input: json.RawMessage(`{"x":1}`)},
	}
}

func ask(q string) interact.Request { return interact.Request{Body: api.Ask{Question: q}} }

func says(a interact.Answer) *interacttest.Prompter {
	return &interacttest.Prompter{Delay: time.Second, Answer: interacttest.Always(a)}
}

var allowed = interact.Answer{Outcome: api.Allowed}

// Whether a program is the agent that it calls itself is for the broker to find out, of the process that stands for the
// requester; of another machine's it is that machine's word.
func TestWhoIsAgent(t *testing.T) {
	is := func(name string, p api.Parent) bool { return name == "codex" && p.Exe == "/usr/bin/codex" }
	nod := api.Process{PID: 3, Exe: "/usr/bin/nod", Parents: []api.Parent{
		{PID: 2, Exe: "/bin/sh"}, {PID: 1, Exe: "/usr/bin/codex"},
	}}
	script, shell := nod, api.Process{PID: 1, Exe: "/bin/sh"}
	script.Exe = "/usr/bin/python3"
	for name, tt := range map[string]struct {
		who         interact.Requester
		want, claim string
	}{
		"its hook":              {interact.Requester{Agent: "codex", Process: nod}, "true", ""},
		"what it runs":          {interact.Requester{Agent: "codex", Process: script}, "false", "codex"},
		"another's name":        {interact.Requester{Agent: "claude-code", Process: nod}, "false", "claude-code"},
		"nobody known":          {interact.Requester{Agent: "codex"}, "false", "codex"},
		"its own word":          {interact.Requester{Agent: "codex", IsAgent: true}, "false", "codex"},
		"no name":               {interact.Requester{Process: nod}, "false", ""},
		"a go-between in front": {interact.Requester{Agent: "codex", Process: shell}, "false", "codex"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := says(allowed)
			b := interacttest.Broker(p, nil, func(c *interact.BrokerConfig) { c.IsAgent = is })
			defer b.Close()
			r := ask("?")
			r.Requester = tt.who
			var got interact.Requester
			p.Answer = func(r interact.Request, _ policy.Decision) (interact.Answer, error) {
				got = r.Requester
				return interact.Answer{Outcome: api.Dismissed}, nil
			}
			do(t, b, r)
			if fmt.Sprint(got.IsAgent) != tt.want || got.Claim() != tt.claim {
				t.Errorf("%s: is the agent: %v, claims %q; want %s, %q", name, got.IsAgent, got.Claim(), tt.want, tt.claim)
			}
		})
	}
}

func do(t *testing.T, b *interact.Broker, r interact.Request) interact.Answer {
	t.Helper()
	a, err := b.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestEveryKindIsAnswered(t *testing.T) {
	tests := []struct {
		body interact.Body
		says interact.Answer
		want interact.Answer
	}{
		{api.Ask{Question: "?"}, interact.Answer{Outcome: api.Answered, Text: "42"},
			interact.Answer{Outcome: api.Answered, Text: "42"}},
		{api.Confirm{Message: "?"}, interact.Answer{Outcome: api.Answered, Confirmed: true},
			interact.Answer{Outcome: api.Answered, Confirmed: true}},
		{interact.Approve{Tool: "T", Input: json.RawMessage(`{}`)}, allowed,
			interact.Answer{Outcome: api.Allowed, Scope: policy.Once}},
		{interact.Approve{Tool: "T", Input: json.RawMessage(`{}`)}, interact.Answer{Outcome: api.Denied, Reason: "no"},
			interact.Answer{Outcome: api.Denied, Reason: "no"}},
		{api.Ask{Question: "?"}, interact.Answer{Outcome: api.Dismissed},
			interact.Answer{Outcome: api.Dismissed}},
	}
	for _, tt := range tests {
		t.Run(string(tt.body.Kind())+"/"+string(tt.want.Outcome), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := interacttest.Broker(says(tt.says), &interacttest.Policy{})
				defer b.Close()
				got := do(t, b, interact.Request{Body: tt.body})
				if got.By != api.ByHuman {
					t.Errorf("by = %q, want human", got.By)
				}
				if got.Outcome != tt.want.Outcome || got.Text != tt.want.Text || got.Confirmed != tt.want.Confirmed ||
					got.Scope != tt.want.Scope {
					t.Errorf("got %+v, want %+v", got, tt.want)
				}
			})
		})
	}
}

func TestNotifyReportsWhatTheDesktopDid(t *testing.T) {
	for _, takes := range []bool{true, false} {
		b := interact.NewBroker(interact.BrokerConfig{
			Policy: &interacttest.Policy{}, Prompter: &interacttest.Prompter{},
			Notify:  func(context.Context, interact.Request) bool { return takes },
			Journal: new(interacttest.Journal), Timeout: func() time.Duration { return time.Minute },
			Log: slog.New(slog.DiscardHandler),
		})
		a := do(t, b, interact.Request{Body: api.Notify{Message: "done"}})
		if a.Sent != takes {
			t.Errorf("sent = %v, want %v", a.Sent, takes)
		}
		b.Close()
	}
}

// Every way in which a user does not say "allow" must end as something else.
func TestDoubtNeverAllows(t *testing.T) {
	forged := interact.Answer{Outcome: api.Allowed, ShownSHA256: interact.Digest([]byte("something else"))}
	tests := map[string]struct {
		prompter interact.Prompter
		want     api.Outcome
	}{
		"time-out":  {&interacttest.Prompter{}, api.TimedOut},
		"closed":    {says(interact.Answer{Outcome: api.Dismissed}), api.Dismissed},
		"no screen": {fails(fmt.Errorf("no display: %w", interact.ErrUnavailable)), api.Unavailable},
		"error":     {fails(errors.New("boom")), api.Unavailable},
		"panic": {prompterFunc(func(context.Context) (interact.Answer, error) { panic("boom") }),
			api.Unavailable},
		"empty answer":  {says(interact.Answer{}), api.Unavailable},
		"wrong kind":    {says(interact.Answer{Outcome: api.Answered, Text: "yes"}), api.Unavailable},
		"claims a rule": {says(interact.Answer{Outcome: api.TimedOut}), api.Unavailable},
		"other input":   {says(forged), api.Unavailable},
		"no such scope": {says(interact.Answer{Outcome: api.Allowed, Scope: "forever"}), api.Unavailable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := interacttest.Broker(tt.prompter, &interacttest.Policy{})
				defer b.Close()
				if a := do(t, b, approve("Bash")); a.Outcome != tt.want {
					t.Errorf("outcome %q (%s), want %q", a.Outcome, a.Reason, tt.want)
				}
			})
		})
	}
}

// TestPolicyPanics has the user decide where the policy fails, before the prompt and after the answer.
func TestPolicyPanics(t *testing.T) {
	for at, want := range map[int]api.Outcome{1: api.Denied, 2: api.Allowed} {
		p := &interacttest.Prompter{Answer: interacttest.Always(interact.Answer{Outcome: want})}
		b := interacttest.Broker(p, &panicking{at: at})
		if a := do(t, b, approve("Bash")); a.Outcome != want || a.By != api.ByHuman || len(p.Shown()) != 1 {
			t.Errorf("a panic at decision %d: %+v after %d prompts", at, a, len(p.Shown()))
		}
		b.Close()
	}
}

// A policy that fails while the user is asked leaves that to them.
func TestPolicyPanicsWhileTheUserIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan interact.Answer)
		b := interacttest.Broker(prompterFunc(func(context.Context) (interact.Answer, error) {
			return <-answer, nil
		}), &panicking{at: 2})
		defer b.Close()
		ticket, err := b.Begin(approve("Bash"))
		if err != nil {
			t.Fatal(err)
		}
		defer ticket.Release()
		b.Reconsider()
		synctest.Wait()
		answer <- interact.Answer{Outcome: api.Denied}
		if a, err := ticket.Wait(t.Context()); err != nil || a.Outcome != api.Denied || a.By != api.ByHuman {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// panicking is a policy that panics at one of its decisions.
type panicking struct {
	interacttest.Policy
	at int
}

func (p *panicking) Decide(call policy.Call) policy.Decision {
	if p.at--; p.at == 0 {
		panic("boom")
	}
	return p.Policy.Decide(call)
}

type prompterFunc func(context.Context) (interact.Answer, error)

func (f prompterFunc) Prompt(ctx context.Context, _ interact.Request, _ policy.Decision) (interact.Answer, error) {
	return f(ctx)
}

func fails(err error) interact.Prompter {
	return prompterFunc(func(context.Context) (interact.Answer, error) { return interact.Answer{}, err })
}

func TestPolicyDecidesWithoutAPrompt(t *testing.T) {
	p, pol := &interacttest.Prompter{}, &interacttest.Policy{}
	pol.Set("Read", policy.Allow)
	pol.Set("Rm", policy.Deny)
	b := interacttest.Broker(p, pol)
	defer b.Close()
	if a := do(t, b, approve("Read")); a.Outcome != api.Allowed || a.By != api.ByPolicy ||
		a.Rule != "test:Read" {
		t.Errorf("Read: %+v", a)
	}
	if a := do(t, b, approve("Rm")); a.Outcome != api.Denied || a.By != api.ByPolicy {
		t.Errorf("Rm: %+v", a)
	}
	if n := len(p.Shown()); n != 0 {
		t.Errorf("%d prompts, want none", n)
	}
}

func TestTimeouts(t *testing.T) {
	tests := map[string]struct {
		own, want time.Duration
	}{
		"configured": {0, 5 * time.Minute},
		"its own":    {90 * time.Second, 90 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &interacttest.Prompter{}
				b := interacttest.Broker(p, &interacttest.Policy{})
				defer b.Close()
				r := ask("?")
				r.Timeout = tt.own
				start := time.Now()
				a := do(t, b, r)
				if got := time.Since(start); got != tt.want {
					t.Errorf("ended after %s, want %s", got, tt.want)
				}
				if a.Outcome != api.TimedOut || a.By != api.ByTimeout {
					t.Errorf("got %+v", a)
				}
				synctest.Wait()
				if len(p.Closed()) != 1 {
					t.Error("the prompt stayed on the screen")
				}
			})
		})
	}
}

func TestConfirmTimeoutIsItsDefault(t *testing.T) {
	for _, def := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
			defer b.Close()
			a := do(t, b, interact.Request{Body: api.Confirm{Message: "?", Default: def}})
			if a.Outcome != api.TimedOut || a.Confirmed != def || !a.Defaulted {
				t.Errorf("default %v: %+v", def, a)
			}
		})
	}
}

func TestHangUpTakesThePromptOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &interacttest.Prompter{}
		b := interacttest.Broker(p, &interacttest.Policy{})
		defer b.Close()
		ctx, hangUp := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, hangUp)
		if _, err := b.Do(ctx, approve("Bash")); !errors.Is(err, context.Canceled) {
			t.Fatalf("err = %v", err)
		}
		synctest.Wait()
		if len(p.Closed()) != 1 || len(b.Pending()) != 0 {
			t.Errorf("closed %d, pending %d", len(p.Closed()), len(b.Pending()))
		}
		if own := b.Own(interact.Requester{}); len(own) != 1 || own[0].Answer.Outcome != api.Cancelled {
			t.Errorf("remembered as %+v", own)
		}
	})
}

func TestIdenticalRequestsAreOnePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := says(interact.Answer{Outcome: api.Answered, Text: "42"})
		b := interacttest.Broker(p, &interacttest.Policy{})
		defer b.Close()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if a := do(t, b, ask("same")); a.Text != "42" {
					t.Errorf("got %+v", a)
				}
			})
		}
		wg.Wait()
		if n := len(p.Shown()); n != 1 {
			t.Errorf("%d prompts, want 1", n)
		}
	})
}

// A caller that waits for another time than the first one is not cut short by it, and a yes by silence is never early.
func TestTimeoutsShareNoPrompt(t *testing.T) {
	yes := api.Confirm{Message: "Ship?", Default: true}
	for name, tt := range map[string]struct {
		body          interact.Body
		first, second time.Duration
		prompts       int
	}{
		"longer":             {api.Ask{Question: "?"}, 3 * time.Second, 40 * time.Second, 2},
		"shorter":            {api.Ask{Question: "?"}, 40 * time.Second, 3 * time.Second, 2},
		"the default":        {api.Ask{Question: "?"}, 40 * time.Second, 0, 2},
		"the same":           {api.Ask{Question: "?"}, 40 * time.Second, 40 * time.Second, 1},
		"yes after the same": {yes, 40 * time.Second, 40 * time.Second, 2},
		"yes by default":     {yes, 0, 0, 2},
		"yes after longer":   {yes, 2 * time.Second, 5 * time.Minute, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &interacttest.Prompter{}
				b := interacttest.Broker(p, &interacttest.Policy{})
				defer b.Close()
				asked(t, b, interact.Request{Body: tt.body, Timeout: tt.first})
				time.Sleep(time.Second)
				began, want := time.Now(), cmp.Or(tt.second, 5*time.Minute)
				a := do(t, b, interact.Request{Body: tt.body, Timeout: tt.second})
				if took := time.Since(began); a.Outcome != api.TimedOut || took != want && tt.prompts == 2 {
					t.Errorf("%s after %v, want a time-out after %v", a.Outcome, took, want)
				}
				if n := len(p.Shown()); n != tt.prompts {
					t.Errorf("%d prompts, want %d", n, tt.prompts)
				}
			})
		})
	}
}

// A key is a retry, which may have less time left. It makes no yes of a silence that was too short for this caller.
func TestKeyAndTimeout(t *testing.T) {
	for name, tt := range map[string]struct {
		yes           bool
		first, second time.Duration
		joins         bool
	}{
		"longer":             {false, time.Second, time.Minute, true},
		"yes, the same":      {true, time.Minute, time.Minute, true},
		"yes, shorter":       {true, time.Minute, time.Second, true},
		"yes, longer":        {true, time.Second, time.Minute, false},
		"yes, by default":    {true, 0, 0, true},
		"yes, default later": {true, time.Second, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
			defer b.Close()
			r := keyed(interact.Request{Body: api.Confirm{Message: "?", Default: tt.yes}, Timeout: tt.first}, "k")
			first, came := asked(t, b, r)
			r.Timeout = tt.second
			for _, when := range []string{"open", "over"} {
				second, err := b.Begin(r)
				if joins := err == nil && second.ID() == first.ID; joins != tt.joins {
					t.Errorf("%s, %s: joins %v (%v), want %v", name, when, joins, err, tt.joins)
				}
				if when == "open" {
					<-came
				}
			}
		})
	}
}

func TestDifferentRequestersAreNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &interacttest.Prompter{}
		b := interacttest.Broker(p, &interacttest.Policy{})
		defer b.Close()
		base := approve("Bash")
		vary := []func(*interact.Request){
			func(*interact.Request) {},
			func(r *interact.Request) { r.Requester.Agent = "other" },
			func(r *interact.Request) { r.Requester.Session = "s2" },
			func(r *interact.Request) { r.Requester.CWD = "/other" },
			func(r *interact.Request) { r.Requester.CWD, r.Requester.Process.CWD = "", "/one" },
			func(r *interact.Request) { r.Requester.CWD, r.Requester.Process.CWD = "", "/two" },
			func(r *interact.Request) { r.Requester.Process = api.Process{UID: 1, Exe: "/bin/evil"} },
			func(r *interact.Request) { r.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"x":2}`)} },
		}
		for _, f := range vary {
			r := base
			f(&r)
			if _, err := b.Begin(r); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(b.Pending()); n != len(vary) {
			t.Errorf("%d pending, want %d", n, len(vary))
		}
	})
}

func TestOneOfTwoCallersMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(says(interact.Answer{Outcome: api.Answered, Text: "42"}), &interacttest.Policy{})
		defer b.Close()
		first, _ := b.Begin(ask("same"))
		second, _ := b.Begin(ask("same"))
		first.Release()
		first.Release()
		if a, err := second.Wait(t.Context()); err != nil || a.Text != "42" {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := says(interact.Answer{Outcome: api.Answered, Text: "42"})
		b := interacttest.Broker(p, &interacttest.Policy{})
		defer b.Close()
		r := ask("?")
		r.IdempotencyKey = "k"
		do(t, b, r)
		if a := do(t, b, r); a.Text != "42" || len(p.Shown()) != 1 {
			t.Errorf("asked %d times, got %+v", len(p.Shown()), a)
		}
		r.Body = api.Ask{Question: "something else"}
		var wrong *interact.ParamError
		if _, err := b.Begin(r); !errors.As(err, &wrong) || wrong.Param != "idempotency_key" {
			t.Errorf("the key served a different question: %v", err)
		}
	})
}

func TestDetachedRequestOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(says(interact.Answer{Outcome: api.Answered, Text: "42"}), &interacttest.Policy{})
		defer b.Close()
		ticket, err := b.Begin(ask("?"))
		if err != nil {
			t.Fatal(err)
		}
		ticket.Detach()
		ticket.Release()
		later, err := b.Find(context.Background(), interact.Requester{}, ticket.ID())
		if err != nil {
			t.Fatal(err)
		}
		if a, err := later.Wait(t.Context()); err != nil || a.Text != "42" {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

func TestStrangersNeitherReadNorWithdraw(t *testing.T) {
	b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
	defer b.Close()
	ticket, _ := b.Begin(ask("?"))
	stranger := interact.Requester{Process: api.Process{UID: 4711, Exe: "/bin/other"}}
	if _, err := b.Find(context.Background(), stranger, ticket.ID()); !errors.Is(err, interact.ErrNotFound) {
		t.Errorf("lookup: %v", err)
	}
	if err := b.Withdraw(stranger, ticket.ID()); !errors.Is(err, interact.ErrNotFound) {
		t.Errorf("withdraw: %v", err)
	}
	if len(b.Own(stranger)) != 0 || len(b.Pending()) != 1 {
		t.Error("a stranger sees or ends a request")
	}
}

func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &interacttest.Prompter{}
		b := interacttest.Broker(p, &interacttest.Policy{})
		defer b.Close()
		ticket, _ := b.Begin(ask("?"))
		for range 2 { // the second time it has ended already
			if err := b.Withdraw(interact.Requester{}, ticket.ID()); err != nil {
				t.Fatal(err)
			}
		}
		if a, ok := ticket.Answer(); !ok || a.Outcome != api.Withdrawn {
			t.Errorf("%+v, %v", a, ok)
		}
	})
}

// Times of what waits are monotonic, snoozed or not: whoever sets the clock, or has the machine sleep, changes nothing
// of how long nod waits.
func TestClockSetWhileARequestWaits(t *testing.T) {
	b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
	defer b.Close()
	r := ask("?")
	r.Patience = time.Hour
	ticket, err := b.Begin(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{0, time.Minute} {
		if err := b.Snooze(ticket.ID(), d); err != nil {
			t.Fatal(err)
		}
		now := ticket.Request()
		for name, at := range map[string]time.Time{"Created": now.Created, "Deadline": now.Deadline, "Until": now.Until} {
			if !strings.Contains(at.String(), " m=") {
				t.Errorf("snoozed for %v, %s is on the clock on the wall: %v", d, name, at)
			}
		}
	}
}

// Whoever delivers an answer hears what came of the request, and not before the journal has it.
func TestSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		defer b.Close()
		ticket, _ := b.Begin(ask("?"))
		came := make(chan interact.Answer, 1)
		go func() {
			a, err := b.Settled(t.Context(), ticket.ID())
			if err != nil {
				t.Error(err)
			}
			came <- a
		}()
		synctest.Wait()
		select {
		case a := <-came:
			t.Fatalf("%+v came of it while it was pending", a)
		default:
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Settled(ctx, ticket.ID()); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that nobody waits any longer", err)
		}
		if err := b.Withdraw(interact.Requester{}, ticket.ID()); err != nil {
			t.Fatal(err)
		}
		if a := <-came; a.Outcome != api.Withdrawn {
			t.Errorf("%+v came of it, want that it was withdrawn", a)
		}
		if _, err := b.Settled(t.Context(), "another"); !errors.Is(err, interact.ErrNotFound) {
			t.Errorf("%v, want that there is no such request", err)
		}
	})
}

func TestWithdrawWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		defer b.Close()
		bash, _ := b.Begin(approve("Bash"))
		edit, _ := b.Begin(approve("Edit"))
		isBash := func(r interact.Request) bool { return r.Body.(interact.Approve).Tool == "Bash" }
		b.WithdrawWhere(interact.Requester{Process: api.Process{UID: 4711}}, isBash)
		b.WithdrawWhere(interact.Requester{}, isBash)
		synctest.Wait()
		if a, ok := bash.Answer(); !ok || a.Outcome != api.Withdrawn {
			t.Errorf("Bash: %+v, %v", a, ok)
		}
		if _, ok := edit.Answer(); ok {
			t.Error("Edit was withdrawn, too")
		}
	})
}

// One hundred callers, withdrawals and a human race for one request: all see the same single answer.
func TestOneWinner(t *testing.T) {
	for range 50 {
		start := make(chan struct{})
		p := prompterFunc(func(ctx context.Context) (interact.Answer, error) {
			<-start
			return interact.Answer{Outcome: api.Allowed, Scope: policy.Always,
				ShownSHA256: interact.Digest([]byte(`{"x":1}`))}, nil
		})
		pol := &interacttest.Policy{}
		b := interacttest.Broker(p, pol)
		ticket, err := b.Begin(approve("Bash"))
		if err != nil {
			t.Fatal(err)
		}
		answers := make([]interact.Answer, 100)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				<-start
				if i%2 == 0 {
					_ = b.Withdraw(interact.Requester{}, ticket.ID())
				}
				answers[i], _ = ticket.Wait(context.Background())
			})
		}
		close(start)
		wg.Wait()
		b.Close()
		for _, a := range answers {
			if a.Outcome != answers[0].Outcome {
				t.Fatalf("two winners: %q and %q", answers[0].Outcome, a.Outcome)
			}
		}
		if granted := len(pol.Grants()) == 1; granted != (answers[0].Outcome == api.Allowed) {
			t.Fatalf("outcome %q left %d grants", answers[0].Outcome, len(pol.Grants()))
		}
	}
}

func TestOnlyAWiderAllowIsKept(t *testing.T) {
	for scope, want := range map[policy.Scope]int{"": 0, policy.Once: 0, policy.ThisSession: 1, policy.QuarterHour: 1,
		policy.Always: 1} {
		synctest.Test(t, func(t *testing.T) {
			pol := &interacttest.Policy{}
			b := interacttest.Broker(says(interact.Answer{Outcome: api.Allowed, Scope: scope}), pol)
			defer b.Close()
			do(t, b, approve("Bash"))
			if got := len(pol.Grants()); got != want {
				t.Errorf("scope %q: %d grants, want %d", scope, got, want)
			}
		})
	}
}

func TestAnAllowCoversWhatThePersonChose(t *testing.T) {
	for covers, want := range map[policy.Cover]policy.Cover{"": policy.CoverInput,
		policy.CoverCommands: policy.CoverCommands, policy.CoverEdits: policy.CoverEdits} {
		synctest.Test(t, func(t *testing.T) {
			pol := &interacttest.Policy{}
			b := interacttest.Broker(says(interact.Answer{Outcome: api.Allowed, Scope: policy.Always, Covers: covers}), pol)
			defer b.Close()
			a := do(t, b, approve("Bash"))
			if got := pol.Covers(); len(got) != 1 || got[0] != want || a.Covers != want {
				t.Errorf("covers %q: kept %q, answered %q, want %q", covers, got, a.Covers, want)
			}
		})
	}
}

// A deny that came while the prompt was open beats the click on Allow.
func TestDenyThatCameMeanwhileWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pol := &interacttest.Policy{}
		b := interacttest.Broker(says(allowed), pol)
		defer b.Close()
		ticket, _ := b.Begin(approve("Bash"))
		synctest.Wait()
		pol.Set("Bash", policy.Deny)
		a, _ := ticket.Wait(t.Context())
		if a.Outcome != api.Denied || a.By != api.ByPolicy {
			t.Errorf("got %+v", a)
		}
	})
}

func TestReconsiderSettlesWhatARuleNowDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, pol := &interacttest.Prompter{}, &interacttest.Policy{}
		b := interacttest.Broker(p, pol)
		defer b.Close()
		one, _ := b.Begin(approve("Bash"))
		two, _ := b.Begin(approve("Write"))
		synctest.Wait()
		pol.Set("Bash", policy.Allow)
		b.Reconsider()
		synctest.Wait()
		if a, ok := one.Answer(); !ok || a.Outcome != api.Allowed || a.By != api.ByPolicy {
			t.Errorf("Bash: %+v", a)
		}
		if _, ok := two.Answer(); ok {
			t.Error("Write was settled")
		}
		if len(p.Closed()) != 1 {
			t.Errorf("%d prompts closed, want 1", len(p.Closed()))
		}
	})
}

// A rule that comes after the policy has decided that the user is asked, and before they are, counts.
func TestReconsiderBeforeARequestIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pol := &hooked{}
		b := interacttest.Broker(&interacttest.Prompter{}, pol)
		defer b.Close()
		pol.decided = func() {
			pol.decided = func() {}
			pol.Set("Bash", policy.Allow)
			b.Reconsider()
		}
		ticket, err := b.Begin(approve("Bash"))
		if err != nil {
			t.Fatal(err)
		}
		defer ticket.Release()
		synctest.Wait()
		if a, _ := ticket.Answer(); a.Outcome != api.Allowed || a.By != api.ByPolicy {
			t.Errorf("%+v", a)
		}
	})
}

// hooked is a policy of which a test sees each decision before the broker does.
type hooked struct {
	interacttest.Policy
	decided func()
}

func (h *hooked) Decide(call policy.Call) policy.Decision {
	d := h.Policy.Decide(call)
	h.decided()
	return d
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		ticket, _ := b.Begin(ask("?"))
		b.Close()
		if a, ok := ticket.Answer(); !ok || a.Outcome != api.Unavailable {
			t.Errorf("%+v, %v", a, ok)
		}
		if a := do(t, b, ask("after")); a.Outcome != api.Unavailable {
			t.Errorf("after close: %+v", a)
		}
	})
}

// What waits detached stays open for the next nod, even if its prompt has closed before the broker sees why.
func TestCloseWhileThePolicyIsAskedAgain(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			pol := &hooked{decided: func() {}}
			b := interacttest.Broker(&interacttest.Prompter{}, pol)
			ticket, err := b.Begin(approve("Bash"))
			if err != nil {
				t.Fatal(err)
			}
			ticket.Detach()
			synctest.Wait()
			deciding := make(chan struct{})
			pol.decided = func() { <-deciding }
			b.Reconsider()
			synctest.Wait()
			go b.Close()
			synctest.Wait()
			close(deciding)
			synctest.Wait()
			tk, err := b.Find(context.Background(), interact.Requester{}, ticket.ID())
			if err != nil {
				t.Fatal(err)
			}
			if a, ok := tk.Answer(); ok {
				t.Fatalf("%+v", a)
			}
		})
	}
}

// What the user has answered counts, even if nod ends before the broker sees it.
func TestCloseAfterAnAnswer(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			pol, answer := &hooked{decided: func() {}}, make(chan interact.Answer)
			b := interacttest.Broker(prompterFunc(func(context.Context) (interact.Answer, error) {
				return <-answer, nil
			}), pol)
			ticket, err := b.Begin(approve("Bash"))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			deciding := make(chan struct{})
			pol.decided = func() { <-deciding }
			b.Reconsider()
			synctest.Wait()
			a := allowed
			a.ShownSHA256 = interact.Digest([]byte(`{"x":1}`))
			answer <- a
			synctest.Wait()
			go b.Close()
			synctest.Wait()
			pol.decided = func() {}
			close(deciding)
			synctest.Wait()
			if a, ok := ticket.Answer(); !ok || a.Outcome != api.Allowed {
				t.Fatalf("%+v", a)
			}
		})
	}
}

func TestPendingIsBounded(t *testing.T) {
	b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
	defer b.Close()
	var busy *interact.BusyError
	begin := func(agent string, i int) error {
		_, err := b.Begin(interact.Request{
			Requester: interact.Requester{Agent: agent}, Body: api.Ask{Question: fmt.Sprint(i)}})
		return err
	}
	for i := range interact.MaxPendingPerRequester {
		if err := begin("a", i); err != nil {
			t.Fatal(err)
		}
	}
	if err := begin("a", -1); !errors.As(err, &busy) {
		t.Errorf("one requester over its limit: %v", err)
	}
	for i := range interact.MaxPending - interact.MaxPendingPerRequester {
		if err := begin(fmt.Sprint("b", i), i); err != nil {
			t.Fatal(err)
		}
	}
	if err := begin("c", 0); !errors.As(err, &busy) || busy.RetryAfter <= 0 {
		t.Errorf("all over the limit: %v", err)
	}
	if err := begin("a", 0); err != nil {
		t.Errorf("joining needs no room: %v", err)
	}
}

// Few requests that hold much are too many as well.
func TestPendingRequestsHoldOnlySoMuch(t *testing.T) {
	b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
	defer b.Close()
	long := strings.Repeat("x", 1<<20-64)
	for i := range 40 {
		input := json.RawMessage(fmt.Sprintf(`{"command":"%d %s"}`, i, long))
		_, err := b.Begin(interact.Request{
			Requester: interact.Requester{Agent: fmt.Sprint(i)}, Body: interact.Approve{Tool: "Bash", Input: input}})
		if busy, isBusy := errors.AsType[*interact.BusyError](err); isBusy {
			if busy.Pending < 16 {
				t.Errorf("busy with %d requests of a mebibyte", busy.Pending)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("40 requests of a mebibyte are pending")
}

// What cannot be written down does not pass unasked. The user is asked all the same, and what they say counts.
func TestBrokenJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal, pol, human := new(interacttest.Journal), &interacttest.Policy{}, says(allowed)
		pol.Set("Read", policy.Allow)
		pol.Set("Rm", policy.Deny)
		b := interacttest.Broker(human, pol, func(c *interact.BrokerConfig) { c.Journal = journal })
		defer b.Close()
		journal.Fail(errors.New("disk full"))
		for tool, want := range map[string]api.By{
			"Read": api.ByHuman, "Bash": api.ByHuman, "Rm": api.ByPolicy,
		} {
			if a := do(t, b, approve(tool)); a.By != want || (a.Outcome == api.Allowed) != (want == api.ByHuman) {
				t.Errorf("%s: %+v", tool, a)
			}
		}
		for effect, want := range map[string]api.Outcome{"Read": "", "Rm": api.Denied} {
			insists := func(d policy.Decision) bool { return d.Insists() }
			a, err := b.Judge(t.Context(), approve(effect), insists, policy.Allow, policy.Deny)
			if a.Outcome != want || err != nil {
				t.Errorf("judged %s: %+v, %v", effect, a, err)
			}
		}
		if n := len(pol.Uses()); n != 0 {
			t.Errorf("%d uses of what did not pass", n)
		}
		journal.Fail(nil)
		if a := do(t, b, approve("Read")); a.By != api.ByPolicy || len(human.Shown()) != 2 {
			t.Errorf("the disk has room again: %+v", a)
		}
		outcomes := map[api.By]int{}
		for _, r := range journal.Records() {
			outcomes[r.Answer.By]++
		}
		if outcomes[api.ByHuman] != 2 || outcomes[api.ByPolicy] != 3 || journal.Err() != nil {
			t.Errorf("what could not be written is written by now: %v, %v", outcomes, journal.Err())
		}
	})
}

// onFullDisk returns a broker whose user allows everything, and whose journal fails.
func onFullDisk(t *testing.T) (*interact.Broker, *interacttest.Journal) {
	journal := new(interacttest.Journal)
	pol := new(interacttest.Policy)
	b := interacttest.Broker(says(allowed), pol, func(c *interact.BrokerConfig) { c.Journal = journal })
	t.Cleanup(b.Close)
	journal.Fail(errors.New("disk full"))
	return b, journal
}

// An outcome that could not be journaled is journaled as soon as it can be, even if nothing else is.
func TestBrokenJournalIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, journal := onFullDisk(t)
		do(t, b, approve("Bash"))
		do(t, b, approve("Write"))
		time.Sleep(time.Hour)
		journal.Fail(nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		if _, last := journal.Left(); len(last) != 2 || journal.Err() != nil {
			t.Errorf("%+v, %v", last, journal.Err())
		}
	})
}

// A caller that detaches after the answer does not reopen a request whose outcome could not be journaled yet.
func TestBrokenJournalAndALateDetach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, journal := onFullDisk(t)
		ticket, err := b.Begin(approve("Bash"))
		if err != nil {
			t.Fatal(err)
		}
		<-ticket.Done()
		journal.Fail(nil)
		do(t, b, approve("Write"))
		ticket.Detach()
		if open, last := journal.Left(); len(open) != 0 || len(last) != 2 || journal.Err() != nil {
			t.Errorf("open %+v, last %+v, %v", open, last, journal.Err())
		}
	})
}

// A rule that comes while a prompt waits passes nothing that cannot be written down: the prompt stays.
func TestBrokenJournalKeepsThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal, pol, human := new(interacttest.Journal), &interacttest.Policy{}, &interacttest.Prompter{}
		b := interacttest.Broker(human, pol, func(c *interact.BrokerConfig) { c.Journal = journal })
		defer b.Close()
		_, came := asked(t, b, approve("Bash"))
		pol.Set("Bash", policy.Allow)
		journal.Fail(errors.New("disk full"))
		b.Reconsider()
		synctest.Wait()
		if len(b.Pending()) != 1 || len(human.Closed()) != 0 || len(pol.Uses()) != 0 {
			t.Fatalf("pending %d, prompts closed %d, uses %d", len(b.Pending()), len(human.Closed()), len(pol.Uses()))
		}
		journal.Fail(nil)
		b.Reconsider()
		if a := <-came; a.Outcome != api.Allowed || a.By != api.ByPolicy || len(pol.Uses()) != 1 {
			t.Errorf("%+v, uses %v", a, pol.Uses())
		}
	})
}

func TestFinishedRequestsAreForgottenInTheEnd(t *testing.T) {
	pol := &interacttest.Policy{}
	pol.Set("Read", policy.Allow)
	b := interacttest.Broker(&interacttest.Prompter{}, pol)
	defer b.Close()
	first, err := b.Begin(approve("Read"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		do(t, b, approve("Read"))
	}
	if _, err := b.Find(context.Background(), interact.Requester{}, first.ID()); !errors.Is(err, interact.ErrNotFound) {
		t.Errorf("still there: %v", err)
	}
	if n := len(b.Own(interact.Requester{})); n > 1024 {
		t.Errorf("%d requests kept", n)
	}
}

func TestChangesSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(says(interact.Answer{Outcome: api.Dismissed}), &interacttest.Policy{})
		defer b.Close()
		changes, stop := b.Changes()
		ticket, _ := b.Begin(ask("?"))
		<-changes
		<-ticket.Done()
		<-changes
		stop()
		do(t, b, ask("again"))
		select {
		case <-changes:
			t.Error("a signal after the subscription ended")
		default:
		}
	})
}

// What the policy decides is never pending, and tells nobody: everything that follows would cost each such call.
func TestWhatIsDecidedAtOnceSignalsNothing(t *testing.T) {
	rules := &interacttest.Policy{}
	rules.Set("Read", policy.Allow)
	b := interacttest.Broker(&interacttest.Prompter{}, rules)
	defer b.Close()
	changes, stop := b.Changes()
	defer stop()
	if a := do(t, b, approve("Read")); a.Outcome != api.Allowed {
		t.Fatalf("%+v", a)
	}
	select {
	case <-changes:
		t.Error("a signal for a call that nobody is asked about")
	default:
	}
}

func BenchmarkBrokerAutoAllow(b *testing.B) {
	pol := &interacttest.Policy{}
	pol.Set("Read", policy.Allow)
	br := interacttest.Broker(&interacttest.Prompter{}, pol)
	defer br.Close()
	r := approve("Read")
	b.ReportAllocs()
	for b.Loop() {
		if a, err := br.Do(b.Context(), r); err != nil || a.Outcome != api.Allowed {
			b.Fatal(a, err)
		}
	}
}

// closing is a journal that holds up the end of requests until its channel is closed.
type closing struct {
	interact.Journal
	until chan struct{}
}

func (j closing) Settle(ctx context.Context, r interact.Record) error {
	<-j.until
	return j.Journal.Settle(ctx, r)
}

func brokerWith(j interact.Journal, p interact.Prompter) *interact.Broker {
	return interact.NewBroker(interact.BrokerConfig{
		Policy: &interacttest.Policy{}, Prompter: p, Notify: interacttest.Notify, Journal: j,
		Timeout: func() time.Duration { return time.Minute }, Log: slog.New(slog.DiscardHandler),
	})
}

// Whoever asks the same while the prompt of a caller that has left, or a withdrawn one, is on its way out is asked
// for anew.
func TestWhatIsEndingIsNotJoined(t *testing.T) {
	tests := map[string]func(*interact.Broker, *interact.Ticket){
		"left":      func(_ *interact.Broker, first *interact.Ticket) { first.Release() },
		"withdrawn": func(b *interact.Broker, first *interact.Ticket) { go b.Withdraw(interact.Requester{}, first.ID()) },
		"timed out": func(*interact.Broker, *interact.Ticket) { time.Sleep(time.Minute) },
	}
	for name, end := range tests {
		for _, key := range []string{"", "key"} {
			if key != "" && name != "left" {
				continue // a key gets the answer of its first request, whatever it is
			}
			t.Run(name+key, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					journal := closing{new(interacttest.Journal), make(chan struct{})}
					b := brokerWith(journal, &interacttest.Prompter{})
					defer b.Close()
					r := ask("same")
					r.IdempotencyKey = key
					first, _ := b.Begin(r)
					end(b, first)
					synctest.Wait()
					second, err := b.Begin(r)
					if err != nil {
						t.Fatal(err)
					}
					close(journal.until)
					synctest.Wait()
					if a, ok := second.Answer(); ok || second.ID() == first.ID() {
						t.Errorf("got the answer of the request that ended: %+v", a)
					}
					third, _ := b.Begin(r)
					if third.ID() != second.ID() {
						t.Error("the request that is open was not joined")
					}
				})
			})
		}
	}
}

// Two inputs share a prompt only when they are the same bytes: what was shown to the user is what each caller
// gets leave for.
func TestOnlyTheSameBytesShareAPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(says(allowed), &interacttest.Policy{})
		defer b.Close()
		inputs := []string{`{"a":"<"}`, `{"a": "<"}`, `{"a":"\u003c"}`}
		tickets := make([]*interact.Ticket, len(inputs))
		for i, input := range inputs {
			r := approve("Bash")
			r.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(input)}
			var err error
			if tickets[i], err = b.Begin(r); err != nil {
				t.Fatal(err)
			}
		}
		for i, ticket := range tickets {
			a, _ := ticket.Wait(t.Context())
			if a.Outcome != api.Allowed || a.ShownSHA256 != interact.Digest([]byte(inputs[i])) {
				t.Errorf("%s: %+v", inputs[i], a)
			}
		}
		for i, suggestions := range [][]string{{"always"}, {"always", "in this folder"}, nil} {
			r := approve("Bash")
			r.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`), Suggestions: suggestions}
			if _, err := b.Begin(r); err != nil || len(b.Pending()) != i+1 {
				t.Errorf("%d pending after suggestions %q (%v)", len(b.Pending()), suggestions, err)
			}
		}
	})
}

// A grant is used by the calls that it lets through, and by nothing else.
func TestUsesAreCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pol := &interacttest.Policy{}
		b := interacttest.Broker(&interacttest.Prompter{}, pol)
		defer b.Close()
		uses := func(what string, want int) {
			t.Helper()
			synctest.Wait()
			if got := pol.Uses(); len(got) != want || want > 0 && got[want-1].Rule != "test:Bash" {
				t.Errorf("%s: %d uses, want %d: %+v", what, len(got), want, got)
			}
		}
		waiting, _ := b.Begin(approve("Bash"))
		pol.Set("Bash", policy.Allow)
		d, err := b.Evaluate(interact.Requester{}, approve("Bash").Body.(interact.Approve))
		if err != nil || d.Effect != policy.Allow {
			t.Errorf("%+v, %v", d, err)
		}
		uses("evaluated", 0)
		b.Reconsider()
		uses("reconsidered, and so allowed", 1)
		if a, ok := waiting.Answer(); !ok || a.Outcome != api.Allowed {
			t.Errorf("%+v", a)
		}
		do(t, b, approve("Bash"))
		uses("allowed", 2)
		if a, err := b.Judge(t.Context(), approve("Bash"), nil, policy.Deny); err != nil || a.Outcome != "" {
			t.Errorf("judged for denials: %+v, %v", a, err)
		}
		uses("the caller takes no allow", 2)
		if a, err := b.Judge(t.Context(), approve("Bash"), nil, policy.Allow, policy.Deny); err != nil ||
			a.Outcome != api.Allowed {
			t.Errorf("judged: %+v, %v", a, err)
		}
		uses("judged", 3)
		pol.Set("Bash", policy.Deny)
		do(t, b, approve("Bash"))
		uses("denied", 3)
	})
}

// A call that the policy alone does not decide goes on to the user, and the policy is asked no more often than by Do:
// before the user, and in case it has changed since, after.
func TestJudgeAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pol := &counted{Policy: new(interacttest.Policy)}
		human := &interacttest.Prompter{Answer: interacttest.Always(allowed)}
		b := interacttest.Broker(human, pol)
		defer b.Close()
		asks := func(d policy.Decision) bool { return d.Effect == policy.Ask }
		a, err := b.Judge(t.Context(), approve("Bash"), asks, policy.Deny)
		if err != nil || a.Outcome != api.Allowed || a.By != api.ByHuman || len(human.Shown()) != 1 {
			t.Errorf("%+v, %v", a, err)
		}
		if pol.decisions != 2 {
			t.Errorf("the policy was asked %d times", pol.decisions)
		}
	})
}

// counted is a policy that counts what it is asked.
type counted struct {
	*interacttest.Policy
	decisions int
}

// Decide implements [interact.Policy].
func (c *counted) Decide(call policy.Call) policy.Decision {
	c.decisions++
	return c.Policy.Decide(call)
}

// What the policy alone decides is in the journal, and nothing else of what it was asked.
func TestJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pol := &interacttest.Policy{}
		pol.Set("Read", policy.Allow)
		pol.Set("Rm", policy.Deny)
		journal := new(interacttest.Journal)
		b := interact.NewBroker(interact.BrokerConfig{
			Policy: pol, Prompter: &interacttest.Prompter{}, Notify: interacttest.Notify, Journal: journal,
			Timeout: func() time.Duration { return time.Minute }, Log: slog.New(slog.DiscardHandler),
		})
		for tool, want := range map[string]api.Outcome{"Read": api.Allowed, "Rm": api.Denied, "Bash": ""} {
			if a, err := b.Judge(t.Context(), approve(tool), nil, policy.Allow, policy.Deny); err != nil || a.Outcome != want {
				t.Errorf("%s: %+v, %v", tool, a, err)
			}
		}
		var wrong *interact.ParamError
		_, err := b.Judge(t.Context(), interact.Request{Body: interact.Approve{Tool: "T"}}, nil, policy.Allow)
		if !errors.As(err, &wrong) {
			t.Errorf("no input: %v", err)
		}
		if records := journal.Records(); len(records) != 2 || len(b.Pending()) != 0 {
			t.Errorf("journal: %+v", records)
		}
		b.Close()
		if a, err := b.Judge(t.Context(), approve("Read"), nil, policy.Allow); err != nil || a.Outcome != "" {
			t.Errorf("closed: %+v, %v", a, err)
		}
	})
}

// A caller's function may use the broker.
func TestWithdrawWhereHoldsNoLock(t *testing.T) {
	b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
	defer b.Close()
	ticket, _ := b.Begin(ask("?"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.WithdrawWhere(interact.Requester{}, func(interact.Request) bool { return len(b.Pending()) == 1 })
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it waits for its own lock")
	}
	<-ticket.Done()
}

// Many large approvals that have ended hold no more memory than they may.
func TestLargeRequestsAreForgotten(t *testing.T) {
	const limit = 1 << 20
	pol := &interacttest.Policy{}
	pol.Set("Big", policy.Deny)
	b := interacttest.Broker(&interacttest.Prompter{}, pol)
	defer b.Close()
	var last *interact.Ticket
	for i := range 30 {
		r := approve("Big")
		text := strings.Repeat("x", 1<<20-100)
		r.Body = interact.Approve{Tool: "Big", Input: fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, i, text)}
		ticket, err := b.Begin(r)
		if err != nil {
			t.Fatal(err)
		}
		last = ticket
	}
	held := 0
	for _, rec := range b.Own(approve("Big").Requester) {
		held += len(rec.Request.Body.(interact.Approve).Input)
	}
	if held > limit {
		t.Errorf("the broker holds %d bytes", held)
	}
	again, err := b.Find(context.Background(), approve("Big").Requester, last.ID())
	if err != nil {
		t.Fatal(err)
	}
	a, ok := again.Answer()
	if !ok || a.Outcome != api.Denied || again.Request().Body.Kind() != api.KindApprove {
		t.Errorf("looked up: %+v", a)
	}
}

// What runs in the sandbox is allowed by the policy, and the answer says where: only to who can run it there, and only
// when the journal has it.
func TestSandbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal, pol, human := new(interacttest.Journal), &interacttest.Policy{}, says(allowed)
		pol.Set("Bash", policy.Sandbox)
		b := interacttest.Broker(human, pol, func(c *interact.BrokerConfig) { c.Journal = journal })
		defer b.Close()
		request := func(key string, contains bool) interact.Request {
			r := approve("Bash")
			r.IdempotencyKey = key
			body := r.Body.(interact.Approve)
			body.Contains = contains
			r.Body = body
			return r
		}
		isContained := func(a interact.Answer) bool {
			return a.Confinement == policy.Confinement{Project: "/src", Write: true}
		}

		a := do(t, b, request("k", true))
		last := journal.Records()[0].Answer
		if a.Outcome != api.Allowed || a.By != api.ByPolicy || !isContained(a) || !isContained(last) {
			t.Errorf("got %+v, noted %+v", a, last)
		}
		if a := do(t, b, request("k", true)); !isContained(a) || len(human.Shown()) != 0 {
			t.Errorf("asked again: %+v", a)
		}
		var wrong *interact.ParamError
		if _, err := b.Begin(request("k", false)); !errors.As(err, &wrong) {
			t.Errorf("who cannot run it there has the answer, too: %v", err)
		}
		for effect, want := range map[policy.Effect]bool{policy.Allow: true, policy.Sandbox: true, policy.Deny: false} {
			a, err := b.Judge(t.Context(), request("", true), nil, effect)
			if err != nil || isContained(a) != want || (a.Outcome != "") != want {
				t.Errorf("judged for %s: %+v, %v", effect, a, err)
			}
		}
		if a := do(t, b, request("", false)); a.By != api.ByHuman || isContained(a) {
			t.Errorf("got %+v", a)
		}
		journal.Fail(errors.New("disk full"))
		if a := do(t, b, request("", true)); a.By != api.ByHuman || isContained(a) {
			t.Errorf("passes without a record: %+v", a)
		}
	})
}

// Two that ask the same at once have an answer each where only one can run it in the sandbox.
func TestSandboxIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pol, human := &interacttest.Policy{}, says(allowed)
		b := interacttest.Broker(human, pol)
		defer b.Close()
		one, other := approve("Bash"), approve("Bash")
		body := one.Body.(interact.Approve)
		body.Contains = true
		one.Body = body
		for _, r := range []interact.Request{one, other} {
			ticket, err := b.Begin(r)
			if err != nil {
				t.Fatal(err)
			}
			defer ticket.Release()
		}
		time.Sleep(10 * time.Second)
		if n := len(human.Shown()); n != 2 {
			t.Errorf("%d prompts, want one for each", n)
		}
	})
}
