//go:build unix

package ipc

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/endpoint"
	"nod/policy"
)

// serve serves until the test ends. Nothing may be left in the folder then.
func serve(t *testing.T, cfg Config) *Server {
	t.Helper()
	s := listen(t, cfg)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if files, _ := os.ReadDir(cfg.Dir); len(files) != 0 {
			t.Errorf("left behind: %v", files)
		}
	})
	return s
}

// callIn sends a request to the server that is published in dir, as a client would that finds it there.
func callIn(dir, method, path, body string) (status int, err error) {
	e, err := endpoint.Read(dir)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if e.Socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", e.Socket)
		}
	}
	r, err := http.NewRequest(method, e.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+e.Token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// Whatever another program does to what a running server has published, Restore makes it good, callers find the
// server again, and it ends as cleanly as ever.
func TestRestore(t *testing.T) {
	sock, file := endpoint.SocketPath, endpoint.Path
	for name, harm := range map[string]func(dir string) error{
		"socket removed":       func(dir string) error { return os.Remove(sock(dir)) },
		"socket renamed":       func(dir string) error { return os.Rename(sock(dir), sock(dir)+".old") },
		"socket without mode":  func(dir string) error { return os.Chmod(sock(dir), 0) },
		"socket of another":    func(dir string) error { return bindOver(sock(dir)) },
		"endpoint removed":     func(dir string) error { return os.Remove(file(dir)) },
		"endpoint overwritten": func(dir string) error { return os.WriteFile(file(dir), []byte("{"), 0o600) },
		"endpoint open":        func(dir string) error { return os.Chmod(file(dir), 0o644) },
		"folder open":          func(dir string) error { return os.Chmod(dir, 0o755) },
		"folder removed":       os.RemoveAll,
		"folder renamed":       func(dir string) error { return os.Rename(dir, dir+".old") },
		"folder replaced":      func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			dir, s := cfg.Dir, serve(t, cfg)
			if changed, err := s.published.restore(); changed || err != nil {
				t.Fatalf("before any harm: %v, %v", changed, err)
			}
			for range 2 { // as well the second time
				if err := harm(dir); err != nil {
					t.Fatal(err)
				}
				if changed, err := s.published.restore(); !changed || err != nil {
					t.Errorf("Restore = %v, %v", changed, err)
				}
				if status, err := callIn(dir, "GET", "/v1/health", ""); err != nil || status != http.StatusOK {
					t.Errorf("a caller gets %d, %v", status, err)
				}
				for path, want := range map[string]fs.FileMode{
					dir: fs.ModeDir | 0o700, sock(dir): fs.ModeSocket | 0o600, file(dir): 0o600,
				} {
					if info, err := os.Lstat(path); err != nil || info.Mode() != want {
						t.Errorf("%s: %v, %v; want %v", path, info, err, want)
					}
				}
				os.RemoveAll(dir + ".old")
				os.Remove(sock(dir) + ".old")
			}
		})
	}
}

// bindOver puts another program's socket in the place of path.
func bindOver(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}

// A caller that waits for its answer keeps waiting when the folder goes, and gets it.
func TestRestoreKeepsConnections(t *testing.T) {
	cfg := config(t)
	shown, release := make(chan struct{}), make(chan struct{})
	cfg.Broker = interacttest.Broker(&interacttest.Prompter{
		Answer: func(interact.Request, policy.Decision) (interact.Answer, error) {
			close(shown)
			<-release
			return interact.Answer{Outcome: api.Answered, Confirmed: true}, nil
		},
	}, &interacttest.Policy{})
	s := serve(t, cfg)
	status := make(chan int, 1)
	go func() {
		got, err := callIn(cfg.Dir, "POST", "/v1/confirm", `{"message":"Go on?"}`)
		if err != nil {
			t.Error(err)
		}
		status <- got
	}()
	select {
	case <-shown:
	case got := <-status:
		t.Fatalf("the caller got %d at once", got)
	}
	if err := os.RemoveAll(cfg.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.published.restore(); err != nil {
		t.Fatal(err)
	}
	close(release)
	if got := <-status; got != http.StatusOK {
		t.Errorf("the caller got %d", got)
	}
}

func TestRestoreLeavesAloneWhatIsNotNods(t *testing.T) {
	elsewhere := t.TempDir()
	for name, plant := range map[string]func(dir string) error{
		"link for the folder": func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Symlink(elsewhere, dir))
		},
		"link for the endpoint": func(dir string) error {
			return errors.Join(os.Remove(endpoint.Path(dir)), os.Symlink(filepath.Join(elsewhere, "x"), endpoint.Path(dir)))
		},
		"file for the socket": func(dir string) error {
			return errors.Join(os.Remove(endpoint.SocketPath(dir)), os.WriteFile(endpoint.SocketPath(dir), []byte("x"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			s := listen(t, cfg)
			if err := plant(cfg.Dir); err != nil {
				t.Fatal(err)
			}
			if _, err := s.published.restore(); err == nil {
				t.Error("Restore says that all is well")
			}
			if files, _ := os.ReadDir(elsewhere); len(files) != 0 {
				t.Errorf("written through the link: %v", files)
			}
		})
	}
}

// What has ended stays ended: a late event must not publish a server that is gone.
func TestRestoreAfterTheEnd(t *testing.T) {
	cfg := config(t)
	s := listen(t, cfg)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if changed, err := s.published.restore(); changed || err != nil {
		t.Errorf("Restore = %v, %v", changed, err)
	}
	if files, _ := os.ReadDir(cfg.Dir); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

// A second start has the running one show itself. Without the token nobody does.
func TestRaise(t *testing.T) {
	cfg := config(t)
	raised, settings := 0, 0
	cfg.Raise = func(_ context.Context, isSettings bool) error {
		raised++
		if isSettings {
			settings++
		}
		if settings > 1 {
			return errors.New("no screen to ask on")
		}
		return nil
	}
	s := serve(t, cfg)
	if status, err := callIn(cfg.Dir, "POST", raisePath, ""); err != nil || status != http.StatusNoContent || raised != 1 {
		t.Errorf("status %d, %v, raised %d times; want 204 and once", status, err, raised)
	}
	if _, err := callIn(cfg.Dir, "POST", raisePath+"?settings", ""); err != nil || raised != 2 || settings != 1 {
		t.Errorf("settings: %v, raised %d times, %d of them the settings", err, raised, settings)
	}
	if status, err := callIn(cfg.Dir, "POST", raisePath+"?settings", ""); err != nil ||
		status != http.StatusNotImplemented {
		t.Errorf("settings that do not come: status %d, %v", status, err)
	}
	forged := s.Endpoint()
	forged.Token = endpoint.NewToken()
	elsewhere := filepath.Join(t.TempDir(), "nod")
	if err := endpoint.Write(elsewhere, forged); err != nil {
		t.Fatal(err)
	}
	status, err := callIn(elsewhere, "POST", raisePath, "")
	if err != nil || status != http.StatusUnauthorized || raised != 3 {
		t.Errorf("with a wrong token: status %d, %v, raised %d times", status, err, raised)
	}
}
