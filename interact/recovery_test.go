package interact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy"
)

// mortal is what outlives a process that dies before it has written so much more: from then on nothing that it does
// counts.
type mortal struct {
	*interacttest.Journal
	mu   sync.Mutex
	left int
}

var errKilled = errors.New("killed")

// write takes one more write in.
func (m *mortal) write(ctx context.Context, r interact.Record, f func(context.Context, interact.Record) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 {
		return errKilled
	}
	return f(ctx, r)
}

func (m *mortal) Open(ctx context.Context, r interact.Record) error {
	return m.write(ctx, r, m.Journal.Open)
}

func (m *mortal) Update(ctx context.Context, r interact.Record) error {
	return m.write(ctx, r, m.Journal.Update)
}

func (m *mortal) Settle(ctx context.Context, r interact.Record) error {
	return m.write(ctx, r, m.Journal.Settle)
}

// isDead reports whether the process has died.
func (m *mortal) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left < 0
}

// live has the process die later, or at once.
func (m *mortal) live(writes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left >= 0 {
		m.left = writes
	}
}

// savedRules are a policy whose grants outlive the process.
type savedRules struct {
	interacttest.Policy
	mu      sync.Mutex
	grants  map[string]bool // tools
	process *mortal         // that saves them
}

func (s *savedRules) Grant(c policy.Call, _ policy.Scope, _ policy.Cover) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process.isDead() {
		return errKilled
	}
	s.grants[c.Tool] = true
	s.Set(c.Tool, policy.Allow)
	return nil
}

// person answers prompts when the test says so.
type person struct {
	mu      sync.Mutex
	prompts map[interact.ID]chan interact.Answer
}

func (p *person) Prompt(ctx context.Context, r interact.Request, _ policy.Decision) (interact.Answer, error) {
	says := make(chan interact.Answer, 1)
	p.mu.Lock()
	p.prompts[r.ID] = says
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.prompts, r.ID)
	}()
	select {
	case a := <-says:
		a.ShownSHA256 = interact.Digest(r.Body.(interact.Approve).Input)
		return a, nil
	case <-ctx.Done():
		return interact.Answer{}, ctx.Err()
	}
}

// answer gives one of the prompts this answer, and returns whose it was.
func (p *person) answer(random *rand.Rand, a interact.Answer) interact.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := slices.Sorted(maps.Keys(p.prompts))
	if len(ids) == 0 {
		return ""
	}
	id := ids[random.IntN(len(ids))]
	select {
	case p.prompts[id] <- a:
		return id
	default: // it has one
		return ""
	}
}

// caller is one that wants an answer, and comes back with its key until it has one.
type caller struct {
	request  interact.Request
	ticket   *interact.Ticket // nil while it has lost nod
	id       interact.ID      // as it heard; "" before
	detached bool             // it was told that its request outlives it
	heard    *interact.Answer
}

// history is one random run, and what is known of it from outside.
type history struct {
	t       *testing.T
	random  *rand.Rand
	rules   *savedRules
	human   *person
	journal *mortal
	broker  *interact.Broker
	callers []*caller
	said    map[interact.ID][]api.Outcome // by the user

	immortal bool // processes end only when the test says so
}

func (h *history) start(journal *interacttest.Journal) {
	h.human = &person{prompts: map[interact.ID]chan interact.Answer{}}
	h.journal = &mortal{Journal: journal, left: h.random.IntN(30)}
	if h.immortal {
		h.journal.left = 1 << 30
	}
	h.rules.process = h.journal
	h.broker = interact.NewBroker(interact.BrokerConfig{
		Policy: h.rules, Prompter: h.human, Notify: interacttest.Notify, Journal: h.journal,
		Timeout: func() time.Duration { return 5 * time.Minute }, Log: slog.New(slog.DiscardHandler),
	})
	h.broker.Restore(journal.Left())
	synctest.Wait()
}

// kill ends the process as it stands, and starts another.
func (h *history) kill() {
	for _, c := range h.callers {
		c.ticket = nil
	}
	h.journal.live(-1)
	h.broker.Close()
	h.again()
}

// quit ends it in order, unless it has died: who waits has an answer, and comes back no more.
func (h *history) quit() {
	if h.journal.isDead() {
		return
	}
	h.journal.live(1 << 30)
	h.broker.Close()
	h.listen()
	for _, c := range h.callers {
		h.check(c.ticket == nil || c.heard != nil || c.detached, "%s waits for a nod that has ended",
			c.request.IdempotencyKey)
		c.ticket = nil
	}
	h.again()
}

// again starts another process.
func (h *history) again() {
	h.check(h.journal.Err() == nil, "%v", h.journal.Err())
	h.start(interacttest.JournalOf(h.journal.Left()))
}

func (h *history) check(ok bool, format string, args ...any) {
	h.t.Helper()
	if !ok {
		h.t.Fatalf(format, args...)
	}
}

// send has a caller ask, or come back.
func (h *history) send(c *caller) {
	ticket, err := h.broker.Begin(c.request)
	synctest.Wait()
	if h.journal.isDead() {
		return
	}
	h.check(err == nil, "%v", err)
	c.ticket = ticket
	known := h.recorded(c.id)
	if c.id != "" && (c.detached || known.Answer.Outcome != "" && known.Answer.Outcome != api.Cancelled) {
		h.check(c.ticket.ID() == c.id, "%s was asked anew, and was %+v", c.request.IdempotencyKey, known)
	}
	c.id = c.ticket.ID()
}

// recorded is what the journal has of a request.
func (h *history) recorded(id interact.ID) interact.Record {
	for _, r := range h.journal.Records() {
		if r.Request.ID == id {
			return r
		}
	}
	return interact.Record{}
}

// listen takes in the replies, each of which must be in the journal.
func (h *history) listen() {
	if h.journal.isDead() {
		return
	}
	for _, c := range h.callers {
		if c.ticket == nil {
			continue
		}
		a, ok := c.ticket.Answer()
		if !ok {
			continue
		}
		h.check(c.heard == nil || c.heard.Outcome == a.Outcome, "%s hears %s, and heard %+v", c.id, a.Outcome, c.heard)
		kept := h.recorded(c.id)
		stays := kept.Detached && kept.Answer.Outcome == "" && a.Outcome == api.Unavailable
		h.check(stays || kept.Answer.Outcome == a.Outcome, "%s hears %q of what the journal has as %q", c.id, a.Outcome,
			kept.Answer.Outcome)
		if !stays || !c.detached {
			c.heard = &a
		}
	}
}

// step does something at random.
func (h *history) step() {
	waiting := slices.DeleteFunc(slices.Clone(h.callers), func(c *caller) bool { return c.ticket == nil })
	lost := slices.DeleteFunc(slices.Clone(h.callers), func(c *caller) bool { return c.ticket != nil || c.heard != nil })
	pick := func(of []*caller, do func(*caller)) {
		if len(of) > 0 {
			do(of[h.random.IntN(len(of))])
		}
	}
	switch n := h.random.IntN(100); {
	case n < 25:
		c := &caller{request: keyed(approve(fmt.Sprintf("Tool%d", h.random.IntN(3))), fmt.Sprint(len(h.callers)))}
		c.request.Body = interact.Approve{
			Tool:  c.request.Body.(interact.Approve).Tool,
			Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, h.random.IntN(4))),
		}
		h.callers = append(h.callers, c)
		h.send(c)
	case n < 45:
		pick(lost, h.send)
	case n < 60:
		a := []interact.Answer{{Outcome: api.Allowed}, {Outcome: api.Allowed, Scope: policy.Always},
			{Outcome: api.Denied}, {Outcome: api.Dismissed}}[h.random.IntN(4)]
		if id := h.human.answer(h.random, a); id != "" {
			h.said[id] = append(h.said[id], a.Outcome)
		}
	case n < 67:
		pick(waiting, func(c *caller) {
			c.ticket.Detach()
			c.detached = c.heard == nil && !h.journal.isDead()
		})
	case n < 72:
		pick(waiting, func(c *caller) { c.ticket.Release() })
	case n < 80:
		h.kill()
	case n < 82:
		h.quit()
	default:
		time.Sleep(time.Duration(h.random.IntN(40)) * time.Second)
	}
	synctest.Wait()
	h.listen()
}

// verify holds what was decided against who decided.
func (h *history) verify() {
	for _, r := range h.journal.Records() {
		a, said := r.Answer, h.said[r.Request.ID]
		tool := r.Request.Body.(interact.Approve).Tool
		switch {
		case a.Outcome == "":
			h.check(r.Detached, "%s is open, and nobody waits for it", r.Request.ID)
		case a.By == api.ByHuman:
			h.check(slices.Contains(said, a.Outcome), "%s is %s by a user who said %v", r.Request.ID, a.Outcome, said)
		case a.Outcome == api.Allowed:
			h.check(h.rules.grants[tool], "%s is allowed by nobody: %+v", r.Request.ID, a)
		case a.Outcome == api.TimedOut:
			late := a.At.Sub(r.Request.Created)
			h.check(late >= 5*time.Minute, "%s timed out after %v", r.Request.ID, late)
		}
		h.check(!r.Request.Deadline.After(r.Request.Created.Add(5*time.Minute)), "%s waits until %v", r.Request.ID,
			r.Request.Deadline)
	}
}

// Whatever happens, and whenever the process dies: each request has one outcome, which is in the journal before anybody
// hears it; who comes back hears the same; and nothing is allowed that neither a user nor their grant allowed.
func TestRecovery(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 30
	}
	for seed := range uint64(runs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &history{
					t: t, random: rand.New(rand.NewPCG(11, seed)), said: map[interact.ID][]api.Outcome{},
					rules: &savedRules{grants: map[string]bool{}},
				}
				h.start(new(interacttest.Journal))
				defer func() { h.broker.Close() }()
				for range 120 {
					h.step()
				}
				h.immortal = true
				h.kill()
				h.quit()
				h.verify()
			})
		})
	}
}
