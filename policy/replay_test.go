package policy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

func simulate(t testing.TB, p Policy) *Simulation {
	t.Helper()
	s, err := newSimulation(p, Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The person is asked once about what "always" covers, and each time about what it cannot.
func TestSimulationAnswers(t *testing.T) {
	other := bash("go test ./z")
	other.CWD = "/srv/other"
	question := Call{Agent: "claude-code", Tool: "AskUserQuestion", Input: json.RawMessage(`{}`), CWD: "/srv"}
	s := simulate(t, Default().Policy)
	for i, step := range []struct {
		call  Call
		asked bool
	}{
		{bash("ls"), false},
		{bash("go test ./x"), true},
		{bash("go test ./y"), false}, // the words that it starts with
		{other, true},                // in that folder
		{bash("make && make install"), true},
		{bash("make && make install"), false},
		{bash("make clean && make"), true}, // one part is new
		{bash("make && make clean && make install"), false},
		{question, true},
		{question, true}, // is always asked about
	} {
		at := testNow.Add(time.Duration(i) * time.Minute)
		if asked := s.Answer(step.call, at); asked != step.asked {
			t.Errorf("step %d: %s: asked %v", i, step.call.Input, asked)
		}
	}
	if d := s.Decide(bash("go test ./y"), testNow); d.Effect != Ask || d.Grant {
		t.Errorf("Decide heeds an answer: %+v", d)
	}
}

// The folder that a session began in is its project, also for what it does below.
func TestSimulationKnowsWhereSessionsBegan(t *testing.T) {
	in := func(session, folder, command string) Call {
		c := bash(command)
		c.Session, c.CWD = session, folder
		return c
	}
	s := simulate(t, Default().Policy)
	for i, step := range []struct {
		call  Call
		asked bool
	}{
		{in("a", "/srv/shop", "go test ./..."), true},
		{in("a", "/srv/shop/web", "go test ../api"), false},
		{in("a", "/srv/shop/web", "cd .. && go test ./..."), false},
		{in("a", "/srv/blog", "go test ./..."), true}, // it went elsewhere
		{in("b", "/srv/shop/web", "go test ."), true}, // it began there
		{in("b", "/srv/shop", "go test ."), false},
		{in("c", "/home/ann", "go test ./..."), true},
		{in("c", "/home/ann/x", "go test ../y"), true}, // the home folder is no project
		{in("", "/srv/shop", "ls"), false},
		{in("", "/srv/shop/web", "go test ../api"), true},
	} {
		if asked := s.Answer(step.call, testNow); asked != step.asked {
			t.Errorf("step %d: %s in %s: asked %v", i, step.call.Input, step.call.CWD, asked)
		}
	}
}

// What was allowed for always and then not used for long is asked about again, as in the real thing.
func TestSimulationOfGrantsThatRest(t *testing.T) {
	s := simulate(t, Default().Policy)
	at := testNow
	for i, step := range []struct {
		later time.Duration
		asked bool
	}{
		{0, true}, {restAfter - time.Hour, false}, {restAfter - time.Hour, false}, // each use counts
		{restAfter + time.Hour, true}, {time.Hour, false},
	} {
		at = at.Add(step.later)
		if asked := s.Answer(bash("make all"), at); asked != step.asked {
			t.Errorf("step %d: asked %v", i, asked)
		}
	}
	if n := s.kept.grants.len(); n != 1 {
		t.Errorf("%d grants are kept", n)
	}
}

func TestSimulationKeepsNoMoreGrantsThanNod(t *testing.T) {
	s := simulate(t, Default().Policy)
	for i := range maxGrants + 5 {
		s.Answer(Call{Agent: "a", CWD: fmt.Sprint("/srv/", i), Tool: "frobnicate", Input: json.RawMessage(`{}`)}, testNow)
	}
	if n := s.kept.grants.len(); n != maxGrants {
		t.Errorf("%d grants", n)
	}
}

func TestSimulationWithSuggestions(t *testing.T) {
	p := Default().Policy
	p.Rules = []Rule{{ID: "allow-make", Effect: Allow, Command: "make all"}}
	s := simulate(t, p)
	rules := s.Suggest(bash("make"))
	if len(rules) != 1 || rules[0].Command != "make" || len(s.Suggest(Call{Tool: "AskUserQuestion"})) != 0 {
		t.Fatalf("%+v", rules)
	}
	with, named, err := s.With(rules)
	if err != nil || named[0].ID != "allow-make-2" || rules[0].ID != "" {
		t.Fatalf("%+v, %v", named, err)
	}
	if d := with.Decide(bash("make"), testNow); d.Effect != Allow || d.Rule != "allow-make-2" {
		t.Errorf("%+v", d)
	}
	if d := s.Decide(bash("make"), testNow); d.Effect != Ask {
		t.Errorf("the first simulation was changed: %+v", d)
	}
}

// A store's simulation goes by its configuration, and not by the grants that there are.
func TestStoreSimulates(t *testing.T) {
	s, err := OpenStore(filepath.Join(t.TempDir(), "config.yaml"), filepath.Join(t.TempDir(), "grants.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Grant(bash("make"), Always, CoverInput); err != nil {
		t.Fatal(err)
	}
	sim, err := s.Simulate()
	if err != nil {
		t.Fatal(err)
	}
	if !sim.Answer(bash("make"), testNow) {
		t.Error("a grant counts")
	}
}
