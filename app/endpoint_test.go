package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"nod/ipc/endpoint"
)

func TestEndpointIsPutBack(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	own := endpoint.Endpoint{URL: "http://127.0.0.1:7463", Token: endpoint.NewToken(), PID: os.Getpid(), Version: "test"}
	if err := endpoint.Write(dir, own); err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 10)
	k := &keeper{dir: dir, own: own, tell: func(s string) { told <- s }, log: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- k.watch(ctx) }()

	false1 := own
	false1.URL = "http://127.0.0.1:6666"
	for name, harm := range map[string]func() error{
		"changed":    func() error { return endpoint.Write(dir, false1) },
		"taken away": func() error { return os.Remove(endpoint.Path(dir)) },
		"no JSON":    func() error { return os.WriteFile(endpoint.Path(dir), []byte("{"), 0o600) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		<-told
		if now, err := endpoint.Read(dir); err != nil || now != own {
			t.Errorf("%s: %+v, %v", name, now, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What is no file of ours is not written through, and the person hears of it.
func TestEndpointThatCannotBePutBack(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "x")
	if err := os.Symlink(elsewhere, endpoint.Path(dir)); err != nil {
		t.Skip(err)
	}
	told := ""
	k := &keeper{dir: dir, own: endpoint.Endpoint{URL: "http://127.0.0.1:1", Token: endpoint.NewToken(), PID: 1, Version: "t"},
		tell: func(s string) { told = s }, log: slog.New(slog.DiscardHandler)}
	k.look(t.Context())
	if _, err := os.Lstat(elsewhere); err == nil || told == "" {
		t.Errorf("written through a link: %v; told %q", err == nil, told)
	}
}
