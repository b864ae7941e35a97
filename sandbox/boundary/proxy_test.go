package boundary

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A world is a network in which names of the public lead to servers of a test, and a proxy that leads to it.
type world struct {
	t       *testing.T
	address string // of the proxy
	names   map[string][]string
	servers map[string]string // host:port as dialed: the address of a listener here; others are refused

	answer func(context.Context, Target) error // nil: the user allows all
	stop   func()                              // ends the run, and waits until it is over

	mu       sync.Mutex
	asked    []Target
	refused  []string
	dialed   []string
	resolved []string
}

var errNo = errors.New("you said no")

func newWorld(t *testing.T, allowed ...string) *world {
	w := &world{
		t:       t,
		names:   map[string][]string{"example.com": {"93.184.215.14"}, "other.example": {"93.184.215.15"}},
		servers: map[string]string{},
	}
	p := newProxy(Config{Allowed: allowed, Ask: w.ask, Refused: func(err error) { w.note(&w.refused, err.Error()) }})
	p.lookup, p.dial = w.lookup, w.dial
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.address = l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- p.serve(ctx, l) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(w.stop)
	return w
}

func (w *world) note(list *[]string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(*list, text)
}

func (w *world) ask(ctx context.Context, t Target) error {
	w.mu.Lock()
	w.asked = append(w.asked, t)
	w.mu.Unlock()
	if w.answer == nil {
		return nil
	}
	return w.answer(ctx, t)
}

func (w *world) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	w.note(&w.resolved, host)
	var list []netip.Addr
	for _, text := range w.names[host] {
		list = append(list, netip.MustParseAddr(text))
	}
	if list == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return list, nil
}

func (w *world) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.note(&w.dialed, to.String())
	server, ok := w.servers[to.String()]
	if !ok {
		return nil, fmt.Errorf("dial %s: connection refused", to)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", server)
}

// seen returns what is on a list of w so far. A connection that is over does not mean that its question has been put.
func seen[T any](w *world, list *[]T) []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(*list)
}

func (w *world) questions() []string {
	var list []string
	for _, t := range seen(w, &w.asked) {
		list = append(list, t.name())
	}
	return list
}

func (w *world) want(what string, got []string, want ...string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (w *world) wantQuestions(want ...string) {
	w.t.Helper()
	w.want("asked about", w.questions(), want...)
}

// web serves pages at a public address, with TLS at port 443: each says how its request looked.
func (w *world) web(host string) *httptest.Server {
	w.t.Helper()
	page := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(rw, "%s %s %s %s", r.Method, r.Host, r.URL, body)
	})
	secure, plain := httptest.NewUnstartedServer(page), httptest.NewServer(page)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	w.t.Cleanup(secure.Close)
	w.t.Cleanup(plain.Close)
	for _, ip := range w.names[host] {
		w.servers[net.JoinHostPort(ip, "443")] = secure.Listener.Addr().String()
		w.servers[net.JoinHostPort(ip, "80")] = plain.Listener.Addr().String()
	}
	return secure
}

// serve has a listener at an address of this world that does one thing with each connection.
func (w *world) serve(address string, do func(net.Conn)) {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { l.Close() })
	w.servers[address] = l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); do(c) }()
		}
	}()
}

func echo(c net.Conn) { io.Copy(c, c) }

// browser is a client that trusts a server and goes through the proxy, by http or socks5h.
func (w *world) browser(scheme string, server *httptest.Server) *http.Client {
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: scheme, Host: w.address})
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (w *world) client() *byHand {
	w.t.Helper()
	c, err := net.Dial("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return &byHand{c, bufio.NewReader(c)}
}

// byHand is a connection to the proxy, by hand.
type byHand struct {
	net.Conn
	in *bufio.Reader
}

func (c *byHand) Read(b []byte) (int, error) { return c.in.Read(b) }

// send sends a request and reads the head of the reply, and its body where the connection is no tunnel.
func (w *world) send(c *byHand, format string, args ...any) (*http.Response, string) {
	w.t.Helper()
	fmt.Fprintf(c, format, args...)
	method := strings.Fields(format)[0]
	response, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		w.t.Fatalf("read the reply: %v", err)
	}
	if method == "CONNECT" && response.StatusCode == http.StatusOK {
		return response, ""
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response, string(body)
}

// open opens a tunnel, or fails the test.
func (w *world) open(hostport string) *byHand {
	w.t.Helper()
	c := w.client()
	response, body := w.send(c, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", hostport)
	if response.StatusCode != http.StatusOK {
		w.t.Fatalf("CONNECT %s: %s, %s", hostport, response.Status, body)
	}
	return c
}

// connect asks for a tunnel and returns what the reply says.
func (w *world) connect(hostport string) string {
	w.t.Helper()
	response, body := w.send(w.client(), "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", hostport)
	return response.Status + "\n" + body
}

// socks asks for a host by name, and returns the reply: 0 is yes, 2 is no.
func (w *world) socks(host string, port uint16) (*byHand, byte) {
	w.t.Helper()
	c := w.client()
	request := append([]byte{5, 1, 0, 5, 1, 0, 3, byte(len(host))}, host...)
	c.Write(append(request, byte(port>>8), byte(port)))
	reply := make([]byte, 2+10)
	if _, err := io.ReadFull(c, reply); err != nil {
		w.t.Fatalf("SOCKS, %q: %v", host, err)
	}
	return c, reply[3]
}

func TestHostsAreAskedAbout(t *testing.T) {
	for _, scheme := range []string{"http", "socks5h"} {
		for _, page := range []string{"https://example.com/a?b=c", "http://example.com/a?b=c"} {
			t.Run(scheme+" "+page, func(t *testing.T) {
				w := newWorld(t)
				client := w.browser(scheme, w.web("example.com"))
				for range 2 {
					response, err := client.Post(page, "text/plain", strings.NewReader("body"))
					if err != nil {
						t.Fatal(err)
					}
					body, _ := io.ReadAll(response.Body)
					response.Body.Close()
					if got := string(body); got != "POST example.com /a?b=c body" {
						t.Errorf("got %q", got)
					}
				}
				w.wantQuestions("example.com")
			})
		}
	}
}

func TestANoIsARefusedConnection(t *testing.T) {
	w := newWorld(t)
	w.answer = func(context.Context, Target) error { return errNo }
	server := w.web("example.com")
	const reason = "nod: no network to example.com: you said no"

	if got := w.connect("example.com:443"); got != "403 "+reason+"\n"+reason+"\n" {
		t.Errorf("CONNECT: %q", got)
	}
	response, body := w.send(w.client(), "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n")
	if response.StatusCode != http.StatusForbidden || body != reason+"\n" {
		t.Errorf("GET: %s, %q", response.Status, body)
	}
	if _, reply := w.socks("example.com", 443); reply != 2 {
		t.Errorf("SOCKS: %d", reply)
	}
	for _, scheme := range []string{"http", "socks5h"} {
		if _, err := w.browser(scheme, server).Get("https://example.com/"); err == nil {
			t.Error(scheme, "got the page")
		}
	}
	w.wantQuestions("example.com")
	w.want("resolved", seen(w, &w.resolved))
	w.want("dialed", seen(w, &w.dialed))
	w.want("refused", slices.Compact(seen(w, &w.refused)), strings.TrimPrefix(reason, "nod: "))
}

func TestAllowedHosts(t *testing.T) {
	for _, test := range []struct {
		allowed, host string
		port          string
		asks          []string
	}{
		{"example.com", "example.com", "443", nil},
		{"example.com", "EXAMPLE.com.", "443", nil},
		{"example.com", "example.com", "80", nil},
		{"example.com", "example.com", "22", []string{"example.com:22"}},
		{"example.com", "a.example.com", "443", []string{"a.example.com"}},
		{"*.example.com", "a.b.example.com", "443", nil},
		{"*.example.com", "example.com", "443", []string{"example.com"}},
		{"*.example.com", "badexample.com", "443", []string{"badexample.com"}},
		{"*.example.com", "example.com.evil.example", "443", []string{"example.com.evil.example"}},
		{"near.example", "near.example", "443", []string{"near.example (10.0.0.7)"}},
		{"localhost", "localhost", "443", []string{"localhost (127.0.0.1)"}},
		{"*.localhost", "a.localhost", "443", []string{"a.localhost (127.0.0.1)"}},
		{"10.0.0.7", "10.0.0.7", "443", nil},
		{"10.0.0.7", "10.0.0.7", "5432", []string{"10.0.0.7:5432"}},
		{"*.0.0.7", "10.0.0.7", "443", []string{"10.0.0.7"}},
		{"93.184.215.14", "93.184.215.14", "443", nil},
		{"", "93.184.215.14", "443", []string{"93.184.215.14"}},
	} {
		t.Run(test.allowed+" "+test.host+" "+test.port, func(t *testing.T) {
			w := newWorld(t, test.allowed)
			w.names["near.example"] = []string{"10.0.0.7"}
			w.answer = func(context.Context, Target) error { return errNo }
			got := w.connect(test.host + ":" + test.port)
			w.wantQuestions(test.asks...)
			if isRefused := strings.HasPrefix(got, "403"); isRefused != (test.asks != nil) {
				t.Error(got)
			}
			for _, to := range seen(w, &w.dialed) {
				if test.asks != nil {
					t.Errorf("dialed %s", to)
				}
			}
		})
	}
}

// Each of these means this machine to some program. nod asks by address, or refuses.
func TestThisMachineIsAskedAboutByAddress(t *testing.T) {
	for host, addr := range map[string]string{
		"127.0.0.1": "127.0.0.1", "127.8.9.1": "127.8.9.1", "0.0.0.0": "0.0.0.0", "localhost": "127.0.0.1",
		"localhost.": "127.0.0.1", "LOCALHOST": "127.0.0.1", "ｌｏｃａｌｈｏｓｔ": "127.0.0.1",
		"deep.below.localhost": "127.0.0.1", "localhost.localdomain": "127.0.0.1", "127.0.0.1.nip.io": "127.0.0.1",
		"metadata.google.internal": "169.254.169.254", "::1": "::1", "::": "::", "0:0:0:0:0:0:0:1": "::1",
		"::ffff:127.0.0.1": "127.0.0.1", "::FFFF:7F00:1": "127.0.0.1", "2002:7f00:1::": "2002:7f00:1::",
		"64:ff9b::127.0.0.1": "64:ff9b::7f00:1", "fd00:ec2::254": "fd00:ec2::254", "169.254.169.254": "169.254.169.254",
		"100.64.0.1": "100.64.0.1", "224.0.0.1": "224.0.0.1", "fe80::1": "fe80::1", "ff02::1": "ff02::1",
		"127.1": "", "0x7f000001": "", "0x7F.1": "", "017700000001": "", "0177.0.0.1": "", "2130706433": "", "0": "",
		"127.0.0.1.": "", "１２７.0.0.1": "", "127。0。0。1": "", "[::1]": "", "fe80::1%lo": "", "::1%1": "",
		"127.0.0.1\x00.example.com": "", "127.0.0.1%00": "", "localhost..": "", "": "", ".": "", " localhost": "",
		"user@localhost": "", "localhost#": "", "localhost/": "", "local host": "", "①②⑦.0.0.1": "",
		"999.1.1.1": "", "0x": "", "127.0.0.0x1": "", "example.com\r\nX: y": "",
	} {
		t.Run(host, func(t *testing.T) {
			w := newWorld(t, "*.io", "localhost", "localhost.localdomain", "*.internal")
			w.names["localhost.localdomain"] = []string{"127.0.0.1"}
			w.names["127.0.0.1.nip.io"] = []string{"127.0.0.1"}
			w.names["metadata.google.internal"] = []string{"169.254.169.254"}
			w.answer = func(context.Context, Target) error { return errNo }
			if _, reply := w.socks(host, 443); reply != 2 {
				t.Errorf("reply %d", reply)
			}
			w.want("dialed", seen(w, &w.dialed))
			switch asked := seen(w, &w.asked); {
			case addr == "" && len(asked) > 0:
				t.Errorf("asked about %v, want it refused", asked)
			case addr != "" && (len(asked) != 1 || asked[0].Addr.String() != addr):
				t.Errorf("asked about %v, want %s", asked, addr)
			}
		})
	}
}

func TestWhatIsNoTargetIsRefused(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("a", 63)
	for _, request := range []string{
		"CONNECT example.com HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT user:password@example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT example.com:0 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT example.com:65536 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT example.com:-1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT example.com:0443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT example.com:https HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT example.com:443/path HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT /path HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT [fe80::1%25lo]:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT [fe80::1%lo]:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT exa%6dple.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT example.com\x00:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT " + strings.Repeat(long+".", 4) + "com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT a" + long + ".com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET ftp://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://user@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http:example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http:///path HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://example.com:/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://[::1%25lo]/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://exa%6dple.com\\@evil.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nHost: other.example\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nHost : example.com\r\n\r\n",
		"GET http://example.com/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\nHost: x\r\n\r\n",
		"POST http://example.com/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\nHost: x\r\n\r\nab",
		"GET http://example.com/ HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 2*maxHeader) + "\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"\x16\x03\x01\x00\x00\r\n\r\n",
	} {
		c := w.client()
		go io.WriteString(c, request)
		response, err := http.ReadResponse(c.in, nil)
		if err != nil || response.StatusCode < 400 {
			t.Errorf("%.80q: %v, %v", request, response, err)
		}
	}
	w.wantQuestions()
	w.want("dialed", seen(w, &w.dialed))
}

func TestOnlyConnectIsSpokenOfSOCKS(t *testing.T) {
	for _, test := range []struct {
		name, send, want string
	}{
		{"bind", "\x05\x01\x00\x05\x02\x00\x03\x0bexample.com\x01\xbb", "\x05\x00\x05\x07"},
		{"udp associate", "\x05\x01\x00\x05\x03\x00\x03\x0bexample.com\x01\xbb", "\x05\x00\x05\x07"},
		{"unknown command", "\x05\x01\x00\x05\x09\x00\x03\x0bexample.com\x01\xbb", "\x05\x00\x05\x07"},
		{"unknown kind of address", "\x05\x01\x00\x05\x01\x00\x09\x0bexample.com\x01\xbb", "\x05\x00\x05\x08"},
		{"password only", "\x05\x01\x02", "\x05\xff"},
		{"no method", "\x05\x00", "\x05\xff"},
		{"SOCKS 4 within", "\x05\x01\x00\x04\x01\x00\x03\x0bexample.com\x01\xbb", "\x05\x00"},
		{"no name", "\x05\x01\x00\x05\x01\x00\x03\x00\x01\xbb", "\x05\x00\x05\x02"},
		{"port 0", "\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x00\x00", "\x05\x00\x05\x02"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			c := w.client()
			io.WriteString(c, test.send)
			got, _ := io.ReadAll(c)
			if !strings.HasPrefix(string(got), test.want) || len(got) > 12 || len(got) > 2 && got[3] == 0 {
				t.Errorf("%q, want %q", got, test.want)
			}
			w.wantQuestions()
		})
	}
}

// hello is how a client begins TLS.
func hello(t testing.TB, name string) []byte {
	t.Helper()
	client, server := net.Pipe()
	go tls.Client(client, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	defer client.Close()
	defer server.Close()
	record := make([]byte, 16<<10)
	n, err := server.Read(record)
	if err != nil {
		t.Fatal(err)
	}
	return record[:n]
}
