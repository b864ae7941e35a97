package ipc

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/e2e/interacttest"
	"nod/ipc/endpoint"
)

// config is what a server works with, in a folder of its own.
func config(t *testing.T) Config {
	t.Helper()
	return Config{
		Address: "127.0.0.1:0", Dir: filepath.Join(t.TempDir(), "nod"), Version: "1", Log: slog.New(slog.DiscardHandler),
		Broker: interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{}),
	}
}

// listen is Listen, closed when the test ends.
func listen(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.closeListeners() })
	return s
}

func TestOnlyLoopback(t *testing.T) {
	for _, address := range []string{
		"", ":7463", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "10.0.0.1:7463", "localhost:0", "example.com:80", "127.0.0.1",
		"127.0.0.1:", "127.0.0.1:http", "127.0.0.1:70000", "127.0.0.1:-1", "[::1%lo]:0", "[fe80::1]:0", "127.0.0.1:0 ",
		"unix:/tmp/x", "::1:0",
	} {
		cfg := config(t)
		cfg.Address = address
		s, err := Listen(cfg)
		if err == nil {
			s.closeListeners()
			t.Errorf("%q: listens", address)
			continue
		}
		if !strings.Contains(err.Error(), "ipc.address") || !strings.Contains(err.Error(), "loopback") {
			t.Errorf("%q: %v, want an error that names the key and the remedy", address, err)
		}
		if _, err := endpoint.Read(cfg.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: something was published: %v", address, err)
		}
	}
}

// Where another program has the port, a free one does if it may, and is the one that is published.
func TestPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := config(t)
	cfg.Address = taken.Addr().String()
	if s, err := Listen(cfg); err == nil {
		s.closeListeners()
		t.Error("it listens on a port that is taken")
	} else if !strings.Contains(err.Error(), "ipc.address") {
		t.Errorf("%v, want an error that names the key", err)
	}
	cfg.AnyPort = true
	s := listen(t, cfg)
	published, err := endpoint.Read(cfg.Dir)
	if err != nil || published != s.Endpoint() || published.URL == "http://"+cfg.Address {
		t.Errorf("published %v, %v; it listens at %v", published, err, s.Endpoint())
	}
}

func TestListensOnLoopback(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "127.0.0.2:0"} {
		t.Run(address, func(t *testing.T) {
			cfg := config(t)
			cfg.Address = address
			if l, err := net.Listen("tcp", address); err != nil {
				t.Skip(err)
			} else {
				l.Close()
			}
			s := listen(t, cfg)
			at, err := netip.ParseAddrPort(strings.TrimPrefix(s.Endpoint().URL, "http://"))
			if err != nil || !at.Addr().IsLoopback() || at.Port() == 0 {
				t.Errorf("published %s", s.Endpoint().URL)
			}
			if got := s.listeners[0].Addr().String(); got != at.String() {
				t.Errorf("listens on %s, published is %s", got, at)
			}
			read, err := endpoint.Read(cfg.Dir)
			if err != nil || read != s.Endpoint() {
				t.Errorf("read %+v, %v", read, err)
			}
		})
	}
}

func TestBusyPort(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	cfg := config(t)
	cfg.Address = other.Addr().String()
	_, err = Listen(cfg)
	if err == nil {
		t.Fatal("listens on a port that is taken")
	}
	for _, part := range []string{"ipc.address", cfg.Address, "config.yaml"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: does not say %s", err, part)
		}
	}
	if files, _ := os.ReadDir(cfg.Dir); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

func TestNewTokenEachTime(t *testing.T) {
	if a, b := listen(t, config(t)), listen(t, config(t)); a.Endpoint().Token == b.Endpoint().Token {
		t.Error("two servers have the same token")
	}
}

func TestFailureToPublishBindsNothing(t *testing.T) {
	cfg := config(t)
	if err := os.Mkdir(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(endpoint.Path(cfg.Dir), 0o700); err != nil { // nothing can be written here
		t.Fatal(err)
	}
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Address = probe.Addr().String()
	probe.Close()
	if _, err := Listen(cfg); err == nil {
		t.Fatal("listens without an endpoint")
	}
	again, err := net.Listen("tcp", cfg.Address)
	if err != nil {
		t.Fatalf("the port is still bound: %v", err)
	}
	again.Close()
	if _, err := os.Lstat(endpoint.SocketPath(cfg.Dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestServeCleansUp(t *testing.T) {
	cfg := config(t)
	s := listen(t, cfg)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(cfg.Dir); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(s.Endpoint().URL, "http://")); err == nil {
		c.Close()
		t.Error("the port still answers")
	}
}

// A server that has lost its place takes nothing of its successor's away.
func TestServeLeavesASuccessorAlone(t *testing.T) {
	cfg := config(t)
	s := listen(t, cfg)
	next := s.Endpoint()
	next.PID++
	if err := endpoint.Write(cfg.Dir, next); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := endpoint.Read(cfg.Dir); err != nil || got != next {
		t.Errorf("the successor's endpoint: %+v, %v", got, err)
	}
}

func TestServeEndsWhenAListenerFails(t *testing.T) {
	cfg := config(t)
	s := listen(t, cfg)
	s.listeners[0].Close()
	if err := s.Serve(t.Context()); err == nil {
		t.Error("Serve says that all is well")
	}
	if _, err := endpoint.Read(cfg.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the endpoint is still published: %v", err)
	}
}

// A start that fails after Listen leaves nothing behind.
func TestCloseUndoesListen(t *testing.T) {
	cfg := config(t)
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := endpoint.Read(cfg.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the endpoint is still published: %v", err)
	}
	if left, err := os.ReadDir(cfg.Dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	cfg.Address = strings.TrimPrefix(s.Endpoint().URL, "http://")
	again := listen(t, cfg)
	if again.Endpoint().URL != s.Endpoint().URL {
		t.Errorf("listens at %s, want %s", again.Endpoint().URL, s.Endpoint().URL)
	}
}
