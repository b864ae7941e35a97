package device_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/e2e/devicetest"
	"nod/ipc/device"
)

// atServer is where a server is reached.
func atServer(t *testing.T, s *device.Server) string {
	t.Helper()
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// trusting is a client that knows the certificate by its fingerprint.
func trusting(s *device.Server, most uint16) *http.Client {
	return &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, MaxVersion: most, VerifyConnection: func(c tls.ConnectionState) error {
			got := fingerprint(tls.Certificate{Leaf: c.PeerCertificates[0]})
			if got != s.Fingerprint() {
				return &net.AddrError{Err: "another certificate", Addr: got}
			}
			return nil
		},
	}}}
}

func TestServeOverTLS(t *testing.T) {
	s := Start(t, &Desk{}, testPage)
	for most, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		client := trusting(s, most)
		reply, err := client.Get(s.URL())
		if (err == nil) != want {
			t.Errorf("%s: %v", tls.VersionName(most), err)
		}
		if err == nil {
			text, _ := io.ReadAll(reply.Body)
			_ = reply.Body.Close()
			if string(text) != "<!doctype html>" || reply.TLS.Version != most {
				t.Errorf("%s: %q", tls.VersionName(reply.TLS.Version), text)
			}
		}
		client.CloseIdleConnections()
	}
	if reply, err := http.Get(strings.Replace(s.URL(), "https", "http", 1)); err == nil {
		if reply.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: %s", reply.Status)
		}
		_ = reply.Body.Close()
	}
}

// dialFrom connects to a server from an address of this machine.
func dialFrom(t *testing.T, s *device.Server, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(t.Context(), "tcp", atServer(t, s))
	if err != nil {
		t.Skipf("this system does not connect from %s: %v", from, err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// shakes reports whether the server still holds a connection: it answers a hello.
func shakes(t *testing.T, c net.Conn) bool {
	t.Helper()
	return tls.Client(c, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(t.Context()) == nil
}

// given is a listener that is given its connections.
type given chan net.Conn

func (g given) Accept() (net.Conn, error) {
	c, ok := <-g
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (g given) Close() error { close(g); return nil }
func (given) Addr() net.Addr { return &net.TCPAddr{} }

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from net.TCPAddr
}

func (a addressed) RemoteAddr() net.Addr { return &a.from }

// served serves s in a bubble, where no time passes while the machine is busy. Any address connects with it.
func served(t *testing.T, s *device.Server) (dial func(from string) net.Conn) {
	t.Helper()
	l := make(given)
	t.Cleanup(func() { time.Sleep(time.Minute) }) // of the bubble: until nothing of the server runs
	serve(t, s, l)
	return func(from string) net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = ours.Close() })
		l <- addressed{theirs, net.TCPAddr{IP: net.ParseIP(from)}}
		return ours
	}
}

// One address takes no more than its share, whatever it does with its connections, and what it opens last is served.
func TestOneAddressTakesItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := served(t, New(t, &Desk{}, testPage))
		var held []net.Conn
		for range 40 {
			held = append(held, dial("127.0.0.1"))
		}
		if !shakes(t, dial("127.0.0.1")) {
			t.Error("there is no room for the last one")
		}
		left := 0
		for _, c := range held {
			if shakes(t, c) {
				left++
			}
		}
		if left != 11 {
			t.Errorf("%d of 40 are left beside the last one, want 11", left)
		}
	})
}

// Many addresses that each hold what they get leave room for one more, which is paired meanwhile and stays.
func TestManyAddressesLeaveRoom(t *testing.T) {
	d := &Desk{Compares: true}
	s := Start(t, d, testPage)
	flood := func(addresses, each int) (last net.Conn) {
		for i := range addresses {
			for range each {
				last = dialFrom(t, s, fmt.Sprintf("127.0.0.%d", 10+i))
			}
		}
		return last
	}
	flood(20, 12)
	client := trusting(s, 0)
	defer client.CloseIdleConnections()
	dials := 0
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, at string) (net.Conn, error) {
		dials++
		return new(net.Dialer).DialContext(ctx, network, at)
	}
	p := devicetest.NewPhone(t, s).Over(client)
	invitation, _ := s.Invite("phone", all)
	if status, code, _ := p.Ask(invitation, false); status != http.StatusOK {
		t.Fatalf("it cannot ask: %d %s", status, code)
	}
	flood(20, 12)
	if err := d.Admit(); err != nil {
		t.Fatal(err)
	}
	var now devicetest.Prompts
	if status, code := p.Do("GET", "/prompts", nil, &now); status != http.StatusOK {
		t.Fatalf("prompts: %d %s", status, code)
	}
	news := make(chan int, 1)
	go func() {
		status, _ := p.Do("GET", "/prompts?after="+now.Cursor, nil, &now)
		news <- status
	}()
	if !shakes(t, flood(200, 1)) {
		t.Error("the last connection of the flood is not served")
	}
	d.Show(Command())
	if status := <-news; status != http.StatusOK || len(now.Prompts) != 1 || dials != 1 {
		t.Errorf("while others flood: %d, %d prompts, over %d connections", status, len(now.Prompts), dials)
	}
}

// Wrong secrets from one address, as fast as it gets, cost another address nothing.
func TestGuessesFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(t, &Desk{}, testPage)
		dial := served(t, s)
		from := func(ip string) *http.Client {
			client := trusting(s, 0)
			client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
				return dial(ip), nil
			}
			t.Cleanup(client.CloseIdleConnections)
			return client
		}
		invitation, _ := s.Invite("phone", all)
		for _, ip := range []string{"127.0.0.2", "127.0.0.3"} {
			stranger := devicetest.NewPhone(t, s).Over(from(ip))
			body := devicetest.Pairing{Secret: strings.Repeat("A", 43), Key: stranger.Key()}
			nonce, busy := stranger.Nonce(), false
			for range 1000 {
				w := stranger.Send(stranger.Sign(stranger.Request("POST", "/pair", body), nonce, body))
				if busy = w.Code == http.StatusTooManyRequests; busy {
					break
				}
				if code := devicetest.Read(t, w, nil); code != "invitation" {
					t.Fatalf("a guess: %q", code)
				}
			}
			if !busy {
				t.Errorf("%s guesses without end", ip)
			}
		}
		if status, code := devicetest.NewPhone(t, s).Over(from("127.0.0.4")).Pair(invitation); status != http.StatusOK {
			t.Errorf("the right one: %d %s", status, code)
		}
	})
}

// Who connects and says nothing, or says it letter by letter, does not keep the connection.
func TestSlowSpeakersAreCut(t *testing.T) {
	for name, speak := range map[string]func(net.Conn) error{
		"no hello":     func(net.Conn) error { return nil },
		"half a hello": func(c net.Conn) error { _, err := c.Write([]byte{22, 3, 1, 1}); return err },
		"slow header": func(c net.Conn) error {
			shaken := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
			_, err := shaken.Write([]byte("GET / HTTP/1.1\r\nX: "))
			for err == nil {
				time.Sleep(time.Second)
				_, err = shaken.Write([]byte("x"))
			}
			return nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			dial := served(t, New(t, &Desk{}, testPage))
			began := time.Now()
			c := dial("127.0.0.1")
			if err := speak(c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, _ = io.Copy(io.Discard, c) // until it is closed
			if after := time.Since(began); after > 10*time.Second {
				t.Errorf("%s: it is closed after %v", name, after)
			}
		})
	}
}

// An address that this machine has not got is waited for, and that is said.
func TestTheAddressIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, err := device.Certificate(filepath.Join(t.TempDir(), "phone.pem"), nil, netip.MustParseAddr("198.51.100.7"))
		if err != nil {
			t.Fatal(err)
		}
		s := device.New(device.Config{
			Address: netip.MustParseAddrPort("198.51.100.7:7464"), Certificate: c, Page: testPage, Desk: &Desk{},
			Log: slog.New(slog.DiscardHandler),
		})
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		for range 3 {
			synctest.Wait()
			if err := s.Problem(); err == nil || !strings.Contains(err.Error(), "198.51.100.7") {
				t.Errorf("%v", err)
			}
			time.Sleep(5 * time.Second)
		}
		cancel()
	})
}
