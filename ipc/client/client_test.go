package client_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

const testID = "0192f0c1-0000-7000-8000-000000000001"

// socketPath returns a fresh path that is short enough for a socket's address (104 bytes on macOS).
func socketPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "nod")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// clientOf returns a client whose nod-desktop is h behind a socket.
func clientOf(t testing.TB, h http.Handler) *client.Client {
	t.Helper()
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h)
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	c := &client.Client{Endpoint: endpoint.Endpoint{URL: "http://127.0.0.1:7463", Socket: path, Token: "secret"}}
	return c
}

// says returns a handler with one reply for everything.
func says(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// spits returns a client whose nod-desktop reads one request and writes these bytes, whatever they are.
func spits(t testing.TB, reply string) *client.Client {
	t.Helper()
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.Copy(io.Discard, req.Body)
			io.WriteString(c, reply)
		}
	}()
	return &client.Client{Endpoint: endpoint.Endpoint{URL: "http://127.0.0.1:7463", Socket: path, Token: "secret"}}
}

var call = api.ApproveRequest{Approve: api.Approve{Tool: "Bash", Input: json.RawMessage(`{"command":"make all"}`),
	Suggestions: []string{"allow make"}}}

func digest(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:]) }

// allow is a good reply to call.
func allow() string {
	return fmt.Sprintf(`{"decision":"allow","outcome":"allowed","reason":"","by":"human","scope":"once",`+
		`"shown_sha256":%q}`,
		digest(call.Input))
}

func TestApprove(t *testing.T) {
	tests := []struct {
		name, reply string
		want        api.ApproveReply
	}{
		{"allowed by a user", allow(),
			api.ApproveReply{Decision: "allow", Head: api.Head{Outcome: api.Allowed}, By: api.ByHuman, Scope: "once",
				ShownSHA256: digest(call.Input)}},
		{"allowed with the agent's own rule", strings.Replace(allow(), `{`, `{"suggestion":1,`, 1),
			api.ApproveReply{Decision: "allow", Head: api.Head{Outcome: api.Allowed}, By: api.ByHuman, Scope: "once",
				Suggestion: 1, ShownSHA256: digest(call.Input)}},
		{"denied by a rule", `{"decision":"deny","outcome":"denied","reason":"no builds","by":"policy","rule":"r1",` +
			`"shown_sha256":"x"}`,
			api.ApproveReply{Decision: "deny", Head: api.Head{Outcome: api.Denied}, By: api.ByPolicy, Rule: "r1",
				Reason: "no builds", ShownSHA256: "x"}},
		{"outcome left to by", `{"decision":"deny","reason":"away","by":"timeout","shown_sha256":"x"}`,
			api.ApproveReply{Decision: "deny", Head: api.Head{Outcome: api.TimedOut}, By: api.ByTimeout, Reason: "away",
				ShownSHA256: "x"}},
		{"nobody decided", `{"decision":"deny","reason":"closed","shown_sha256":"x"}`,
			api.ApproveReply{Decision: "deny", Head: api.Head{Outcome: api.Dismissed}, Reason: "closed", ShownSHA256: "x"}},
		{"a field that this version does not know",
			`{"decision":"deny","reason":"","shown_sha256":"x","by":"human","mood":"good"}`,
			api.ApproveReply{Decision: "deny", Head: api.Head{Outcome: api.Denied}, By: api.ByHuman, ShownSHA256: "x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := clientOf(t, says(200, "application/json", test.reply)).Approve(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			if got.Allowed() != (test.want.Outcome == api.Allowed) {
				t.Errorf("Allowed() = %v", got.Allowed())
			}
		})
	}
}

// TestDoubtIsNoDecision: whatever is not plainly nod-desktop's allow is an error, and half a reply is none.
func TestDoubtIsNoDecision(t *testing.T) {
	good := allow()
	tests := []struct {
		name   string
		status int
		media  string
		body   string
	}{
		{"not JSON", 200, "application/json", "allow"},
		{"nothing", 200, "application/json", ""},
		{"an array", 200, "application/json", "[" + good + "]"},
		{"null", 200, "application/json", "null"},
		{"a string", 200, "application/json", `"allow"`},
		{"cut short", 200, "application/json", good[:len(good)-1]},
		{"two replies", 200, "application/json", good + good},
		{"something behind", 200, "application/json", good + "x"},
		{"not UTF-8", 200, "application/json", strings.Replace(good, `"reason":""`, "\"reason\":\"\xff\"", 1)},
		{"no decision", 200, "application/json", strings.Replace(good, `"decision":"allow",`, "", 1)},
		{"unknown decision", 200, "application/json", strings.Replace(good, `"decision":"allow"`, `"decision":"allowed"`, 1)},
		{"ask is no decision", 200, "application/json", strings.Replace(good, `"decision":"allow"`, `"decision":"ask"`, 1)},
		{"decision of another type", 200, "application/json", strings.Replace(good, `"allow"`, `true`, 1)},
		{"decision null", 200, "application/json", strings.Replace(good, `"allow"`, `null`, 1)},
		{"decision in capitals", 200, "application/json", strings.Replace(good, `"decision"`, `"Decision"`, 1)},
		{"two decisions", 200, "application/json", strings.Replace(good, `{`, `{"decision":"deny",`, 1)},
		{"decided by the time-out", 200, "application/json", strings.Replace(good, `"human"`, `"timeout"`, 1)},
		{"decided by nobody", 200, "application/json", strings.Replace(good, `"by":"human",`, ``, 1)},
		{"allowed and denied", 200, "application/json", strings.Replace(good, `"allowed"`, `"denied"`, 1)},
		{"denied and allowed", 200, "application/json", strings.Replace(good, `"allow"`, `"deny"`, 1)},
		{"no reason", 200, "application/json", strings.Replace(good, `"reason":"",`, ``, 1)},
		{"for another input", 200, "application/json", strings.Replace(good, digest(call.Input), digest([]byte("{}")), 1)},
		{"without the digest", 200, "application/json", strings.Replace(good, `,"shown_sha256"`, `,"shown"`, 1)},
		{"with a suggestion that nobody made", 200, "application/json", strings.Replace(good, `{`, `{"suggestion":2,`, 1)},
		{"another media type", 200, "text/html", good},
		{"no media type", 200, "", good},
		{"created", 201, "application/json", good},
		{"accepted", 202, "application/json", good},
		{"accepted, and done", 202, "application/json", `{"id":"x","status":"allowed"}`},
		{"no content", 204, "application/json", ""},
		{"moved", 302, "application/json", good},
		{"refused with an allow in it", 403, "application/json", good},
		{"failed with an allow in it", 500, "application/json", good},
		{"a problem without a code", 500, "application/problem+json", good},
		{"a problem that is none", 500, "application/problem+json", "oops"},
		{"an error page", 502, "text/html", "<h1>Bad gateway</h1>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := clientOf(t, says(test.status, test.media, test.body)).Approve(t.Context(), call)
			expectNoDecision(t, got, err)
		})
	}
}

// TestDoubtfulHook: only nod-desktop's own way to make no decision is one.
func TestDoubtfulHook(t *testing.T) {
	h := client.NewHookCall("codex", "PreToolUse", []byte("{}"))
	if reply, err := clientOf(t, says(204, "", "")).Hook(t.Context(), h); err != nil || reply != nil {
		t.Errorf("no decision: %q, %v", reply, err)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"nothing": says(200, "application/json", ""), "a blank": says(200, "application/json", " \n"),
		"a page": says(200, "text/html", "{}"), "an empty page": says(200, "text/html", ""),
		"no media type": says(200, "", "{}"), "more than one": says(200, "application/json", "{}{}"),
		"another status": says(201, "application/json", "{}"), "an empty refusal": says(500, "application/problem+json", ""),
	} {
		if reply, err := clientOf(t, handler).Hook(t.Context(), h); err == nil || errors.Is(err, client.ErrNotRunning) {
			t.Errorf("%s: %q, %v", name, reply, err)
		}
	}
}

// TestBrokenWire does the same one layer down.
func TestBrokenWire(t *testing.T) {
	good := allow()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	tests := []struct{ name, reply string }{
		{"hung up", ""},
		{"another protocol", "SSH-2.0-OpenSSH_9.2\r\n"},
		{"garbage", "\x00\x01\x02\x03"},
		{"half a header", "HTTP/1.1 200 OK\r\nContent-Ty"},
		{"half a body", head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(good)+1, good)},
		{"a body cut in a chunk", head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(good), good)},
		{
			"a body without its last chunk",
			head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(good), good),
		},
		{"a body until the end, cut", head + "\r\n" + good[:len(good)-1]},
		{"compressed", head + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00"},
		{"two lengths", head + fmt.Sprintf("Content-Length: 3\r\nContent-Length: %d\r\n\r\n%s", len(good), good)},
		{"endless", head + "Content-Length: 99999999\r\n\r\n" + `{"reason":"` + strings.Repeat("a", 9<<20)},
		{"without a length", head + "\r\n" + good},
		{"a length below zero", head + "Content-Length: -1\r\n\r\n" + good},
		{
			"a length and chunks",
			head + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
				len(good), len(good), good),
		},
		{"a chunk that is longer", head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s \r\n0\r\n\r\n",
			len(good), good)},
		{"an endless header", head + "X: " + strings.Repeat("a", 1<<20)},
		{"early hints for ever", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 1000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := spits(t, test.reply).Approve(t.Context(), call)
			expectNoDecision(t, got, err)
		})
	}
}

// TestChunks: a reply may come in pieces.
func TestChunks(t *testing.T) {
	good := allow()
	reply := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"%X\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", 20, good[:20], len(good)-20, good[20:])
	got, err := spits(t, reply).Approve(t.Context(), call)
	if err != nil || !got.Allowed() {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestHeadersAreOneLine: what a caller puts into a header adds none.
func TestHeadersAreOneLine(t *testing.T) {
	called := false
	c := clientOf(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	c.Endpoint.Token = "x\r\nNod-Cwd: /"
	if _, err := c.Health(t.Context()); err == nil || called {
		t.Errorf("it was sent: %v", err)
	}
}

func expectNoDecision(t *testing.T, got api.ApproveReply, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("got an answer: %+v", got)
	}
	if got.Allowed() || got.Decision != "" {
		t.Errorf("an error, and a reply with it: %+v", got)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the token is in the error: %v", err)
	}
}

func TestLostConnection(t *testing.T) {
	_, err := spits(t, "").Health(t.Context())
	if _, ok := errors.AsType[*client.LostError](err); !ok {
		t.Errorf("error %v (%T), want a LostError", err, err)
	}
}

func TestProblem(t *testing.T) {
	const body = `{"type":"about:blank","title":"Bad Request","status":400,"detail":"question: is empty",` +
		`"code":"INTERACT_INVALID_PARAM","param":"question"}`
	c := clientOf(t, says(400, "application/problem+json; charset=utf-8", body))
	_, err := c.Ask(t.Context(), api.AskRequest{})
	p, ok := errors.AsType[*client.Problem](err)
	if !ok {
		t.Fatalf("error %v, want a Problem", err)
	}
	if p.Code != api.CodeInvalidParam || p.Param != "question" || p.Status != 400 || p.Error() != "question: is empty" {
		t.Errorf("got %+v", p)
	}
}

func TestProblemWithOutcomeAndRetry(t *testing.T) {
	c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "5")
		says(429, "application/problem+json", `{"code":"RATE_LIMITED","outcome":"unavailable"}`)(w, r)
	}))
	_, err := c.Health(t.Context())
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.RetryAfter != 5*time.Second || p.Outcome != api.Unavailable || p.Error() == "" {
		t.Errorf("got %+v (%v)", p, err)
	}
}

func TestPending(t *testing.T) {
	c := clientOf(
		t, says(202, "application/json", `{"id":"`+testID+`","status":"pending","url":"/v1/requests/`+testID+`"}`),
	)
	_, err := c.Approve(t.Context(), call)
	p, ok := errors.AsType[*client.Pending](err)
	if !ok || p.ID != testID || p.URL != "/v1/requests/"+testID {
		t.Errorf("got %+v (%v)", p, err)
	}
}

// TestWire states what goes over the wire for each method.
func TestWire(t *testing.T) {
	full := api.Common{
		Agent: "a", Session: "s", CWD: "/w", Timeout: 1.5, IdempotencyKey: "k", Detach: true, Hold: 2,
	}
	const options = `"agent":"a","session":"s","cwd":"/w","timeout":1.5,"idempotency_key":"k","detach":true,"hold":2`
	no := false
	tests := []struct {
		name string
		do   func(context.Context, *client.Client) error
		want string
	}{
		{"ask", func(ctx context.Context, c *client.Client) error {
			_, err := c.Ask(
				ctx, api.AskRequest{Ask: api.Ask{Question: "<q>&", Options: []string{"a"}, AllowOther: &no}, Common: full},
			)
			return err
		}, `POST /v1/ask {"question":"<q>&","options":["a"],"allow_other":false,` + options + `}`},
		{"ask, plain", func(ctx context.Context, c *client.Client) error {
			_, err := c.Ask(ctx, api.AskRequest{Ask: api.Ask{Question: "q"}})
			return err
		}, `POST /v1/ask {"question":"q"}`},
		{"confirm", func(ctx context.Context, c *client.Client) error {
			_, err := c.Confirm(ctx, api.ConfirmRequest{Confirm: api.Confirm{Message: "m", Default: true}, Common: full})
			return err
		}, `POST /v1/confirm {"message":"m","default":true,` + options + `}`},
		{"form", func(ctx context.Context, c *client.Client) error {
			_, err := c.Form(ctx, api.FormRequest{Form: api.Form{Questions: []api.Question{
				{ID: "i", Question: "q", Default: api.Value{List: true, Items: []string{"x"}}},
			}}, Common: full})
			return err
		}, `POST /v1/form {"questions":[{"id":"i","question":"q","default":["x"]}],` + options + `}`},
		{"approve", func(ctx context.Context, c *client.Client) error {
			_, err := c.Approve(
				ctx,
				api.ApproveRequest{
					Approve: api.Approve{Tool: "T", Input: json.RawMessage("{ \"a\": \"<\",\n \"b\": 1.0 }")}, Common: full,
				},
			)
			return err
		}, `POST /v1/approve {"tool":"T","input":{"a":"<","b":1.0},` + options + `}`},
		{"evaluate", func(ctx context.Context, c *client.Client) error {
			_, err := c.Evaluate(
				ctx,
				api.ApproveRequest{Approve: api.Approve{Tool: "T", Input: json.RawMessage("{}"), Class: "write"}, Common: full},
			)
			return err
		}, `POST /v1/evaluate {"tool":"T","input":{},"class":"write",` + options + `}`},
		{"notify", func(ctx context.Context, c *client.Client) error {
			_, err := c.Notify(ctx, api.NotifyRequest{Notify: api.Notify{Message: "m", Level: "warning"}, Common: full})
			return err
		}, `POST /v1/notify {"message":"m","level":"warning",` + options + `}`},
		{"request", func(ctx context.Context, c *client.Client) error {
			_, err := c.Request(ctx, "../x?y", time.Hour)
			return err
		}, `GET /v1/requests/..%2Fx%3Fy?wait=60 `},
		{"request, now", func(ctx context.Context, c *client.Client) error {
			_, err := c.Request(ctx, testID, 0)
			return err
		}, `GET /v1/requests/` + testID + ` `},
		{"withdraw", func(ctx context.Context, c *client.Client) error { _, err := c.Withdraw(ctx, testID); return err },
			`DELETE /v1/requests/` + testID + ` `},
		{"requests", func(ctx context.Context, c *client.Client) error { _, err := c.Requests(ctx); return err },
			`GET /v1/requests `},
		{"health", func(ctx context.Context, c *client.Client) error { _, err := c.Health(ctx); return err },
			`GET /v1/health `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got string
			var header http.Header
			var host string
			c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = r.Method + " " + r.URL.RequestURI() + " " + string(bytes.TrimSpace(body))
				header, host = r.Header, r.Host
				says(418, "application/problem+json", `{"code":"TEAPOT"}`)(w, r)
			}))
			if err := test.do(t.Context(), c); err == nil || err.Error() != "refused with TEAPOT" {
				t.Errorf("error %v", err)
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if header.Get("Authorization") != "Bearer secret" || host != "127.0.0.1:7463" {
				t.Errorf("Authorization %q, Host %q", header.Get("Authorization"), host)
			}
			if hasBody := strings.HasPrefix(test.want, "POST"); hasBody != (header.Get("Content-Type") == "application/json") {
				t.Errorf("Content-Type %q", header.Get("Content-Type"))
			}
			for _, name := range []string{"Origin", "Referer", "Sec-Fetch-Site"} {
				if header.Get(name) != "" {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
}

func TestApproveRefusesBrokenInput(t *testing.T) {
	called := false
	c := clientOf(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	for _, input := range []string{"", "{", `{"a":}`, "{}{}"} {
		got, err := c.Approve(t.Context(), api.ApproveRequest{Approve: api.Approve{Tool: "T", Input: json.RawMessage(input)}})
		expectNoDecision(t, got, err)
	}
	if called {
		t.Error("it was sent")
	}
}

func TestReplies(t *testing.T) {
	ctx := t.Context()
	reply := func(body string) *client.Client { return clientOf(t, says(200, "application/json", body)) }
	text := api.Question{ID: "a", Question: "?"}
	tests := []struct {
		name string
		do   func() (any, error)
		want string // or "error"
	}{
		{"ask", func() (any, error) {
			r, err := reply(`{"answer":"","id":"1"}`).Ask(ctx, api.AskRequest{})
			return r.Answer, err
		}, ""},
		{"ask without an answer", func() (any, error) {
			r, err := reply(`{"id":"1"}`).Ask(ctx, api.AskRequest{})
			return r, err
		}, "error"},
		{"ask that was dismissed", func() (any, error) {
			r, err := reply(`{"answer":"x","outcome":"dismissed"}`).Ask(ctx, api.AskRequest{})
			return r, err
		}, "error"},
		{"confirm", func() (any, error) {
			r, err := reply(`{"confirmed":true,"defaulted":true,"outcome":"timed_out"}`).Confirm(ctx, api.ConfirmRequest{})
			return []bool{r.Confirmed, r.Defaulted}, err
		}, "[true true]"},
		{"confirm with a number", func() (any, error) {
			r, err := reply(`{"confirmed":1,"defaulted":false}`).Confirm(ctx, api.ConfirmRequest{})
			return r, err
		}, "error"},
		{"confirm without defaulted", func() (any, error) {
			r, err := reply(`{"confirmed":true}`).Confirm(ctx, api.ConfirmRequest{})
			return r, err
		}, "error"},
		{"form of one", func() (any, error) {
			r, err := reply(`{"answer":["x"]}`).Form(ctx, api.FormRequest{Form: api.Form{Questions: []api.Question{text}}})
			return wire(r.Answer), err
		}, `["x"]`},
		{"form of two", func() (any, error) {
			b := text
			b.ID = "b"
			r, err := reply(`{"answers":{"a":"","b":[]}}`).Form(
				ctx, api.FormRequest{Form: api.Form{Questions: []api.Question{text, b}}},
			)
			return wire(r.Answers), err
		}, `{"a":"","b":[]}`},
		{"form of two with one answer", func() (any, error) {
			b := text
			b.ID = "b"
			r, err := reply(`{"answers":{"a":""}}`).Form(
				ctx, api.FormRequest{Form: api.Form{Questions: []api.Question{text, b}}},
			)
			return r, err
		}, "error"},
		{"form of one with answers", func() (any, error) {
			r, err := reply(`{"answers":{"a":""}}`).Form(ctx, api.FormRequest{Form: api.Form{Questions: []api.Question{text}}})
			return r, err
		}, "error"},
		{"form with a number", func() (any, error) {
			r, err := reply(`{"answer":7}`).Form(ctx, api.FormRequest{Form: api.Form{Questions: []api.Question{text}}})
			return r, err
		}, "error"},
		{"notify", func() (any, error) {
			r, err := reply(`{"sent":false}`).Notify(ctx, api.NotifyRequest{})
			return r.Sent, err
		}, "false"},
		{"notify without sent", func() (any, error) {
			r, err := reply(`{}`).Notify(ctx, api.NotifyRequest{})
			return r, err
		}, "error"},
		{"evaluate", func() (any, error) {
			r, err := reply(`{"decision":"ask","reason":"no rule","class":"unknown"}`).Evaluate(ctx, call)
			return []any{r.Decision, r.Reason, r.Class}, err
		}, "[ask no rule unknown]"},
		{"evaluate with another decision", func() (any, error) {
			r, err := reply(`{"decision":"maybe","reason":"no rule"}`).Evaluate(ctx, call)
			return r, err
		}, "error"},
		{"request", func() (any, error) {
			r, err := reply(`{"id":"`+testID+`","kind":"ask","status":"pending"}`).Request(ctx, testID, 0)
			return r.Status, err
		}, "pending"},
		{"another request", func() (any, error) {
			r, err := reply(`{"id":"x","kind":"ask","status":"pending"}`).Request(ctx, testID, 0)
			return r, err
		}, "error"},
		{"request with another status", func() (any, error) {
			r, err := reply(`{"id":"`+testID+`","kind":"ask","status":"great"}`).Request(ctx, testID, 0)
			return r, err
		}, "error"},
		{"withdraw", func() (any, error) {
			r, err := reply(`{"id":"`+testID+`","kind":"ask","status":"answered","answer":{}}`).Withdraw(ctx, testID)
			return r.Status, err
		}, "answered"},
		{"withdraw, still pending", func() (any, error) {
			r, err := reply(`{"id":"`+testID+`","kind":"ask","status":"pending"}`).Withdraw(ctx, testID)
			return r, err
		}, "error"},
		{"requests", func() (any, error) {
			r, err := reply(`{"requests":[{"id":"1","kind":"ask","status":"pending","created":"2026-01-02T03:04:05Z",` +
				`"deadline":"2026-01-02T03:05:05Z","agent":"a"}]}`).Requests(ctx)
			return fmt.Sprint(len(r.Requests), r.Requests[0].Agent, r.Requests[0].Deadline.Sub(r.Requests[0].Created)), err
		}, "1a1m0s"},
		{"requests, none", func() (any, error) {
			r, err := reply(`{"requests":[]}`).Requests(ctx)
			return len(r.Requests), err
		}, "0"},
		{"requests without a list", func() (any, error) {
			r, err := reply(`{}`).Requests(ctx)
			return r, err
		}, "error"},
		{"requests with half a request", func() (any, error) {
			r, err := reply(`{"requests":[{"id":"1"}]}`).Requests(ctx)
			return r, err
		}, "error"},
		{"health", func() (any, error) {
			r, err := reply(`{"status":"ok","version":"1","pending":2}`).Health(ctx)
			return r.Pending, err
		}, "2"},
		{"health with text", func() (any, error) {
			r, err := reply(`{"status":"ok","version":"1","pending":"2"}`).Health(ctx)
			return r, err
		}, "error"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := test.do()
			got := fmt.Sprint(r)
			if err != nil {
				got = "error"
				if !strings.HasPrefix(err.Error(), "not a reply of nod-desktop: ") {
					t.Errorf("error %v, want that of a bad reply", err)
				}
			}
			if got != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
}

func wire(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestReplyOfRequest(t *testing.T) {
	answers := map[api.Kind]string{
		api.KindAsk:     `{"answer":"x"}`,
		api.KindConfirm: `{"confirmed":true,"defaulted":false}`,
		api.KindForm:    `{"answer":"x"}`,
		api.KindApprove: `{"decision":"deny","reason":"","by":"human","shown_sha256":"x"}`,
		api.KindNotify:  `{"sent":true}`,
	}
	for kind, answer := range answers {
		r := api.RequestReply{Kind: kind, Status: api.Answered, Answer: []byte(answer)}
		if got, err := client.Answer(r); err != nil || got == nil {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
		r.Answer = []byte(`{}`)
		if got, err := client.Answer(r); err == nil {
			t.Errorf("%s: {} is %v", kind, got)
		}
	}
	if _, err := client.Answer(api.RequestReply{Kind: "quiz", Status: api.Answered, Answer: []byte("{}")}); err == nil {
		t.Error("a kind that there is not")
	}
	_, err := client.Answer(api.RequestReply{ID: testID, Status: api.Pending})
	if p, ok := errors.AsType[*client.Pending](err); !ok || p.ID != testID {
		t.Errorf("pending: %v", err)
	}
	_, err = client.Answer(api.RequestReply{
		Kind: api.KindAsk, Status: api.TimedOut,
		Answer: []byte(`{"code":"INTERACT_TIMEOUT","status":408,"outcome":"timed_out","detail":"away"}`),
	})
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Outcome != api.TimedOut || p.Code != api.CodeTimeout ||
		p.Status != 408 {
		t.Errorf("timed out: %v", err)
	}
	if got, err := client.Answer(api.RequestReply{Kind: api.KindAsk, Status: api.Answered}); err == nil {
		t.Errorf("without an answer: %v", got)
	}
}

// TestCancelHangsUp: the server sees the caller go, which is how a request is withdrawn.
func TestCancelHangsUp(t *testing.T) {
	asked, gone := make(chan struct{}), make(chan struct{})
	c := clientOf(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(asked)
		<-r.Context().Done()
		close(gone)
	}))
	bored := errors.New("bored")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-asked; cancel(bored) }()
	got, err := c.Approve(ctx, call)
	expectNoDecision(t, got, err)
	if !errors.Is(err, bored) {
		t.Errorf("error %v, want the caller's own reason", err)
	}
	<-gone
}

// TestNeverLeavesTheSocket: when the socket is dead, whoever has the port now gets nothing.
func TestNeverLeavesTheSocket(t *testing.T) {
	called := false
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called = true
		says(200, "application/json", allow())(w, r)
	}))
	defer fake.Close()
	for _, name := range []string{"missing", "stale"} {
		t.Run(name, func(t *testing.T) {
			path := socketPath(t)
			if name == "stale" {
				l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
				if err != nil {
					t.Fatal(err)
				}
				l.SetUnlinkOnClose(false)
				l.Close()
			}
			c := &client.Client{Endpoint: endpoint.Endpoint{URL: fake.URL, Socket: path, Token: "secret"}}
			got, err := c.Approve(t.Context(), call)
			expectNoDecision(t, got, err)
			if !errors.Is(err, client.ErrNotRunning) {
				t.Errorf("error %v, want ErrNotRunning", err)
			}
		})
	}
	if called {
		t.Error("the fake was asked")
	}
}

// TestPort: without a socket the port is asked.
func TestPort(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("no %s here: %v", address, err)
			continue
		}
		server := httptest.NewUnstartedServer(says(200, "application/json", allow()))
		server.Listener = l
		server.Start()
		c := &client.Client{Endpoint: endpoint.Endpoint{URL: "http://" + l.Addr().String(), Token: "secret"}}
		got, err := c.Approve(t.Context(), call)
		if err != nil || !got.Allowed() {
			t.Errorf("%s: %+v, %v", address, got, err)
		}
		server.Close()
		got, err = c.Approve(t.Context(), call)
		expectNoDecision(t, got, err)
		if !errors.Is(err, client.ErrNotRunning) {
			t.Errorf("%s closed: %v, want ErrNotRunning", address, err)
		}
	}
}

// TestNoProxy: the environment cannot put anybody between nod and nod-desktop.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	got, err := clientOf(t, says(200, "application/json", allow())).Approve(t.Context(), call)
	if err != nil || !got.Allowed() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDiscover(t *testing.T) {
	parent := t.TempDir()
	if err := os.Chmod(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", parent)
	if _, err := client.Discover(); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("nothing published: %v", err)
	}
	dir, err := endpoint.Dir()
	if err != nil {
		t.Fatal(err)
	}
	want := endpoint.Endpoint{URL: "http://127.0.0.1:7463", Token: endpoint.NewToken(), PID: 1, Version: "1"}
	if err := endpoint.Write(dir, want); err != nil {
		t.Fatal(err)
	}
	c, err := client.Discover()
	if err != nil || c.Endpoint != want {
		t.Errorf("published: %v, %v", c, err)
	}
	if err := os.WriteFile(endpoint.Path(dir), []byte(`{"url":"http://example.com:80"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Discover(); err == nil || errors.Is(err, client.ErrNotRunning) {
		t.Errorf("not an endpoint: %v", err)
	}
}

// A payload that names two events names none: nod must not take a call for the end of a turn.
func TestEventOf(t *testing.T) {
	for payload, want := range map[string]string{
		`{"hook_event_name":"PreToolUse","tool_name":"Bash"}`:                          "PreToolUse",
		`{"tool_name":"Bash","type":"tool_call","x":"a","x":"b"}`:                      "tool_call",
		`{"hook_event_name":"PreToolUse","tool_input":{"hook_event_name":"Stop"}`:      "PreToolUse",
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","hook_event_name":"Stop"}`: api.NoEvent,
		`{"hook_event_name":"PreToo`:                                                   api.NoEvent,
	} {
		if got := client.EventOf(strings.NewReader(payload)); got != want {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
}
