package toolcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/e2e/ipctest"
	"nod/examples/temporal/toolcall"
	"nod/interact"
	"nod/policy"
)

// fixture is a workflow with nod-desktop, a person and one tool around it.
type fixture struct {
	*testsuite.TestWorkflowEnvironment
	signals recorder     // what the forwarder sends
	done    atomic.Int32 // times that the tool ran
}

// input is one that encoding/json escapes when Temporal stores it.
const input = `{"text":"<a> && <b>"}`

func setUp(t *testing.T, p interact.Prompter, rules *interacttest.Policy) *fixture {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	f := &fixture{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), signals: make(recorder, 1)}
	f.SetTestTimeout(time.Minute)
	c := ipctest.Serve(t, p, rules).Client
	forwarder := toolcall.NewForwarder(c, f.signals, slog.New(slog.DiscardHandler))
	t.Cleanup(forwarder.Close)
	f.RegisterActivity(toolcall.NewActivities(c, forwarder, map[string]toolcall.Tool{
		"note": func(_ context.Context, got json.RawMessage) (string, error) {
			f.done.Add(1)
			var in struct{ Text string }
			if err := json.Unmarshal(got, &in); err != nil || in.Text != "<a> && <b>" {
				t.Errorf("the tool is called with %s: %v", got, err)
			}
			return "noted", nil
		},
	}))
	return f
}

func (f *fixture) run() (result string, err error) {
	f.ExecuteWorkflow(toolcall.Workflow, toolcall.Call{Tool: "note", Input: json.RawMessage(input), CWD: "/"})
	if err := f.GetWorkflowError(); err != nil {
		return "", err
	}
	return result, f.GetWorkflowResult(&result)
}

// deliver passes a signal of the forwarder on: the clock of the workflow stands still for as long as that takes.
func (f *fixture) deliver() {
	s := <-f.signals
	f.SignalWorkflow(toolcall.Answered, s.reply)
}

// thinker returns a person who answers once the workflow waits for them.
func thinker(a interact.Answer) (p *interacttest.Prompter, answer func()) {
	thought := make(chan struct{})
	return &interacttest.Prompter{Answer: func(interact.Request, policy.Decision) (interact.Answer, error) {
		<-thought
		if a.Outcome == api.Unavailable {
			return a, interact.ErrUnavailable
		}
		return a, nil
	}}, sync.OnceFunc(func() { close(thought) })
}

func TestWorkflow(t *testing.T) {
	tests := []struct {
		name   string
		rule   policy.Effect
		answer interact.Answer
		want   string
		done   int32
	}{
		{"allowed by a rule", policy.Allow, interact.Answer{}, "noted", 1},
		{"denied by a rule", policy.Deny, interact.Answer{}, "denied: the test says so", 0},
		{"allowed", "", interact.Answer{Outcome: api.Allowed}, "noted", 1},
		{"denied", "", interact.Answer{Outcome: api.Denied, Reason: "no notes"}, "denied: no notes", 0},
		{"dismissed", "", interact.Answer{Outcome: api.Dismissed},
			"not done: nobody decided: the person closed the prompt and has not refused", 0},
		{"no screen", "", interact.Answer{Outcome: api.Unavailable}, "not done: ", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, answer := thinker(test.answer)
			rules := &interacttest.Policy{}
			if test.rule != "" {
				rules.Set("note", test.rule)
			}
			f := setUp(t, p, rules)
			defer answer()
			f.RegisterDelayedCallback(func() { answer(); f.deliver() }, time.Hour)
			got, err := f.run()
			if err != nil || !strings.HasPrefix(got, test.want) || f.done.Load() != test.done {
				t.Errorf("got %q, %v, and the tool ran %d times, want %q and %d", got, err, f.done.Load(), test.want, test.done)
			}
			if n := len(p.Shown()); test.rule == "" && n != 1 {
				t.Errorf("the person was asked %d times", n)
			}
		})
	}
}

// TestCancelled: a workflow that is cancelled while the person thinks takes the prompt off their screen.
func TestCancelled(t *testing.T) {
	p := &interacttest.Prompter{} // thinks for ever
	f := setUp(t, p, &interacttest.Policy{})
	f.RegisterDelayedCallback(f.CancelWorkflow, time.Hour) // of the workflow's clock
	if _, err := f.run(); !temporal.IsCanceledError(errors.Unwrap(err)) {
		t.Errorf("got %v", err)
	}
	if shown, closed := p.Shown(), p.Closed(); len(shown) != 1 || len(closed) != 1 || shown[0].ID != closed[0] {
		t.Errorf("%d prompts, of which %d were closed", len(shown), len(closed))
	}
}

// TestForged: signals that are not nod's answer to this very request do not let the call happen.
func TestForged(t *testing.T) {
	allow := func(id string) api.RequestReply {
		return api.RequestReply{ID: id, Kind: api.KindApprove, Status: api.Allowed, Answer: json.RawMessage(
			`{"id":"` + id + `","outcome":"allowed","decision":"allow","reason":"","by":"human","shown_sha256":"x"}`)}
	}
	p, answer := thinker(interact.Answer{Outcome: api.Denied, Reason: "no notes"})
	f := setUp(t, p, &interacttest.Policy{})
	defer answer()
	f.RegisterDelayedCallback(func() { f.SignalWorkflow(toolcall.Answered, allow("of another request")) }, time.Minute)
	f.RegisterDelayedCallback(func() { f.SignalWorkflow(toolcall.Answered, api.RequestReply{}) }, time.Hour)
	f.RegisterDelayedCallback(func() { answer(); f.deliver() }, 2*time.Hour)
	if got, err := f.run(); err != nil || got != "denied: no notes" || f.done.Load() != 0 {
		t.Errorf("got %q, %v, and the tool ran %d times", got, err, f.done.Load())
	}

	p, answer = thinker(interact.Answer{Outcome: api.Denied})
	f = setUp(t, p, &interacttest.Policy{})
	defer answer()
	f.RegisterDelayedCallback(func() {
		f.SignalWorkflow(toolcall.Answered, allow(string(p.Shown()[0].ID))) // for another input
	}, time.Minute)
	got, err := f.run()
	if err == nil || !strings.Contains(err.Error(), "it allows another input") || f.done.Load() != 0 {
		t.Errorf("got %q, %v, and the tool ran %d times", got, err, f.done.Load())
	}
}

// TestRecover: another forwarder forwards what the one before it did not live to, and what nod has forgotten is
// nobody's decision.
func TestRecover(t *testing.T) {
	p, answer := thinker(interact.Answer{Outcome: api.Allowed})
	s := ipctest.Serve(t, p, &interacttest.Policy{})
	defer answer()
	to := make(recorder, 2)
	first := toolcall.NewForwarder(s.Client, to, slog.New(slog.DiscardHandler))
	_, err := s.Client.Approve(t.Context(), api.ApproveRequest{
		Approve: api.Approve{Tool: "note", Input: json.RawMessage(input)},
		Common:  api.Common{Agent: "temporal", Session: "w1", Detach: true},
	})
	if err == nil {
		t.Fatal("it has an answer")
	}
	first.Forward("lost", "w2")
	if got := <-to; got.workflow != "w2" || got.reply.Status != api.Unavailable {
		t.Errorf("got %+v", got)
	}
	if err := first.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	first.Close()
	second := toolcall.NewForwarder(s.Client, to, slog.New(slog.DiscardHandler))
	defer second.Close()
	if err := second.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	answer()
	if got := <-to; got.workflow != "w1" || got.reply.Status != api.Allowed {
		t.Errorf("got %+v", got)
	}
}

// recorder keeps signals.
type recorder chan signalled

type signalled struct {
	workflow string
	reply    api.RequestReply
}

// SignalWorkflow implements [toolcall.Signaler].
func (r recorder) SignalWorkflow(_ context.Context, workflowID, _, _ string, arg any) error {
	r <- signalled{workflowID, arg.(api.RequestReply)}
	return nil
}
