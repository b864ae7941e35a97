package client_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

// desk is a folder in which one nod-desktop after the other publishes where it listens. What is known of requests
// outlives each of them, as the journal does.
type desk struct {
	t   testing.TB
	dir string

	mu     sync.Mutex          // guards all below
	asked  map[string]int      // how often the user was asked, by idempotency key
	answer map[string]string   // what they said
	bodies []string            // of the requests, as they came
	phase  func(string) string // what happens to a request with this key
	at     *stand
}

// stand is one nod-desktop of a desk.
type stand struct {
	endpoint.Endpoint
	server *httptest.Server
	once   sync.Once
	dead   chan struct{} // closed when it listens no longer
}

// The ways in which a nod-desktop fails, as [desk.phase] names them. "" is none.
const (
	beforeHeaders = "before headers"
	midHeaders    = "in the middle of the headers"
	midBody       = "in the middle of the body"
	afterAnswer   = "after the answer was noted"
	hangsUp       = "hangs up"
)

func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{t: t, dir: filepath.Join(filepath.Dir(socketPath(t)), "nod"),
		asked: map[string]int{}, answer: map[string]string{}, phase: func(string) string { return "" }}
	d.start()
	t.Cleanup(func() { d.kill() })
	return d
}

// client returns one of the nod-desktop that runs now.
func (d *desk) client() *client.Client {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &client.Client{Endpoint: d.at.Endpoint, Dir: d.dir}
	return c
}

// bind has a new nod-desktop listen at path, which nobody can find yet. around, unless it is nil, sees each of its
// requests and calls serve.
func (d *desk) bind(path string, around func(s *stand, r *http.Request, serve func())) *stand {
	d.t.Helper()
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		d.t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		d.t.Fatal(err)
	}
	s := &stand{dead: make(chan struct{}), Endpoint: endpoint.Endpoint{
		URL: fmt.Sprintf("http://127.0.0.1:%d", 1024+rand.IntN(60000)), Socket: path, Token: endpoint.NewToken(),
		PID: os.Getpid(), Version: "1",
	}}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve := func() { d.serve(s, w, r) }
		if around == nil {
			serve()
			return
		}
		around(s, r, serve)
	}))
	s.server.Listener.Close()
	s.server.Listener = l
	s.server.Start()
	return s
}

// publish has clients find s. It holds the lock to its end: a client may find s, and end its test, while the folder
// that publish still needs is written to disk.
func (d *desk) publish(s *stand) {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = s
	if err := endpoint.Write(d.dir, s.Endpoint); err != nil {
		d.t.Error(err)
	}
}

func (d *desk) start() {
	d.t.Helper()
	if err := endpoint.Ensure(d.dir); err != nil {
		d.t.Fatal(err)
	}
	d.publish(d.bind(endpoint.SocketPath(d.dir), nil))
}

// kill ends the nod-desktop that is published, as kill -9 does.
func (d *desk) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at.die()
}

func (s *stand) die() {
	s.once.Do(func() {
		s.server.Listener.Close()
		close(s.dead)
		s.server.CloseClientConnections()
	})
}

// serve is a nod-desktop that knows two routes.
func (d *desk) serve(s *stand, w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+s.Token || "http://"+r.Host != s.URL {
		says(401, "application/problem+json", `{"code":"UNAUTHORIZED"}`)(w, r)
		return
	}
	if r.URL.Path == "/v1/health" {
		says(200, "application/json", `{"status":"ok","version":"1","pending":0}`)(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	key := cmp.Or(r.Header.Get("Idempotency-Key"), r.URL.Path)
	d.mu.Lock()
	d.bodies = append(d.bodies, string(body))
	phase := d.phase(key)
	d.mu.Unlock()
	switch phase {
	case beforeHeaders:
		d.end(s)
		fallthrough
	case hangsUp:
		panic(http.ErrAbortHandler)
	}
	reply := d.decide(key, r)
	conn, out, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if phase != "" {
		defer d.end(s)
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
	text := fmt.Sprintf(head, len(reply)) + reply
	cut := map[string]int{"": len(text), midHeaders: 30, midBody: len(text) - len(reply)/2}[phase]
	io.WriteString(out, text[:cut])
	out.Flush()
}

// end kills s from one of its handlers.
func (*desk) end(s *stand) {
	go s.die()
	<-s.dead
}

// decide is the reply to a request: the user is asked once.
func (d *desk) decide(key string, r *http.Request) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.answer[key] == "" {
		d.asked[key]++
		d.answer[key] = fmt.Sprintf("%s %d", key, rand.Int())
	}
	switch {
	case r.Method == http.MethodGet:
		return fmt.Sprintf(`{"id":%q,"kind":"ask","status":"answered","answer":{"answer":%q}}`, testID, d.answer[key])
	case strings.HasPrefix(r.URL.Path, "/v1/hooks/"):
		return fmt.Sprintf(`{"says":%q}`, d.answer[key])
	}
	return fmt.Sprintf(`{"answer":%q}`, d.answer[key])
}

// once fails the first request in this way, and no other.
func once(phase string) func(string) string {
	return func(string) string {
		this := phase
		phase = ""
		return this
	}
}

// waits are the calls that wait for a user.
var waits = map[string]func(context.Context, *client.Client) (string, error){
	"ask": func(ctx context.Context, c *client.Client) (string, error) {
		r, err := c.Ask(ctx, api.AskRequest{Ask: api.Ask{Question: "q"}})
		return r.Answer, err
	},
	"ask with a key": func(ctx context.Context, c *client.Client) (string, error) {
		r, err := c.Ask(ctx, api.AskRequest{Ask: api.Ask{Question: "q"}, Common: api.Common{IdempotencyKey: "mine"}})
		return r.Answer, err
	},
	"hook": func(ctx context.Context, c *client.Client) (string, error) {
		r, err := c.Hook(ctx, client.HookCall{Agent: "a", Event: "e", Payload: []byte("{}")})
		return string(r), err
	},
	"request": func(ctx context.Context, c *client.Client) (string, error) {
		r, err := c.Request(ctx, testID, time.Minute)
		return string(r.Answer), err
	},
}

// Whenever nod-desktop dies, a call that waits goes on at the next one, and has the one answer that was given.
func TestReattach(t *testing.T) {
	for name, wait := range waits {
		for _, phase := range []string{beforeHeaders, midHeaders, midBody, afterAnswer} {
			t.Run(name+"/"+phase, func(t *testing.T) {
				d := newDesk(t)
				d.phase = once(phase)
				first, c := d.at, d.client()
				losses := 0
				c.Lost = func() { losses++; d.start() }
				got, err := wait(t.Context(), c)
				d.expectOne(got, err)
				if losses != 1 {
					t.Errorf("lost %d times", losses)
				}
				if at := c.Current(); at == first.Endpoint || at != d.client().Endpoint {
					t.Errorf("the client talks to %v", at)
				}
			})
		}
	}
}

// expectOne checks that there was one question and one answer, which got is.
func (d *desk) expectOne(got string, err error) {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, answer := range d.answer {
		isIt := strings.Contains(strings.ReplaceAll(got, `\"`, `"`), answer)
		if err != nil || !isIt || d.asked[key] != 1 || len(d.asked) != 1 {
			d.t.Errorf("got %q, %v; the user was asked %v and said %q", got, err, d.asked, answer)
		}
	}
	if len(d.answer) == 0 {
		d.t.Errorf("nobody was asked: %v", err)
	}
}

// A nod-desktop that died before a call reached it is a loss, too: who waits for the next one may give up.
func TestReattachToOneThatHasDied(t *testing.T) {
	d := newDesk(t)
	d.phase = once(beforeHeaders)
	c := d.client()
	ctx, giveUp := context.WithTimeout(t.Context(), 20*time.Second) // only a call that hangs
	defer giveUp()
	losses := 0
	c.Lost = func() {
		if losses++; losses == 1 {
			d.start()
			d.kill()
		} else {
			d.start()
		}
	}
	got, err := waits["ask"](ctx, c)
	d.expectOne(got, err)
	if losses != 2 {
		t.Errorf("lost %d times", losses)
	}
}

// However often nod-desktop dies, in whatever way, every call has its own answer, once.
func TestReattachAgainAndAgain(t *testing.T) {
	const calls, deaths = 30, 40
	d := newDesk(t)
	left := deaths
	d.phase = func(string) string {
		if left == 0 || rand.IntN(3) == 0 {
			return ""
		}
		left--
		return []string{beforeHeaders, midHeaders, midBody, afterAnswer}[rand.IntN(4)]
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go d.keepUp(ctx)
	c := d.client()
	got := make([]string, calls)
	var asks sync.WaitGroup
	for i := range calls {
		asks.Go(func() {
			var err error
			for err = client.ErrNotRunning; errors.Is(err, client.ErrNotRunning); { // the first dial may find nobody
				var r api.AskReply
				r, err = c.Ask(ctx, api.AskRequest{Ask: api.Ask{Question: "q"}})
				got[i] = r.Answer
			}
			if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	asks.Wait()
	given := map[string]bool{}
	for key, answer := range d.answer {
		given[answer] = true
		if d.asked[key] != 1 {
			t.Errorf("%s: the user was asked %d times", key, d.asked[key])
		}
	}
	if len(given) != calls {
		t.Errorf("%d answers to %d questions", len(given), calls)
	}
	for i, answer := range got {
		if !given[answer] {
			t.Errorf("call %d has %q, which nobody said or another call had, too", i, answer)
		}
		delete(given, answer)
	}
}

// keepUp starts a nod-desktop whenever one has died.
func (d *desk) keepUp(ctx context.Context) {
	for {
		d.mu.Lock()
		at := d.at
		d.mu.Unlock()
		select {
		case <-at.dead:
			d.start()
		case <-ctx.Done():
			return
		}
	}
}

// The next nod-desktop may have published its endpoint before the call that lost the first one looks.
func TestReattachToOneThatIsThereAlready(t *testing.T) {
	d := newDesk(t)
	d.phase = once(beforeHeaders)
	c := d.client()
	d.publish(d.bind(socketPath(t), nil))
	got, err := waits["ask"](t.Context(), c)
	d.expectOne(got, err)
}

// Between the moments in which the next nod-desktop listens and in which it is published, it is a stranger that knows
// no token of this client's.
func TestReattachToOneThatIsNotPublishedYet(t *testing.T) {
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			c := d.client()
			d.kill()
			refused := make(chan struct{})
			next := d.bind(endpoint.SocketPath(d.dir), func(next *stand, r *http.Request, serve func()) {
				serve()
				if r.Header.Get("Authorization") != "Bearer "+next.Token {
					close(refused)
				}
			})
			go func() { <-refused; d.publish(next) }()
			got, err := wait(t.Context(), c)
			d.expectOne(got, err)
		})
	}
}

// What another program leaves where nod publishes its endpoint is not nod's, and no reason to wait no longer.
func TestReattachPassesOverWhatIsNotAnEndpoint(t *testing.T) {
	d := newDesk(t)
	d.phase = once(beforeHeaders)
	c, waiting := d.client(), make(chan struct{})
	c.Lost = func() { close(waiting) }
	go func() {
		<-waiting
		path := endpoint.Path(d.dir)
		for _, spoil := range []func() error{
			func() error { return os.WriteFile(path, []byte("{}"), 0o600) },
			func() error { return os.Chmod(path, 0o644) },
			func() error { return os.Remove(path) },
			func() error { return os.RemoveAll(d.dir) },
			func() error { return os.Mkdir(d.dir, 0o755) },
			func() error { return os.Rename(d.dir, d.dir+".old") },
		} {
			if err := spoil(); err != nil {
				t.Error(err)
			}
		}
		d.start()
	}()
	got, err := waits["ask"](t.Context(), c)
	d.expectOne(got, err)
}

// A call that reached nobody is no call that lost somebody.
func TestFirstDialDoesNotWait(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	d.kill()
	for name, wait := range waits {
		if _, err := wait(t.Context(), c); !errors.Is(err, client.ErrNotRunning) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A nod-desktop that is alive and hangs up does not want to be asked again.
func TestHangingUpIsNoDeath(t *testing.T) {
	d := newDesk(t)
	d.phase = func(string) string { return hangsUp }
	for name, wait := range waits {
		_, err := wait(t.Context(), d.client())
		if _, isLost := errors.AsType[*client.LostError](err); !isLost {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.bodies) != len(waits) {
		t.Errorf("%d requests for %d calls", len(d.bodies), len(waits))
	}
}

// A nod-desktop that is quit takes back what it published before it hangs up. It may be restarted, and for that a call
// waits, but not for ever.
func TestQuitting(t *testing.T) {
	for name, wait := range waits {
		for _, isRestarted := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/restarted %v", name, isRestarted), func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				fails := once(beforeHeaders)
				d.phase = func(key string) string {
					phase := fails(key)
					if phase == "" {
						return ""
					}
					if err := endpoint.Remove(d.dir, os.Getpid()); err != nil {
						t.Error(err)
					}
					return phase
				}
				c := d.client()
				if isRestarted {
					c.Lost = d.start
				}
				got, err := wait(t.Context(), c)
				if isRestarted {
					d.expectOne(got, err)
				} else if _, isLost := errors.AsType[*client.LostError](err); !isLost {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

// The next nod-desktop may be published while the call that lost the first one, which was quit, finds out whether that
// still answers: it listens at the same place.
func TestQuittingWhileTheNextOneStarts(t *testing.T) {
	d := newDesk(t)
	first, fails := d.at, once(beforeHeaders)
	d.phase = func(key string) string {
		phase := fails(key)
		if phase == "" {
			return ""
		}
		if err := endpoint.Remove(d.dir, os.Getpid()); err != nil {
			t.Error(err)
		}
		first.once.Do(func() { // the next one listens already when the call is hung up on
			first.server.Listener.Close()
			d.bind(endpoint.SocketPath(d.dir), func(next *stand, r *http.Request, serve func()) {
				if r.Header.Get("Authorization") != "Bearer "+next.Token { // it is asked whether it is the first
					d.publish(next)
				}
				serve()
			})
			close(first.dead)
		})
		return hangsUp
	}
	got, err := waits["ask"](t.Context(), d.client())
	d.expectOne(got, err)
}

// What does not wait for a user does not wait for a nod-desktop, either, and finds the next one all the same.
func TestNoWaitWithoutAPerson(t *testing.T) {
	d := newDesk(t)
	c := d.client()
	d.kill()
	if _, err := c.Health(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("error %v", err)
	}
	d.start()
	if _, err := c.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

// A client that knows no folder takes a lost connection for what it is.
func TestNoFolderNoWait(t *testing.T) {
	d := newDesk(t)
	d.phase = once(beforeHeaders)
	c := &client.Client{Endpoint: d.at.Endpoint}
	_, err := waits["ask"](t.Context(), c)
	if _, isLost := errors.AsType[*client.LostError](err); !isLost {
		t.Errorf("error %v", err)
	}
}

// The wait ends with the context, and says what was lost and why it ended.
func TestTheWaitEndsWithTheContext(t *testing.T) {
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.phase = once(beforeHeaders)
			c, enough := d.client(), errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-d.at.dead
				cancel(enough)
			}()
			_, err := wait(ctx, c)
			if !errors.Is(err, enough) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// What is sent again asks for no more time than was left.
func TestNoMoreTimeThanWasLeft(t *testing.T) {
	d := newDesk(t)
	d.phase = once(beforeHeaders)
	first, c := d.at, d.client()
	go func() { <-first.dead; d.start() }()
	_, err := c.Ask(t.Context(), api.AskRequest{
		Ask: api.Ask{Question: "q"}, Common: api.Common{Timeout: 1e-9, Hold: 50},
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil || len(d.bodies) != 2 {
		t.Fatalf("%v after %q", err, d.bodies)
	}
	var bodies [2]api.AskRequest
	for i, text := range d.bodies {
		if err := api.DecodeStrict([]byte(text), &bodies[i]); err != nil {
			t.Fatal(err)
		}
	}
	if a := bodies[0]; a.Timeout != 1e-9 || a.Hold != 50 {
		t.Errorf("first %+v", a.Common)
	}
	if b := bodies[1]; b.Timeout != 0.001 || b.Hold >= 50 || b.Hold <= 0 {
		t.Errorf("then %+v", b.Common)
	}
}
