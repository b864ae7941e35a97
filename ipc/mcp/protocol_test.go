package mcp

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"nod/e2e/interacttest"
	"nod/interact"
)

// served serves tools that ask p over HTTP.
func served(t *testing.T, p interact.Prompter) (*interact.Broker, *httptest.Server) {
	t.Helper()
	b := interacttest.Broker(p, &interacttest.Policy{})
	nobody := func(*http.Request) Caller { return Caller{} }
	server := httptest.NewServer(Handler(b, nobody, "test", slog.New(slog.DiscardHandler)))
	t.Cleanup(func() {
		b.Close()
		server.Close()
	})
	return b, server
}

// overHTTP serves tools that ask p, and returns how to post a message to them.
func overHTTP(t *testing.T, p interact.Prompter) (post func(body string, header ...string) (status int, reply string)) {
	t.Helper()
	_, server := served(t, p)
	return func(body string, header ...string) (int, string) {
		t.Helper()
		resp, err := send(t.Context(), server.URL, body, header...)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

// send posts a message.
func send(ctx context.Context, url, body string, header ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return http.DefaultClient.Do(r)
}

// A client gets the version of the protocol that it asks for, and one that nobody knows the newest of those that
// begin with a handshake.
func TestProtocolVersions(t *testing.T) {
	post := overHTTP(t, &interacttest.Prompter{})
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2099-01-01": "2025-11-25", "nonsense": "2025-11-25",
	} {
		_, reply := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + asked +
			`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		if !strings.Contains(reply, `"protocolVersion":"`+want+`"`) {
			t.Errorf("asked for %s: %s, want %s", asked, reply, want)
		}
	}
}

// The newest protocol has no handshake: each request says which version it is in.
func TestNewestProtocol(t *testing.T) {
	post := overHTTP(t, answered(interact.Answer{Text: "42"}))
	status, reply := post(`{"jsonrpc":"2.0","id":1,"method":"tools/call",
		"params":{"name":"interact_ask","arguments":{"question":"?"},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
		"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "interact_ask")
	if status != http.StatusOK || !strings.Contains(reply, `"answer":"42"`) {
		t.Errorf("status %d: %s", status, reply)
	}
}

func TestProtocolHeaderIsChecked(t *testing.T) {
	post := overHTTP(t, answered(interact.Answer{Text: "42"}))
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for version, want := range map[string]int{
		"2025-06-18": http.StatusOK, "2025-11-25": http.StatusOK, "1999-01-01": http.StatusBadRequest,
	} {
		if status, reply := post(list, "MCP-Protocol-Version", version); status != want {
			t.Errorf("%s: status %d: %s, want %d", version, status, reply, want)
		}
	}
	if status, reply := post(list); status != http.StatusOK {
		t.Errorf("without the header: status %d: %s", status, reply)
	}
}

// askOverHTTP is a question that wants progress.
const askOverHTTP = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"interact_ask",
	"arguments":{"question":"?"},"_meta":{"progressToken":"tok"}}}`

// The first bytes of a reply do not wait for the user: some clients give up after a minute without.
func TestProgressIsTheFirstByte(t *testing.T) {
	_, server := served(t, &interacttest.Prompter{})
	resp, err := send(t.Context(), server.URL, askOverHTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	const want = `"params":{"progressToken":"tok","message":"waiting for the user","progress":1}`
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if !strings.Contains(data, want) {
				t.Errorf("first: %s, want %s", data, want)
			}
			return
		}
	}
	t.Error("the reply ends without an event")
}

// cancel7 takes back what askOverHTTP asks.
const cancel7 = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`

// A client takes its question back by hanging up, or by saying so on another connection.
func TestCancellationOverHTTP(t *testing.T) {
	for name, session := range map[string]string{"hang up": "", "hang up in a session": "s1", "message": "s1"} {
		t.Run(name, func(t *testing.T) {
			b, server := served(t, &interacttest.Prompter{})
			changes, stop := b.Changes()
			defer stop()
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if resp, err := send(ctx, server.URL, askOverHTTP, sessionHeader, session); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}()
			<-changes // the prompt is up
			if name != "message" {
				hangUp()
			} else if resp, err := send(t.Context(), server.URL, cancel7, sessionHeader, session); err != nil {
				t.Fatal(err)
			} else {
				resp.Body.Close()
			}
			<-changes // and gone
			<-ended
			if n := len(b.Pending()); n != 0 {
				t.Errorf("%d pending", n)
			}
		})
	}
}

// Only the very call that a message names, in the session that it comes from, is cancelled.
func TestWhatCancels(t *testing.T) {
	message := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	}
	tests := map[string]struct {
		session, message, from string
		cancelled              bool
	}{
		"its client":         {"s1", message("7"), "s1", true},
		"another call":       {"s1", message("8"), "s1", false},
		"another kind of id": {"s1", message(`"7"`), "s1", false},
		"another session":    {"s1", message("7"), "s2", false},
		"no session":         {"", message("7"), "", false},
		"another message":    {"s1", `{"jsonrpc":"2.0","method":"ping","params":{"requestId":7}}`, "s1", false},
		"no id":              {"s1", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, "s1", false},
		"no message":         {"s1", `[7]`, "s1", false},
		"two ids": {
			"s1", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"requestId":7}}`, "s1", false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var c calls
			ctx, done := c.begin(t.Context(), tt.session, messageOf([]byte(askOverHTTP)).ID)
			defer done()
			c.cancel(tt.from, messageOf([]byte(tt.message)))
			if cancelled := ctx.Err() != nil; cancelled != tt.cancelled {
				t.Errorf("cancelled %v, want %v", cancelled, tt.cancelled)
			}
		})
	}
}

// A call that has ended makes room for the next with its id, and does not end that one.
func TestCallsEnd(t *testing.T) {
	var c calls
	id := messageOf([]byte(askOverHTTP)).ID
	_, first := c.begin(t.Context(), "s1", id)
	next, done := c.begin(t.Context(), "s1", id)
	first()
	if next.Err() != nil {
		t.Error("the end of one call ends the next")
	}
	c.cancel("s1", messageOf([]byte(cancel7)))
	if next.Err() == nil {
		t.Error("the next call cannot be cancelled")
	}
	done()
	c.cancels.Range(func(key, _ any) bool { t.Errorf("%v is left", key); return true })
}

// A client that begins with a handshake is given a session of its own, which names its calls.
func TestHandshakeNamesASession(t *testing.T) {
	_, server := served(t, &interacttest.Prompter{})
	seen := map[string]bool{}
	for range 2 {
		resp, err := send(t.Context(), server.URL, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
			"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		seen[resp.Header.Get(sessionHeader)] = true
	}
	if len(seen) != 2 || seen[""] {
		t.Errorf("sessions %v, want two", seen)
	}
}
