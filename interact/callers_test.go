package interact_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy/process"
)

// processes plays the system's table of processes. In it a shell whose name in Exe ends in -c runs a line.
type processes struct {
	inline, terminals []int32 // process ids

	mu      sync.Mutex // guards all below
	ended   []int32
	changed chan struct{} // closed when something ends
	deaf    bool          // the word of an end has not come yet
}

func newProcesses() *processes { return &processes{changed: make(chan struct{})} }

// IsInline implements [process.Table].
func (p *processes) IsInline(shell api.Parent) bool { return slices.Contains(p.inline, shell.PID) }

// LeadsTerminal implements [process.Table].
func (p *processes) LeadsTerminal(leader api.Parent) bool {
	return slices.Contains(p.terminals, leader.PID)
}

// Ended implements [process.Table].
func (p *processes) Ended(ps ...api.Parent) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(ps, func(one api.Parent) bool { return slices.Contains(p.ended, one.PID) })
}

// AwaitEnd implements [process.Table].
func (p *processes) AwaitEnd(ctx context.Context, ps ...api.Parent) bool {
	for {
		p.mu.Lock()
		changed, deaf := p.changed, p.deaf
		p.mu.Unlock()
		if !deaf && p.Ended(ps...) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// end ends a process.
func (p *processes) end(pid int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, pid)
	close(p.changed)
	p.changed = make(chan struct{})
}

// from is who asks through nod: the programs above it, nearest first, get the ids from 2 on.
func from(exes ...string) api.Process {
	p := api.Process{PID: 1000, Exe: "/opt/nod"}
	for i, exe := range exes {
		name := exe[1+slices.Index([]byte(exe), '/'):]
		p.Parents = append(p.Parents, api.Parent{PID: int32(i + 2), Exe: exe, Name: name})
	}
	return p
}

func TestCallers(t *testing.T) {
	const nod = 1000
	tests := map[string]struct {
		p                 api.Process
		inline, terminals []int32
		want              []int32
		isOrphan          bool
	}{
		"agent":             {p: from("/claude", "/bash", "/xterm"), want: []int32{nod, 2}},
		"agent's shell":     {p: from("/sh", "/claude", "/bash"), inline: []int32{2}, want: []int32{nod, 2, 3}},
		"shell in a shell":  {p: from("/sh", "/bash", "/codex"), inline: []int32{2, 3}, want: []int32{nod, 2, 3, 4}},
		"time-out":          {p: from("/timeout", "/sh", "/codex"), inline: []int32{3}, want: []int32{nod, 2, 3, 4}},
		"script":            {p: from("/bash", "/sh", "/claude"), inline: []int32{3}, want: []int32{nod, 2}},
		"script, orphaned":  {p: from("/bash", "/systemd"), want: []int32{nod, 2}},
		"typed":             {p: from("/bash", "/xterm"), terminals: []int32{2}, want: []int32{nod}},
		"terminal's line":   {p: from("/sh", "/xterm"), inline: []int32{2}, terminals: []int32{2}, want: []int32{nod}},
		"agent's terminal":  {p: from("/claude", "/xterm"), terminals: []int32{2}, want: []int32{nod, 2}},
		"orphan":            {p: from("/systemd"), want: []int32{nod}, isOrphan: true},
		"orphan, replaced":  {p: from("/systemd (deleted)"), want: []int32{nod}, isOrphan: true},
		"orphan of a shell": {p: from("/sh", "/tini"), inline: []int32{2}, want: []int32{nod, 2}, isOrphan: true},
		"cron":              {p: from("/sh", "/cron"), inline: []int32{2}, want: []int32{nod, 2}, isOrphan: true},
		"init, unreadable": {
			p:    api.Process{PID: nod, Exe: "/nod", Parents: []api.Parent{{PID: 1, Name: "anything"}}},
			want: []int32{nod}, isOrphan: true,
		},
		"agent as init": {
			p:    api.Process{PID: nod, Exe: "/nod", Parents: []api.Parent{{PID: 1, Name: "node", Exe: "/node"}}},
			want: []int32{nod, 1},
		},
		"without nod":    {p: api.Process{PID: 5, Exe: "/curl", Parents: from("/claude").Parents}, want: []int32{5}},
		"parent unknown": {p: from(), want: []int32{nod}},
		"nobody":         {},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			table := &processes{inline: tt.inline, terminals: tt.terminals}
			var got []int32
			for _, caller := range process.Callers(tt.p, table) {
				got = append(got, caller.PID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("callers %v, want %v", got, tt.want)
			}
			if got := process.IsOrphan(tt.p, table); got != tt.isOrphan {
				t.Errorf("orphan: %v", got)
			}
		})
	}
}

// watchful is a broker whose callers are watched, with its journal.
func watchful(p interact.Prompter, table *processes) (*interact.Broker, *interacttest.Journal, *interacttest.Policy) {
	journal, rules := new(interacttest.Journal), &interacttest.Policy{}
	return interacttest.Broker(p, rules, func(c *interact.BrokerConfig) {
		c.Journal, c.Processes = journal, table
	}), journal, rules
}

// journaled is the outcome of the last request in the journal.
func journaled(t *testing.T, j *interacttest.Journal) api.Outcome {
	t.Helper()
	records := j.Records()
	if len(records) == 0 {
		t.Fatal("nothing in the journal")
	}
	return records[len(records)-1].Answer.Outcome
}

func begin(t *testing.T, b *interact.Broker, r interact.Request, p api.Process) *interact.Ticket {
	t.Helper()
	r.Requester.Process = p
	ticket, err := b.Begin(r)
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func TestCallerEnds(t *testing.T) {
	agent := from("/claude", "/bash")
	const nod, claude, shell = 1000, 2, 3
	keeps := func(do func(*interact.Ticket)) func(*interact.Ticket) {
		return func(ticket *interact.Ticket) { do(ticket); ticket.Release() }
	}
	tests := map[string]struct {
		do    func(*interact.Ticket)
		ends  int32
		isEnd bool
	}{
		"the agent":                 {ends: claude, isEnd: true},
		"the command":               {ends: nod, isEnd: true},
		"the agent's parent":        {ends: shell},
		"the agent, detached":       {keeps((*interact.Ticket).Detach), claude, false},
		"the agent, later":          {keeps((*interact.Ticket).Postpone), claude, true},
		"the command, later":        {keeps((*interact.Ticket).Postpone), nod, false},
		"the agent's parent, later": {keeps((*interact.Ticket).Postpone), shell, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				human, table := &interacttest.Prompter{}, newProcesses()
				b, journal, _ := watchful(human, table)
				defer b.Close()
				ticket := begin(t, b, approve("Bash"), agent)
				synctest.Wait()
				if tt.do != nil {
					tt.do(ticket)
				}
				table.end(tt.ends)
				synctest.Wait()
				if a, ended := ticket.Answer(); ended != tt.isEnd || tt.isEnd && a.Outcome != api.Cancelled {
					t.Errorf("ended: %v, %+v", ended, a)
				}
				if tt.isEnd != (len(human.Closed()) == 1) || tt.isEnd && journaled(t, journal) != api.Cancelled {
					t.Errorf("prompts closed: %d; journal: %q", len(human.Closed()), journaled(t, journal))
				}
			})
		})
	}
}

// Of those who wait for one answer, each may end.
func TestOneOfTwoCallersEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		human, table := &interacttest.Prompter{}, newProcesses()
		b, _, _ := watchful(human, table)
		defer b.Close()
		one, two := from("/claude"), from("/claude")
		two.PID, two.Parents[0].PID = 1001, 22
		first, second := begin(t, b, approve("Bash"), one), begin(t, b, approve("Bash"), two)
		if first.ID() != second.ID() {
			t.Fatal("asked twice")
		}
		synctest.Wait()
		table.end(2)
		synctest.Wait()
		if a, ended := second.Answer(); ended {
			t.Errorf("the other caller waits, and gets %+v", a)
		}
		table.end(22)
		synctest.Wait()
		if a, _ := second.Answer(); a.Outcome != api.Cancelled || len(human.Closed()) != 1 {
			t.Errorf("%+v, closed %d", a, len(human.Closed()))
		}
	})
}

// The answer may be faster than the word that the caller has ended: then the broker looks itself.
func TestNoAnswerForTheDeparted(t *testing.T) {
	for _, says := range []interact.Answer{
		{Outcome: api.Allowed},
		{Outcome: api.Allowed, Scope: "session"},
		{Outcome: api.Denied},
	} {
		synctest.Test(t, func(t *testing.T) {
			table := newProcesses()
			table.deaf = true
			human := &interacttest.Prompter{Delay: time.Second, Answer: interacttest.Always(says)}
			b, journal, rules := watchful(human, table)
			defer b.Close()
			ticket := begin(t, b, approve("Bash"), from("/claude"))
			synctest.Wait()
			table.end(2)
			<-ticket.Done()
			if a, _ := ticket.Answer(); a.Outcome != api.Cancelled || journaled(t, journal) != api.Cancelled {
				t.Errorf("the user says %s: %+v, journal %q", says.Outcome, a, journaled(t, journal))
			}
			if grants := rules.Grants(); len(grants) != 0 {
				t.Errorf("grants were kept: %v", grants)
			}
		})
	}
}

// A rule that comes while a prompt waits allows nothing to those who have ended.
func TestNoRuleAllowsTheDeparted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newProcesses()
		table.deaf = true
		b, journal, rules := watchful(&interacttest.Prompter{}, table)
		defer b.Close()
		ticket := begin(t, b, approve("Bash"), from("/claude"))
		synctest.Wait()
		table.end(2)
		rules.Set("Bash", "allow")
		b.Reconsider()
		<-ticket.Done()
		if a, _ := ticket.Answer(); a.Outcome != api.Cancelled || journaled(t, journal) != api.Cancelled {
			t.Errorf("%+v, journal %q", a, journaled(t, journal))
		}
	})
}

// A connection may be in the hands of another than the process that opened it.
func TestTheDepartedAskNothing(t *testing.T) {
	table := newProcesses()
	human := &interacttest.Prompter{}
	b, _, rules := watchful(human, table)
	defer b.Close()
	rules.Set("Bash", "allow")
	table.end(1000)
	r := approve("Bash")
	r.Requester.Process = from("/claude")
	_, err := b.Begin(r)
	if none, ok := errors.AsType[*interact.UnansweredError](err); !ok || none.Outcome != api.Cancelled {
		t.Errorf("begin: %v", err)
	}
	if a, err := b.Judge(t.Context(), r, nil, "allow"); err == nil || a.Outcome != "" {
		t.Errorf("judge: %+v, %v", a, err)
	}
	if pending := b.Pending(); len(pending) != 0 || len(human.Shown()) != 0 {
		t.Errorf("pending: %v", pending)
	}
}
