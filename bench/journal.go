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
	"nod/policy"
)

const journalHow = "An allowed call through nod's own server and client, in this process, with the journal in a " +
	"file and with none; the difference is what the journal costs. The last line is the journal's transaction with " +
	"the driver that nod uses and with the usual one."

// journal measures what the journal adds to a call that nobody is asked about.
func (b *bench) journal() (figures []report.Figure, err error) {
	dir, err := os.MkdirTemp("", "nod-journal-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	kept := journal.Open(filepath.Join(dir, "nod.db"), journal.Options{Log: slog.New(slog.DiscardHandler)})
	defer kept.Close()
	passes := &interacttest.Policy{}
	passes.Set("Read", policy.Allow)
	var services [2]*service
	for i, j := range []interact.Journal{kept, noJournal{}} {
		if services[i], err = b.newService(j, &interacttest.Prompter{}, passes); err != nil {
			return nil, err
		}
		defer services[i].close()
	}
	for _, callers := range []int{1, 16} {
		f, err := compare(fmt.Sprintf("allowed call, %d at once", callers), b.times(20),
			sample.Subject{Name: "nod", Measure: services[0].allowedCalls(callers)},
			sample.Subject{Name: "without a journal", Measure: services[1].allowedCalls(callers)})
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	if err := kept.Problem(); err != nil {
		return nil, err
	}
	drivers, err := b.drivers(dir)
	return append(figures, drivers), err
}

// noJournal keeps nothing.
type noJournal struct{}

func (noJournal) Open(context.Context, interact.Record) error   { return nil }
func (noJournal) Update(context.Context, interact.Record) error { return nil }
func (noJournal) Settle(context.Context, interact.Record) error { return nil }

// allowedCalls has so many callers ask what the policy allows.
func (s *service) allowedCalls(callers int) func() (sample.Times, error) {
	const calls = 320
	return func() (sample.Times, error) {
		took, failed := make(sample.Times, calls), make([]error, callers)
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				for k := i; k < calls; k += callers {
					begin := time.Now()
					reply, err := s.Approve(context.Background(), api.ApproveRequest{Approve: api.Approve{
						Tool: "Read", Input: fmt.Appendf(nil, `{"file_path":"/src/shop/file%d.go"}`, k),
					}})
					took[k] = time.Since(begin)
					if err == nil && !reply.Allowed() {
						err = fmt.Errorf("call %d: %+v, want allow", k, reply)
					}
					failed[i] = errors.Join(failed[i], err)
				}
			})
		}
		all.Wait()
		return took, errors.Join(failed...)
	}
}
