package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"nod/ipc/remote"
	"nod/policy/config"
)

// permissions are those that docs/machines.md names.
func permissions(t *testing.T, key string) *server.Permissions {
	t.Helper()
	text, err := os.ReadFile("../../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- permissions -->")
	block, _, ok := strings.Cut(rest, "<!-- end -->")
	if !ok {
		t.Fatal("docs/machines.md does not name the permissions")
	}
	var p server.Permissions
	for line := range strings.Lines(block) {
		name, subject, _ := strings.Cut(strings.TrimSpace(line), " = ")
		subject = strings.ReplaceAll(strings.Trim(subject, `"`), "KEY", key)
		switch name {
		case "publish":
			p.Publish = &server.SubjectPermission{Allow: []string{subject}}
		case "subscribe":
			p.Subscribe = &server.SubjectPermission{Allow: []string{subject}}
		}
	}
	return &p
}

// permitted is a server on which each end may do what the manual says, and users in the order of keys.
func permitted(t *testing.T, keys ...remote.Key) (as func(i int) config.NATS, s *server.Server) {
	s = startServer(t, func(o *server.Options) {
		for i, key := range keys {
			o.Users = append(o.Users, &server.User{
				Username: fmt.Sprint("user", i), Password: "x", Permissions: permissions(t, key.Sign),
			})
		}
	})
	return func(i int) config.NATS {
		return config.NATS{URL: strings.Replace(s.ClientURL(), "://", fmt.Sprintf("://user%d:x@", i), 1)}
	}, s
}

func TestPermissionsInTheManualSuffice(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	as, _ := permitted(t, p.machine.Key(), p.keys.Key())
	p.connect(t, as(0), as(1)).start(t)
	a := ask(t.Context(), p.link, newQuestion())
	p.commit(t, allow(next(t, p.desk.takes)))
	next(t, a.answer)
	p.desk.mu.Lock()
	p.desk.serial = 1
	p.desk.mu.Unlock()
	p.line.Greet()
	next(t, p.relay.policies)
	for _, s := range []remote.State{p.relayCarrier.State(), p.deskCarrier.State()} {
		if !s.Up || s.Problem != "" {
			t.Errorf("%+v", s)
		}
	}
}

// With its own credentials nobody reads or says anything in the name of another.
func TestCredentialsAreForOneNodOnly(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	other := newIdentity(t)
	as, _ := permitted(t, p.machine.Key(), p.keys.Key(), other.Key())
	p.connect(t, as(0), as(1)).start(t)
	ask(t.Context(), p.link, newQuestion())
	next(t, p.desk.takes)
	denied := make(chan error, 100)
	nc, err := nats.Connect(as(2).URL, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		denied <- err
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	machine, desk := p.machine.Key().Sign, p.keys.Key().Sign
	for _, subject := range []string{
		"nod.>", "nod.*.*.*", "nod." + machine + ".*.*", "nod." + desk + ".*.*", ">", "$SYS.>",
	} {
		if _, err := nc.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		if err := next(t, denied); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("listens to %s: %v", subject, err)
		}
	}
	for _, subject := range []string{
		"nod." + machine + "." + desk + ".wake", "nod." + desk + "." + machine + ".x", "$JS.API.STREAM.PURGE.x",
	} {
		if err := nc.Publish(subject, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := next(t, denied); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("says something on %s: %v", subject, err)
		}
	}
}

func TestConfigThatCannotWork(t *testing.T) {
	dir, server := t.TempDir(), "tls://127.0.0.1:1"
	for _, test := range []struct {
		name, want string
		cfg        config.NATS
	}{
		{"no CA", "ca.pem", config.NATS{URL: server, CA: filepath.Join(dir, "ca.pem")}},
		{"no credentials", "me.creds", config.NATS{URL: server, Credentials: filepath.Join(dir, "me.creds")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := NewDesk(test.cfg, newIdentity(t).Key(), nobody, logger(t, "desk")).Run(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Error(err)
			}
		})
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
	cfg := config.NATS{URL: "nats://" + l.Addr().String()}
	err = NewDesk(cfg, newIdentity(t).Key(), nobody, logger(t, "desk")).Run(ctx, nil)
	l.Close()
	if c := <-came; err != nil || c != nil {
		t.Errorf("%v, a connection: %v", err, c != nil)
	}
}

func TestRefusedCredentialsAreSaid(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *server.Options) { o.Username, o.Password = "me", "right" })
	p := newPlace(t, strings.Replace(s.ClientURL(), "://", "://me:wrong@", 1)).start(t)
	until(t, "the line says so", func() bool {
		s := p.line.State(p.machine.Key())
		return !s.Up && strings.Contains(s.Problem, "refuses this nod") && !strings.Contains(s.Problem, "wrong")
	})
}

func TestUnreachableClusterIsSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "nats://127.0.0.1:1").start(t)
	until(t, "the link says so", func() bool {
		return strings.Contains(p.link.State().Problem, "cannot be reached")
	})
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
	p := newPlace(t, url).start(t)
	until(t, "the line says what to do", func() bool {
		return strings.Contains(p.line.State(p.machine.Key()).Problem, "remote.nats.ca, of a relay in --ca")
	})
	p = newPlace(t, url)
	p.connect(t, config.NATS{URL: url, CA: ca}, config.NATS{URL: url, CA: ca}).start(t)
	a := ask(t.Context(), p.link, newQuestion())
	p.commit(t, allow(next(t, p.desk.takes)))
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

func TestMissingPermissionsAreSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	as, _ := permitted(t, newIdentity(t).Key())
	p.connect(t, as(0), as(0)).start(t)
	until(t, "both say so", func() bool {
		for _, problem := range []string{p.link.State().Problem, p.line.State(remote.Key{}).Problem} {
			if !strings.Contains(problem, "does not permit") || strings.Contains(problem, ":x@") {
				return false
			}
		}
		return true
	})
}
