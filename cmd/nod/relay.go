package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"nod/app/relay"
	"nod/ipc/endpoint"
	"nod/ipc/programs"
	"nod/ipc/remote"
	"nod/ipc/remote/cluster"
	"nod/ipc/remote/session"
	"nod/ownfile/ownlog"
	"nod/ownfile/ownprocess"
	"nod/policy/config"
	"nod/version"
)

type relayFlags struct {
	stdio, forget bool
	desks         []string
	nats          config.NATS
	logLevel      string
}

func (c *console) relay() *cobra.Command {
	var f relayFlags
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Run nod on a machine without a desktop: desks elsewhere answer",
		Long: `Take requests from agents on this machine, as nod-desktop does on a machine with a desktop. Your desk's policy
applies; prompts appear at your desk, or wait until a desk is connected. It runs until you stop it: nod stop.

By default, it waits for a desk to connect, for example over ssh or docker exec: add the machine in the desk's settings,
under Machines and devices. A relay started by a desk belongs to that desk; any other belongs to the first desk that
connects, unless --desk names one. After that, another desk must be paired at the first. With --nats, relay and desks
meet at a NATS server.

It prints this machine's fingerprint in words. Compare them with the words at your desk before you pair the two.`,
		Example: "  nod relay\n  nod relay --nats tls://nats.example.com --credentials relay.creds --desk KEY",
		Args:    noArgs,
		RunE:    c.runs(func(ctx context.Context, _ []string) error { return c.runRelay(ctx, f) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.nats.URL, "nats", "", "connect to the desks through this NATS server")
	flags.StringVar(&f.nats.Credentials, "credentials", "", "file with NATS credentials")
	flags.StringVar(&f.nats.CA, "ca", "", "file with certificates to trust instead of the system's")
	flags.StringVar(&f.nats.Prefix, "prefix", "", `prefix of the NATS subjects (default "nod")`)
	flags.StringArrayVar(&f.desks, "desk", nil, "public key of a desk that may answer; repeatable")
	flags.BoolVar(&f.stdio, "stdio", false,
		"connect standard input and output to the relay, and start it if necessary; desks run this with their --desk")
	flags.BoolVar(&f.forget, "forget-desks", false, "forget all desks and their policies, and end")
	flags.StringVar(&f.logLevel, "log-level", "", "how much to log: debug, info, warn or error")
	cmd.MarkFlagsMutuallyExclusive("stdio", "nats", "forget-desks")
	cmd.MarkFlagsMutuallyExclusive("desk", "forget-desks")
	return cmd
}

func (c *console) runRelay(ctx context.Context, f relayFlags) error {
	if err := ownprocess.Shield(); err != nil {
		return err
	}
	if _, err := ownlog.Level(f.logLevel); err != nil && f.logLevel != "" {
		return wrongUsage("%v", err)
	}
	o := relay.Options{Version: version.Number(), Stdout: c.out, LogLevel: f.logLevel}
	for _, text := range f.desks {
		key, err := remote.ParseKey(text)
		if err != nil {
			return wrongUsage("--desk: %v", err)
		}
		o.Desks = append(o.Desks, key)
	}
	switch {
	case f.forget:
		return relay.ForgetDesks(ctx)
	case f.stdio && len(o.Desks) > 1:
		return wrongUsage("--stdio needs exactly one --desk")
	case f.stdio:
		return c.carry(ctx, f)
	case f.nats.URL == "" && f.nats != config.NATS{}:
		return wrongUsage("--credentials, --ca and --prefix need --nats")
	}
	if f.nats.URL != "" {
		if err := f.nats.Check(); err != nil {
			return wrongUsage("NATS: %v", err)
		}
		o.Uplink = func(own remote.Key, desks func() []remote.Key, log *slog.Logger) session.Carrier {
			return cluster.NewRelay(f.nats, own, desks, log)
		}
	}
	return relay.Run(ctx, o)
}

// carry connects standard input and output with this user's relay until either side closes.
func (c *console) carry(ctx context.Context, f relayFlags) error {
	conn, err := c.reachRelay(ctx, f)
	if err != nil {
		return unreachable(fmt.Errorf("reach the relay: %w", err))
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	ended := make(chan error, 2)
	go func() {
		_, err := io.Copy(conn, c.in)
		ended <- err
	}()
	go func() {
		_, err := io.Copy(c.out, conn)
		ended <- err
	}()
	err = <-ended
	conn.Close()
	if err != nil && ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("forward messages between the desk and the relay: %w", err)
	}
	return nil
}

func (c *console) reachRelay(ctx context.Context, f relayFlags) (net.Conn, error) {
	dir, err := endpoint.Dir()
	if err != nil {
		return nil, err
	}
	dial := func() (net.Conn, error) { return net.DialTimeout("unix", endpoint.ControlPath(dir), time.Second) }
	if conn, err := dial(); err == nil {
		return conn, nil
	}
	self, err := programs.Self()
	if err != nil {
		return nil, err
	}
	args := []string{"relay"}
	for _, key := range f.desks {
		args = append(args, "--desk", key)
	}
	if f.logLevel != "" {
		args = append(args, "--log-level", f.logLevel)
	}
	s, err := launch(ctx, startTimeout, "nod-relay", self, args...)
	if err != nil {
		return nil, err
	}
	conn, err := dial()
	if err != nil {
		return nil, fmt.Errorf("process %d takes this user's requests, but is not a relay that desks can connect to: %w",
			s.PID, err)
	}
	return conn, nil
}
