package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy"
)

// client connects a real MCP client, in memory, to tools that ask p.
func client(t *testing.T, p interact.Prompter, o *sdk.ClientOptions) (*sdk.ClientSession, *interact.Broker) {
	t.Helper()
	b := interacttest.Broker(p, allowing("allowed"))
	server := newServer(b, "test")
	ctx := context.WithValue(t.Context(), callerKey{}, caller{Caller: Caller{Requester: interact.Requester{CWD: "/src"}}})
	here, there := sdk.NewInMemoryTransports()
	ss, err := server.Connect(ctx, there, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "claude-code", Version: "1"}, o).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cs.Close()
		_ = ss.Wait()
		b.Close()
	})
	return cs, b
}

func callTool(t *testing.T, cs *sdk.ClientSession, name, args string) *sdk.CallToolResult {
	t.Helper()
	r, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	if !r.IsError && r.StructuredContent != nil {
		fits(t, cs, name, r)
	}
	return r
}

// fits checks a result as clients do: against the schema that the tool announces.
func fits(t *testing.T, cs *sdk.ClientSession, name string, r *sdk.CallToolResult) {
	t.Helper()
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Tools, func(tool *sdk.Tool) bool { return tool.Name == name })
	text, err := json.Marshal(list.Tools[i].OutputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(r.StructuredContent); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func structured(t *testing.T, r *sdk.CallToolResult) string {
	t.Helper()
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func textOf(r *sdk.CallToolResult) string { return r.Content[0].(*sdk.TextContent).Text }

func says(a interact.Answer) *interacttest.Prompter {
	return &interacttest.Prompter{Answer: interacttest.Always(a)}
}

func answered(a interact.Answer) *interacttest.Prompter {
	a.Outcome = api.Answered
	return says(a)
}

func TestTools(t *testing.T) {
	values := func(id string, v api.Value) interact.Answer {
		return interact.Answer{Values: map[string]api.Value{id: v}}
	}
	tests := map[string]struct {
		human      *interacttest.Prompter
		tool, args string
		want       string // structured content
	}{
		"ask": {answered(interact.Answer{Text: "42"}), "interact_ask", `{"question":"?"}`, `{"answer":"42"}`},
		"ask options": {
			answered(interact.Answer{Text: "B"}), "interact_ask", `{"question":"?","options":["A","B"]}`, `{"answer":"B"}`,
		},
		"ask dismissed": {
			says(interact.Answer{Outcome: api.Dismissed}), "interact_ask", `{"question":"?"}`,
			`{"code":"INTERACT_CANCELLED","message":"nobody decided: the user closed the prompt and has not refused"}`,
		},
		"ask no screen": {
			&interacttest.Prompter{Answer: noScreen}, "interact_ask", `{"question":"?"}`,
			`{"code":"INTERACT_NOT_SUPPORTED","message":"nobody decided: nobody can be asked"}`,
		},
		"ask nothing": {
			nil, "interact_ask", `{}`, `{"code":"INVALID_PATH","message":"question: want a text that is not blank"}`,
		},
		"ask blank": {
			nil, "interact_ask", `{"question":" "}`,
			`{"code":"INVALID_PATH","message":"question: want a text that is not blank"}`,
		},
		"ask a number": {
			nil, "interact_ask", `{"question":1}`, `{"code":"INVALID_PATH","message":"question: want a string, got a number"}`,
		},
		"ask bad options": {
			nil, "interact_ask", `{"question":"?","options":"yes"}`,
			`{"code":"INVALID_PATH","message":"options: want an array, got a string"}`,
		},
		"ask bad timeout": {
			nil, "interact_ask", `{"question":"?","timeout":-1}`,
			`{"code":"INTERACT_INVALID_PARAM","message":"timeout: want 0 to 86400 seconds"}`,
		},
		"confirm yes": {
			answered(interact.Answer{Confirmed: true}), "interact_confirm", `{"message":"?"}`, `{"confirmed":true}`,
		},
		"confirm no": {
			answered(interact.Answer{}), "interact_confirm", `{"message":"?","default":true}`, `{"confirmed":false}`,
		},
		"confirm silence": {
			nil, "interact_confirm", `{"message":"?","default":true,"timeout":0.05}`, `{"confirmed":true,"defaulted":true}`,
		},
		"confirm bad": {
			nil, "interact_confirm", `{"message":"?","default":"yes"}`,
			`{"code":"INTERACT_INVALID_PARAM","message":"default: want true or false, got a string"}`,
		},
		"notify": {nil, "interact_notify", `{"message":"!"}`, `{"sent":true}`},
		"notify bad level": {
			nil, "interact_notify", `{"message":"!","level":"loud"}`,
			"{\"code\":\"INTERACT_INVALID_PARAM\",\"message\":" +
				"\"level: want \\\"info\\\", \\\"warning\\\" or \\\"error\\\", got \\\"loud\\\"\"}",
		},
		"form one": {
			answered(values("q", interact.ListValue("A"))), "interactive_form_question",
			`{"questions":[{"id":"q","question":"?","options":["A","B"]}]}`, `{"answer":["A"]}`,
		},
		"form text": {
			answered(values("q", interact.TextValue("x"))), "interactive_form_question",
			`{"questions":[{"id":"q","question":"?","input_type":"textarea"}]}`, `{"answer":"x"}`,
		},
		"form no id": {
			nil, "interactive_form_question", `{"questions":[{"question":"?"}]}`,
			`{"code":"INVALID_PATH","message":"questions[0].id: want a text that is not blank"}`,
		},
		"form bad id": {
			nil, "interactive_form_question", `{"questions":[{"id":1,"question":"?"}]}`,
			`{"code":"INVALID_PATH","message":"questions[0].id: want a string, got a number"}`,
		},
		"form nothing": {
			nil, "interactive_form_question", `{"questions":[]}`,
			`{"code":"INTERACT_INVALID_PARAM","message":"questions: want at least one question"}`,
		},
		"form not waited": {
			nil, "interactive_form_question", `{"questions":[{"id":"q","question":"?"}],"wait":false}`,
			`{"status":"waiting_for_user_response","id":"…"}`,
		},
		"approve": {
			says(interact.Answer{Outcome: api.Allowed}), "ask_user_approval", `{"tool":"Bash","input":{"command":"ls"}}`,
			`{"by":"human","decision":"allow","reason":""}`,
		},
		"approve denied": {
			says(interact.Answer{Outcome: api.Denied, Reason: "no"}), "ask_user_approval", `{"tool":"Bash","input":{}}`,
			`{"by":"human","decision":"deny","reason":"no"}`,
		},
		"approve closed": {
			says(interact.Answer{Outcome: api.Dismissed}), "ask_user_approval", `{"tool":"Bash","input":{}}`,
			`{"by":"human","decision":"deny","reason":"nobody decided: the user closed the prompt and has not refused"}`,
		},
		"approve no input": {
			nil, "ask_user_approval", `{"tool":"Bash","input":"x"}`,
			`{"code":"INTERACT_INVALID_PARAM","message":"input: want a JSON object"}`,
		},
		"wait for nothing": {
			nil, "interact_wait", `{"id":"nope"}`, `{"code":"NOT_FOUND","message":"no request of yours has this id; ` +
				`if nod was restarted, ask again"}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			human := tt.human
			if human == nil {
				human = &interacttest.Prompter{}
			}
			cs, _ := client(t, human, nil)
			r := callTool(t, cs, tt.tool, tt.args)
			got := hideID(structured(t, r))
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if failed := strings.Contains(tt.want, `"code"`); r.IsError != failed {
				t.Errorf("isError = %v", r.IsError)
			}
		})
	}
}

func noScreen(interact.Request, policy.Decision) (interact.Answer, error) {
	return interact.Answer{}, interact.ErrUnavailable
}

// hideID takes the id of a request, which is new each time, out of a result.
func hideID(s string) string {
	var r struct{ Status, ID string }
	if json.Unmarshal([]byte(s), &r) != nil || r.ID == "" {
		return s
	}
	return `{"status":"` + r.Status + `","id":"…"}`
}

func TestPermissionPrompt(t *testing.T) {
	const args = `{"tool_name":"Bash","input":{"command":"ls  -l"},"tool_use_id":"toolu_1"}`
	tests := map[string]struct {
		human *interacttest.Prompter
		args  string
		want  string
	}{
		"allow": {
			says(interact.Answer{Outcome: api.Allowed}), args, `{"behavior":"allow","updatedInput":{"command":"ls  -l"}}`,
		},
		"deny": {
			says(interact.Answer{Outcome: api.Denied, Reason: "no"}), args, `{"behavior":"deny","message":"no"}`,
		},
		"dismiss": {
			says(interact.Answer{Outcome: api.Dismissed, Reason: "later"}), args,
			`{"behavior":"deny","message":"nobody decided: later"}`,
		},
		"no screen": {
			&interacttest.Prompter{Answer: noScreen}, args,
			`{"behavior":"deny","message":"nobody decided: nobody can be asked"}`,
		},
		"no tool": {
			&interacttest.Prompter{}, `{"input":{}}`,
			`{"behavior":"deny","message":"nobody decided: tool_name: want a string"}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cs, _ := client(t, tt.human, nil)
			r := callTool(t, cs, "approval_prompt", tt.args)
			if got := textOf(r); got != tt.want || r.IsError || r.StructuredContent != nil {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestTheClientIsNamed(t *testing.T) {
	human := answered(interact.Answer{Text: "x"})
	cs, _ := client(t, human, nil)
	callTool(t, cs, "interact_ask", `{"question":"?"}`)
	if who := human.Shown()[0].Requester; who.Agent != "claude-code" || who.CWD != "/src" {
		t.Errorf("requester %+v", who)
	}
}

// The spellings that models use for the parts of a form.
func TestFormSpellings(t *testing.T) {
	choice := func(multi bool, labels ...string) api.Question {
		q := api.Question{InputType: interact.Choice, MultiSelect: multi}
		for _, l := range labels {
			q.Options = append(q.Options, api.Option{Label: l, Value: l})
		}
		return q
	}
	text := api.Question{InputType: interact.Text}
	tests := map[string]api.Question{
		`{"id":"q","question":"?","options":["A","B"]}`:                                          choice(false, "A", "B"),
		`{"id":"q","question":"?","multi_select":true,"options":["A"]}`:                          choice(true, "A"),
		`{"id":"q","question":"?","input_type":"choice"}`:                                        text,
		`{"id":"q","question":"?","input_type":"text","options":["A"]}`:                          text,
		`{"id":"q","question":"?","input_type":"wizardry"}`:                                      text,
		`{"id":"q","question":"?","input_type":"wizardry","options":["A"]}`:                      choice(false, "A"),
		`{"id":" q ","question":" ? ","options":[" A "]}`:                                        choice(false, "A"),
		`{"id":"q","question":"?","options":[{"label":"A","value":"A"}],"extra":{"ignored":[]}}`: choice(false, "A"),
	}
	for in, want := range tests {
		t.Run(in, func(t *testing.T) {
			human := says(interact.Answer{Outcome: api.Dismissed})
			cs, _ := client(t, human, nil)
			callTool(t, cs, "interactive_form_question", `{"questions":[`+in+`]}`)
			if len(human.Shown()) != 1 {
				t.Fatal("not asked")
			}
			got := human.Shown()[0].Body.(api.Form).Questions[0]
			want.ID, want.Question = "q", "?"
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want)
			if string(g) != string(w) {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

// A question outlives the call: pending, then the answer, however late.
func TestHoldAndWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		human := &interacttest.Prompter{
			Delay: 2 * time.Minute, Answer: interacttest.Always(interact.Answer{Outcome: api.Answered, Text: "42"}),
		}
		cs, _ := client(t, human, nil)
		started := time.Now()
		first := callTool(t, cs, "interact_ask", `{"question":"?"}`)
		if took := time.Since(started); took != defaultHold || hideID(structured(t,
			first)) != `{"status":"pending","id":"…"}` {
			t.Fatalf("first: %s after %v", structured(t, first), took)
		}
		if again := callTool(t, cs, "interact_ask", `{"question":"?","hold":1}`); structured(t, again) != structured(t,
			first) {
			t.Errorf("asked again: %s", structured(t, again))
		}
		var pending struct{ ID string }
		if err := json.Unmarshal([]byte(structured(t, first)), &pending); err != nil {
			t.Fatal(err)
		}
		wait := func(hold int) string {
			return structured(t, callTool(t, cs, "interact_wait", fmt.Sprintf(`{"id":%q,"hold":%d}`, pending.ID, hold)))
		}
		if still := wait(10); still != structured(t, first) {
			t.Errorf("still: %s", still)
		}
		time.Sleep(time.Hour) // the answer comes while nobody waits
		if late := wait(0); late != `{"answer":"42"}` {
			t.Errorf("late: %s", late)
		}
		if n := len(human.Shown()); n != 1 {
			t.Errorf("%d prompts, want 1", n)
		}
	})
}

func TestPendingSaysHowToGoOn(t *testing.T) {
	cs, b := client(t, &interacttest.Prompter{}, nil)
	r := callTool(t, cs, "interact_ask", `{"question":"?","hold":0}`)
	if hideID(structured(t, r)) != `{"status":"pending","id":"…"}` || !strings.Contains(textOf(r), "interact_wait") {
		t.Errorf("got %s, %q", structured(t, r), textOf(r))
	}
	if len(b.Pending()) != 1 {
		t.Error("the question was taken off the screen")
	}
}

func TestCancellationClosesThePrompt(t *testing.T) {
	human := &interacttest.Prompter{}
	cs, b := client(t, human, nil)
	changes, stop := b.Changes()
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "interact_ask", Arguments: json.RawMessage(`{"question":"?"}`)})
		done <- err
	}()
	<-changes // the prompt is up
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled call returned")
	}
	<-changes // and gone
	if n := len(b.Pending()); n != 0 {
		t.Errorf("%d pending", n)
	}
}

// Progress comes at once and then every 15 seconds, and ends with the call.
func TestProgressWhileThePersonThinks(t *testing.T) {
	const question = `{"question":"?"}`
	seen := func(p sdk.ProgressNotificationParams, at time.Duration) string {
		return fmt.Sprintf("%v %v %s %v", p.ProgressToken, p.Progress, p.Message, at)
	}
	tests := map[string]struct {
		human      *interacttest.Prompter
		tool, args string
		want       []string
	}{
		"a question": {thinks(40 * time.Second), "interact_ask", question, []string{
			"tok 1 waiting for the user 0s", "tok 2 waiting for the user 15s", "tok 3 waiting for the user 30s",
		}},
		"held for less": {thinks(time.Minute), "interact_ask", `{"question":"?","hold":10}`, []string{
			"tok 1 waiting for the user 0s",
		}},
		"not waited for": {thinks(time.Minute), "interact_ask", `{"question":"?","hold":0}`, nil},
		"a notice":       {thinks(0), "interact_notify", `{"message":"!"}`, nil},
		"decided by the policy": {
			thinks(0), "ask_user_approval", `{"tool":"allowed","input":{}}`, nil,
		},
	}
	for name, tt := range tests {
		for way, connect := range map[string]func(*testing.T, interact.Prompter, *sdk.ClientOptions) *sdk.ClientSession{
			"directly": directly, "through the proxy": throughProxy,
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var got []string
					started := time.Now()
					o := &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
						r *sdk.ProgressNotificationClientRequest) {
						got = append(got, seen(*r.Params, time.Since(started)))
					}}
					cs := connect(t, tt.human, o)
					p := &sdk.CallToolParams{Name: tt.tool, Arguments: json.RawMessage(tt.args)}
					p.SetProgressToken("tok")
					if _, err := cs.CallTool(t.Context(), p); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					time.Sleep(time.Hour)
					if !slices.Equal(got, tt.want) {
						t.Errorf("got %q\nwant %q", got, tt.want)
					}
				})
			})
		}
	}
}

// thinks is a user who answers after a while.
func thinks(delay time.Duration) *interacttest.Prompter {
	return &interacttest.Prompter{
		Delay: delay, Answer: interacttest.Always(interact.Answer{Outcome: api.Answered, Text: "x"}),
	}
}

// allowing is a policy that allows a tool and asks about all others.
func allowing(tool string) *interacttest.Policy {
	var p interacttest.Policy
	p.Set(tool, policy.Allow)
	return &p
}

// directly connects a client to tools that ask p.
func directly(t *testing.T, p interact.Prompter, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	cs, _ := client(t, p, o)
	return cs
}

// throughProxy connects a client to a proxy of such tools.
func throughProxy(t *testing.T, p interact.Prompter, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	b := interacttest.Broker(p, allowing("allowed"))
	t.Cleanup(b.Close)
	server := newServer(b, "test")
	connect := func(ctx context.Context, s Session) (*sdk.ClientSession, error) {
		here, there := sdk.NewInMemoryTransports()
		if _, err := server.Connect(ctx, there, nil); err != nil {
			return nil, err
		}
		return sdk.NewClient(&sdk.Implementation{Name: s.Client, Version: "1"}, s.Options).Connect(ctx, here, nil)
	}
	return proxied(t, desktop{connect: connect}, o)
}

// desktop is a nod-desktop that is reached by a function, and comes back by another.
type desktop struct {
	connect  func(context.Context, Session) (*sdk.ClientSession, error)
	reattach func(context.Context, error) error
}

func (d desktop) Connect(ctx context.Context, s Session) (*sdk.ClientSession, error) {
	return d.connect(ctx, s)
}
func (d desktop) Reattach(ctx context.Context, broke error) error { return d.reattach(ctx, broke) }

// proxied connects a client to a proxy of d.
func proxied(t *testing.T, d desktop, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	ss, err := NewProxy(func() (Desktop, error) { return d, nil }, "test").Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "claude-code", Version: "1"}, o).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close(); _ = ss.Wait() })
	return cs
}

func TestDescriptions(t *testing.T) {
	cs, _ := client(t, &interacttest.Prompter{}, nil)
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 7 {
		t.Errorf("%d tools", len(list.Tools))
	}
	for _, tool := range list.Tools {
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || *tool.Annotations.DestructiveHint {
			t.Errorf("%s: annotations %+v", tool.Name, tool.Annotations)
		}
		if tool.InputSchema == nil || tool.Description == "" ||
			(tool.OutputSchema == nil) != (tool.Name == "approval_prompt") {
			t.Errorf("%s: incomplete", tool.Name)
		}
	}
}

// Over HTTP every request proves anew who sends it.
func TestHTTP(t *testing.T) {
	human := answered(interact.Answer{Text: "42"})
	b := interacttest.Broker(human, &interacttest.Policy{})
	defer b.Close()
	who := func(*http.Request) Caller {
		return Caller{Requester: interact.Requester{Process: api.Process{PID: 4711, Exe: "/bin/agent"}}}
	}
	server := httptest.NewServer(Handler(b, who, "test", slog.New(slog.DiscardHandler)))
	defer server.Close()
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "x", Version: "1"}, nil).Connect(
		t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL}, nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	if got := structured(t, callTool(t, cs, "interact_ask", `{"question":"?"}`)); got != `{"answer":"42"}` {
		t.Errorf("got %s", got)
	}
	if p := human.Shown()[0].Requester.Process; p.PID != 4711 {
		t.Errorf("process %+v", p)
	}
}

func TestProxy(t *testing.T) {
	human := answered(interact.Answer{Text: "42"})
	_, server := served(t, human)
	away := false
	connect := func(ctx context.Context, s Session) (*sdk.ClientSession, error) {
		if away {
			return nil, errors.New("nod-desktop isn't running")
		}
		return connectTo(ctx, server.URL, s)
	}
	cs := proxied(t, desktop{connect: connect}, nil)
	if got := structured(t, callTool(t, cs, "interact_ask", `{"question":"?"}`)); got != `{"answer":"42"}` {
		t.Errorf("got %s", got)
	}
	away = true
	tests := map[string]string{
		"interact_ask":    `{"code":"INTERACT_NOT_SUPPORTED","message":"nod-desktop isn't running"}`,
		"interact_notify": `{"sent":false}`,
	}
	for tool, want := range tests {
		if got := structured(t, callTool(t, cs, tool, `{"question":"?","message":"!"}`)); got != want {
			t.Errorf("%s, away: %s", tool, got)
		}
	}
	if got := textOf(callTool(t, cs, "approval_prompt",
		`{"tool_name":"T","input":{}}`)); got != `{"behavior":"deny",`+
		`"message":"nobody decided: nod-desktop isn't running"}` {
		t.Errorf("approval_prompt, away: %s", got)
	}
}

// connectTo opens a session with the server at url, as nod mcp does.
func connectTo(ctx context.Context, url string, s Session) (*sdk.ClientSession, error) {
	return sdk.NewClient(&sdk.Implementation{Name: s.Client, Version: "1"}, s.Options).Connect(
		ctx, &sdk.StreamableClientTransport{Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true}, nil,
	)
}

// A call whose nod-desktop dies and never comes back ends, and with no yes.
func TestProxyGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := interacttest.Broker(thinks(time.Hour), allowing("allowed"))
		defer b.Close()
		server := newServer(b, "test")
		connect := func(ctx context.Context, s Session) (*sdk.ClientSession, error) {
			here, there := sdk.NewInMemoryTransports()
			session, err := server.Connect(ctx, there, nil)
			if err != nil {
				return nil, err
			}
			time.AfterFunc(time.Second, func() { _ = session.Close() })
			return sdk.NewClient(&sdk.Implementation{Name: s.Client, Version: "1"}, s.Options).Connect(ctx, here, nil)
		}
		reattach := func(ctx context.Context, _ error) error {
			<-ctx.Done()
			return ctx.Err()
		}
		cs := proxied(t, desktop{connect, reattach}, nil)
		began := time.Now()
		r := callTool(t, cs, "interact_confirm", `{"message":"?"}`)
		if !r.IsError || !strings.Contains(textOf(r), "call again to ask again") || time.Since(began) > 2*time.Minute {
			t.Errorf("got %s after %v", textOf(r), time.Since(began))
		}
	})
}

// A call that loses its nod-desktop is made again at the next one: under the same key, with the time that is left, and
// with progress that goes on. Where there is none, the model is told.
func TestProxyComesBack(t *testing.T) {
	for _, comesBack := range []bool{true, false} {
		t.Run(fmt.Sprint(comesBack), func(t *testing.T) {
			reported := make(chan struct{})
			_, first := served(t, &interacttest.Prompter{})
			_, next := served(t, &interacttest.Prompter{
				// A user who answers at once may do so before anything is reported.
				Answer: func(interact.Request, policy.Decision) (interact.Answer, error) {
					<-reported
					return interact.Answer{Outcome: api.Answered, Text: "42"}, nil
				},
			})
			url := first.URL
			var sessions []Session
			connect := func(ctx context.Context, s Session) (*sdk.ClientSession, error) {
				sessions = append(sessions, s)
				return connectTo(ctx, url, s)
			}
			reattach := func(_ context.Context, broke error) error {
				if broke == nil || !comesBack {
					return errors.New("nobody comes")
				}
				url = next.URL
				return nil
			}
			var progress []float64
			cs := proxied(t, desktop{connect, reattach}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					progress = append(progress, r.Params.Progress)
					if len(progress) == 1 {
						first.CloseClientConnections()
					} else {
						close(reported)
					}
				},
			})
			p := &sdk.CallToolParams{Name: "interact_ask", Arguments: json.RawMessage(`{"question":"?"}`)}
			p.SetProgressToken("tok")
			r, err := cs.CallTool(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if !comesBack {
				if !r.IsError || !strings.Contains(textOf(r), "call again to ask again") || len(sessions) != 1 {
					t.Errorf("got %s after %d sessions", textOf(r), len(sessions))
				}
				return
			}
			if got := structured(t, r); got != `{"answer":"42"}` {
				t.Errorf("got %s", got)
			}
			if len(sessions) != 2 || sessions[0].Key != sessions[1].Key || sessions[0].Key == "" ||
				sessions[0].Waited != 0 || sessions[1].Waited <= 0 {
				t.Errorf("sessions %+v", sessions)
			}
			if !slices.Equal(progress, []float64{1, 2}) {
				t.Errorf("progress %v", progress)
			}
		})
	}
}

// What a client has waited at a nod-desktop that is gone counts.
func TestWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		human := thinks(time.Hour)
		b := interacttest.Broker(human, &interacttest.Policy{})
		defer b.Close()
		c := call{broker: b, Caller: Caller{Waited: 40 * time.Second}, req: &sdk.CallToolRequest{
			Params: &sdk.CallToolParamsRaw{},
		}}
		began := time.Now()
		ticket, err := c.ask(t.Context(), api.Ask{Question: "?"}, timing{Timeout: 60})
		if took := time.Since(began); err != nil || took != defaultHold-40*time.Second {
			t.Fatalf("%v after %v", err, took)
		}
		if left := ticket.Request().Deadline.Sub(began); left != 20*time.Second {
			t.Errorf("%v are left for the user", left)
		}
	})
}

func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"questions":[{"id":"q","question":"?","options":["A",{"label":"B"}]}]}`,
		`{"question":"?","hold":0}`, `[]`, `{"input":{},"tool":"T","hold":0}`} {
		f.Add("interact_ask", s)
		f.Add("interactive_form_question", s)
		f.Add("ask_user_approval", s)
	}
	f.Fuzz(func(t *testing.T, tool, args string) {
		if !json.Valid([]byte(args)) || tool == "interact_wait" {
			return
		}
		cs, _ := client(t, says(interact.Answer{Outcome: api.Dismissed}), nil)
		r, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
		if err == nil && (strings.Contains(structured(t, r), `"allow"`) || strings.Contains(textOf(r), `"allow"`)) &&
			!strings.Contains(args, "allow") {
			t.Fatalf("a dismissed prompt became %s", structured(t, r))
		}
	})
}
