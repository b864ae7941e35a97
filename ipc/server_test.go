package ipc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"nod/agents/registry"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/endpoint"
	"nod/ipc/hooks"
	"nod/ipc/peer"
	"nod/policy"
)

// fixture is a server with everything around it, as a test sees it.
type fixture struct {
	t        testing.TB
	server   *Server
	endpoint endpoint.Endpoint
	broker   *interact.Broker
	human    *interacttest.Prompter
	policy   *interacttest.Policy
	closed   chan interact.ID // prompts that were taken off the screen
	log      *logBuffer
	level    slog.LevelVar // of the log; Debug unless a test sets another
	socket   *http.Client  // through the socket
	tcp      *http.Client  // through the port
}

// watched is a prompter that tells which prompts were taken off the screen.
type watched struct {
	interact.Prompter
	closed chan<- interact.ID
}

// Prompt implements [interact.Prompter].
func (w watched) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	a, err := w.Prompter.Prompt(ctx, r, why)
	if ctx.Err() != nil {
		w.closed <- r.ID
	}
	return a, err
}

// logBuffer collects the log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// open starts a server with a human who does nothing, and stops it when the test ends. No log may hold the
// token by then. Options change the server before it serves.
func open(t testing.TB, options ...func(*fixture)) *fixture {
	t.Helper()
	d := &fixture{
		t: t, human: &interacttest.Prompter{}, policy: &interacttest.Policy{},
		closed: make(chan interact.ID, 2*interact.MaxPending), log: &logBuffer{},
	}
	d.broker = interacttest.Broker(watched{d.human, d.closed}, d.policy, func(c *interact.BrokerConfig) {
		c.Processes = peer.Table{}
	})
	d.level.Set(slog.LevelDebug)
	log := slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: &d.level}))
	server, err := Listen(Config{
		Address: "127.0.0.1:0", Dir: filepath.Join(t.TempDir(), "nod"), Broker: d.broker, Version: "0.0.0-test", Log: log,
		Hooks: hooks.New(hooks.Config{
			Agents: registry.Protocols(), Broker: d.broker, Log: log,
			Timeout: func() time.Duration { return time.Minute },
			AskMore: func() bool { return false },
			OpenURL: func(url string) error { return errors.New("no browser here") },
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.http.ReadHeaderTimeout = time.Minute // of many who call at once, each is slow on a busy machine
	d.server, d.endpoint = server, server.Endpoint()
	for _, o := range options {
		o(d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	d.socket = &http.Client{Transport: &http.Transport{
		MaxConnsPerHost: 256,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.endpoint.Socket)
		},
	}}
	d.tcp = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		d.broker.Close()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		d.socket.CloseIdleConnections()
		d.tcp.CloseIdleConnections()
		if strings.Contains(d.log.String(), d.endpoint.Token) {
			t.Errorf("the token stands in the log:\n%s", d.log)
		}
	})
	return d
}

// request makes a request as a well-behaved client does.
func (d *fixture) request(method, path, body string) *http.Request {
	d.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.endpoint.URL+path, content)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.endpoint.Token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// got is a reply, read to its end.
type got struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// do sends a request through the socket.
func (d *fixture) do(r *http.Request) got {
	d.t.Helper()
	return d.through(d.socket, r)
}

func (d *fixture) through(c *http.Client, r *http.Request) got {
	d.t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.read(resp)
}

func (d *fixture) read(resp *http.Response) got {
	d.t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		"Cache-Control":           "no-store",
	} {
		if got := resp.Header.Get(name); got != want {
			d.t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			d.t.Errorf("the reply has a CORS header: %s", name)
		}
	}
	g := got{status: resp.StatusCode, header: resp.Header, text: string(text)}
	if err := json.Unmarshal(text, &g.body); err != nil && len(text) > 0 {
		d.t.Fatalf("reply is not a JSON object: %q", text)
	}
	return g
}

// post sends a body through the socket.
func (d *fixture) post(path, body string) got {
	d.t.Helper()
	return d.do(d.request("POST", path, body))
}

// shownOne waits until the user sees a request, and returns it.
func (d *fixture) shownOne() interact.Request {
	d.t.Helper()
	changed, stop := d.broker.Changes()
	defer stop()
	for {
		if pending := d.broker.Pending(); len(pending) > 0 {
			return pending[0]
		}
		select {
		case <-changed:
		case <-d.t.Context().Done():
			d.t.Fatal("no request came")
		}
	}
}

func (d *fixture) get(path string) got {
	d.t.Helper()
	return d.do(d.request("GET", path, ""))
}

// want compares the status, the code of a problem, and members of the body.
func (g got) want(t testing.TB, status int, members map[string]any) {
	t.Helper()
	if g.status != status {
		t.Errorf("status %d, want %d: %s", g.status, status, g.text)
	}
	for name, want := range members {
		if got := g.body[name]; got != want {
			t.Errorf("%s is %#v, want %#v: %s", name, got, want, g.text)
		}
	}
	wantType := "application/json"
	if status >= 400 {
		wantType = "application/problem+json"
	}
	if ct := g.header.Get("Content-Type"); ct != wantType {
		t.Errorf("Content-Type %q, want %q", ct, wantType)
	}
}
