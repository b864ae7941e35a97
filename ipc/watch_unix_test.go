//go:build unix

package ipc_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"nod/e2e/interacttest"
	"nod/ipc"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

// published is a server in a folder of its own whose publication is watched, and what that tells.
func published(t *testing.T) (dir string, told <-chan error) {
	t.Helper()
	dir = runtimeDir(t)
	server, err := ipc.Listen(ipc.Config{
		Address: "127.0.0.1:0", Dir: dir, Version: "test", Log: slog.New(slog.DiscardHandler), Control: true,
		Broker: interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	put := make(chan error, 1000)
	ctx, stop := context.WithCancel(context.Background())
	served, watched := make(chan error, 1), make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	go func() { watched <- server.Watch(ctx, func(problem error) { put <- problem }) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-served, <-watched); err != nil {
			t.Error(err)
		}
		if files, _ := os.ReadDir(dir); len(files) != 0 {
			t.Errorf("left behind: %v", files)
		}
	})
	return dir, put
}

// runtimeDir is a folder for an endpoint whose path is short enough for a socket.
func runtimeDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "nod")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	return filepath.Join(parent, "nod")
}

// health asks the nod that is published in dir how it is.
func health(ctx context.Context, dir string) error {
	e, err := endpoint.Read(dir)
	if err != nil {
		return err
	}
	c := client.Client{Endpoint: e}
	_, err = c.Health(ctx)
	return err
}

// Whatever another program does to nod's folder, callers find nod again without its being started anew. Every harm is
// done many times over, because the watched folder is another one each time.
func TestPublishedIsPutBack(t *testing.T) {
	for name, harm := range map[string]func(dir string) error{
		"socket removed":   func(dir string) error { return os.Remove(endpoint.SocketPath(dir)) },
		"control removed":  func(dir string) error { return os.Remove(endpoint.ControlPath(dir)) },
		"endpoint removed": func(dir string) error { return os.Remove(endpoint.Path(dir)) },
		"endpoint changed": func(dir string) error {
			e, err := endpoint.Read(dir)
			e.URL = "http://127.0.0.1:6666"
			return errors.Join(err, endpoint.Write(dir, e))
		},
		"folder open":    func(dir string) error { return os.Chmod(dir, 0o755) },
		"folder removed": os.RemoveAll,
		"folder renamed": func(dir string) error {
			return errors.Join(os.RemoveAll(dir+".old"), os.Rename(dir, dir+".old"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, told := published(t)
			for range 20 {
				if err := harm(dir); err != nil {
					t.Logf("nod was quicker: %v", err)
				}
				<-told
			}
			for health(t.Context(), dir) != nil { // until it is at rest
				<-told
			}
		})
	}
}

// What is no file of ours is not written through, and the user hears of it.
func TestPublishedThatCannotBePutBack(t *testing.T) {
	dir, told := published(t)
	elsewhere, link := filepath.Join(t.TempDir(), "x"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Symlink(elsewhere, link), os.Rename(link, endpoint.Path(dir))); err != nil { // at once
		t.Fatal(err)
	}
	if err := <-told; err == nil {
		t.Error("told that all is well")
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("written through a link")
	}
	if c, err := net.Dial("unix", endpoint.SocketPath(dir)); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	os.Remove(endpoint.Path(dir)) // makes room again
	for health(t.Context(), dir) != nil {
		<-told
	}
}
