package ipc

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"nod/interact"
	"nod/interact/interacttest"
	"nod/ipc/endpoint"
)

// door is a server with everything around it, as a test sees it.
type door struct {
	t        *testing.T
	server   *Server
	endpoint endpoint.Endpoint
	broker   *interact.Broker
	human    *interacttest.Prompter
	policy   *interacttest.Policy
	log      *logBuffer
	socket   *http.Client // through the socket
	tcp      *http.Client // through the port
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

// open opens a door with a human who does nothing, and closes it when the test ends. Options change the
// server before it serves.
func open(t *testing.T, options ...func(*door)) *door {
	t.Helper()
	d := &door{t: t, human: &interacttest.Prompter{}, policy: &interacttest.Policy{}, log: &logBuffer{}}
	d.broker = interacttest.Broker(d.human, d.policy)
	log := slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	server, err := Listen(Config{
		Address: "127.0.0.1:0", Dir: filepath.Join(t.TempDir(), "nod"), Broker: d.broker, Version: "0.0.0-test", Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
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
	})
	return d
}

// request makes a request as a well-behaved client does.
func (d *door) request(method, path, body string) *http.Request {
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
func (d *door) do(r *http.Request) got {
	d.t.Helper()
	return d.through(d.socket, r)
}

func (d *door) through(c *http.Client, r *http.Request) got {
	d.t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.read(resp)
}

func (d *door) read(resp *http.Response) got {
	d.t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	g := got{status: resp.StatusCode, header: resp.Header, text: string(text)}
	if err := json.Unmarshal(text, &g.body); err != nil && len(text) > 0 {
		d.t.Fatalf("reply is not a JSON object: %q", text)
	}
	return g
}

// post sends a body through the socket.
func (d *door) post(path, body string) got {
	d.t.Helper()
	return d.do(d.request("POST", path, body))
}

func (d *door) get(path string) got {
	d.t.Helper()
	return d.do(d.request("GET", path, ""))
}

// want compares the status, the code of a problem, and members of the body.
func (g got) want(t *testing.T, status int, members map[string]any) {
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

func TestSmoke(t *testing.T) {
	d := open(t)
	d.human.Answer = interacttest.Always(interact.Answer{Outcome: interact.Answered, Text: "yes"})
	g := d.post("/v1/ask", `{"question":"Really?","agent":"test"}`)
	t.Log(g.status, g.text)
	g = d.through(d.tcp, d.request("POST", "/v1/ask", `{"question":"Really?","agent":"test"}`))
	t.Log(g.status, g.text)
	t.Logf("%+v", d.human.Shown()[1].Requester)
	g = d.get("/v1/openapi.json")
	t.Log(g.text)
	g = d.get("/v1/health")
	t.Log(g.text)
	t.Log(d.log)
}
