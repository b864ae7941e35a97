package device_test

import (
	"context"
	"crypto/tls"
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

	"nod/ipc/device"
	"nod/ipc/device/devicetest"
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
			got := device.Fingerprint(tls.Certificate{Leaf: c.PeerCertificates[0]})
			if got != device.Fingerprint(s.Certificate) {
				return &net.AddrError{Err: "another certificate", Addr: got}
			}
			return nil
		},
	}}}
}

func TestServeOverTLS(t *testing.T) {
	s := devicetest.Start(t, &devicetest.Desk{}, page)
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

// One address takes no more than its share, whatever it does with its connections, and gets it back.
func TestOneAddressTakesItsShare(t *testing.T) {
	s := devicetest.Start(t, &devicetest.Desk{}, page)
	var held []net.Conn
	refused := 0
	for range 40 {
		c, err := net.Dial("tcp", atServer(t, s))
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	for _, c := range held {
		shake := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		if shake.Handshake() != nil {
			refused++
		}
	}
	if refused != 28 {
		t.Errorf("%d of 40 connections were refused", refused)
	}
	for _, c := range held {
		_ = c.Close()
	}
	client := trusting(s, 0)
	defer client.CloseIdleConnections()
	for { // until the server has seen that they are gone
		reply, err := client.Get(s.URL())
		if err == nil {
			_ = reply.Body.Close()
			return
		}
	}
}

// An address that this machine has not got is waited for, and that is said.
func TestTheAddressIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := device.Certificate(filepath.Join(t.TempDir(), "phone.pem"), netip.MustParseAddr("198.51.100.7"))
		if err != nil {
			t.Fatal(err)
		}
		s := device.New(device.Config{
			Address: netip.MustParseAddrPort("198.51.100.7:7464"), Certificate: c, Page: page, Desk: &devicetest.Desk{},
			ArmAfter: func() time.Duration { return 0 }, Log: slog.New(slog.DiscardHandler),
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
