//go:build linux

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

// service is nod's broker and server in this process, and a client of theirs.
type service struct {
	*client.Client
	broker *interact.Broker
	dir    string
	stop   context.CancelFunc
}

// newService starts a broker with that journal, person and policy, and serves it.
func (b *bench) newService(j interact.Journal, p interact.Prompter, decide interact.Policy) (*service, error) {
	dir, err := os.MkdirTemp("", "nod-") // short, for the path of a socket
	if err != nil {
		return nil, err
	}
	s := &service{dir: dir}
	s.broker = interacttest.Broker(p, decide, func(c *interact.BrokerConfig) { c.Journal = j })
	at := filepath.Join(dir, "nod")
	server, err := ipc.Listen(ipc.Config{
		Address: "127.0.0.1:0", Dir: at, Version: "1", Broker: s.broker, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.broker.Close()
		return nil, err
	}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(b.ctx)
	go func() { _ = server.Serve(ctx) }() // ends with ctx
	e, err := endpoint.Read(at)
	s.Client = &client.Client{Endpoint: e}
	return s, err
}

func (s *service) close() {
	s.stop()
	s.broker.Close()
	_ = os.RemoveAll(s.dir)
}
