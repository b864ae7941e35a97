package ipc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// The effects of routes. None of them decides.
const (
	effectAsk      = "ask"          // ask policy and user
	effectWithdraw = "withdraw own" // end a request of the caller's
	effectRead     = "read own"     // read requests of the caller's
	effectHealth   = "health"       // say that nod runs
	effectDescribe = "describe"     // say what nod would decide, or how to ask
)

var effects = map[string]string{
	"POST /v1/ask": effectAsk, "POST /v1/confirm": effectAsk, "POST /v1/form": effectAsk, "POST /v1/approve": effectAsk,
	"POST /v1/notify": effectAsk, "POST /v1/evaluate": effectDescribe, "POST /v1/hooks/{agent}/{event}": effectAsk,
	"GET /v1/requests": effectRead, "GET /v1/requests/{id}": effectRead, "DELETE /v1/requests/{id}": effectWithdraw,
	"GET /v1/health": effectHealth, "GET /v1/openapi.json": effectDescribe,
}

func (r route) effect() string { return effects[r.method+" "+r.path] }

// The wire can only ask. What each route may do is above; that it can do no more follows from what the server holds of
// the broker.
func TestTheWireCanOnlyAsk(t *testing.T) {
	all := routes()
	for _, r := range all {
		switch r.effect() {
		case "":
			t.Errorf("%s %s is a route whose effect nobody has named", r.method, r.path)
		case effectAsk, effectWithdraw:
			if r.method == "GET" {
				t.Errorf("GET %s can %q: a page could do that with an image", r.path, r.effect())
			}
		}
	}
	if len(all) != len(effects) {
		t.Errorf("there are %d routes, want %d", len(all), len(effects))
	}
}

// What the server holds of nod, and what those can do whom it hands requests to.
func TestTheServerHoldsNothingThatDecides(t *testing.T) {
	brokerOfHooks, _ := reflect.TypeFor[hooks.Config]().FieldByName("Broker")
	for what, want := range map[reflect.Type][]string{
		reflect.TypeFor[asker](): {"Begin", "Evaluate", "Find", "Own", "Pending", "Withdraw"},
		brokerOfHooks.Type:       {"Do", "Judge", "WithdrawWhere"},
	} {
		var got []string
		for i := range what.NumMethod() {
			got = append(got, what.Method(i).Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s can %q, want %q", what, got, want)
		}
	}
	var holds []string
	server := reflect.TypeFor[Server]()
	for i := range server.NumField() {
		held := server.Field(i).Type
		if held.Kind() == reflect.Pointer {
			held = held.Elem()
		}
		if strings.HasPrefix(held.PkgPath(), "nod/") {
			holds = append(holds, held.String())
		}
	}
	want := []string{"ipc.asker", "hooks.Hooks", "endpoint.Endpoint", "ipc.publication", "ipc.longBodies", "ipc.runs"}
	if !slices.Equal(holds, want) {
		t.Errorf("the server holds %q, want %q", holds, want)
	}
}

// Whatever is sent and whatever the paths are called: while the user does nothing, nothing is allowed.
func TestNothingOnTheWireAnswers(t *testing.T) {
	d := open(t)
	asked := d.post("/v1/approve", `{"tool":"Bash","input":{"command":"rm -rf ~"},"detach":true}`)
	asked.want(t, http.StatusAccepted, nil)
	at := "/v1/requests/" + asked.body["id"].(string)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
		for _, path := range []string{
			at + "/answer", at + "/allow", at + "/approve", "/v1/answer", "/v1/allow", "/v1/rules", "/v1/policy", "/v1/config",
			"/v1/grants", "/v1/pause", "/v1/quit", "/v1/settings", "/v1/history", "/v1/journal", "/v1/entries", "/v1/entries/1",
			"/v1/search", "/v1/insights", "/v1/export", "/", "/v1", "/v1/", "/v1/requests/", "//v1/ask",
			"/v1/../v1/ask", "/v1/ask/",
		} {
			g := d.do(d.request(method, path, `{"decision":"allow","outcome":"allowed","by":"human"}`))
			g.want(t, http.StatusNotFound, map[string]any{"code": "NOT_FOUND"})
		}
	}
	for _, method := range []string{"POST", "PUT", "PATCH"} {
		g := d.do(d.request(method, at, `{"decision":"allow"}`))
		g.want(t, http.StatusMethodNotAllowed, map[string]any{"code": "METHOD_NOT_ALLOWED"})
		if allow := g.header.Get("Allow"); allow != "DELETE, GET, HEAD" {
			t.Errorf("Allow: %q", allow)
		}
	}
	d.get(at).want(t, http.StatusOK, map[string]any{"status": "pending"})
}

// replyCase says what the user or a rule answers, and what the route then replies.
type replyCase struct {
	name, path, body string
	rule             policy.Effect // of the tool Bash
	answer           interact.Answer
	err              error
	status           int
	want             map[string]any
}

func TestReplies(t *testing.T) {
	const yes, no = policy.Allow, policy.Deny
	input := interact.Digest([]byte(`{"command":"make all"}`))
	one := `{"questions":[{"id":"db","question":"Which?","options":[{"label":"SQLite"},{"label":"Postgres"}]}]}`
	two := `{"questions":[{"id":"db","question":"Which?","options":[{"label":"SQLite"}]},{"id":"name",` +
		`"question":"Name?","required":false}]}`
	cases := []replyCase{
		{"ask", "/v1/ask", `{"question":"Which?"}`, "", interact.Answer{Outcome: api.Answered,
			Text: "the <second> & last"}, nil,
			200, map[string]any{"outcome": "answered", "answer": "the <second> & last"}},
		{"ask dismissed", "/v1/ask", `{"question":"Which?"}`, "", interact.Answer{Outcome: api.Dismissed}, nil,
			409, map[string]any{"outcome": "dismissed", "code": "INTERACT_CANCELLED"}},
		{"ask without a screen", "/v1/ask", `{"question":"Which?"}`, "", interact.Answer{}, fmt.Errorf(
			"no screen: %w", interact.ErrUnavailable,
		),
			501, map[string]any{"outcome": "unavailable", "code": "INTERACT_NOT_SUPPORTED"}},
		{"ask and a window that fails", "/v1/ask", `{"question":"Which?"}`, "", interact.Answer{}, errors.New(
			"the window is broken",
		),
			501, map[string]any{"outcome": "unavailable", "code": "INTERACT_NOT_SUPPORTED"}},
		{"ask and a window that allows", "/v1/ask", `{"question":"Which?"}`, "", interact.Answer{Outcome: api.Allowed},
			nil,
			501, map[string]any{"outcome": "unavailable"}},

		{"confirm yes", "/v1/confirm", `{"message":"Deploy?"}`, "", interact.Answer{Outcome: api.Answered,
			Confirmed: true}, nil,
			200, map[string]any{"outcome": "answered", "confirmed": true, "defaulted": false}},
		{"confirm no", "/v1/confirm", `{"message":"Deploy?","default":true}`, "",
			interact.Answer{Outcome: api.Answered}, nil,
			200, map[string]any{"outcome": "answered", "confirmed": false, "defaulted": false}},
		{"confirm dismissed", "/v1/confirm", `{"message":"Deploy?","default":true}`, "",
			interact.Answer{Outcome: api.Dismissed}, nil,
			409, map[string]any{"outcome": "dismissed", "code": "INTERACT_CANCELLED", "confirmed": nil}},
		{"confirm elsewhere", "/v1/confirm", `{"message":"Deploy?"}`, "", interact.Answer{Outcome: api.Withdrawn}, nil,
			409, map[string]any{"outcome": "withdrawn", "code": "INTERACT_CANCELLED"}},

		{"form of one", "/v1/form", one, "", interact.Answer{Outcome: api.Answered,
			Values: map[string]api.Value{"db": interact.ListValue("Postgres")}}, nil,
			200, map[string]any{"outcome": "answered", "answer": []any{"Postgres"}, "answers": nil}},
		{"form of two", "/v1/form", two, "", interact.Answer{Outcome: api.Answered,
			Values: map[string]api.Value{"db": interact.ListValue("SQLite"), "name": interact.TextValue("")}}, nil,
			200, map[string]any{"outcome": "answered", "answer": nil, "answers": map[string]any{"db": []any{"SQLite"},
				"name": ""}}},
		{"form dismissed", "/v1/form", one, "", interact.Answer{Outcome: api.Dismissed}, nil,
			409, map[string]any{"outcome": "dismissed"}},

		{"approve", "/v1/approve", samples["/v1/approve"], "", interact.Answer{Outcome: api.Allowed,
			Scope: policy.ThisSession}, nil,
			200, map[string]any{"decision": "allow", "outcome": "allowed", "by": "human", "reason": "", "scope": "session",
				"shown_sha256": input, "rule": nil}},
		{"approve as the agent suggests", "/v1/approve",
			strings.Replace(samples["/v1/approve"], `{`, `{"suggestions":["always","make"],`, 1), "",
			interact.Answer{Outcome: api.Allowed, Suggestion: 2}, nil,
			200, map[string]any{"decision": "allow", "suggestion": 2.0, "shown_sha256": input}},
		{"approve denied", "/v1/approve", samples["/v1/approve"], "", interact.Answer{Outcome: api.Denied,
			Reason: "use make test"}, nil,
			200, map[string]any{"decision": "deny", "outcome": "denied", "by": "human", "reason": "use make test",
				"scope": nil, "shown_sha256": input}},
		{"approve denied without a word", "/v1/approve", samples["/v1/approve"], "",
			interact.Answer{Outcome: api.Denied}, nil,
			200, map[string]any{"decision": "deny", "outcome": "denied", "by": "human", "reason": ""}},
		{"approve dismissed", "/v1/approve", samples["/v1/approve"], "", interact.Answer{Outcome: api.Dismissed}, nil,
			200, map[string]any{"decision": "deny", "outcome": "dismissed", "by": nil}},
		{"approve elsewhere", "/v1/approve", samples["/v1/approve"], "", interact.Answer{Outcome: api.Withdrawn}, nil,
			200, map[string]any{"decision": "deny", "outcome": "withdrawn", "by": nil}},
		{"approve without a screen", "/v1/approve", samples["/v1/approve"], "", interact.Answer{}, interact.ErrUnavailable,
			501, map[string]any{"decision": nil, "outcome": "unavailable", "code": "INTERACT_NOT_SUPPORTED"}},
		{"approve and a window that showed something else", "/v1/approve", samples["/v1/approve"], "",
			interact.Answer{Outcome: api.Allowed, ShownSHA256: interact.Digest([]byte("ls"))}, nil,
			501, map[string]any{"decision": nil, "outcome": "unavailable"}},
		{"approve by rule", "/v1/approve", samples["/v1/approve"], yes, interact.Answer{Outcome: api.Denied}, nil,
			200, map[string]any{"decision": "allow", "outcome": "allowed", "by": "policy", "rule": "test:Bash",
				"reason": "the test says so", "shown_sha256": input}},
		{"deny by rule", "/v1/approve", samples["/v1/approve"], no, interact.Answer{Outcome: api.Allowed}, nil,
			200, map[string]any{"decision": "deny", "outcome": "denied", "by": "policy", "rule": "test:Bash",
				"reason": "the test says so"}},

		{
			"notify", "/v1/notify", samples["/v1/notify"], "", interact.Answer{}, nil, 200,
			map[string]any{"sent": true, "outcome": "answered"},
		},
		{"evaluate", "/v1/evaluate", samples["/v1/evaluate"], "", interact.Answer{}, nil,
			200, map[string]any{"decision": "ask", "reason": "no rule covers this", "class": "unknown", "rule": nil}},
		{
			"evaluate allow", "/v1/evaluate", samples["/v1/evaluate"], yes, interact.Answer{}, nil, 200,
			map[string]any{"decision": "allow", "rule": "test:Bash"},
		},
		{
			"evaluate deny", "/v1/evaluate", samples["/v1/evaluate"], no, interact.Answer{}, nil, 200,
			map[string]any{"decision": "deny", "rule": "test:Bash"},
		},
	}
	s := loadSchemas(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := open(t)
			if c.rule != "" {
				d.policy.Set("Bash", c.rule)
			}
			d.human.Answer = func(interact.Request, policy.Decision) (interact.Answer, error) { return c.answer, c.err }
			g := d.post(c.path, c.body)
			c.check(t, s, g)
			if c.path == "/v1/evaluate" {
				d.wantNothing()
				return
			}
			// Whoever fetches it later gets the same.
			id, _ := g.body["id"].(string)
			later := d.get("/v1/requests/" + id)
			later.want(t, 200, map[string]any{"id": id, "status": g.body["outcome"], "kind": strings.TrimPrefix(c.path, "/v1/")})
			if !reflect.DeepEqual(later.body["answer"], any(g.body)) {
				t.Errorf("fetched later: %s, want %s", later.text, g.text)
			}
			if err := s.reply(t, "GET", "/v1/requests/{id}", 200, "application/json").validate([]byte(later.text)); err != nil {
				t.Errorf("%v: %s", err, later.text)
			}
		})
	}
}

func (c replyCase) check(t *testing.T, s schemas, g got) {
	t.Helper()
	scalars := map[string]any{}
	for name, want := range c.want {
		if reflect.TypeOf(want) == nil || reflect.TypeOf(want).Comparable() {
			scalars[name] = want
		} else if !reflect.DeepEqual(g.body[name], want) {
			t.Errorf("%s is %v, want %v", name, g.body[name], want)
		}
	}
	g.want(t, c.status, scalars)
	if err := s.reply(t, "POST", c.path, c.status, g.header.Get("Content-Type")).validate([]byte(g.text)); err != nil {
		t.Errorf("not as described: %v: %s", err, g.text)
	}
	// Silence must not read like a refusal.
	if outcome := g.body["outcome"]; outcome == "dismissed" || outcome == "withdrawn" || outcome == "timed_out" {
		words := fmt.Sprint(g.body["reason"], g.body["detail"])
		if !strings.Contains(words, "nobody") {
			t.Errorf("%s: %q does not say that nobody decided", outcome, words)
		}
	}
}

// What the user saw and how they decided is the journal's alone: no reply has it, nor the log.
func TestWhatWasShownStaysHere(t *testing.T) {
	const canary = "canary 4711"
	answers := map[api.Kind]interact.Answer{
		api.KindAsk: {Outcome: api.Answered, Text: "SQLite"}, api.KindConfirm: {Outcome: api.Answered},
		api.KindForm: {Outcome: api.Answered,
			Values: map[string]api.Value{"db": interact.ListValue("pg"), "name": interact.TextValue("")}},
		api.KindApprove: {Outcome: api.Allowed},
	}
	for path, at := range map[string]string{
		"/v1/ask": "/v1/ask", "/v1/confirm": "/v1/confirm", "/v1/form": "/v1/form", "/v1/approve": "/v1/approve",
		"/v1/hooks/{agent}/{event}": "/v1/hooks/claude-code/PermissionRequest",
	} {
		t.Run(path, func(t *testing.T) {
			d := open(t)
			d.human.Answer = func(r interact.Request, _ policy.Decision) (interact.Answer, error) {
				a := answers[r.Body.Kind()]
				a.Shown = interact.Shown{At: time.Now(), Armed: 1, Decided: 2, With: canary, Facts: []string{canary}, Diff: canary}
				return a, nil
			}
			g := d.post(at, samples[path])
			if g.status != http.StatusOK || len(d.human.Shown()) != 1 {
				t.Fatalf("%d after %d prompts: %s", g.status, len(d.human.Shown()), g.text)
			}
			later := d.get("/v1/requests/" + string(d.human.Shown()[0].ID))
			list := d.get("/v1/requests")
			for name, text := range map[string]string{"reply": g.text, "fetched": later.text, "list": list.text,
				"header": fmt.Sprint(g.header, later.header, list.header), "log": d.log.String()} {
				if strings.Contains(text, canary) {
					t.Errorf("%s: %s", name, text)
				}
			}
		})
	}
}

func TestDetachThenFetch(t *testing.T) {
	d := open(t)
	answer := make(chan interact.Answer)
	d.human.Answer = func(interact.Request, policy.Decision) (interact.Answer, error) { return <-answer, nil }
	g := d.post("/v1/ask", `{"question":"Which?","detach":true}`)
	id := g.body["id"].(string)
	g.want(t, http.StatusAccepted, map[string]any{"status": "pending", "url": d.endpoint.URL + "/v1/requests/" + id})
	if at := g.header.Get("Location"); at != "/v1/requests/"+id {
		t.Errorf("Location: %q", at)
	}
	at := "/v1/requests/" + id
	if g := d.get(at); g.body["status"] != "pending" || g.body["answer"] != nil {
		t.Errorf("before the answer: %s", g.text)
	}
	done := make(chan got)
	go func() { done <- d.get(at + "?wait=60") }()
	answer <- interact.Answer{Outcome: api.Answered, Text: "this"}
	(<-done).want(t, 200, map[string]any{"status": "answered"})
	if shown := d.human.Shown(); len(shown) != 1 {
		t.Errorf("the human was asked %d times", len(shown))
	}
}

func TestDetachedAndDecidedAtOnce(t *testing.T) {
	d := open(t)
	d.policy.Set("Bash", policy.Allow)
	g := d.post("/v1/approve", `{"tool":"Bash","input":{},"detach":true}`)
	g.want(t, http.StatusAccepted, map[string]any{"status": "allowed"})
	later := d.get("/v1/requests/" + g.body["id"].(string))
	later.want(t, 200, map[string]any{"status": "allowed"})
}

func TestDetachedOnceItHasEnded(t *testing.T) {
	d := open(t)
	d.human.Answer = interacttest.Always(interact.Answer{Outcome: api.Answered, Text: "this"})
	const asked = `{"question":"Which?","idempotency_key":"k"`
	d.post("/v1/ask", asked+`}`).want(t, 200, nil)
	d.post("/v1/ask", asked+`,"detach":true}`).want(t, http.StatusAccepted, map[string]any{"status": "answered"})
}

func TestHangingUpWithdraws(t *testing.T) {
	for _, path := range []string{"/v1/ask", "/v1/confirm", "/v1/form", "/v1/approve"} {
		for _, through := range []string{"socket", "port"} {
			t.Run(path+" "+through, func(t *testing.T) {
				d := open(t)
				client := d.socket
				if through == "port" {
					client = d.tcp
				}
				ctx, hangUp := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() {
					_, err := client.Do(d.request("POST", path, samples[path]).WithContext(ctx))
					ended <- err
				}()
				id := d.shownOne().ID
				hangUp()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				d.get("/v1/requests/"+string(id)+"?wait=60").want(t, 200, map[string]any{"status": "cancelled"})
				if closed := <-d.closed; closed != id {
					t.Errorf("taken off the screen was %v, want %v", closed, id)
				}
			})
		}
	}
}

func TestOneOfTwoCallersHangsUp(t *testing.T) {
	d := open(t)
	answer := make(chan interact.Answer)
	d.human.Answer = func(interact.Request, policy.Decision) (interact.Answer, error) { return <-answer, nil }
	first, hangUp := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := d.socket.Do(d.request("POST", "/v1/ask", samples["/v1/ask"]).WithContext(first))
		gone <- err
	}()
	id := d.shownOne().ID
	// The second joins by the content: it holds no longer than it takes to say so.
	d.post("/v1/ask", strings.Replace(samples["/v1/ask"], "{", `{"hold":0.001,`, 1)).want(
		t, 202, map[string]any{"id": string(id)},
	)
	hangUp()
	<-gone
	answer <- interact.Answer{Outcome: api.Answered, Text: "SQLite"}
	d.get("/v1/requests/"+string(id)+"?wait=60").want(t, 200, map[string]any{"status": "answered"})
	if n := len(d.human.Shown()); n != 1 {
		t.Errorf("the human was asked %d times", n)
	}
}

func TestIdempotencyKey(t *testing.T) {
	d := open(t)
	d.human.Answer = interacttest.Always(interact.Answer{Outcome: api.Answered, Text: "once"})
	body := `{"question":"Which?","idempotency_key":"k1"}`
	first := d.post("/v1/ask", body)
	second := d.post("/v1/ask", body)
	if first.status != 200 || first.text != second.text {
		t.Errorf("first %s, then %s", first.text, second.text)
	}
	d.post("/v1/ask", `{"question":"Another?","idempotency_key":"k1"}`).want(
		t, 400, map[string]any{"param": "idempotency_key"},
	)
	if n := len(d.human.Shown()); n != 1 {
		t.Errorf("the human was asked %d times", n)
	}
}

func TestWithdraw(t *testing.T) {
	d := open(t)
	id := d.post("/v1/ask", `{"question":"Which?","detach":true}`).body["id"].(string)
	for range 2 { // a second time is no error
		g := d.do(d.request("DELETE", "/v1/requests/"+id, ""))
		g.want(t, 200, map[string]any{"id": id, "kind": "ask", "status": "withdrawn"})
	}
	if pending := d.broker.Pending(); len(pending) != 0 {
		t.Errorf("still waits: %v", pending)
	}
}

func TestWithdrawAfterTheAnswer(t *testing.T) {
	d := open(t)
	d.policy.Set("Bash", policy.Allow)
	id := d.post("/v1/approve", samples["/v1/approve"]).body["id"].(string)
	d.do(d.request("DELETE", "/v1/requests/"+id, "")).want(t, 200, map[string]any{"status": "allowed"})
}

func TestList(t *testing.T) {
	d := open(t)
	d.policy.Set("Bash", policy.Deny)
	d.post("/v1/approve", samples["/v1/approve"])
	d.post("/v1/ask", `{"question":"Secret?","agent":"a","session":"s","detach":true}`)
	g := d.get("/v1/requests")
	if err := loadSchemas(t).reply(t, "GET", "/v1/requests", 200,
		"application/json").validate([]byte(g.text)); err != nil {
		t.Error(err)
	}
	var list api.ListReply
	if err := json.Unmarshal([]byte(g.text), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Requests) != 2 {
		t.Fatalf("listed: %s", g.text)
	}
	denied, asked := list.Requests[0], list.Requests[1]
	if denied.Kind != "approve" || denied.Status != "denied" || denied.Session != "s1" {
		t.Errorf("the oldest is %+v", denied)
	}
	if asked.Kind != "ask" || asked.Status != "pending" || asked.Agent != "a" || asked.Session != "s" ||
		!asked.Deadline.After(asked.Created) {
		t.Errorf("the newest is %+v", asked)
	}
	if strings.Contains(g.text, "Secret") || strings.Contains(g.text, "make all") {
		t.Errorf("the list tells what was asked: %s", g.text)
	}
}

func TestUnknownRequests(t *testing.T) {
	d := open(t)
	for _, id := range []string{"x", "01900000-0000-7000-8000-000000000000", "%00", strings.Repeat("a", 1000),
		"..%2f..%2fetc", "%ff"} {
		for _, method := range []string{"GET", "DELETE"} {
			d.do(d.request(method, "/v1/requests/"+id, "")).want(t, 404, map[string]any{"code": "NOT_FOUND"})
		}
	}
}

func TestQueries(t *testing.T) {
	d := open(t)
	id := d.post("/v1/ask", `{"question":"Which?","detach":true}`).body["id"].(string)
	at := "/v1/requests/" + id
	for query, param := range map[string]string{
		"wait=61": "wait", "wait=-1": "wait", "wait=NaN": "wait", "wait=Inf": "wait", "wait=x": "wait",
		"wait=1&wait=2": "wait",
		"Wait=1":        "Wait", "answer=allow": "answer", "wait=%zz": "query", "a;b": "query",
	} {
		d.get(at+"?"+query).want(t, 400, map[string]any{"code": "INTERACT_INVALID_PARAM", "param": param})
	}
	d.do(d.request("POST", "/v1/ask?question=Which", samples["/v1/ask"])).want(t, 400, map[string]any{"param": "question"})
	for _, query := range []string{"", "?wait=0", "?wait=0.001", "?wait="} {
		d.get(at+query).want(t, 200, map[string]any{"status": "pending"})
	}
}

func TestHealth(t *testing.T) {
	var adds api.HealthReply
	d := open(t, func(d *fixture) {
		d.server.health = func(h *api.HealthReply) {
			h.Status = cmp.Or(adds.Status, h.Status)
			h.PausedUntil, h.History = adds.PausedUntil, adds.History
		}
	})
	d.post("/v1/ask", `{"question":"Which?","detach":true}`)
	schema := loadSchemas(t).reply(t, "GET", "/v1/health", 200, "application/json")
	tell := func(want map[string]any) {
		t.Helper()
		g := d.get("/v1/health")
		g.want(t, 200, want)
		if err := schema.validate([]byte(g.text)); err != nil {
			t.Error(err)
		}
	}
	tell(map[string]any{"status": "ok", "version": "0.0.0-test", "pending": 1.0})
	adds.Status = "paused"
	tell(map[string]any{"status": "paused"})
	adds.PausedUntil = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	tell(map[string]any{"status": "paused", "paused_until": "2026-01-02T15:04:05Z"})
	adds.History = "the disk is full"
	tell(map[string]any{"history": "the disk is full"})
}

// fragile is a broker that panics when it is asked, and knows nothing otherwise.
type fragile struct{ asker }

func (fragile) Pending() []interact.Request { panic("secret detail") }

func TestPanicIsAProblem(t *testing.T) {
	d := open(t, func(d *fixture) { d.server.broker = fragile{d.server.broker} })
	g := d.get("/v1/health")
	g.want(t, 500, map[string]any{"code": "INTERNAL"})
	if strings.Contains(g.text, "secret") {
		t.Errorf("the reply tells callers what went wrong inside: %s", g.text)
	}
	if !strings.Contains(d.log.String(), "secret detail") {
		t.Error("the log does not say what went wrong")
	}
	d.get("/v1/requests").want(t, 200, nil) // and nod goes on
}

// An agent's hook gets the agent's own words, or nothing.
func TestHooks(t *testing.T) {
	d := open(t)
	const path = "/v1/hooks/claude-code/PermissionRequest"
	d.human.Answer = interacttest.Always(interact.Answer{Outcome: api.Denied, Reason: "no"})
	got := d.post(path, samples["/v1/hooks/{agent}/{event}"])
	want := `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny",` +
		`"message":"no"}}}` + "\n"
	if got.text != want {
		t.Errorf("got %swant %s", got.text, want)
	}
	d.human.Answer = interacttest.Always(interact.Answer{Outcome: api.Dismissed})
	for path, want := range map[string]int{
		path:                             204,
		"/v1/hooks/claude-code/Unheard":  204,
		"/v1/hooks/nobody/PreToolUse":    404,
		"/v1/hooks/claude-code/Stop?x=1": 400,
	} {
		resp, err := d.socket.Do(d.request("POST", path, samples["/v1/hooks/{agent}/{event}"]))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, resp.StatusCode, want)
		}
	}
}
