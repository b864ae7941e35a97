// Package replay applies a policy to the calls in agents' transcripts, and looks for rules that would have spared the
// user prompts. It sends and writes nothing.
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

// Run replays transcripts, and does it again with the rules that it suggests. It tells progress of the bytes that it
// reads. It fails if it cannot read a transcript, because a report without it would look too good.
func Run(ctx context.Context, files []File, sim *policy.Simulation, progress func(bytes int64)) (*Report, error) {
	first := newTally(sim)
	if err := first.readAll(ctx, files, progress); err != nil {
		return nil, err
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
	second := newTally(with)
	if err := second.readAll(ctx, files, progress); err != nil {
		return nil, err
	}
	return &Report{Files: len(files), Counts: first.Counts, Rules: second.rules(rules, first.Asked)}, nil
}

// readAll passes every call to the tally, one session after another: those that ended first come first.
func (t *tally) readAll(ctx context.Context, files []File, progress func(bytes int64)) error {
	byAge := func(a, b File) int { return a.At.Compare(b.At) }
	for _, f := range slices.SortedStableFunc(slices.Values(files), byAge) {
		if err := t.read(ctx, f, progress); err != nil {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
	}
	return nil
}

func (t *tally) read(ctx context.Context, f File, progress func(bytes int64)) error {
	file, err := f.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	reader := f.Read(&counted{file, progress})
	for at, call := range reader.Calls() {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.add(call, at)
	}
	return reader.Err()
}

type counted struct {
	io.Reader
	progress func(bytes int64)
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
	Files int
	Counts
	Rules Rules
}

// Counts are numbers of calls. What asks the user something is none.
type Counts struct {
	Calls  int
	Asked  int // the user would have been asked about
	Always int // of those, for a user who answers "always" where possible
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
	Counts
	sim      *policy.Simulation
	byRule   map[string]int // calls that a rule let pass
	past     []policy.Past  // calls with a prompt, to look for rules; limited
	pastSize int            // bytes of its inputs
}

func newTally(sim *policy.Simulation) *tally { return &tally{sim: sim, byRule: map[string]int{}} }

func (t *tally) add(c policy.Call, at time.Time) {
	if policy.IsQuestion(c) {
		return
	}
	t.Calls++
	switch d := t.sim.Decide(c, at); d.Effect {
	case policy.Allow:
		t.byRule[d.Rule]++
	case policy.Ask:
		t.Asked++
		if t.sim.Answer(c, at) {
			t.Always++
		}
		if size := t.pastSize + len(c.Input.Raw); len(t.past) < maxPast && size <= maxPastSize {
			t.past, t.pastSize = append(t.past, policy.Past{Call: c, Effect: policy.Allow}), size
		}
	}
}

// rules are those that let calls pass, of which so many were asked about without them.
func (t *tally) rules(all []policy.Rule, asked int) Rules {
	r := Rules{Counts: t.Counts}
	for _, rule := range all {
		n := t.byRule[rule.ID]
		if n == 0 {
			continue
		}
		spared := fmt.Sprintf("would have spared %d of %d prompts", n, asked)
		if rule.Note != "" {
			spared += "; " + rule.Note
		}
		rule.Note = spared
		r.Rules = append(r.Rules, Rule{rule, n})
	}
	slices.SortStableFunc(r.Rules, func(a, b Rule) int { return cmp.Compare(b.Spares, a.Spares) })
	return r
}
