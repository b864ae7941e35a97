// Package replay applies a policy to the calls in agents' transcripts. It sends and writes nothing.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"nod/policy"
)

// Reader reads the calls of one transcript.
type Reader interface {
	Calls() iter.Seq2[time.Time, policy.Call] // in order; may be called once
	Skipped() int                             // unusable lines
	Err() error                               // why Calls ended early; may be nil
}

// File is a transcript to read.
type File struct {
	Name string
	Size int64     // bytes
	At   time.Time // modification time
	Open func() (io.ReadCloser, error)
	Read func(io.Reader) Reader
}

// Options change what [Run] does.
type Options struct {
	Progress func(bytes int64) // called with the number of bytes read; may be nil
	Suggest  bool              // suggest rules; reads every transcript twice
	Since    time.Time         // ignores earlier calls
}

// Run replays transcripts. It fails if it cannot read one, because a report without it would look too
// good.
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

// run passes every call to the tally, one session after another: those that ended first come first.
func run(ctx context.Context, files []File, t *tally, o Options) error {
	byAge := func(a, b File) int { return a.At.Compare(b.At) }
	for _, f := range slices.SortedStableFunc(slices.Values(files), byAge) {
		if err := t.read(ctx, f, o); err != nil {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
	}
	return nil
}

// read adds the calls of one session.
func (t *tally) read(ctx context.Context, f File, o Options) error {
	file, err := f.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	reader, project := f.Read(&counted{file, o.Progress}), "" // the folder that the session began in
	for at, call := range reader.Calls() {
		if err := ctx.Err(); err != nil {
			return err
		}
		project = cmp.Or(project, call.CWD)
		if !at.Before(o.Since) {
			t.add(project, call, at)
		}
	}
	t.skipped += reader.Skipped()
	return reader.Err()
}

// counted tells how much is read through it.
type counted struct {
	io.Reader
	progress func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.progress(int64(n))
	return n, err
}
