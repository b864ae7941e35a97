package jetstream

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"nod/ipc/remote"
)

// permissions are those that docs/machines.md names.
func permissions(t *testing.T, role, key string) *server.Permissions {
	t.Helper()
	text, err := os.ReadFile("../../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- permissions of a "+role+" -->")
	block, _, ok := strings.Cut(rest, "<!-- end -->")
	if !ok {
		t.Fatalf("docs/machines.md does not name the permissions of a %s", role)
	}
	var p server.Permissions
	into := &p.Publish
	for line := range strings.Lines(block) {
		line = strings.Trim(strings.TrimSpace(line), `",`)
		switch {
		case strings.HasPrefix(line, "publish"):
			p.Publish = &server.SubjectPermission{}
			into = &p.Publish
		case strings.HasPrefix(line, "subscribe"):
			p.Subscribe = &server.SubjectPermission{}
			into = &p.Subscribe
		case strings.HasPrefix(line, "nod.") || strings.HasPrefix(line, "$"):
			(*into).Allow = append((*into).Allow, strings.ReplaceAll(line, strings.ToUpper(role), key))
		}
	}
	return &p
}

func TestPermissionsInTheManualSuffice(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	s := startServer(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "admin", Password: "x"},
			{Username: "relay", Password: "x", Permissions: permissions(t, "machine", p.machine.Key().Sign)},
			{Username: "desk", Password: "x", Permissions: permissions(t, "desk", p.keys.Key().Sign)},
		}
	})
	as := func(user string) Config {
		return Config{URL: strings.Replace(s.ClientURL(), "://", "://"+user+":x@", 1)}
	}
	p.link = NewLink(as("relay"), p.machine, []remote.Key{p.keys.Key()}, p.relay, logger(t, "relay"))
	p.line = NewLine(as("desk"), p.keys, p.desk, logger(t, "desk"))
	start(t, p.link.Run)
	until(t, "the link says what is missing", func() bool {
		problem := p.link.State().Problem
		return strings.Contains(problem, "nod_requests") && strings.Contains(strings.ToLower(problem), "permissions") &&
			!strings.Contains(problem, ":x@")
	})
	admin := newHub(as("admin"), newIdentity(t), "admin", logger(t, "admin"))
	if err := admin.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := admin.setUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	admin.nc.Close()
	start(t, p.line.Run)
	a := ask(t.Context(), p.link, newQuestion())
	commit(t, p.line, p.machine.Key(), allow(next(t, p.desk.takes)))
	next(t, a.answer)
	p.line.Apply(p.machine.Key(), remote.Policy{Serial: 1})
	next(t, p.relay.policies)
	until(t, "the desk is there", func() bool { return p.link.State().Up })
	if err := p.line.Forget(t.Context(), p.machine.Key()); err != nil {
		t.Error(err)
	}
	if err := p.link.Report(t.Context(), nil); err != nil {
		t.Error(err)
	}
	until(t, "the stream is empty", func() bool { return stored(t, as("admin").URL).Msgs == 0 })
	for _, h := range []*hub{p.link.hub, p.line.hub} {
		h.mu.Lock()
		if denied := h.denied; denied != "" && !strings.Contains(denied, "STREAM.CREATE") {
			t.Errorf("%s: %s", h.role, denied)
		}
		h.mu.Unlock()
	}
}

func TestConfigThatCannotWork(t *testing.T) {
	for _, test := range []struct {
		name, want string
		cfg        Config
	}{
		{"no address", "url", Config{}},
		{"another scheme", "url", Config{URL: "https://me:secret@example.com"}},
		{"another scheme, and a token", "url", Config{URL: "https://secret@example.com"}},
		{"prefix", "prefix", Config{URL: "nats://127.0.0.1:1", Prefix: "a.>"}},
		{"no CA", "ca.pem", Config{URL: "tls://127.0.0.1:1", CA: filepath.Join(t.TempDir(), "ca.pem")}},
		{"no credentials", "me.creds", Config{URL: "tls://127.0.0.1:1", Credentials: filepath.Join(t.TempDir(), "me.creds")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := NewLine(test.cfg, newIdentity(t), newDesk(), logger(t, "desk")).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
		})
	}
	if err := NewLink(Config{}, newIdentity(t), nil, newRelay(""), logger(t, "relay")).Run(t.Context()); err == nil {
		t.Error("a link to no desk runs")
	}
}

// A desk that ends looks for no server: each would have it wait.
func TestWhoEndsConnectsNoMore(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan net.Conn, 1)
	go func() {
		defer close(came)
		if c, err := l.Accept(); err == nil {
			came <- c // and hears nothing
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = NewLine(Config{URL: "nats://" + l.Addr().String()}, newIdentity(t), newDesk(), logger(t, "desk")).Run(ctx)
	l.Close()
	if c := <-came; err != nil || c != nil {
		t.Errorf("%v, a connection: %v", err, c != nil)
	}
}

func TestRefusedCredentialsAreSaid(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *server.Options) { o.Username, o.Password = "me", "right" })
	p := newPlace(t, strings.Replace(s.ClientURL(), "://", "://me:wrong@", 1))
	start(t, p.line.Run)
	until(t, "the line says so", func() bool {
		s := p.line.State(p.machine.Key())
		return !s.Up && strings.Contains(s.Problem, "refuses") && !strings.Contains(s.Problem, "wrong")
	})
}

func TestUnreachableClusterIsSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "nats://127.0.0.1:1").start(t)
	until(t, "the link says so", func() bool {
		return strings.Contains(p.link.State().Problem, "cannot be reached")
	})
	if got := p.link.Final(newQuestion(), allow(remote.Request{Request: newQuestion()}).Answer); got.Device != "desk" {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	a := ask(ctx, p.link, newQuestion())
	cancel()
	if err := next(t, a.err); err != context.Canceled {
		t.Error(err)
	}
}

func TestOwnAuthority(t *testing.T) {
	t.Parallel()
	ca, certificate := newAuthority(t)
	s := startServer(t, func(o *server.Options) {
		o.TLS, o.TLSConfig = true, &tls.Config{Certificates: []tls.Certificate{certificate}}
	})
	url := "tls://" + s.Addr().String()
	p := newPlace(t, url)
	start(t, p.line.Run)
	until(t, "the line says what to do", func() bool {
		return strings.Contains(p.line.State(p.machine.Key()).Problem, "remote.nats.ca")
	})
	p = newPlace(t, url)
	p.line = NewLine(Config{URL: url, CA: ca}, p.keys, p.desk, logger(t, "desk"))
	p.link = NewLink(Config{URL: url, CA: ca}, p.machine, []remote.Key{p.keys.Key()}, p.relay, logger(t, "relay"))
	p.start(t)
	a := ask(t.Context(), p.link, newQuestion())
	commit(t, p.line, p.machine.Key(), allow(next(t, p.desk.takes)))
	if !p.line.State(remote.Key{}).Up {
		t.Error("the line is not up by itself")
	}
	next(t, a.answer)
}

// newAuthority makes an authority, and a certificate of it for a server on this machine.
func newAuthority(t *testing.T) (ca string, server tls.Certificate) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	must(err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), key)
	must(err)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	must(os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600))
	return ca, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestRequestsThatMayNotBeReadAreSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	s := startServer(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "desk", Password: "x", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Deny: []string{"$JS.API.DIRECT.GET.nod_requests"}},
			}},
		}
	})
	url := func(user string) string { return strings.Replace(s.ClientURL(), "://", "://"+user+":x@", 1) }
	p.line = NewLine(Config{URL: url("desk")}, p.keys, p.desk, logger(t, "desk"))
	start(t, p.line.Run)
	until(t, "the line says so", func() bool {
		s := p.line.State(p.machine.Key())
		return !s.Up && strings.Contains(s.Problem, "nod_requests") && strings.Contains(s.Problem, "DIRECT.GET")
	})
}
