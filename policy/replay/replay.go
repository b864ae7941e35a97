// Package replay says what a policy would have made of the calls in agents' transcripts. All of it happens in
// memory: nothing is sent anywhere, and nothing is written.
package replay

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"nod/policy"
)

// Reader reads the calls of one transcript.
type Reader interface {
	Calls() iter.Seq2[time.Time, policy.Call] // in their order; may be used once
	Skipped() int                             // lines that could not be used
	Err() error                               // what kept Calls from reading to the end
}

// File is a transcript that is not open yet.
type File struct {
	Name string
	Size int64     // bytes
	At   time.Time // when it was written last
	Open func() (io.ReadCloser, error)
	Read func(io.Reader) Reader
}

// Options change what [Run] does.
type Options struct {
	Progress func(bytes int64) // told how much more was read; may be nil
	Suggest  bool              // look for rules; every transcript is read twice then
	Since    time.Time         // leave out what was called before
}

// Run replays transcripts, merged by the times of their calls. A transcript that cannot be read is an error: a
// report that leaves one out would look better than the truth.
func Run(ctx context.Context, files []File, sim *policy.Simulation, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(int64) {}
	}
	first := newTally(sim, o.Suggest)
	if err := run(ctx, files, first, o); err != nil {
		return nil, err
	}
	report := first.report(len(files))
	if !o.Suggest {
		return report, nil
	}
	found, err := sim.Suggest(ctx, first.past, time.Now())
	if err != nil {
		return nil, err
	}
	var rules []policy.Rule
	for _, s := range found[:min(len(found), maxRules)] {
		rules = append(rules, s.Rule)
	}
	with, err := sim.With(rules...)
	if err != nil {
		return nil, err
	}
	second := newTally(with, false)
	if err := run(ctx, files, second, o); err != nil {
		return nil, err
	}
	report.addRules(second, rules)
	return report, nil
}

// run puts every call before the tally, in order of time.
func run(ctx context.Context, files []File, t *tally, o Options) error {
	skipped, err := inOrder(files, o.Progress, func(s *stream) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		if !s.at.Before(o.Since) {
			t.add(s.project, s.call, s.at)
		}
		return nil
	})
	t.skipped = skipped
	return err
}
