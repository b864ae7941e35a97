// Package ipctest stands in for nod-desktop in the tests of programs that ask it: a real server, with a user and a
// policy that the test plays.
package ipctest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc"
	"nod/ipc/client"
	"nod/ipc/peer"
)

// Server is a running server with its broker.
type Server struct {
	Client *client.Client
	// RuntimeDir is where programs find the server by, when it is their XDG_RUNTIME_DIR.
	RuntimeDir string

	broker *interact.Broker
	stop   context.CancelFunc
	served chan error
}

// Start starts a server for this user and this policy. Close it.
func Start(p interact.Prompter, rules interact.Policy) (*Server, error) {
	dir, err := os.MkdirTemp("", "nod") // short enough for a socket's address
	if err != nil {
		return nil, err
	}
	s := &Server{RuntimeDir: dir, served: make(chan error, 1)}
	s.broker = interacttest.Broker(p, rules, func(c *interact.BrokerConfig) { c.Processes = peer.Table{} })
	server, err := ipc.Listen(ipc.Config{
		Address: "127.0.0.1:0", Dir: filepath.Join(dir, "nod"), Broker: s.broker, Version: "test",
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.Client = &client.Client{Endpoint: server.Endpoint()}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	go func() { s.served <- server.Serve(ctx) }()
	return s, nil
}

// Close ends what is pending and stops the server.
func (s *Server) Close() error {
	s.broker.Close()
	s.stop()
	return errors.Join(<-s.served, os.RemoveAll(s.RuntimeDir))
}

// Serve is Start for the length of a test.
func Serve(t testing.TB, p interact.Prompter, rules interact.Policy) *Server {
	t.Helper()
	s, err := Start(p, rules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
