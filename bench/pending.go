//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"nod/api"
	"nod/bench/report"
	"nod/bench/sample"
	"nod/interact"
	"nod/interact/interacttest"
	"nod/interact/journal"
	"nod/ipc/client"
	"nod/policy"
)

const pendingHow = "With 1 to 500 requests that wait for a person: the list of them (`GET /v1/requests`), and " +
	"the time from the person's answer to the caller's reply, through nod's own broker, journal, server and client " +
	"in this process; and the memory of nod-desktop and nod-dialogs that show them. Beside each stands the same " +
	"with one request."

// pendingSizes are how many requests wait.
var pendingSizes = []int{1, 100, 500}

// mostByOne is how many requests of one agent wait at most.
const mostByOne = 50

// pending measures what waiting requests cost.
func (b *bench) pending() (figures []report.Figure, err error) {
	for _, measure := range []func(waiting int) ([]report.Figure, error){b.listAndAnswer, b.memoryWith} {
		var first []report.Figure
		for _, waiting := range pendingSizes {
			some, err := measure(waiting)
			if err != nil {
				return nil, fmt.Errorf("%d waiting: %w", waiting, err)
			}
			if first == nil {
				first = some
			}
			for i, f := range some {
				f.Name = fmt.Sprintf("%s, %d waiting", f.Name, waiting)
				if waiting > 1 {
					f = f.Beside("1 waiting", first[i].Value, first[i].P99)
				}
				figures = append(figures, f)
			}
		}
	}
	return figures, nil
}

// listAndAnswer measures the list and an answer while so many wait.
func (b *bench) listAndAnswer(waiting int) (figures []report.Figure, err error) {
	dir, err := os.MkdirTemp("", "nod-journal-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	j := journal.Open(filepath.Join(dir, "nod.db"), journal.Options{Log: slog.New(slog.DiscardHandler)})
	defer j.Close()
	p := &person{answers: make(chan time.Time)}
	s, err := b.newService(j, p, &interacttest.Policy{})
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := ask(b.ctx, s.Client, waiting); err != nil {
		return nil, err
	}
	listed, err := sample.InTurns(b.times(100), sample.Once("list", func() error {
		list, err := s.Requests(b.ctx)
		if err == nil && len(list.Requests) != waiting {
			err = fmt.Errorf("%d requests in the list, want %d", len(list.Requests), waiting)
		}
		return err
	}))
	if err != nil {
		return nil, err
	}
	answered, err := sample.InTurns(b.times(100), sample.Subject{Name: "answer", Measure: func() (sample.Times, error) {
		return s.answer(b.ctx, p)
	}})
	if err != nil {
		return nil, err
	}
	for i, name := range []string{"list", "answer to reply"} {
		t := [][]sample.Times{listed, answered}[i][0]
		figures = append(figures, report.Figure{
			Name: name, Unit: report.Seconds, Value: t.Median(), P99: t.P99(), Samples: len(t),
		})
	}
	return figures, nil
}

// answeredTool is the tool whose calls the person answers; all else waits.
const answeredTool = "Answered"

// person answers one kind of call when told to, and says when.
type person struct {
	interacttest.Prompter
	answers chan time.Time
}

// Prompt implements [interact.Prompter].
func (p *person) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	approve, isCall := r.Body.(interact.Approve)
	if !isCall || approve.Tool != answeredTool {
		return p.Prompter.Prompt(ctx, r, why)
	}
	p.answers <- time.Now()
	return interact.Answer{Outcome: interact.Denied, By: interact.ByHuman}, nil
}

// answer is the time from the person's answer to the caller's reply.
func (s *service) answer(ctx context.Context, p *person) (sample.Times, error) {
	var at time.Time
	var told sync.WaitGroup
	told.Go(func() {
		select {
		case at = <-p.answers:
		case <-ctx.Done():
		}
	})
	reply, err := s.Approve(ctx, api.ApproveRequest{Approve: api.Approve{
		Tool: answeredTool, Input: fmt.Appendf(nil, `{"at":%d}`, time.Now().UnixNano()),
	}})
	over := time.Now()
	if err != nil {
		return nil, err
	}
	if reply.Allowed() {
		return nil, errors.New("a call is allowed that the person denied")
	}
	told.Wait()
	return sample.Times{over.Sub(at)}, nil
}

// ask sends so many questions that nobody answers.
func ask(ctx context.Context, c *client.Client, questions int) error {
	for i := range questions {
		_, err := c.Ask(ctx, api.AskRequest{
			Common: api.Common{Agent: fmt.Sprintf("agent-%d", i/mostByOne), Detach: true, Timeout: 3600},
			Ask:    api.Ask{Question: fmt.Sprintf("Which database for service %d?", i), Options: []string{"SQLite", "Postgres"}},
		})
		if _, waits := errors.AsType[*client.Pending](err); !waits {
			return fmt.Errorf("ask what nobody answers: %w", err)
		}
	}
	return nil
}

// memoryWith measures the memory of nod's programs while so many wait.
func (b *bench) memoryWith(waiting int) (figures []report.Figure, err error) {
	d, err := b.withNod(settings)
	if err != nil {
		return nil, err
	}
	defer d.close()
	e, err := d.endpoint()
	if err != nil {
		return nil, err
	}
	c := &client.Client{Endpoint: e}
	defer c.Close()
	if err := ask(b.ctx, c, waiting); err != nil {
		return nil, err
	}
	if err := d.painted(d.ended, 0); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		name string
		pid  int
	}{{"memory of nod-desktop", d.nod.Process.Pid}, {"memory of nod-dialogs", d.dialogs()}} {
		m, err := memoryOf(p.pid)
		if err != nil {
			return nil, err
		}
		figures = append(figures, report.Figure{Name: p.name, Unit: report.Bytes, Value: m.resident, Samples: 1})
	}
	return figures, nil
}
