package boundary

import (
	"bufio"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestTheHandshakeNamesTheHost(t *testing.T) {
	const names, cannot = "its TLS handshake names ", "its TLS handshake cannot be read"
	other := hello(t, "other.example")
	for _, test := range []struct {
		name, target string
		says         []byte
		refused      string
	}{
		{"as asked", "example.com:443", hello(t, "example.com"), ""},
		{"in capitals", "example.com:443", hello(t, "EXAMPLE.com"), ""},
		{"another", "example.com:443", other, names + "other.example"},
		{"another at another port", "example.com:8443", other, names + "other.example"},
		{"another at the port of plain HTTP", "example.com:80", other, names + "other.example"},
		{"below", "example.com:443", hello(t, "a.example.com"), names + "a.example.com"},
		{"none", "example.com:443", hello(t, ""), names + "no host"},
		{"none, by address", "93.184.215.14:443", hello(t, ""), ""},
		{"some, by address", "93.184.215.14:443", hello(t, "example.com"), names + "example.com"},
		{"in two records", "example.com:443", split(hello(t, "example.com"), 20), ""},
		{"another in two records", "example.com:443", split(other, 60), names + "other.example"},
		{"outer name, encrypted within", "example.com:443", encryptedHello(t, "example.com", "secret.example"), ""},
		{"another outer name", "example.com:443", encryptedHello(t, "other.example", "example.com"),
			names + "other.example"},
		{"garbage", "example.com:443", []byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"), cannot},
		{"an alert within", "example.com:443", []byte("\x16\x03\x01\xff\xff\x00"), cannot},
		{"not TLS", "example.com:443", []byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"), "for TLS only"},
		{"SSLv2", "example.com:443", []byte("\x80\x2e\x01\x00\x02"), "for TLS only"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			for _, port := range []string{"443", "8443", "80"} {
				w.serve("93.184.215.14:"+port, echo)
			}
			c := w.open(test.target)
			c.Write(test.says)
			c.Conn.(*net.TCPConn).CloseWrite()
			got, _ := io.ReadAll(c)
			refused := strings.Join(seen(w, &w.refused), "\n")
			switch {
			case test.refused == "" && (string(got) != string(test.says) || refused != ""):
				t.Errorf("got %d bytes back of %d; refused: %s", len(got), len(test.says), refused)
			case test.refused != "" && string(got) != string(accessDenied),
				!strings.Contains(refused, test.refused):
				t.Errorf("got %q; refused: %q", got, refused)
			}
		})
	}
}

// split has a TLS record in two.
func split(record []byte, at int) []byte {
	part := func(b []byte) []byte { return append([]byte{22, 3, 1, byte(len(b) >> 8), byte(len(b))}, b...) }
	return append(part(record[5:5+at]), part(record[5+at:])...)
}

// encryptedHello is a ClientHello that shows one name and has another within (RFC 9849).
func encryptedHello(t testing.TB, outer, inner string) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public := key.PublicKey().Bytes()
	config := append([]byte{1, 0, 0x20, 0, byte(len(public))}, public...) // id, X25519, its key
	config = append(config, 0, 4, 0, 1, 0, 1, 32, byte(len(outer)))       // HKDF-SHA256, AES-128-GCM; longest name
	config = append(append(config, outer...), 0, 0)
	config = append([]byte{0xfe, 0x0d, byte(len(config) >> 8), byte(len(config))}, config...)
	list := append([]byte{byte(len(config) >> 8), byte(len(config))}, config...)

	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	failed := make(chan error, 1)
	go func() {
		failed <- tls.Client(client, &tls.Config{ServerName: inner, EncryptedClientHelloConfigList: list}).Handshake()
	}()
	record := make([]byte, 16<<10)
	server.SetReadDeadline(time.Now().Add(time.Minute))
	n, err := server.Read(record)
	if err != nil {
		t.Fatal(err, <-failed)
	}
	if strings.Contains(string(record[:n]), inner) || !strings.Contains(string(record[:n]), outer) {
		t.Fatal("the inner name is in the clear")
	}
	return record[:n]
}

// forOther is a request for another host than a tunnel leads to.
const forOther = " HTTP/1.1\r\nHost: other.example\r\n\r\n"

// In a tunnel every request in the clear is for the host that the tunnel leads to, at whatever port.
func TestRequestsInTheClearAreForTheHost(t *testing.T) {
	for _, test := range []struct {
		name, target, request string
		status                int
		says                  string
	}{
		{"as asked", "example.com:80", "GET /a HTTP/1.1\r\nHost: example.com\r\n\r\n", 200, "GET example.com /a "},
		{"with the port", "example.com:80", "GET /a HTTP/1.1\r\nHost: Example.com.:80\r\n\r\n", 200,
			"GET example.com /a "},
		{"other port", "example.com:8080", "GET /a HTTP/1.1\r\nHost: example.com:8080\r\n\r\n", 200,
			"GET example.com:8080 /a "},
		{"two slashes", "example.com:80", "GET //other.example/a HTTP/1.1\r\nHost: example.com\r\n\r\n", 200,
			"GET example.com //other.example/a "},
		{"whole address", "example.com:80", "GET http://example.com/a HTTP/1.1\r\nHost: x\r\n\r\n", 200,
			"GET example.com /a "},
		{"another", "example.com:80", "GET /" + forOther, 403, ""},
		{"another at another port", "example.com:8080", "GET /" + forOther, 403, ""},
		{"after an empty line", "example.com:8080", "\r\n\nGET /" + forOther, 400, ""},
		{"letters beyond ASCII", "example.com:8080", "GET /\xff" + forOther, 403, ""},
		{"long", "example.com:8080", "GET /" + strings.Repeat("a", 9000) + forOther, 403, ""},
		{"whole address of another", "example.com:80",
			"GET http://other.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, ""},
		{"port of another", "example.com:80", "GET / HTTP/1.1\r\nHost: example.com:8080\r\n\r\n", 403, ""},
		{"none", "example.com:80", "GET / HTTP/1.0\r\n\r\n", 403, ""},
		{"by address", "example.com:80", "GET / HTTP/1.1\r\nHost: 93.184.215.14\r\n\r\n", 403, ""},
		{"another proxy within", "example.com:80",
			"CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n", 403, ""},
		{"no request", "example.com:80", "SSH-2.0-OpenSSH_9.2p1\r\n\r\n", 400, ""},
		{"HTTP/2", "example.com:80", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, ""},
		{"both lengths", "example.com:80", "POST /a HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, "POST example.com /a "},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.web("example.com")
			w.servers["93.184.215.14:8080"] = w.servers["93.184.215.14:80"]
			response, body := w.send(w.open(test.target), "%s", test.request)
			if response.StatusCode != test.status || test.says != "" && body != test.says {
				t.Errorf("%s, %q", response.Status, body)
			}
		})
	}
}

func TestEachRequestOfAConnectionIsLookedAt(t *testing.T) {
	w := newWorld(t)
	w.web("example.com")
	c := w.open("example.com:80")
	for _, test := range []struct {
		host   string
		status int
	}{{"example.com", 200}, {"other.example", 403}, {"example.com", 200}} {
		response, _ := w.send(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", test.host)
		if response.StatusCode != test.status {
			t.Errorf("%s: %s", test.host, response.Status)
		}
	}

	w.answer = nil
	c = w.client()
	for _, host := range []string{"example.com", "other.example"} {
		w.send(c, "GET http://%s/ HTTP/1.1\r\nHost: example.com\r\n\r\n", host)
	}
	w.wantQuestions("example.com", "other.example")
}

func TestARedirectIsAskedAboutAnew(t *testing.T) {
	w := newWorld(t, "example.com")
	w.serve("93.184.215.14:80", func(c net.Conn) {
		http.ReadRequest(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n")
	})
	w.answer = func(context.Context, Target) error { return errNo }
	response, err := w.browser("http", w.web("other.example")).Get("http://example.com/")
	if err != nil || response.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", response, err)
	}
	w.wantQuestions("169.254.169.254")
}

func TestTheHostHeaderIsThatOfTheAddress(t *testing.T) {
	w := newWorld(t)
	w.web("example.com")
	_, body := w.send(w.client(), "GET http://example.com/ HTTP/1.1\r\nHost: other.example\r\n\r\n")
	if body != "GET example.com / " {
		t.Error(body)
	}
}

func TestOnlyWebSocketsChangeTheProtocol(t *testing.T) {
	for protocol, want := range map[string]int{"websocket": 101, "h2c": 200, "h2c, websocket": 200, "TLS/1.0": 200} {
		t.Run(protocol, func(t *testing.T) {
			w := newWorld(t, "example.com")
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Upgrade") == "" {
					return
				}
				c, buffered, _ := http.NewResponseController(rw).Hijack()
				defer c.Close()
				fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
					r.Header.Get("Upgrade"))
				io.Copy(c, buffered)
			}))
			t.Cleanup(server.Close)
			w.servers["93.184.215.14:80"] = server.Listener.Addr().String()
			for _, c := range []*byHand{w.client(), w.open("example.com:80")} {
				fmt.Fprintf(c, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nConnection: Upgrade\r\n"+
					"Upgrade: %s\r\n\r\n", protocol)
				response, err := http.ReadResponse(c.in, nil)
				if err != nil || response.StatusCode != want {
					t.Fatalf("%v, %v", response, err)
				}
				if want == 101 {
					io.WriteString(c, "ping")
					if got := make([]byte, 4); !isRead(c, got) || string(got) != "ping" {
						t.Errorf("%q", got)
					}
				}
			}
		})
	}
}

func isRead(r io.Reader, b []byte) bool {
	_, err := io.ReadFull(r, b)
	return err == nil
}

// Where the server speaks first, or both speak something else, bytes pass as they are, to the end of each direction.
func TestOtherProtocolsPass(t *testing.T) {
	for name, said := range map[string]string{
		"SSH": "SSH-2.0-OpenSSH_9.2p1\r\nrest", "git": "0032git-upload-pack /project.git\x00host=example.com\x00",
		"PostgreSQL": "\x00\x00\x00\x08\x04\xd2\x16\x2f", "SMTP": "EHLO me\r\n", "AMQP": "AMQP\x00\x00\x09\x01",
		"nothing": "", "one letter": "a", "an empty line": "\r\n", "HTTP/0.9": "GET /\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.serve("93.184.215.14:22", func(c net.Conn) {
				io.WriteString(c, "welcome\n")
				echo(c)
				io.WriteString(c, "bye\n")
			})
			socks, reply := w.socks("example.com", 22)
			if reply != 0 {
				t.Fatalf("reply %d", reply)
			}
			for _, c := range []*byHand{w.open("example.com:22"), socks} {
				if line, _ := c.in.ReadString('\n'); line != "welcome\n" {
					t.Fatalf("first %q", line)
				}
				io.WriteString(c, said)
				c.Conn.(*net.TCPConn).CloseWrite()
				if got, err := io.ReadAll(c); string(got) != said+"bye\n" {
					t.Errorf("%q, %v", got, err)
				}
			}
			w.wantQuestions("example.com:22")
		})
	}
}

// A server that has said all and leaves is not waited for.
func TestTheServerMayLeaveFirst(t *testing.T) {
	w := newWorld(t)
	w.serve("93.184.215.14:13", func(c net.Conn) { io.WriteString(c, "noon\n") })
	if got, _ := io.ReadAll(w.open("example.com:13")); string(got) != "noon\n" {
		t.Errorf("%q", got)
	}
}

func FuzzFirstBytes(f *testing.F) {
	for _, seed := range []string{
		"CONNECT example.com:443 HTTP/1.1\r\n\r\n", "GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x01\xbb", "\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50",
		"CONNECT 127.1:80 HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x04\x01\x00\x50", "\x16\x03\x01",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, first []byte) {
		w := newWorld(t)
		w.answer = func(context.Context, Target) error { return errNo }
		c := w.client()
		c.Write(first)
		c.Conn.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
		w.want("dialed", seen(w, &w.dialed))
		w.want("resolved", seen(w, &w.resolved))
		for _, asked := range seen(w, &w.asked) {
			if again, err := parseHost(asked.Host); err != nil || again != asked.Host || asked.Port == 0 {
				t.Errorf("asked about %v, which is %q, %v", asked, again, err)
			}
			if addr, ok := asked.isAddress(); ok && isNear(addr) && asked.Addr != addr {
				t.Errorf("asked about %v", asked)
			}
		}
	})
}

// What is forwarded says the same as what was looked at, and no handshake is for two hosts.
func FuzzHello(f *testing.F) {
	for _, name := range []string{"example.com", "other.example", ""} {
		f.Add(hello(f, name))
	}
	f.Add(split(hello(f, "example.com"), 20))
	f.Add(encryptedHello(f, "example.com", "secret.example"))
	to := func(host string) Target { return Target{Host: host, Port: 443} }
	f.Fuzz(func(t *testing.T, said []byte) {
		read, err := readHello(strings.NewReader(string(said)), to("example.com"))
		if err != nil {
			return
		}
		if again, err := readHello(strings.NewReader(string(read)), to("example.com")); err != nil ||
			string(again) != string(read) || !strings.HasPrefix(string(said), string(read)) {
			t.Errorf("read %q of %q, then %q, %v", read, said, again, err)
		}
		if _, err := readHello(strings.NewReader(string(said)), to("other.example")); err == nil {
			t.Errorf("%q is for two hosts", said)
		}
	})
}
