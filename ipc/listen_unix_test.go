//go:build unix

package ipc

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nod/ipc/endpoint"
)

func TestSocketIsPrivateUnderAnyUmask(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
	cfg := config(t)
	s := listen(t, cfg)
	for path, want := range map[string]fs.FileMode{
		cfg.Dir:                fs.ModeDir | 0o700,
		s.Endpoint().Socket:    fs.ModeSocket | 0o600,
		endpoint.Path(cfg.Dir): 0o600,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

func TestDeadSocketIsReplaced(t *testing.T) {
	cfg := config(t)
	if err := os.Mkdir(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: endpoint.SocketPath(cfg.Dir)})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false) // as after a crash
	dead.Close()
	s := listen(t, cfg)
	answers(t, s.Endpoint().Socket)
}

// answers fails the test unless somebody listens on the socket.
func answers(t *testing.T, path string) {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestWhatIsNoSocketStays(t *testing.T) {
	cfg := config(t)
	if err := os.Mkdir(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := endpoint.SocketPath(cfg.Dir)
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(cfg); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("Listen = %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "precious" {
		t.Error("the file is gone")
	}
}

func TestPlantedFolder(t *testing.T) {
	for name, plant := range map[string]func(dir string) error{
		"link":           func(dir string) error { return os.Symlink(filepath.Dir(dir), dir) },
		"open to others": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) },
		"file":           func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			if err := plant(cfg.Dir); err != nil {
				t.Fatal(err)
			}
			if s, err := Listen(cfg); err == nil {
				s.closeListeners()
				t.Error("listens in a folder that is not plainly ours")
			}
			if _, err := os.Lstat(endpoint.SocketPath(filepath.Dir(cfg.Dir))); err == nil {
				t.Error("a socket was bound behind the link")
			}
		})
	}
}

// Where the path is too long for a socket, the port has to do.
func TestLongPath(t *testing.T) {
	cfg := config(t)
	parent := filepath.Join(filepath.Dir(cfg.Dir), strings.Repeat("x", 120))
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg.Dir = filepath.Join(parent, "nod")
	s := listen(t, cfg)
	if s.Endpoint().Socket != "" || len(s.listeners) != 1 {
		t.Errorf("published %v on %d listeners, want the port only", s.Endpoint(), len(s.listeners))
	}
	if got, err := endpoint.Read(cfg.Dir); err != nil || got != s.Endpoint() {
		t.Errorf("read %v, %v", got, err)
	}
}
