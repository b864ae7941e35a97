package ipc

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
)

// askingWithKey are requests that ask, one for each route that takes a key.
var askingWithKey = map[string]string{
	"/v1/ask":     `{"question":"Which?"}`,
	"/v1/confirm": `{"message":"Deploy?"}`,
	"/v1/form":    `{"questions":[{"id":"a","question":"Which?"}]}`,
	"/v1/approve": `{"tool":"Bash","input":{"command":"make"}}`,
	"/v1/notify":  `{"message":"Done"}`,
	"/v1/hooks/claude-code/PermissionRequest": `{"session_id":"s","hook_event_name":"PermissionRequest",` +
		`"tool_name":"Bash","tool_input":{"command":"make"}}`,
	"/mcp": `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"name":"interact_ask","arguments":{"question":"Which?"}}}`,
}

// ask sends a request with these idempotency keys in its header, and returns the status and the text of its reply.
func (d *fixture) ask(path, body string, keys ...string) (int, string) {
	d.t.Helper()
	r := d.request(http.MethodPost, path, body)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header[keyHeader] = keys
	resp, err := d.socket.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// The same key again is the same request, on every route that asks and however the key is written.
func TestIdempotencyKeyInTheHeader(t *testing.T) {
	for path, body := range askingWithKey {
		t.Run(path, func(t *testing.T) {
			d := open(t)
			d.human.Answer = interacttest.Always(interact.Answer{Outcome: api.Dismissed})
			for _, key := range []string{"one", `"one"`, "two", `"one"`} {
				if status, text := d.ask(path, body, key); status >= 500 || status == 400 {
					t.Errorf("key %s: %d %s", key, status, text)
				}
			}
			own, _ := d.get("/v1/requests").body["requests"].([]any)
			if len(own) != 2 {
				t.Errorf("%d requests under two keys: %v", len(own), own)
			}
		})
	}
}

// A key that is none is refused before anybody is asked, and so are two that differ.
func TestIdempotencyKeyRefused(t *testing.T) {
	for path, body := range askingWithKey {
		t.Run(path, func(t *testing.T) {
			d := open(t)
			for _, keys := range [][]string{
				{""}, {`""`}, {`"one`}, {`"one" "two"`}, {"one", "one"}, {strings.Repeat("x", 201)},
			} {
				if status, text := d.ask(path, body, keys...); status != 400 {
					t.Errorf("keys %q: %d %s", keys, status, text)
				}
			}
			d.wantNothing()
		})
	}
	d := open(t)
	const both = `{"question":"Which?","idempotency_key":"one"}`
	const wrong = `"param":"idempotency_key"`
	if status, text := d.ask("/v1/ask", both, "two"); status != 400 || !strings.Contains(text, wrong) {
		t.Errorf("two keys: %d %s", status, text)
	}
	d.wantNothing()
	d.human.Answer = interacttest.Always(interact.Answer{Outcome: api.Answered, Text: "x"})
	if status, text := d.ask("/v1/ask", both, "one"); status != 200 {
		t.Errorf("the same key twice: %d %s", status, text)
	}
}

func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"", "k", `"k"`, `"k`, `"\"`, `"\x41"`, `"é"`, "\x00", "`k`", "'k'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, err := keyOf(&http.Request{Header: http.Header{keyHeader: {value}}}, "")
		if (err == nil) != (key != "") {
			t.Fatalf("%q is key %q, %v", value, key, err)
		}
		again, err2 := keyOf(&http.Request{Header: http.Header{keyHeader: {value}}}, key)
		if err == nil && (again != key || err2 != nil) {
			t.Fatalf("%q is not the key that it is: %q, %v", value, again, err2)
		}
	})
}
