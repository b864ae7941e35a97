package policy

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

func simulate(t testing.TB, p Policy) *Simulation {
	t.Helper()
	s, err := NewSimulation(p, Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The user is asked once about what "always" covers, and each time about what it cannot.
func TestSimulationAnswers(t *testing.T) {
	other := bash("go test ./z")
	other.CWD = "/srv/other"
	question := Call{Agent: "claude-code", Tool: "AskUserQuestion", Input: ReadInput(json.RawMessage(`{}`)), CWD: "/srv"}
	s := simulate(t, Default())
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

// What the agent lets pass by itself is no prompt, unless a rule speaks of it.
func TestSimulationOfWhatPassesAnyway(t *testing.T) {
	call := func(agent, tool, input string) Call {
		return Call{Agent: agent, Tool: tool, CWD: "/srv", Input: ReadInput(json.RawMessage(input))}
	}
	task := call("claude-code", "Task", `{"description":"Look","prompt":"Find it"}`)
	p := Default()
	p.Rules = []Rule{{ID: "tasks", Effect: Ask, Tool: "Task", CWD: "/srv/**"}}
	for _, tt := range []struct {
		policy Policy
		call   Call
		asked  bool
	}{
		{Default(), task, false},
		{Default(), call("claude-code", "KillShell", `{"shell_id":"1"}`), false},
		{Default(), call("codex", "Task", `{"prompt":"Find it"}`), true},
		{Default(), call("claude-code", "Skill", `{"skill":"x"}`), true},
		{Default(), call("claude-code", "Task", `{"prompt":"a\u202eb"}`), true},
		{p, task, true},
	} {
		s := simulate(t, tt.policy)
		d := s.Decide(tt.call, testNow)
		if asked := s.Answer(tt.call, testNow); asked != tt.asked || asked != (d.Effect == Ask) {
			t.Errorf("%s %s: asked %v, %+v", tt.call.Tool, tt.call.Input, asked, d)
		}
	}
}

// A page and a search are answered for the host and the tool.
func TestSimulationOfHostsAndTools(t *testing.T) {
	s := simulate(t, Default())
	for i, step := range []struct {
		tool, input string
		asked       bool
	}{
		{"WebFetch", `{"url":"https://go.dev/a","prompt":"p"}`, true},
		{"WebFetch", `{"url":"https://go.dev/b","prompt":"p"}`, false},
		{"WebFetch", `{"url":"https://pkg.go.dev/b","prompt":"p"}`, true},
		{"WebSearch", `{"query":"a"}`, true},
		{"WebSearch", `{"query":"b"}`, false},
	} {
		call := Call{Agent: "claude-code", Tool: step.tool, CWD: "/srv", Input: ReadInput(json.RawMessage(step.input))}
		if asked := s.Answer(call, testNow); asked != step.asked {
			t.Errorf("step %d: %s: asked %v", i, step.input, asked)
		}
	}
}

// The folder that a session began in is its project, also for what it does below.
func TestSimulationKnowsWhereSessionsBegan(t *testing.T) {
	in := func(session, folder, command string) Call {
		c := bash(command)
		c.Session, c.CWD = session, folder
		return c
	}
	s := simulate(t, Default())
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
	s := simulate(t, Default())
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
	if n := len(s.kept.grants); n != 1 {
		t.Errorf("%d grants are kept", n)
	}
}

func TestSimulationKeepsNoMoreGrantsThanNod(t *testing.T) {
	s := simulate(t, Default())
	for i := range MaxGrants + 5 {
		call := Call{Agent: "a", CWD: fmt.Sprint("/srv/", i), Tool: "frobnicate", Input: ReadInput([]byte(`{}`))}
		s.Answer(call, testNow)
	}
	if n := len(s.kept.grants); n != MaxGrants {
		t.Errorf("%d grants", n)
	}
}

func TestSimulationWithSuggestions(t *testing.T) {
	p := Default()
	p.Rules = []Rule{{ID: "allow-make", Effect: Allow, Command: "make all"}}
	s := simulate(t, p)
	found, err := s.Suggest(t.Context(), repeat(3, Past{bash("make"), Allow}), testNow)
	if err != nil || len(found) != 1 || found[0].Rule.Command != "make" || found[0].Rule.ID != "allow-make-2" {
		t.Fatalf("%+v, %v", found, err)
	}
	with, err := s.With(found[0].Rule)
	if err != nil {
		t.Fatal(err)
	}
	if d := with.Decide(bash("make"), testNow); d.Effect != Allow || d.Rule != "allow-make-2" {
		t.Errorf("%+v", d)
	}
	if d := s.Decide(bash("make"), testNow); d.Effect != Ask {
		t.Errorf("the first simulation was changed: %+v", d)
	}
}
