package ipc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/endpoint"
)

// pipes is a listener whose connections are in memory, for tests on a fake clock.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error { close(p); return nil }
func (p pipes) Addr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:7463"))
}

// timedServer is a server in memory whose time is that of a synctest bubble.
type timedServer struct {
	t      *testing.T
	server *Server
	broker *interact.Broker
	human  *interacttest.Prompter
	dials  pipes
	stop   context.CancelFunc
	served chan error
}

func serveTimed(t *testing.T) *timedServer {
	t.Helper()
	c := &timedServer{t: t, human: &interacttest.Prompter{}, dials: make(pipes), served: make(chan error, 1)}
	c.broker = interacttest.Broker(c.human, &interacttest.Policy{})
	c.server = newServer(
		Config{Broker: c.broker, Version: "1", Log: slog.New(slog.DiscardHandler)},
		endpoint.Endpoint{URL: "http://127.0.0.1:7463", Token: "token", PID: 1, Version: "1"},
	)
	c.server.published.dir = filepath.Join(t.TempDir(), "nod") // where nothing is published
	c.server.listeners = []net.Listener{c.dials}
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	go func() { c.served <- c.server.Serve(ctx) }()
	return c
}

// end stops the server and waits for it.
func (c *timedServer) end() {
	c.t.Helper()
	c.broker.Close()
	c.stop()
	if err := <-c.served; err != nil && !errors.Is(err, context.Canceled) {
		c.t.Error(err)
	}
}

// dial connects and sends text.
func (c *timedServer) dial(text string) net.Conn {
	c.t.Helper()
	mine, theirs := net.Pipe()
	c.dials <- theirs
	if _, err := io.WriteString(mine, text); err != nil {
		c.t.Fatal(err)
	}
	return mine
}

// exchange sends a request and reads the reply, and says how long that took.
func (c *timedServer) exchange(text string) (*http.Response, string, time.Duration) {
	c.t.Helper()
	started := time.Now()
	conn := c.dial(text)
	defer conn.Close()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp, string(body), time.Since(started)
}

func post(path, body string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost:7463\r\nAuthorization: Bearer token\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, length, body)
}

func TestSlowHeaders(t *testing.T) {
	for _, sent := range []string{"", "P", "POST /v1/ask HTTP/1.1\r\nHost: localhost:7463\r\nX: "} {
		synctest.Test(t, func(t *testing.T) {
			c := serveTimed(t)
			started := time.Now()
			conn := c.dial(sent)
			io.Copy(io.Discard, conn) // until the server hangs up
			if took := time.Since(started); took != headerTimeout {
				t.Errorf("%q held a connection for %v, want %v", sent, took, headerTimeout)
			}
			c.end()
		})
	}
}

func TestSlowBody(t *testing.T) {
	for name, length := range map[string]int{"short": 100, "long": 2 * shortBody} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serveTimed(t)
				resp, body, took := c.exchange(post("/v1/ask", `{"question":"Which`, length))
				if resp.StatusCode != 400 || !strings.Contains(body, "too slowly") || took != bodyTimeout {
					t.Errorf("%d %s after %v, want 400 after %v", resp.StatusCode, body, took, bodyTimeout)
				}
				if !resp.Close {
					t.Error("the connection stays open in the middle of a body")
				}
				c.end()
			})
		})
	}
}

// Long bodies that come slowly, however many, keep nobody else waiting, and of those the slowest gives way.
func TestSlowBodiesGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveTimed(t)
		long := `{"tool":"T","input":{"a":"` + strings.Repeat("x", 200_000) + `"}}`
		var slow []net.Conn
		for range 64 {
			slow = append(slow, c.dial(post("/v1/evaluate", long[:100_000], len(long))))
			time.Sleep(time.Millisecond)
		}
		resp, body, took := c.exchange(post("/v1/evaluate", long, len(long)))
		if resp.StatusCode != 200 || took != 0 {
			t.Errorf("%d %s after %v, want 200 at once", resp.StatusCode, body, took)
		}
		reply, err := io.ReadAll(slow[0])
		if !strings.Contains(string(reply), "HTTP/1.1 429 ") || !strings.Contains(string(reply), "came the slowest") {
			t.Errorf("the slowest gets %q, %v", reply, err)
		}
		if _, err := io.WriteString(slow[1], long[100_000:]); err != nil {
			t.Errorf("the second slowest was cut off: %v", err)
		}
		resp, err = http.ReadResponse(bufio.NewReader(slow[1]), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("the second slowest gets %v, %v", resp, err)
		}
		for _, conn := range slow {
			conn.Close()
		}
		c.end()
	})
}

// The time for the body is not the time for the user.
func TestSlowHuman(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveTimed(t)
		c.human.Delay = time.Hour
		c.human.Answer = interacttest.Always(interact.Answer{Outcome: api.Answered, Text: "at last"})
		body := `{"question":"Which?","timeout":7200}`
		resp, text, took := c.exchange(post("/v1/ask", body, len(body)))
		if resp.StatusCode != 200 || !strings.Contains(text, "at last") || took != time.Hour {
			t.Errorf("%d %s after %v", resp.StatusCode, text, took)
		}
		c.end()
	})
}

func TestTimeOuts(t *testing.T) {
	for _, c := range []struct {
		path, body string
		status     int
		want       []string
	}{
		{"/v1/ask", `{"question":"Which?","timeout":2.5}`, 408, []string{"INTERACT_TIMEOUT", "timed_out", "has not refused"}},
		{
			"/v1/form", `{"questions":[{"id":"a","question":"Which?"}],"timeout":2.5}`, 408,
			[]string{"INTERACT_TIMEOUT", "timed_out", "has not refused"},
		},
		{
			"/v1/confirm", `{"message":"Deploy?","default":true,"timeout":2.5}`, 200,
			[]string{`"outcome":"timed_out"`, `"confirmed":true`, `"defaulted":true`},
		},
		{"/v1/confirm", `{"message":"Deploy?","timeout":2.5}`, 200, []string{`"confirmed":false`, `"defaulted":true`}},
		{
			"/v1/approve", `{"tool":"Bash","input":{},"timeout":2.5}`, 200,
			[]string{`"decision":"deny"`, `"by":"timeout"`, `"outcome":"timed_out"`, "has not refused"},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock := serveTimed(t)
			resp, text, took := clock.exchange(post(c.path, c.body, len(c.body)))
			if resp.StatusCode != c.status || took != 2500*time.Millisecond {
				t.Errorf("%s: %d after %v", c.path, resp.StatusCode, took)
			}
			for _, part := range c.want {
				if !strings.Contains(text, part) {
					t.Errorf("%s: no %s in %s", c.path, part, text)
				}
			}
			clock.end()
		})
	}
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveTimed(t)
		c.human.Delay = time.Minute
		c.human.Answer = interacttest.Always(interact.Answer{Outcome: api.Answered, Text: "Postgres"})
		body := `{"question":"Which?","hold":50}`
		resp, first, took := c.exchange(post("/v1/ask", body, len(body)))
		if resp.StatusCode != 202 || took != 50*time.Second || !strings.Contains(first, `"status":"pending"`) {
			t.Fatalf("%d %s after %v, want 202 after 50s", resp.StatusCode, first, took)
		}
		// Asking the same again joins, and is there when the answer comes.
		resp, second, took := c.exchange(post("/v1/ask", body, len(body)))
		if resp.StatusCode != 200 || took != 10*time.Second || !strings.Contains(second, "Postgres") {
			t.Errorf("%d %s after %v, want the answer after 10s", resp.StatusCode, second, took)
		}
		resp, third, took := c.exchange(
			"GET " + urlIn(t, first) + "?wait=60 HTTP/1.1\r\nHost: localhost:7463\r\nAuthorization: Bearer token\r\n\r\n",
		)
		if resp.StatusCode != 200 || took != 0 || !strings.Contains(third, "Postgres") {
			t.Errorf("%d %s after %v, want the answer at once", resp.StatusCode, third, took)
		}
		if n := len(c.human.Shown()); n != 1 {
			t.Errorf("the human was asked %d times", n)
		}
		c.end()
	})
}

// urlIn returns the path in the reply of a request that is pending.
func urlIn(t *testing.T, text string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, "http://127.0.0.1:7463")
	path, _, ok2 := strings.Cut(after, `"`)
	if !ok || !ok2 {
		t.Fatalf("no url in %s", text)
	}
	return path
}

func TestWaitEndsWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveTimed(t)
		body := `{"question":"Which?","detach":true}`
		_, first, _ := c.exchange(post("/v1/ask", body, len(body)))
		_, text, took := c.exchange(
			"GET " + urlIn(t, first) + "?wait=2.5 HTTP/1.1\r\nHost: localhost:7463\r\nAuthorization: Bearer token\r\n\r\n",
		)
		if !strings.Contains(text, `"status":"pending"`) || took != 2500*time.Millisecond {
			t.Errorf("%s after %v", text, took)
		}
		c.end()
	})
}

// A server that is told to stop replies to those who wait, when the broker closes, and hangs up on those
// whom nobody lets know.
func TestStop(t *testing.T) {
	for name, closed := range map[string]bool{"with the broker": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serveTimed(t)
				body := `{"tool":"Bash","input":{}}`
				conn := c.dial(post("/v1/approve", body, len(body)))
				synctest.Wait()
				started := time.Now()
				go func() {
					if closed {
						c.broker.Close()
					}
					c.stop()
				}()
				reply, _ := io.ReadAll(conn)
				if strings.Contains(string(reply), "allow") || closed != strings.Contains(string(reply), "501") {
					t.Errorf("reply: %q", reply)
				}
				<-c.served
				if took := time.Since(started); took > stopTimeout {
					t.Errorf("stopped after %v", took)
				}
				c.broker.Close()
			})
		})
	}
}

// At the limit a connection waits until another ends.
func TestConnectionLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serveTimed(t)
		conns := make(pipes, 2*maxConnections)
		g := c.server.gate(conns, maxConnections)
		accepted := make(chan net.Conn, 2*maxConnections)
		go func() {
			for {
				conn, err := g.Accept()
				if err != nil {
					close(accepted)
					return
				}
				accepted <- conn
			}
		}()
		for range maxConnections + 10 {
			_, theirs := net.Pipe()
			conns <- theirs
		}
		synctest.Wait()
		if n := len(accepted); n != maxConnections {
			t.Errorf("%d connections at once, want %d", n, maxConnections)
		}
		for range 3 {
			conn := <-accepted
			conn.Close()
			conn.Close() // closing twice frees one place
		}
		synctest.Wait()
		if n := len(accepted); n != maxConnections {
			t.Errorf("%d connections after three left, want %d", n, maxConnections)
		}
		g.Close()
		for range accepted { // ends when Accept has returned
		}
		c.end()
	})
}

func TestGiantBodies(t *testing.T) {
	d := open(t)
	padded := func(n int) string {
		return `{"tool":"T","input":{"a":"` + strings.Repeat("x", n) + `"}}`
	}
	frame := len(padded(0))
	d.do(d.request("POST", "/v1/evaluate", padded(maxBody-frame))).want(t, 200, nil)
	d.do(d.request("POST", "/v1/evaluate", padded(maxBody-frame+1))).want(t, 413, map[string]any{"code": "TOO_LARGE"})

	t.Run("announced", func(t *testing.T) {
		resp, err := d.raw("POST /v1/approve HTTP/1.1\r\nHost: " + strings.TrimPrefix(d.endpoint.URL, "http://") +
			"\r\nAuthorization: Bearer " + d.endpoint.Token +
			"\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{")
		if err != nil {
			t.Fatal(err)
		}
		d.read(resp).want(t, 413, nil)
	})
	t.Run("endless", func(t *testing.T) {
		r := d.request("POST", "/v1/approve", "x")
		source := &endless{}
		r.Body, r.ContentLength, r.GetBody = io.NopCloser(source), -1, nil
		resp, err := d.socket.Do(r)
		if err == nil { // it may also find the connection closed under it
			d.read(resp).want(t, 413, nil)
		}
		if n := source.read.Load(); n > 16*maxBody {
			t.Errorf("%d bytes were taken", n)
		}
	})
	d.wantNothing()
}

// endless is a body without an end.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("["), len(p)))
	e.read.Add(int64(len(p)))
	return len(p), nil
}

// However many ask at once: the user sees a bounded number, the others are told to come back, and nobody
// is allowed anything.
func TestFlood(t *testing.T) {
	const callers = 1000
	d := open(t)
	replies := make(chan got, callers)
	for i := range callers {
		go func() {
			replies <- d.post("/v1/approve", fmt.Sprintf(`{"tool":"Bash","input":{"command":"echo %d"}}`, i))
		}()
	}
	statuses := map[int]int{}
	for i := range callers {
		if i == callers-interact.MaxPendingPerRequester {
			d.broker.Close() // only those who wait for the user are left
		}
		g := <-replies
		statuses[g.status]++
		if strings.Contains(g.text, "allow") {
			t.Errorf("allowed: %s", g.text)
		}
		if g.status == http.StatusTooManyRequests && g.header.Get("Retry-After") == "" {
			t.Error("nobody says when to come back")
		}
	}
	want := map[int]int{429: callers - interact.MaxPendingPerRequester, 501: interact.MaxPendingPerRequester}
	if fmt.Sprint(statuses) != fmt.Sprint(want) {
		t.Errorf("statuses %v, want %v", statuses, want)
	}
	if n := len(d.human.Shown()); n > interact.MaxPendingPerRequester {
		t.Errorf("the human saw %d prompts", n)
	}
}
