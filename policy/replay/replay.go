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
	first.Files = len(files)
	if !o.Suggest {
		return &first.Report, nil
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
	first.addRules(second, rules)
	return &first.Report, nil
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

func (t *tally) read(ctx context.Context, f File, o Options) error {
	file, err := f.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	reader := f.Read(&counted{file, o.Progress})
	for at, call := range reader.Calls() {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.add(call, at)
	}
	t.Skipped += reader.Skipped()
	return reader.Err()
}

type counted struct {
	io.Reader
	progress func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.progress(int64(n))
	return n, err
}

const (
	maxPast     = 50_000   // calls to look for rules in
	maxPastSize = 64 << 20 // bytes of their inputs
	maxRules    = 10       // suggested rules
)

// Report is the result of a replay.
type Report struct {
	Files     int
	Skipped   int // broken or too long lines
	Questions int // calls that ask the user something; not counted below
	Counts
	Rules *Rules // with [Options.Suggest]
}

// Counts are numbers of calls: the others pass or are denied.
type Counts struct {
	Calls  int
	Asked  int
	Always int // of those asked, for a user who answers "always" where possible
}

// Rules are the suggested rules that would have saved most prompts, with the counts of a replay with all of them.
type Rules struct {
	Rules []Rule // the one that saves most prompts first
	Counts
}

// Rule is a rule to add.
type Rule struct {
	Rule   policy.Rule
	Spares int // calls that it would have allowed
}

type tally struct {
	Report
	sim      *policy.Simulation
	byRule   map[string]int // calls that a rule let pass
	suggest  bool
	past     []policy.Past // calls with a prompt, to look for rules; limited
	pastSize int           // bytes of its inputs
}

func newTally(sim *policy.Simulation, suggest bool) *tally {
	return &tally{sim: sim, byRule: map[string]int{}, suggest: suggest}
}

func (t *tally) add(c policy.Call, at time.Time) {
	if policy.IsQuestion(c) {
		t.Questions++
		return
	}
	t.Calls++
	d := t.sim.Decide(c, at)
	switch d.Effect {
	case policy.Allow:
		t.byRule[d.Rule]++
	case policy.Ask:
		t.Asked++
		if t.sim.Answer(c, at) {
			t.Always++
		}
		if size := t.pastSize + len(c.Input.Raw); t.suggest && len(t.past) < maxPast && size <= maxPastSize {
			t.past, t.pastSize = append(t.past, policy.Past{Call: c, Effect: policy.Allow}), size
		}
	}
}

func (r *Report) addRules(second *tally, rules []policy.Rule) {
	r.Rules = &Rules{Rules: []Rule{}, Counts: second.Counts}
	for _, rule := range rules {
		n := second.byRule[rule.ID]
		if n == 0 {
			continue
		}
		spared := fmt.Sprintf("would have spared %d of %d prompts", n, r.Asked)
		if rule.Note != "" {
			spared += "; " + rule.Note
		}
		rule.Note = spared
		r.Rules.Rules = append(r.Rules.Rules, Rule{rule, n})
	}
	slices.SortStableFunc(r.Rules.Rules, func(a, b Rule) int { return cmp.Compare(b.Spares, a.Spares) })
}
