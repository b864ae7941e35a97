package boundary

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A user is one whose questions a test answers.
type user struct {
	questions chan Target
	answers   chan error
	withdrawn chan Target
}

func newUser() *user { return &user{make(chan Target), make(chan error), make(chan Target, 100)} }

func (u *user) ask(ctx context.Context, t Target) error {
	select {
	case u.questions <- t:
	case <-ctx.Done():
		u.withdrawn <- t
		return ctx.Err()
	}
	select {
	case err := <-u.answers:
		return err
	case <-ctx.Done():
		u.withdrawn <- t
		return ctx.Err()
	}
}

func TestOneQuestionForAllWhoWait(t *testing.T) {
	for _, answer := range []error{nil, errNo} {
		t.Run(fmt.Sprint(answer), func(t *testing.T) {
			w, u := newWorld(t), newUser()
			w.answer = u.ask
			w.web("example.com")
			var waiting sync.WaitGroup
			for i := range 50 {
				waiting.Go(func() {
					if i%2 == 0 {
						if _, reply := w.socks("example.com", 443); (reply == 0) != (answer == nil) {
							t.Errorf("reply %d", reply)
						}
						return
					}
					if reply := w.connect("Example.com:80"); strings.HasPrefix(reply, "200") != (answer == nil) {
						t.Error(reply)
					}
				})
			}
			<-u.questions
			u.answers <- answer
			waiting.Wait()
			w.wantQuestions("example.com")
		})
	}
}

func TestAClosedConnectionWithdrawsItsQuestion(t *testing.T) {
	for name, request := range map[string]string{
		"CONNECT": "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET":     "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"SOCKS":   "\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x01\xbb",
	} {
		t.Run(name, func(t *testing.T) {
			w, u := newWorld(t), newUser()
			w.answer = u.ask
			w.web("example.com")
			leaves := w.client()
			io.WriteString(leaves, request)
			<-u.questions
			leaves.Close()
			<-u.withdrawn

			// The next connection asks anew, and keeps its question when another leaves.
			stays, leaves := w.client(), w.client()
			io.WriteString(stays, request)
			<-u.questions
			io.WriteString(leaves, request)
			leaves.Close()
			u.answers <- errNo
			got := make([]byte, 12)
			io.ReadFull(stays, got)
			if want := map[string]string{"SOCKS": "\x05\x00\x05\x02"}[name]; !strings.HasPrefix(string(got), want) ||
				want == "" && string(got) != "HTTP/1.1 403" {
				t.Errorf("%q", got)
			}
			w.wantQuestions("example.com", "example.com")
		})
	}
}

func TestTheUserSeesFewQuestionsAtOnce(t *testing.T) {
	w, u := newWorld(t), newUser()
	w.answer = u.ask
	var waiting sync.WaitGroup
	for i := range 3 * maxOpen {
		waiting.Go(func() { w.socks(fmt.Sprintf("host%d.example", i), 443) })
	}
	for range maxOpen {
		<-u.questions
	}
	select {
	case more := <-u.questions:
		t.Errorf("one too many: %v", more)
	default:
	}
	for i := range 3 * maxOpen {
		u.answers <- errNo
		if i < 2*maxOpen {
			<-u.questions
		}
	}
	waiting.Wait()
}

func TestACommandThatAsksForTooManyHosts(t *testing.T) {
	w := newWorld(t)
	w.answer = func(context.Context, Target) error { return errNo }
	for i := range maxAsked + 5 {
		w.socks(fmt.Sprintf("host%d.example", i), 443)
	}
	if n := len(w.questions()); n != maxAsked {
		t.Errorf("%d questions", n)
	}
	if reply := w.connect("one-more.example:443"); !strings.Contains(reply, "too many hosts") {
		t.Error(reply)
	}
}

// Nor does a command ask for more by taking its questions back.
func TestACommandThatTakesItsQuestionsBack(t *testing.T) {
	w, u := newWorld(t), newUser()
	w.answer = u.ask
	for i := range maxAsked {
		client := w.client()
		fmt.Fprintf(client, "CONNECT h%d.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", i)
		<-u.questions
		client.Close()
		<-u.withdrawn
	}
	if reply := w.connect("one-more.example:443"); !strings.Contains(reply, "too many hosts") {
		t.Error(reply)
	}
}

func TestWithoutAnybodyToAsk(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- Serve(ctx, l, Config{Allowed: []string{"example.com"}}) }()
	w := &world{t: t, address: l.Addr().String()}
	if reply := w.connect("other.example:443"); !strings.Contains(reply, "allowed beforehand") {
		t.Error(reply)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", w.address); err == nil {
		t.Error("it listens still")
	}
}

func TestAnAnswerIsKeptByAddress(t *testing.T) {
	w := newWorld(t, "near.example")
	w.names["near.example"] = []string{"10.0.0.7"}
	w.serve("10.0.0.7:443", echo)
	w.open("near.example:443")
	w.names["near.example"] = []string{"10.0.0.8"} // as a name server of an attacker would
	w.serve("10.0.0.8:443", echo)
	w.open("near.example:443")
	w.wantQuestions("near.example (10.0.0.7)", "near.example (10.0.0.8)")
	w.want("dialed", seen(w, &w.dialed), "10.0.0.7:443", "10.0.0.8:443")
}

func TestANameWithSeveralAddresses(t *testing.T) {
	for _, test := range []struct {
		name                   string
		addresses, asks, dials []string
	}{
		{"the next where one does not answer", []string{"2606:4700::1", "93.184.215.14"}, nil,
			[]string{"[2606:4700::1]:443", "93.184.215.14:443"}},
		{"none that is near beside one of the public", []string{"127.0.0.1", "93.184.215.14", "::1"}, nil,
			[]string{"93.184.215.14:443"}},
		{"each that is near", []string{"10.0.0.7", "::ffff:10.0.0.8", "fd00::1"},
			[]string{"example.com (10.0.0.7)", "example.com (10.0.0.8)", "example.com (fd00::1)"},
			[]string{"10.0.0.7:443", "10.0.0.8:443", "[fd00::1]:443"}},
		{"no more than a few", strings.Split(strings.Repeat("93.184.215.99 ", 20)+"93.184.215.14", " "), nil,
			strings.Split(strings.Repeat("93.184.215.99:443 ", 7)+"93.184.215.99:443", " ")},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, "example.com")
			w.web("example.com")
			w.names["example.com"] = test.addresses
			w.connect("example.com:443")
			w.wantQuestions(test.asks...)
			w.want("dialed", seen(w, &w.dialed), test.dials...)
		})
	}
}

func TestAThousandConnectionsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.serve("93.184.215.14:9000", echo)
	const many = 1000
	var open, all sync.WaitGroup
	open.Add(many)
	for i := range many {
		all.Go(func() {
			defer open.Done()
			c, reply := w.socks("example.com", 9000)
			if reply != 0 {
				t.Errorf("reply %d", reply)
			}
			said := fmt.Appendf(nil, "%d\x00", i)
			c.Write(said)
			if got := make([]byte, len(said)); !isRead(c, got) || !bytes.Equal(got, said) {
				t.Errorf("%q, want %q", got, said)
			}
		})
	}
	open.Wait() // they stay open until the test ends
	all.Wait()
}

func TestAnAbundanceOfConnectionsWaits(t *testing.T) {
	w := newWorld(t, "example.com")
	w.web("example.com")
	var silent []net.Conn
	for range maxConnections {
		silent = append(silent, w.client())
	}
	late := w.client()
	io.WriteString(late, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	for _, c := range silent {
		c.Close()
	}
	if response, err := http.ReadResponse(late.in, nil); err != nil || response.StatusCode != 200 {
		t.Errorf("%v, %v", response, err)
	}
}

func TestMuchIsStreamed(t *testing.T) {
	w := newWorld(t, "example.com")
	w.serve("93.184.215.14:9000", echo)
	c := w.open("example.com:9000")
	const size = 64 << 20
	go func() {
		block := make([]byte, 1<<20)
		for range size / len(block) {
			c.Write(block)
		}
		c.Conn.(*net.TCPConn).CloseWrite()
	}()
	if n, err := io.Copy(io.Discard, c); n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestASlowClient(t *testing.T) {
	for _, request := range []string{
		"CONNECT example.com:22 HTTP/1.1\r\nHost: x\r\n\r\n", "\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x00\x16",
	} {
		w := newWorld(t, "example.com")
		w.serve("93.184.215.14:22", func(c net.Conn) { io.WriteString(c, "welcome\n") })
		c := w.client()
		c.Conn.(*net.TCPConn).SetNoDelay(true)
		for _, b := range []byte(request) {
			c.Write([]byte{b})
		}
		if got, err := io.ReadAll(c); !strings.HasSuffix(string(got), "welcome\n") {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// pipes is a listener without a network, so that a test has its own time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { close(l.closed); return nil }
func (l *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestASilentClientIsNotWaitedFor(t *testing.T) {
	for name, test := range map[string]struct {
		says    string
		timeout time.Duration
	}{
		"nothing":        {"", greetingTimeout},
		"half a request": {"GET http://exam", greetingTimeout},
		"half of SOCKS":  {"\x05", greetingTimeout},
		"idle":           {"CONNECT example.com:22 HTTP/1.1\r\nHost: x\r\n\r\n", idleTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				l := &pipes{make(chan net.Conn), make(chan struct{})}
				p := newProxy(Config{Ask: func(context.Context, Target) error { return nil }})
				p.lookup = (&world{names: map[string][]string{"example.com": {"93.184.215.14"}}}).lookup
				p.dial = func(context.Context, netip.AddrPort) (net.Conn, error) {
					near, _ := net.Pipe()
					return near, nil
				}
				served := make(chan error)
				go func() { served <- p.serve(ctx, l) }()
				client, server := net.Pipe()
				l.conns <- server
				start := time.Now()
				go io.WriteString(client, test.says)
				io.Copy(io.Discard, client)
				if took := time.Since(start); took != test.timeout {
					t.Errorf("closed after %v, want %v", took, test.timeout)
				}
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The end of a run ends all that is open, and withdraws what is asked.
func TestTheEndOfARun(t *testing.T) {
	w, u := newWorld(t, "example.com"), newUser()
	w.answer = u.ask
	w.serve("93.184.215.14:80", echo)
	var open []net.Conn
	for range 3 {
		open = append(open, w.open("example.com:80"), w.client())
	}
	asking := w.client()
	io.WriteString(asking, "CONNECT other.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	<-u.questions
	w.stop()
	if gone := <-u.withdrawn; gone.Host != "other.example" {
		t.Error(gone)
	}
	for _, c := range append(open, asking) {
		io.Copy(io.Discard, c) // ends
	}
}
