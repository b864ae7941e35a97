package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/policy"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// past is a transcript in memory: what to call, and seconds since start.
type past struct {
	calls   []pastCall
	skipped int
	err     error
}

type pastCall struct {
	second int
	call   policy.Call
}

func (p past) Calls() iter.Seq2[time.Time, policy.Call] {
	return func(yield func(time.Time, policy.Call) bool) {
		for _, c := range p.calls {
			if !yield(start.Add(time.Duration(c.second)*time.Second), c.call) {
				return
			}
		}
	}
}
func (p past) Skipped() int { return p.skipped }
func (p past) Err() error   { return p.err }

func (p past) file(name string) File {
	return File{
		Name: name, Size: 10,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("0123456789")), nil },
		Read: func(r io.Reader) Reader { _, _ = io.Copy(io.Discard, r); return p },
	}
}

func tool(second int, name string, input []byte) pastCall {
	return pastCall{second, policy.Call{
		Agent: "claude-code", Session: "s", CWD: "/srv/shop", Tool: name, Input: policy.ReadInput(input),
	}}
}

func bash(second int, command string) pastCall {
	input, _ := json.Marshal(map[string]string{"command": command})
	return tool(second, "Bash", input)
}

func simulation(t *testing.T, rules ...policy.Rule) *policy.Simulation {
	t.Helper()
	p := policy.Default()
	p.Rules = rules
	sim, err := policy.NewSimulation(p, policy.DefaultPlaces())
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

func TestRunCounts(t *testing.T) {
	question := policy.Call{Agent: "claude-code", Tool: "AskUserQuestion", Input: policy.ReadInput(json.RawMessage(`{}`))}
	elsewhere := bash(5, "make")
	elsewhere.call.CWD, elsewhere.call.Agent = "/srv/web", "codex"
	files := []File{
		past{skipped: 2, calls: []pastCall{
			bash(1, "ls"), bash(2, "make"), bash(3, "make"), bash(4, "rm -rf /"), {5, question},
		}}.file("a"),
		past{calls: []pastCall{elsewhere}, skipped: 1}.file("b"),
		past{skipped: 4}.file("c"),
	}
	sim := simulation(t, policy.Rule{ID: "no", Effect: policy.Deny, Command: "rm -rf /"})
	read := int64(0)
	r, err := Run(t.Context(), files, sim, Options{Progress: func(n int64) { read += n }})
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Calls: 5, Passed: 1, Asked: 3, Denied: 1, Always: 2}
	if r.Counts != want || r.Files != 3 || r.Skipped != 7 || r.Questions != 1 || r.Left != 0 || r.Rules != nil {
		t.Errorf("%+v", r)
	}
	if read != 30 {
		t.Errorf("%d bytes were told of, want 30", read)
	}
	shop := Counts{Calls: 4, Passed: 1, Asked: 2, Denied: 1, Always: 1}
	web := Counts{Calls: 1, Asked: 1, Always: 1}
	if !slices.Equal(r.Agents, []share{{"claude-code", shop}, {"codex", web}}) {
		t.Errorf("agents: %+v", r.Agents)
	}
	if !slices.Equal(r.Projects, []share{{"/srv/shop", shop}, {"/srv/web", web}}) {
		t.Errorf("projects: %+v", r.Projects)
	}
	if len(r.List) != 2 || r.List[0].Reason == "" {
		t.Fatalf("list: %+v", r.List)
	}
	r.List[0].Reason = ""
	if want := (askedCall{Agent: "claude-code", Tool: "Bash", Call: "make", Times: 2, Always: 1}); r.List[0] != want {
		t.Errorf("got %+v, want %+v", r.List[0], want)
	}
	if got := r.PerHundred(); got != 40 {
		t.Errorf("%v in 100", got)
	}
}

func TestRunFails(t *testing.T) {
	broken := errors.New("broken disk")
	unreadable := past{}.file("gone")
	unreadable.Open = func() (io.ReadCloser, error) { return nil, broken }
	for name, f := range map[string]File{
		"cannot open":        unreadable,
		"fails without call": past{err: broken}.file("x"),
		"fails after a call": past{calls: []pastCall{bash(1, "ls")}, err: broken}.file("x"),
	} {
		if _, err := Run(t.Context(), []File{f}, simulation(t), Options{}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files := []File{past{calls: []pastCall{bash(1, "ls")}}.file("x")}
	if _, err := Run(ctx, files, simulation(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSuggest(t *testing.T) {
	edit := func(second int, path string) pastCall {
		input, _ := json.Marshal(map[string]string{"file_path": path, "old_string": "a", "new_string": "<b>"})
		return tool(second, "Edit", input)
	}
	calls := []pastCall{
		bash(1, "make"), bash(2, "make"), bash(3, "make"), bash(4, "make test"), bash(5, "make test"),
		edit(6, "/srv/shop/a.go"), edit(7, "/srv/shop/b.go"), edit(8, "/srv/shop/c.go"), edit(9, "/srv/shop/d.go"),
		edit(10, "/srv/other/a.go"), edit(11, "/srv/shop/.git/config"),
	}
	sim := simulation(t, policy.Rule{ID: "allow-make", Effect: policy.Allow, Command: "make all"})
	r, err := Run(t.Context(), []File{past{calls: calls}.file("a")}, sim, Options{Suggest: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Asked != 11 || len(r.Rules.Rules) != 2 || r.Rules.Asked != 4 {
		t.Fatalf("%+v, %+v", r.Counts, r.Rules)
	}
	first, second := r.Rules.Rules[0], r.Rules.Rules[1]
	if first.Spares != 4 || first.Rule.Path != "/srv/shop/**" || first.Rule.Tool != "Edit" {
		t.Errorf("%+v", first)
	}
	if second.Spares != 3 || second.Rule.Command != "make" || second.Rule.ID != "allow-make-2" {
		t.Errorf("%+v", second)
	}
	for _, s := range r.Rules.Rules { // nod would take them
		if err := errors.Join(s.Rule.Validate(), s.Rule.CheckExamples()); err != nil || s.Rule.Note == "" {
			t.Errorf("%+v: %v", s.Rule, err)
		}
	}
}

// A report does not grow with what it reports on.
func TestReportIsBounded(t *testing.T) {
	var calls []pastCall
	for i := range maxListed + 10 {
		input, _ := json.Marshal(map[string]string{"url": fmt.Sprint(i, strings.Repeat("x", 2*maxCallText))})
		call := policy.Call{Agent: fmt.Sprint("agent ", i), Tool: "frobnicate", Input: policy.ReadInput(input)}
		calls = append(calls, pastCall{i, call})
	}
	r, err := Run(t.Context(), []File{past{calls: calls}.file("a")}, simulation(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.List) != maxListed || r.Left != 10 || len(r.Agents) != maxListed+1 {
		t.Errorf("%d listed, %d left out, %d agents", len(r.List), r.Left, len(r.Agents))
	}
	if n := len([]rune(r.List[0].Call)); n != maxCallText {
		t.Errorf("%d characters of a call", n)
	}
	if i := slices.IndexFunc(r.Agents, func(p share) bool { return p.Name == others }); i < 0 || r.Agents[i].Calls != 10 {
		t.Error("the others are not together")
	}
}
