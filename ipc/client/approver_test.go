package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/e2e/ipctest"
	"nod/interact"
	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/ipc/interrupt"
	"nod/policy"
)

// person sits before a screen. Every prompt is announced on shown; it stays until there is an answer or it is taken
// off the screen, which closed tells.
type person struct {
	shown   chan interact.Request
	answers chan interact.Answer
	closed  chan interact.ID
}

// Prompt implements [interact.Prompter].
func (p *person) Prompt(ctx context.Context, r interact.Request, _ policy.Decision) (interact.Answer, error) {
	p.shown <- r
	select {
	case a := <-p.answers:
		if a.Outcome == api.Unavailable {
			return interact.Answer{}, fmt.Errorf("no screen: %w", interact.ErrUnavailable)
		}
		if a.Outcome == api.Allowed {
			a.ShownSHA256 = interact.Digest(r.Body.(interact.Approve).Input)
		}
		return a, nil
	case <-ctx.Done():
		p.closed <- r.ID
		return interact.Answer{}, ctx.Err()
	}
}

// running starts a server with a person before it, and returns a client of it.
func running(t testing.TB, rules *interacttest.Policy) (*client.Client, *person) {
	t.Helper()
	p := &person{
		shown: make(chan interact.Request, 64), answers: make(chan interact.Answer, 64),
		closed: make(chan interact.ID, 64),
	}
	return ipctest.Serve(t, p, rules).Client, p
}

var input = json.RawMessage(`{"command":"make all && make test"}`)

// stored is what is left of an interrupt after the agent kept it as JSON and was started again.
func stored(t *testing.T, err error) *interrupt.Error {
	t.Helper()
	i, ok := interrupt.Get(err)
	if !ok {
		t.Fatalf("got %v, want an interrupt", err)
	}
	text, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	again := new(interrupt.Error)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	return again
}

// TestDecisions: whatever comes of a call comes of it in both modes, and nothing but an allow allows.
func TestDecisions(t *testing.T) {
	tests := []struct {
		name      string
		tool      string
		answer    interact.Answer // of the user, when they are asked
		want      client.Decision
		undecided api.Outcome
	}{
		{name: "allowed by the policy", tool: "Allowed",
			want: client.Decision{Allowed: true, By: api.ByPolicy, Reason: "the test says so"}},
		{name: "denied by the policy", tool: "Denied", want: client.Decision{By: api.ByPolicy, Reason: "the test says so"}},
		{name: "allowed by the person", answer: interact.Answer{Outcome: api.Allowed},
			want: client.Decision{Allowed: true, By: api.ByHuman}},
		{name: "denied by the person", answer: interact.Answer{Outcome: api.Denied, Reason: "use make check"},
			want: client.Decision{By: api.ByHuman, Reason: "use make check"}},
		{name: "denied without a word", answer: interact.Answer{Outcome: api.Denied},
			want: client.Decision{By: api.ByHuman, Reason: "denied, and no reason was given"}},
		{name: "dismissed", answer: interact.Answer{Outcome: api.Dismissed}, undecided: api.Dismissed},
		{name: "answered elsewhere", answer: interact.Answer{Outcome: api.Withdrawn}, undecided: api.Withdrawn},
		{name: "no screen", answer: interact.Answer{Outcome: api.Unavailable}, undecided: api.Unavailable},
		{name: "timed out", undecided: api.TimedOut},
	}
	for _, test := range tests {
		rules := &interacttest.Policy{}
		rules.Set("Allowed", policy.Allow)
		rules.Set("Denied", policy.Deny)
		common := api.Common{Agent: "test"}
		if test.undecided == api.TimedOut {
			common.Timeout = 0.01
		}
		tool := test.tool
		if tool == "" {
			tool = "Bash"
		}
		check := func(t *testing.T, d client.Decision, err error) {
			t.Helper()
			if test.undecided != "" {
				u, ok := errors.AsType[*interrupt.UndecidedError](err)
				if !ok || u.Outcome != test.undecided || u.RequestID == "" || d != (client.Decision{}) {
					t.Errorf("got %+v, %v, want nobody to have decided: %s", d, err, test.undecided)
				}
				return
			}
			if err != nil || d.RequestID == "" {
				t.Errorf("got %+v, %v", d, err)
			}
			if d.RequestID = ""; d != test.want {
				t.Errorf("got %+v, want %+v", d, test.want)
			}
		}
		t.Run(test.name+"/blocking", func(t *testing.T) {
			c, p := running(t, rules)
			if test.answer.Outcome != "" {
				p.answers <- test.answer
			}
			a := &client.Approver{Client: c, Common: common}
			d, err := a.Approve(t.Context(), tool, input, "execute")
			check(t, d, err)
		})
		t.Run(test.name+"/interrupt", func(t *testing.T) {
			c, p := running(t, rules)
			a := &client.Approver{Client: c, Common: common, Interrupt: true}
			d, err := a.Approve(t.Context(), tool, input, "execute")
			if test.tool != "" { // nobody needs to be waited for
				check(t, d, err)
				return
			}
			if test.answer.Outcome != "" {
				p.answers <- test.answer
			}
			a = &client.Approver{Client: c, Common: common} // of another process; it waits
			d, err = a.Approve(interrupt.WithResumeValue(t.Context(), stored(t, err)), tool, input, "execute")
			check(t, d, err)
			if n := len(p.shown); n != 1 {
				t.Errorf("the person was asked %d times", n)
			}
		})
	}
}

func TestReadOnlyPassesUnasked(t *testing.T) {
	if client.ReadOnly != policy.ReadOnly {
		t.Errorf("the class is %q, want %q", client.ReadOnly, policy.ReadOnly)
	}
	var a client.Approver // it would panic if it asked
	d, err := a.Approve(t.Context(), "Read", json.RawMessage(`{}`), client.ReadOnly)
	if err != nil || !d.Allowed || d.By != "" || d.RequestID != "" {
		t.Errorf("got %+v, %v", d, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := a.Approve(ctx, "Read", json.RawMessage(`{}`), client.ReadOnly); err == nil || d.Allowed {
		t.Errorf("got %+v, %v from a run that is over", d, err)
	}
	for _, class := range []string{"", "READ_ONLY", "read_only ", "write", "unknown", "x"} {
		c, p := running(t, &interacttest.Policy{})
		p.answers <- interact.Answer{Outcome: api.Denied}
		a := client.Approver{Client: c}
		if d, _ := a.Approve(t.Context(), "Read", json.RawMessage(`{}`), class); d.Allowed {
			t.Errorf("class %q passes unasked", class)
		}
	}
}

func TestInputIsAnObject(t *testing.T) {
	var a client.Approver // it would panic if it asked
	for _, input := range []string{"", "null", "[]", `"x"`, "{", `{"a":1,"a":2}`, "{\"a\":\"\xff\"}"} {
		if d, err := a.Approve(t.Context(), "Bash", json.RawMessage(input), ""); err == nil || d.Allowed {
			t.Errorf("%s: got %+v, %v", input, d, err)
		}
	}
}

// TestAnswerIsForItsCall: an answer resumes the call that it was given to, once.
func TestAnswerIsForItsCall(t *testing.T) {
	c, p := running(t, &interacttest.Policy{})
	a := &client.Approver{Client: c, Interrupt: true, Common: api.Common{Agent: "test", CWD: "/srv"}}
	ask := func(ctx context.Context, r api.ApproveRequest) (client.Decision, error) {
		r.Common = api.Common{Agent: "test", CWD: r.CWD, Timeout: 60}
		return a.Decide(ctx, r)
	}
	asked := api.ApproveRequest{
		Approve: api.Approve{Tool: "Bash", Input: input, ToolUseID: "1"}, Common: api.Common{CWD: "/srv"},
	}
	_, err := ask(t.Context(), asked)
	first := stored(t, err)
	ctx := interrupt.WithResumeValue(t.Context(), first)
	if _, err := ask(ctx, asked); stored(t, err).RequestID != first.RequestID {
		t.Errorf("without an answer: got %v, want the same interrupt", err)
	}
	<-p.shown
	p.answers <- interact.Answer{Outcome: api.Allowed}
	if _, err := c.Request(t.Context(), first.RequestID, time.Minute); err != nil {
		t.Fatal(err)
	}
	others := map[string]func(*api.ApproveRequest){
		"another tool":   func(r *api.ApproveRequest) { r.Tool = "Shell" },
		"another input":  func(r *api.ApproveRequest) { r.Input = json.RawMessage(`{"command":"make  all && make test"}`) },
		"another call":   func(r *api.ApproveRequest) { r.ToolUseID = "2" },
		"another folder": func(r *api.ApproveRequest) { r.CWD = "/" },
	}
	for name, change := range others {
		other := asked
		change(&other)
		if _, err := ask(ctx, other); stored(t, err).RequestID == first.RequestID {
			t.Errorf("%s is taken for the one that was asked about", name)
		}
	}
	var allowed, interrupted atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			d, err := ask(ctx, asked)
			if d.Allowed {
				allowed.Add(1)
			} else if _, ok := interrupt.Get(err); ok {
				interrupted.Add(1)
			}
		})
	}
	all.Wait()
	if allowed.Load() != 1 || interrupted.Load() != 19 {
		t.Errorf("one answer allowed %d calls, and %d were interrupted", allowed.Load(), interrupted.Load())
	}
}

// TestSeveralAtOnce: calls that were made side by side are interrupted and resumed together.
func TestSeveralAtOnce(t *testing.T) {
	c, p := running(t, &interacttest.Policy{})
	a := &client.Approver{Client: c, Interrupt: true}
	run := func(ctx context.Context) (allowed []bool, err error) {
		errs := make([]error, 3)
		for n := range errs {
			input := json.RawMessage(fmt.Sprintf(`{"command":"make %d"}`, n))
			var d client.Decision
			d, errs[n] = a.Approve(ctx, "Bash", input, "")
			allowed = append(allowed, d.Allowed)
		}
		return allowed, errors.Join(errs...)
	}
	_, err := run(t.Context())
	interrupts := interrupt.All(err)
	if len(interrupts) != 3 {
		t.Fatalf("got %v", err)
	}
	ctx := t.Context()
	for n := range interrupts {
		p.answers <- interact.Answer{Outcome: api.Allowed}
		ctx = interrupt.WithResumeValue(ctx, interrupts[n])
	}
	for _, i := range interrupts {
		if _, err := c.Request(t.Context(), i.RequestID, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if allowed, err := run(ctx); err != nil || fmt.Sprint(allowed) != "[true true true]" {
		t.Errorf("got %v, %v", allowed, err)
	}
}

// TestResumedWithTheReply: whoever has the answer already hands it over, and it is held against the call like one that
// nod-desktop sends.
func TestResumedWithTheReply(t *testing.T) {
	c, p := running(t, &interacttest.Policy{})
	a := &client.Approver{Client: c, Interrupt: true}
	_, err := a.Approve(t.Context(), "Bash", input, "")
	asked := stored(t, err)
	p.answers <- interact.Answer{Outcome: api.Allowed}
	reply, err := c.Request(t.Context(), asked.RequestID, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	offline := &client.Client{
		Endpoint: endpoint.Endpoint{URL: "http://127.0.0.1:1", Socket: filepath.Join(t.TempDir(), "s")},
	}
	tests := []struct {
		name   string
		change func(*api.RequestReply)
		want   bool
	}{
		{"as it came", func(*api.RequestReply) {}, true},
		{"of another request", func(r *api.RequestReply) { r.ID = testID }, false},
		{"of another kind", func(r *api.RequestReply) { r.Kind = api.KindConfirm }, false},
		{"to another input", func(r *api.RequestReply) {
			r.Answer = bytes.ReplaceAll(r.Answer, []byte(interact.Digest(input)), []byte(interact.Digest(nil)))
		}, false},
		{"cut short", func(r *api.RequestReply) { r.Answer = r.Answer[:len(r.Answer)-1] }, false},
		{"none", func(r *api.RequestReply) { r.Answer = nil }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := reply
			test.change(&r)
			a := &client.Approver{Client: offline}
			ctx := interrupt.WithResumeValue(t.Context(), interrupt.Resume{Interrupt: *asked, Reply: r})
			d, err := a.Approve(ctx, "Bash", input, "")
			if d.Allowed != test.want || (err == nil) != test.want {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
}

// TestCancelled: the end of ctx wins over the user who thinks, and takes the prompt off their screen.
func TestCancelled(t *testing.T) {
	c, p := running(t, &interacttest.Policy{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the run is over")
	var id interact.ID
	go func() {
		id = (<-p.shown).ID
		cancel(why)
	}()
	a := &client.Approver{Client: c}
	if d, err := a.Approve(ctx, "Bash", input, ""); !errors.Is(err, why) || d.Allowed {
		t.Errorf("got %+v, %v, want %v", d, err, why)
	}
	if got := <-p.closed; got != id {
		t.Errorf("prompt %s was closed, want %s", got, id)
	}
	if _, err := a.Approve(ctx, "Bash", input, ""); !errors.Is(err, why) || len(p.shown) > 0 {
		t.Errorf("got %v, and %d were asked", err, len(p.shown))
	}
}

// within runs f with a client whose nod-desktop is h, on connections in memory. It fails when f, the client or the
// server leave a goroutine behind.
func within(t *testing.T, h http.Handler, f func(t *testing.T, c *client.Client)) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: h}
		served := make(chan error)
		go func() { served <- server.Serve(l) }()
		c := &client.Client{Endpoint: endpoint.Endpoint{URL: "http://127.0.0.1:7463"}, Dial: l.dial}
		f(t, c)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
}

// pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipes) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { close(l.closed); return nil }
func (l *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestCancellationLeaksNothing(t *testing.T) {
	var withdrawn bool
	waits := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		withdrawn = true
	})
	within(t, waits, func(t *testing.T, c *client.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		a := &client.Approver{Client: c}
		started := time.Now()
		d, err := a.Approve(ctx, "Bash", input, "")
		if !errors.Is(err, context.DeadlineExceeded) || d.Allowed || time.Since(started) != time.Hour {
			t.Errorf("got %+v, %v after %s", d, err, time.Since(started))
		}
		synctest.Wait()
		if !withdrawn {
			t.Error("nod-desktop was not hung up on")
		}
	})
}

// TestInterruptedWhileSending: the run ends before the agent knows the id of its request, so it is withdrawn.
func TestInterruptedWhileSending(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		switch r.Method {
		case http.MethodPost:
			cancel()
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(w, `{"id":"7","status":"pending","url":"x"}`)
		case http.MethodGet:
			fmt.Fprintf(w, `{"id":"7","kind":"approve","status":"pending"}`)
		case http.MethodDelete:
			fmt.Fprintf(w, `{"id":"7","kind":"approve","status":"withdrawn","answer":{}}`)
		}
	})
	within(t, h, func(t *testing.T, c *client.Client) {
		a := &client.Approver{Client: c, Interrupt: true}
		if _, err := a.Approve(ctx, "Bash", input, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	if got, want := strings.Join(calls, ", "), "POST /v1/approve, GET /v1/requests/7, DELETE /v1/requests/7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestHangingServer: a nod-desktop that takes nothing in does not hold up a run for ever.
func TestHangingServer(t *testing.T) {
	hangs := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	within(t, hangs, func(t *testing.T, c *client.Client) {
		a := &client.Approver{Client: c, Interrupt: true}
		d, err := a.Approve(t.Context(), "Bash", input, "")
		if _, is := interrupt.Get(err); err == nil || is || d.Allowed {
			t.Errorf("got %+v, %v", d, err)
		}
	})
}

// TestDoubtIsNoDecisionOfAGate: what is an error for the client is one for the gate, and allows nothing.
func TestDoubtIsNoDecisionOfAGate(t *testing.T) {
	replies := []struct {
		status      int
		media, body string
	}{
		{200, "application/json", "allow"},
		{200, "application/json", allow()}, // of another input
		{202, "application/json", `{"id":"x","status":"allowed"}`},
		{429, "application/problem+json", `{"code":"RATE_LIMITED","status":429,"title":"","detail":"","type":""}`},
		{500, "application/problem+json", `{"code":"INTERNAL","status":500,"title":"","detail":"","type":""}`},
	}
	for _, interrupts := range []bool{false, true} {
		for _, r := range replies {
			a := &client.Approver{Client: clientOf(t, says(r.status, r.media, r.body)), Interrupt: interrupts}
			if d, err := a.Approve(t.Context(), "Bash", input, ""); err == nil || d != (client.Decision{}) {
				t.Errorf("%d %s: got %+v, %v", r.status, r.body, d, err)
			}
		}
	}
	a := &client.Approver{Client: &client.Client{
		Endpoint: endpoint.Endpoint{URL: "http://127.0.0.1:1", Socket: filepath.Join(t.TempDir(), "s")},
	}}
	if d, err := a.Approve(t.Context(), "Bash", input, ""); !errors.Is(err, client.ErrNotRunning) || d.Allowed {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestAsker(t *testing.T) {
	one, two := api.Question{ID: "a", Question: "Which?"}, api.Question{ID: "b", Question: "And?"}
	text := interact.TextValue
	tests := []struct {
		name   string
		answer interact.Answer
		ask    func(ctx context.Context, a *client.Asker) (any, error)
		want   string
	}{
		{"ask", interact.Answer{Outcome: api.Answered, Text: "SQLite"},
			func(ctx context.Context, a *client.Asker) (any, error) {
				r, err := a.Ask(ctx, api.AskRequest{Ask: api.Ask{Question: "Which?"}})
				return r.Answer, err
			}, `"SQLite"`},
		{"confirm", interact.Answer{Outcome: api.Answered, Confirmed: true},
			func(ctx context.Context, a *client.Asker) (any, error) {
				r, err := a.Confirm(ctx, api.ConfirmRequest{Confirm: api.Confirm{Message: "Go on?"}})
				return r.Confirmed, err
			}, `true`},
		{"one question", interact.Answer{Outcome: api.Answered, Values: map[string]api.Value{"a": text("x")}},
			func(ctx context.Context, a *client.Asker) (any, error) {
				r, err := a.Form(ctx, api.FormRequest{Form: api.Form{Questions: []api.Question{one}}})
				return r.Answer, err
			}, `"x"`},
		{"two questions", interact.Answer{
			Outcome: api.Answered, Values: map[string]api.Value{"a": text("x"), "b": text("y")}},
			func(ctx context.Context, a *client.Asker) (any, error) {
				r, err := a.Form(ctx, api.FormRequest{Form: api.Form{Questions: []api.Question{one, two}}})
				return r.Answers, err
			}, `{"a":"x","b":"y"}`},
		{"dismissed", interact.Answer{Outcome: api.Dismissed},
			func(ctx context.Context, a *client.Asker) (any, error) {
				r, err := a.Ask(ctx, api.AskRequest{Ask: api.Ask{Question: "Which?"}})
				return r, err
			}, ""},
	}
	check := func(t *testing.T, got any, err error, want string) {
		t.Helper()
		if u, ok := errors.AsType[*interrupt.UndecidedError](err); want == "" && ok && u.Outcome == api.Dismissed {
			return
		}
		text, _ := json.Marshal(got)
		if err != nil || string(text) != want {
			t.Errorf("got %s, %v, want %s", text, err, want)
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, p := running(t, &interacttest.Policy{})
			p.answers <- test.answer
			got, err := test.ask(t.Context(), &client.Asker{Client: c})
			check(t, got, err, test.want)

			asker := &client.Asker{Client: c, Interrupt: true}
			_, err = test.ask(t.Context(), asker)
			i := stored(t, err)
			if i.Kind != interrupt.Clarify {
				t.Errorf("interrupted for %s", i.Kind)
			}
			p.answers <- test.answer
			if _, err := c.Request(t.Context(), i.RequestID, time.Minute); err != nil {
				t.Fatal(err)
			}
			got, err = test.ask(interrupt.WithResumeValue(t.Context(), i), asker)
			check(t, got, err, test.want)
		})
	}
}

// TestHeldThenInterrupted: a blocking call that holds for a while waits so long, and then interrupts.
func TestHeldThenInterrupted(t *testing.T) {
	c, p := running(t, &interacttest.Policy{})
	a := &client.Approver{Client: c, Common: api.Common{Hold: 0.01}}
	_, err := a.Approve(t.Context(), "Bash", input, "")
	p.answers <- interact.Answer{Outcome: api.Allowed}
	d, err := a.Approve(interrupt.WithResumeValue(t.Context(), stored(t, err)), "Bash", input, "")
	if err != nil || !d.Allowed || len(p.shown) != 1 {
		t.Errorf("got %+v, %v after %d prompts", d, err, len(p.shown))
	}
}

func TestAllowEverythingUnaskedIsLoud(t *testing.T) {
	var log bytes.Buffer
	var gate client.Gate = client.AllowEverythingUnasked{Log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 2 {
		d, err := gate.Approve(t.Context(), "Bash", json.RawMessage(`{"command":"echo secret"}`), "execute")
		if err != nil || !d.Allowed || d.By != "" {
			t.Errorf("got %+v, %v", d, err)
		}
	}
	if n := strings.Count(log.String(), "level=WARN msg=\"TOOL CALL ALLOWED UNASKED"); n != 2 {
		t.Errorf("it warned %d times: %s", n, &log)
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log holds the input: %s", &log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := gate.Approve(ctx, "Bash", nil, ""); err == nil || d.Allowed {
		t.Errorf("got %+v, %v from a run that is over", d, err)
	}
}
