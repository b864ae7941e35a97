package interact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy"
)

// desktop is a tray process that may be killed and started again: what it shares with the next one is the journal.
type desktop struct {
	*interact.Broker
	human   *interacttest.Prompter
	rules   *interacttest.Policy
	journal *interacttest.Journal
	table   *processes
}

func startDesktop(journal *interacttest.Journal, human *interacttest.Prompter) *desktop {
	d := &desktop{human: human, rules: &interacttest.Policy{}, journal: journal, table: newProcesses()}
	d.start()
	return d
}

func (d *desktop) start() {
	d.Broker = interacttest.Broker(d.human, d.rules, func(c *interact.BrokerConfig) {
		c.Journal, c.Processes = d.journal, d.table
	})
	d.Restore(d.journal.Left())
}

// kill ends the process so that nothing that it still does is heard, and starts another.
func (d *desktop) kill(human *interacttest.Prompter) {
	open, last := d.journal.Left()
	d.journal.Fail(errors.New("killed"))
	d.Close()
	d.journal = interacttest.JournalOf(open, last)
	d.human = human
	d.start()
	synctest.Wait()
}

func keyed(r interact.Request, key string) interact.Request {
	r.IdempotencyKey = key
	return r
}

func mustBegin(t *testing.T, b *interact.Broker, r interact.Request) *interact.Ticket {
	t.Helper()
	ticket, err := b.Begin(r)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return ticket
}

// answerOf is the answer of a request that has one.
func answerOf(t *testing.T, b *interact.Broker, r interact.Request, id interact.ID) interact.Answer {
	t.Helper()
	ticket, err := b.Find(context.Background(), r.Requester, id)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := ticket.Answer()
	if !ok {
		t.Fatalf("%s has no answer", id)
	}
	return a
}

// A caller that is there waits for what is left of its time, when it comes back with its key.
func TestRestoreAttached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
		r := keyed(approve("Bash"), "key")
		r.Requester.Process = from("/claude")
		began := time.Now()
		id := mustBegin(t, d.Broker, r).ID()
		time.Sleep(time.Minute)
		d.kill(&interacttest.Prompter{Delay: time.Minute, Answer: interacttest.Always(allowed)})
		defer d.Close()
		if pending := d.Pending(); len(pending) != 1 || pending[0].ID != id ||
			!pending[0].Deadline.Equal(began.Add(5*time.Minute)) || len(d.human.Shown()) != 1 {
			t.Fatalf("pending: %+v; shown %d", pending, len(d.human.Shown()))
		}
		time.Sleep(20 * time.Second)
		other := r
		other.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"x":2}`)}
		if _, err := d.Begin(other); err == nil {
			t.Error("the key holds for another input")
		}
		back := mustBegin(t, d.Broker, r)
		if back.ID() != id {
			t.Fatalf("asked anew: %s", back.ID())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if a, _ := back.Answer(); a.Outcome != api.Allowed || a.By != api.ByHuman {
			t.Errorf("%+v", a)
		}
		d.kill(&interacttest.Prompter{})
		again := mustBegin(t, d.Broker, r)
		if a, ok := again.Answer(); !ok || again.ID() != id || a.Outcome != api.Allowed || len(d.human.Shown()) != 0 {
			t.Errorf("after the answer: %+v; shown %d", a, len(d.human.Shown()))
		}
		defer d.Close()
	})
}

// A caller whose program was replaced meanwhile, as by an upgrade of nod, is who it was: it hears the answer, and may
// look it up. Another program does not.
func TestRestoreKnowsAReplacedProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
		r := keyed(approve("Bash"), "key")
		r.Requester.Process = from("/usr/bin/nod")
		id := mustBegin(t, d.Broker, r).ID()
		d.kill(says(allowed))
		defer d.Close()
		r.Requester.Process.Exe += " (deleted)"
		back := mustBegin(t, d.Broker, r)
		<-back.Done()
		if a, _ := back.Answer(); back.ID() != id || a.Outcome != api.Allowed {
			t.Errorf("%s, want %s: %+v", back.ID(), id, a)
		}
		answerOf(t, d.Broker, r, id)
		r.Requester.Process.Exe = "/usr/bin/other (deleted)"
		if _, err := d.Find(context.Background(), r.Requester, id); !errors.Is(err, interact.ErrNotFound) {
			t.Errorf("another program looks the answer up: %v", err)
		}
	})
}

// What nobody comes back for ends as cancelled, and does not keep its key.
func TestRestoreWithoutItsCaller(t *testing.T) {
	const claude, grace = 2, 30 * time.Second
	for name, tt := range map[string]struct {
		gone  bool
		keep  func(*interact.Ticket)
		after time.Duration
	}{
		"it does not come back":      {after: grace},
		"it has ended":               {gone: true},
		"the agent has ended, later": {gone: true, keep: (*interact.Ticket).Postpone},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
				r := keyed(approve("Bash"), "key")
				r.Requester.Process = from("/claude")
				ticket := mustBegin(t, d.Broker, r)
				if tt.keep != nil {
					tt.keep(ticket)
				}
				if tt.gone {
					d.table = newProcesses()
					d.table.end(claude)
				}
				d.kill(&interacttest.Prompter{})
				defer func() { d.Close() }()
				began := time.Now()
				if tt.after > 0 {
					time.Sleep(tt.after)
					synctest.Wait()
				}
				if a := answerOf(t, d.Broker, r, ticket.ID()); a.Outcome != api.Cancelled || a.At.Sub(began) != tt.after {
					t.Errorf("%+v", a)
				}
				if tt.gone && len(d.human.Shown()) != 0 {
					t.Error("the user was asked for nobody")
				}
				d.table = newProcesses()
				d.kill(&interacttest.Prompter{})
				if again := mustBegin(t, d.Broker, r); again.ID() == ticket.ID() {
					t.Error("joined what had ended for want of a caller")
				}
			})
		})
	}
}

// What outlives its caller is there again, however often nod is killed or quits, until its time is over.
func TestRestoreDetached(t *testing.T) {
	for name, keep := range map[string]func(*interact.Ticket){
		"detached": (*interact.Ticket).Detach, "postponed": (*interact.Ticket).Postpone,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
				r := ask("?")
				r.Requester.Process, r.Timeout = from("/claude"), time.Hour
				ticket, err := d.Begin(r) // and at once
				if err != nil {
					t.Fatal(err)
				}
				keep(ticket)
				ticket.Release()
				d.table.end(1000) // the command
				for range 3 {
					d.kill(&interacttest.Prompter{})
					time.Sleep(time.Minute)
					d.Close()
					if _, ok := ticket.Answer(); !ok {
						t.Error("who waits is not told that nod ends")
					}
					if looked, err := d.Find(context.Background(), r.Requester, ticket.ID()); err != nil {
						t.Error(err)
					} else if a, ok := looked.Answer(); ok {
						t.Errorf("it is over for who looks it up: %+v", a)
					}
					d.start()
				}
				synctest.Wait()
				if err := d.Snooze(ticket.ID(), 56*time.Minute); err != nil {
					t.Fatal(err)
				}
				d.kill(&interacttest.Prompter{})
				defer d.Close()
				if p := d.Pending(); len(p) != 1 || time.Until(p[0].Snoozed) != 56*time.Minute ||
					time.Until(p[0].Deadline) != 57*time.Minute {
					t.Fatalf("%+v", p)
				}
				if shown := d.human.Shown(); len(shown) != 1 || time.Until(shown[0].Snoozed) != 56*time.Minute {
					t.Errorf("the prompt comes back too early: %+v", shown)
				}
				if err := d.Snooze(ticket.ID(), 58*time.Minute); !errors.Is(err, interact.ErrImpatient) {
					t.Errorf("it forgot how long its caller waits: %v", err)
				}
				time.Sleep(57 * time.Minute)
				synctest.Wait()
				if a := answerOf(t, d.Broker, r, ticket.ID()); a.Outcome != api.TimedOut {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

// What ended while nod was not running is settled without a prompt.
func TestRestoreLate(t *testing.T) {
	for name, tt := range map[string]struct {
		effect policy.Effect
		after  time.Duration
		want   api.Outcome
	}{
		"time over":            {after: 5 * time.Minute, want: api.TimedOut},
		"time over, allowed":   {policy.Allow, 5 * time.Minute, api.TimedOut},
		"a rule or grant came": {policy.Allow, time.Second, api.Allowed},
		"a denial came":        {policy.Deny, time.Second, api.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
				r := keyed(approve("Bash"), "key")
				id := mustBegin(t, d.Broker, r).ID()
				open, last := d.journal.Left()
				d.Close()
				d.journal, d.human = interacttest.JournalOf(open, last), &interacttest.Prompter{}
				if tt.effect != "" {
					d.rules.Set("Bash", tt.effect)
				}
				time.Sleep(tt.after)
				d.start()
				defer d.Close()
				if a := answerOf(t, d.Broker, r, id); a.Outcome != tt.want || len(d.human.Shown()) != 0 {
					t.Errorf("%+v, shown %d", a, len(d.human.Shown()))
				}
				if uses := len(d.rules.Uses()); (uses == 1) != (tt.want == api.Allowed) {
					t.Errorf("%d uses", uses)
				}
				if back := mustBegin(t, d.Broker, r); back.ID() != id {
					t.Error("asked anew")
				}
			})
		})
	}
}

// What cannot be read at the start is restored once it can be: who looks it up waits for that, and what is asked anew
// meanwhile is asked once.
func TestRestoreOnceItCanBeRead(t *testing.T) {
	const detached, attached, answered = "detached", "attached", "answered"
	for name, isAnew := range map[string]bool{"nobody asks meanwhile": false, "the callers ask meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := startDesktop(new(interacttest.Journal), says(interact.Answer{Outcome: api.Answered, Text: "yes"}))
				requests := map[string]interact.Request{}
				for _, which := range []string{detached, attached, answered} {
					r := keyed(ask(which), which)
					r.Requester.Process, r.Timeout = from("/claude"), time.Hour
					requests[which] = r
				}
				first := mustBegin(t, d.Broker, requests[answered])
				<-first.Done()
				ids := map[string]interact.ID{answered: first.ID()}
				d.kill(&interacttest.Prompter{})
				for _, which := range []string{detached, attached} {
					ticket := mustBegin(t, d.Broker, requests[which])
					if ids[which] = ticket.ID(); which == detached {
						ticket.Detach()
					}
				}
				open, last := d.journal.Left()
				d.journal.Fail(errors.New("killed"))
				d.Close()
				d.journal, d.human = interacttest.JournalOf(open, last), &interacttest.Prompter{}
				d.Broker = interacttest.Broker(d.human, d.rules, func(c *interact.BrokerConfig) {
					c.Journal, c.Processes = d.journal, d.table
				})
				defer d.Close()
				d.AwaitRestore()
				found := make(chan error, 1)
				go func() {
					_, err := d.Find(t.Context(), requests[answered].Requester, ids[answered])
					found <- err
				}()
				if isAnew {
					mustBegin(t, d.Broker, requests[attached])
					mustBegin(t, d.Broker, requests[answered])
				}
				synctest.Wait()
				select {
				case err := <-found:
					t.Fatalf("it was looked up before it was known: %v", err)
				default:
				}
				d.Restore(open, last)
				if err := <-found; err != nil {
					t.Error(err)
				}
				synctest.Wait()
				var pending []string
				for _, r := range d.Pending() {
					pending = append(pending, r.IdempotencyKey)
				}
				slices.Sort(pending)
				want := []string{attached, detached}
				if isAnew {
					want = []string{answered, attached, detached}
				}
				if !slices.Equal(pending, want) {
					t.Errorf("pending %q, want %q", pending, want)
				}
				for which, r := range requests {
					back := mustBegin(t, d.Broker, r)
					if isTheOld := back.ID() == ids[which]; isTheOld == (isAnew && which != detached) {
						t.Errorf("%s: joined the old one: %v", which, isTheOld)
					}
				}
				if a := answerOf(t, d.Broker, requests[answered], ids[answered]); a.Text != "yes" {
					t.Errorf("the answer of before is %+v", a)
				}
			})
		})
	}
}

// What is looked up in the moment in which it is restored is found.
func TestFindDuringRestore(t *testing.T) {
	r := ask("?")
	r.ID = "a"
	last := []interact.Record{{Request: r, Answer: interact.Answer{Outcome: api.Answered}}}
	for range 20_000 {
		b := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
		b.AwaitRestore()
		go b.Restore(nil, last)
		if _, err := b.Find(t.Context(), r.Requester, r.ID); err != nil {
			t.Fatal(err)
		}
		b.Close()
	}
}

// Who looks up what cannot be read yet is not kept when nod ends.
func TestFindEndsWithTheBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
		d.AwaitRestore()
		found := make(chan error, 1)
		go func() {
			_, err := d.Find(t.Context(), interact.Requester{}, "x")
			found <- err
		}()
		synctest.Wait()
		d.Close()
		if err := <-found; !errors.Is(err, interact.ErrClosing) {
			t.Error(err)
		}
	})
}

// The clock may have been set while nod was not running. Back, to before anything that nod wrote, it gives no request
// more time than it had left.
func TestRestoreAfterTheClockWasSet(t *testing.T) {
	const timeout = 5 * time.Minute
	for name, tt := range map[string]struct {
		clock time.Duration // set by so much, one minute after the request came
		left  time.Duration // 0: it is over
	}{
		"as it was":           {0, 4 * time.Minute},
		"back by an hour":     {-time.Hour, 4 * time.Minute},
		"back by two seconds": {-2 * time.Second, 4 * time.Minute},
		"forth by a minute":   {time.Minute, 3 * time.Minute},
		"forth by an hour":    {time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
				r := ask("?")
				r.Timeout = timeout
				ticket := mustBegin(t, d.Broker, r)
				ticket.Detach()
				time.Sleep(time.Minute)
				do(t, d.Broker, interact.Request{Body: api.Notify{Message: "a minute later"}})
				open, last := d.journal.Left()
				d.Close()
				for _, records := range [][]interact.Record{open, last} {
					for i := range records {
						shift(&records[i], -tt.clock)
					}
				}
				d.journal, d.human = interacttest.JournalOf(open, last), &interacttest.Prompter{}
				d.start()
				defer d.Close()
				pending := d.Pending()
				if tt.left == 0 {
					if a := answerOf(t, d.Broker, r, ticket.ID()); a.Outcome != api.TimedOut {
						t.Errorf("%+v", a)
					}
					return
				}
				if len(pending) != 1 || time.Until(pending[0].Deadline) != tt.left {
					t.Errorf("%v left, want %v", time.Until(pending[0].Deadline), tt.left)
				}
			})
		})
	}
}

// shift moves all times of a record.
func shift(r *interact.Record, by time.Duration) {
	for _, t := range []*time.Time{&r.Request.Created, &r.Request.Deadline, &r.Request.Until, &r.Answer.At} {
		*t = t.Add(by)
	}
}

// A request that the journal has not kept whole is not put before anybody: what they would see is not what was asked.
func TestRestoreShowsOnlyWhatWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{})
		r := keyed(approve("Bash"), "key")
		ticket := mustBegin(t, d.Broker, r)
		ticket.Detach()
		open, last := d.journal.Left()
		d.Close()
		open[0].Request.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"x":"[secret]"}`)}
		d.journal, d.human = interacttest.JournalOf(open, last), &interacttest.Prompter{}
		d.start()
		defer d.Close()
		synctest.Wait()
		if a := answerOf(t, d.Broker, r, ticket.ID()); a.Outcome != api.Cancelled || len(d.human.Shown()) != 0 {
			t.Errorf("%+v, shown %d", a, len(d.human.Shown()))
		}
		if again := mustBegin(t, d.Broker, r); again.ID() == ticket.ID() {
			t.Error("who comes back with all of it is not asked about")
		}
	})
}

// Each of those who shared a prompt has its answer, by a key of its own.
func TestRestoreKnowsTheKeysThatJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDesktop(new(interacttest.Journal), says(allowed))
		first := mustBegin(t, d.Broker, keyed(approve("Bash"), "one"))
		second := mustBegin(t, d.Broker, keyed(approve("Bash"), "two"))
		<-first.Done()
		d.kill(&interacttest.Prompter{})
		defer d.Close()
		for _, key := range []string{"one", "two"} {
			back := mustBegin(t, d.Broker, keyed(approve("Bash"), key))
			if a, _ := back.Answer(); back.ID() != second.ID() || a.Outcome != api.Allowed {
				t.Errorf("%s: %+v", key, a)
			}
		}
	})
}

// What the policy decided about a call has one entry, also when its caller comes back because it heard no reply.
func TestJudgeKnowsItsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := startDesktop(new(interacttest.Journal), &interacttest.Prompter{Answer: interacttest.Always(allowed)})
		d.rules.Set("Read", policy.Allow)
		judge := func(r interact.Request) interact.Answer {
			a, err := d.Judge(t.Context(), r, nil, policy.Allow, policy.Deny)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		judge(keyed(approve("Read"), "read"))
		asked := do(t, d.Broker, keyed(approve("Bash"), "bash"))
		d.rules.Set("Read", policy.Deny)
		d.kill(&interacttest.Prompter{})
		defer d.Close()
		if a := judge(keyed(approve("Read"), "read")); a.Outcome != api.Allowed {
			t.Errorf("%+v", a)
		}
		if a := judge(keyed(approve("Bash"), "bash")); a.Outcome != asked.Outcome || a.By != api.ByHuman {
			t.Errorf("%+v", a)
		}
		if n := len(d.journal.Records()); n != 2 {
			t.Errorf("%d entries", n)
		}
	})
}

// When nod quits, a denial that could still be taken back goes out as one, and nobody is allowed.
func TestCloseLetsDenialsOut(t *testing.T) {
	for says, want := range map[api.Outcome]api.Outcome{
		api.Denied: api.Denied, api.Allowed: api.Unavailable,
	} {
		synctest.Test(t, func(t *testing.T) {
			human := prompterFunc(func(ctx context.Context) (interact.Answer, error) {
				<-ctx.Done()
				return interact.Answer{Outcome: says, ShownSHA256: interact.Digest([]byte(`{"x":1}`))}, nil
			})
			b := interacttest.Broker(human, &interacttest.Policy{})
			ticket := mustBegin(t, b, approve("Bash"))
			b.Close()
			if a, _ := ticket.Answer(); a.Outcome != want {
				t.Errorf("held %s: %+v", says, a)
			}
		})
	}
}

// A prompt that does not leave the screen keeps nobody waiting when nod quits.
func TestCloseWaitsForNoPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		human := prompterFunc(func(context.Context) (interact.Answer, error) {
			<-hangs
			return interact.Answer{}, errors.New("late")
		})
		b := interacttest.Broker(human, &interacttest.Policy{})
		ticket := mustBegin(t, b, approve("Bash"))
		began := time.Now()
		go b.Close()
		<-ticket.Done()
		if a, _ := ticket.Answer(); a.Outcome != api.Unavailable || time.Since(began) > 2*time.Second {
			t.Errorf("%+v after %v", a, time.Since(began))
		}
		close(hangs)
	})
}

// unsure is a journal that says of its first outcome that it could not be written, but has written it.
type unsure struct {
	interacttest.Journal
	settled []interact.ID
}

func (u *unsure) Settle(ctx context.Context, r interact.Record) error {
	isKnown := slices.Contains(u.settled, r.Request.ID)
	u.settled = append(u.settled, r.Request.ID)
	if isKnown {
		return fmt.Errorf("settle %s: %w", r.Request.ID, interact.ErrSettled)
	}
	err := u.Journal.Settle(ctx, r)
	if len(u.settled) == 1 {
		err = errors.New("disk error")
	}
	return err
}

func TestWhatIsJournaledAfterAllIsNotOwedForEver(t *testing.T) {
	u := &unsure{}
	human := &interacttest.Prompter{Answer: interacttest.Always(interact.Answer{Outcome: api.Denied})}
	b := interacttest.Broker(human, &interacttest.Policy{}, func(c *interact.BrokerConfig) { c.Journal = u })
	defer b.Close()
	for range 4 {
		do(t, b, approve("Bash"))
	}
	if tries := len(u.settled); tries != 5 {
		t.Errorf("outcomes were written %d times, want 4 and one that was owed", tries)
	}
}
