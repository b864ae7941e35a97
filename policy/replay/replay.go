// Package replay applies a policy to the calls in agents' transcripts. It sends and writes nothing.
package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
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

// Run replays transcripts. It fails if it cannot read one, because a report without it would look too good.
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

// run passes every call to the tally, one session after another, in the order in which they ended.
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
	reader, project := f.Read(&counted{file, o.Progress}), "" // the folder that the session began in
	for at, call := range reader.Calls() {
		if err := ctx.Err(); err != nil {
			return err
		}
		project = cmp.Or(project, call.CWD)
		t.add(project, call, at)
	}
	t.skipped += reader.Skipped()
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
	maxListed   = 10_000 // distinct calls, and projects, in a report
	maxCallText = 500    // characters of a call in a report
	others      = "(others)"
	maxPast     = 50_000   // calls to look for rules in
	maxPastSize = 64 << 20 // bytes of their inputs
	maxRules    = 10       // suggested rules
)

// Report is the result of a replay, and the JSON of nod policy replay --json, to which fields are only ever added.
type Report struct {
	Files     int `json:"files"`
	Skipped   int `json:"skipped_lines"` // broken or too long
	Questions int `json:"questions"`     // calls that ask the user something; not counted below
	Counts
	Agents   []share     `json:"agents"`            // most calls first
	Projects []share     `json:"projects"`          // by the folder in which a session began, most calls first
	List     []askedCall `json:"asked_list"`        // most often asked first
	Left     int         `json:"asked_left_out"`    // asked calls missing from the full list
	Rules    *Rules      `json:"suggest,omitempty"` // with [Options.Suggest]
}

// Counts are numbers of calls: Calls is the sum of Passed, Asked and Denied.
type Counts struct {
	Calls  int `json:"calls"`
	Passed int `json:"passed"`
	// Contained are those of Passed that run in the sandbox.
	Contained int `json:"in_sandbox,omitempty"`
	Asked     int `json:"asked"`
	Denied    int `json:"denied"`
	Always    int `json:"asked_with_always"` // of those asked, for a user who answers "always" where possible
}

type share struct {
	Name string `json:"name"`
	Counts
}

type askedCall struct {
	Agent  string `json:"agent"`
	Tool   string `json:"tool"`
	Call   string `json:"call"` // the command, path or address, or the input as JSON; cut to 500 characters
	Reason string `json:"reason"`
	Times  int    `json:"times"`
	Always int    `json:"times_with_always"`
}

// Rules are the suggested rules that would have saved most prompts, with the counts of a replay with all of them.
type Rules struct {
	Rules []Rule `json:"rules"` // the one that saves most prompts first
	Counts
}

// Rule is a rule to add.
type Rule struct {
	Rule   policy.Rule `json:"rule"`
	Spares int         `json:"spares"` // calls that it would have allowed
}

// PerHundred returns how many of a hundred calls the user who answers "always" is asked about.
func (c Counts) PerHundred() float64 {
	if c.Calls == 0 {
		return 0
	}
	return 100 * float64(c.Always) / float64(c.Calls)
}

type tally struct {
	sim       *policy.Simulation
	all       Counts
	questions int
	skipped   int
	agents    map[string]*Counts
	projects  map[string]*Counts
	asked     map[askedCall]*askedCall // by the same without counts
	left      int
	byRule    map[string]int // calls that a rule let pass
	suggest   bool
	past      []policy.Past // calls with a prompt, to look for rules; limited
	pastSize  int           // bytes of its inputs
}

func newTally(sim *policy.Simulation, suggest bool) *tally {
	return &tally{
		sim: sim, agents: map[string]*Counts{}, projects: map[string]*Counts{},
		asked: map[askedCall]*askedCall{}, byRule: map[string]int{}, suggest: suggest,
	}
}

func (t *tally) add(project string, c policy.Call, at time.Time) {
	if policy.IsQuestion(c) {
		t.questions++
		return
	}
	d := t.sim.Decide(c, at)
	again := d.Effect == policy.Ask && t.sim.Answer(c, at)
	for _, counts := range []*Counts{&t.all, part(t.agents, c.Agent), part(t.projects, project)} {
		counts.add(d.Effect, again)
	}
	switch d.Effect {
	case policy.Allow:
		t.byRule[d.Rule]++
	case policy.Ask:
		t.list(c, d.Reason, again)
		if size := t.pastSize + len(c.Input.Raw); t.suggest && len(t.past) < maxPast && size <= maxPastSize {
			t.past, t.pastSize = append(t.past, policy.Past{Call: c, Effect: policy.Allow}), size
		}
	}
}

func part(of map[string]*Counts, name string) *Counts {
	if of[name] == nil && len(of) >= maxListed {
		name = others
	}
	if of[name] == nil {
		of[name] = &Counts{}
	}
	return of[name]
}

func (c *Counts) add(e policy.Effect, again bool) {
	c.Calls++
	switch e {
	case policy.Sandbox:
		c.Contained++
		c.Passed++
	case policy.Allow:
		c.Passed++
	case policy.Deny:
		c.Denied++
	default:
		c.Asked++
	}
	if again {
		c.Always++
	}
}

func (t *tally) list(c policy.Call, reason string, again bool) {
	k := askedCall{Agent: c.Agent, Tool: c.Tool, Call: text(c), Reason: reason}
	a := t.asked[k]
	if a == nil {
		if len(t.asked) >= maxListed {
			t.left++
			return
		}
		a = new(k)
		t.asked[k] = a
	}
	a.Times++
	if again {
		a.Always++
	}
}

func text(c policy.Call) string {
	var in struct {
		Command, Path, URL string
		FilePath           string `json:"file_path"`
		Notebook           string `json:"notebook_path"`
	}
	_ = json.Unmarshal(c.Input.Raw, &in) // a field of another type is left out
	what := []rune(strings.TrimSpace(cmp.Or(in.Command, in.FilePath, in.Notebook, in.Path, in.URL, c.Input.String())))
	if len(what) > maxCallText {
		what = append(what[:maxCallText-1], '…')
	}
	return string(what)
}

func (t *tally) report(files int) *Report {
	r := &Report{
		Files: files, Skipped: t.skipped, Questions: t.questions, Counts: t.all,
		Agents: parts(t.agents), Projects: parts(t.projects), List: []askedCall{}, Left: t.left,
	}
	for _, a := range t.asked {
		r.List = append(r.List, *a)
	}
	slices.SortFunc(r.List, func(a, b askedCall) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Tool, b.Tool),
			cmp.Compare(a.Call, b.Call), cmp.Compare(a.Reason, b.Reason))
	})
	return r
}

func parts(of map[string]*Counts) []share {
	list := []share{}
	for name, counts := range of {
		list = append(list, share{name, *counts})
	}
	slices.SortFunc(list, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func (r *Report) addRules(second *tally, rules []policy.Rule) {
	r.Rules = &Rules{Rules: []Rule{}, Counts: second.all}
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
