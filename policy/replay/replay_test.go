package replay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"time"

	"nod/policy"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// past is a transcript in memory: what to call, and seconds since start.
type past struct {
	calls []pastCall
	err   error
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
func (p past) Err() error { return p.err }

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
		past{calls: []pastCall{
			bash(1, "ls"), bash(2, "make"), bash(3, "make"), bash(4, "rm -rf /"), {5, question},
		}}.file("a"),
		past{calls: []pastCall{elsewhere}}.file("b"),
		past{}.file("c"),
	}
	sim := simulation(t, policy.Rule{ID: "no", Effect: policy.Deny, Command: "rm -rf /"})
	read := int64(0)
	r, err := Run(t.Context(), files, sim, func(n int64) { read += n })
	if err != nil {
		t.Fatal(err)
	}
	if want := (Counts{Calls: 5, Asked: 3, Always: 2}); r.Counts != want || r.Files != 3 || len(r.Rules.Rules) != 0 {
		t.Errorf("%+v", r)
	}
	if read != 60 {
		t.Errorf("%d bytes were told of, want 60", read)
	}
}

func ignore(int64) {}

func TestRunFails(t *testing.T) {
	broken := errors.New("broken disk")
	unreadable := past{}.file("gone")
	unreadable.Open = func() (io.ReadCloser, error) { return nil, broken }
	for name, f := range map[string]File{
		"cannot open":        unreadable,
		"fails without call": past{err: broken}.file("x"),
		"fails after a call": past{calls: []pastCall{bash(1, "ls")}, err: broken}.file("x"),
	} {
		if _, err := Run(t.Context(), []File{f}, simulation(t), ignore); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files := []File{past{calls: []pastCall{bash(1, "ls")}}.file("x")}
	if _, err := Run(ctx, files, simulation(t), ignore); !errors.Is(err, context.Canceled) {
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
	r, err := Run(t.Context(), []File{past{calls: calls}.file("a")}, sim, ignore)
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
