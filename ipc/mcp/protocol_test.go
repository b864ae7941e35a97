package mcp

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"nod/interact"
	"nod/interact/interacttest"
)

// overHTTP serves tools that ask p, and returns how to post a message to them.
func overHTTP(t *testing.T, p interact.Prompter) (post func(body string, header ...string) (status int, reply string)) {
	t.Helper()
	b := interacttest.Broker(p, &interacttest.Policy{})
	nobody := func(*http.Request) interact.Requester { return interact.Requester{} }
	server := httptest.NewServer(Handler(b, nobody, "test", slog.New(slog.DiscardHandler)))
	t.Cleanup(func() {
		b.Close()
		server.Close()
	})
	return func(body string, header ...string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
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
