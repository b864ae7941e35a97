package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"nod/ipc/client"
	"nod/ipc/peer"
)

const stopTimeout = 10 * time.Second

func (c *console) stop() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "stop",
		Short: "Stop nod-desktop",
		Long: `Stop nod-desktop (or nod relay instead) and wait until it ends. Pending requests end without a decision. If it
isn't running, this does nothing.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error { return c.stopDesktop(ctx) }),
	}, "print JSON")
}

type stopped struct {
	PID int `json:"pid,omitempty"` // of the nod-desktop that was stopped; 0: none was running

	program string // its name
}

func (c *console) stopDesktop(ctx context.Context) error {
	was, err := stopRunning(ctx)
	switch {
	case err != nil:
		return err
	case was.PID == 0:
		return c.show(was, "nod isn't running\n")
	}
	return c.show(was, fmt.Sprintf("stopped %s, process %d\n", was.program, was.PID))
}

func stopRunning(ctx context.Context) (was stopped, err error) {
	cl, h, err := reach(ctx)
	if errors.Is(err, client.ErrNotRunning) {
		return stopped{}, nil
	}
	if err != nil {
		return stopped{}, unreachable(err)
	}
	was = stopped{PID: cl.Current().PID, program: programOf(h.Relay)}
	if err := end(ctx, was.PID); err != nil {
		return stopped{}, fmt.Errorf("stop process %d: %w", was.PID, err)
	}
	return was, nil
}

func end(ctx context.Context, pid int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, fmt.Errorf("it is still running after %s", stopTimeout))
	defer cancel()
	found, err := peer.Table{}.Find(pid)
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer process.Release()
	if err := terminate(process); err != nil {
		return err
	}
	if !(peer.Table{}).AwaitEnd(ctx, found) {
		return context.Cause(ctx)
	}
	return nil
}
