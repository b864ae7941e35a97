package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/ipc/programs"
)

// startTimeout limits nod-desktop's start. It takes well under a second, but much longer on a busy machine at login.
const startTimeout = 30 * time.Second

func (c *console) start() *cobra.Command {
	var timeout time.Duration
	cmd := c.withJSON(&cobra.Command{
		Use:   "start",
		Short: "Start nod-desktop and wait until it is ready",
		Long: `Start nod-desktop from nod's folder, else from PATH. It keeps running after this terminal closes. It also
starts without a display; until there is one, requests that need the user end as unavailable. Starting it twice does
nothing. The exit status is 0 if nod-desktop is running, and 5 if it did not start.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error {
			if timeout <= 0 {
				return wrongUsage("--timeout must be more than 0, not %s", timeout)
			}
			s, err := ensureRunning(ctx, timeout)
			if err != nil {
				return err
			}
			return c.show(s, describeStart(s))
		}),
	}, "print JSON")
	cmd.Flags().DurationVar(&timeout, "timeout", startTimeout, "how long to wait until it is ready")
	return cmd
}

func (c *console) settings() *cobra.Command {
	return &cobra.Command{
		Use:   "settings",
		Short: "Open nod's settings",
		Long: `Open nod's settings, and wait until they are on screen. Starts nod-desktop if it isn't running. If they can't
open, for example without a display, it prints the reason and the exit status is 6.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error {
			if _, err := ensureRunning(ctx, startTimeout); err != nil {
				return err
			}
			_, err := call(ctx, startTimeout, func(cl *client.Client, ctx context.Context) (struct{}, error) {
				return struct{}{}, cl.Raise(ctx, true)
			})
			return err
		}),
	}
}

type started struct {
	Program string `json:"program,omitempty"` // empty if it was running already
	PID     int    `json:"pid"`
	URL     string `json:"url"`
}

func describeStart(s started) string {
	if s.Program == "" {
		return fmt.Sprintf("nod-desktop is already running: %s\n", s.URL)
	}
	return fmt.Sprintf("started %s, process %d: %s\n", s.Program, s.PID, s.URL)
}

func ensureRunning(ctx context.Context, timeout time.Duration) (started, error) {
	if s, ok := running(ctx); ok {
		return s, nil
	}
	path, err := programs.Find("nod-desktop")
	if err != nil {
		return started{}, unreachable(err)
	}
	s, err := launch(ctx, timeout, "nod-desktop", path)
	if err != nil {
		return started{}, unreachable(err)
	}
	return s, nil
}

func running(ctx context.Context) (s started, ok bool) {
	cl, _, err := reach(ctx)
	if err != nil {
		return started{}, false
	}
	at := cl.Current()
	return started{PID: at.PID, URL: at.URL}, true
}

// launch starts a program independent of this terminal, and waits until it is ready. Its output goes to a file, which
// says when it is ready or why it gave up: writing to a broken pipe, once nod has ended, would kill it. Messages and
// the output file use the name.
func launch(ctx context.Context, timeout time.Duration, name, path string, args ...string) (started, error) {
	output, err := createOutput(name)
	if err != nil {
		return started{}, err
	}
	defer output.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir = xdg.Home // not here: the current folder could then not be unmounted
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return started{}, err
	}
	late := fmt.Errorf("%s is not ready after %s: see %s", name, timeout, output.Name())
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, late)
	defer cancel()
	return awaitReady(ctx, cmd, name, output)
}

// awaitReady waits until cmd prints that it is ready, or ends because another one is running.
func awaitReady(ctx context.Context, cmd *exec.Cmd, name string, output *os.File) (started, error) {
	pid := cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with that program or with this one
	for {
		if url, ok := ready(output); ok {
			return started{Program: cmd.Path, PID: pid, URL: url}, nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case err := <-ended:
			return endedEarly(ctx, err, name, output)
		case <-ctx.Done():
			return started{}, context.Cause(ctx)
		}
	}
}

// printed returns the text that a program has printed to its file so far. By now the path may lead to the file of
// another start.
func printed(output *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(output, 0, math.MaxInt64)) // a file that cannot be read counts as empty
	return string(text)
}

func ready(output *os.File) (url string, ok bool) {
	for line := range strings.Lines(printed(output)) {
		if url, ok := strings.CutPrefix(line, programs.ReadyLine); ok && strings.HasSuffix(url, "\n") {
			return strings.TrimSpace(url), true
		}
	}
	return "", false
}

func endedEarly(ctx context.Context, err error, name string, output *os.File) (started, error) {
	if s, ok := running(ctx); ok {
		return s, nil
	}
	why := "without a word"
	if err != nil {
		why = err.Error()
	}
	if text := strings.TrimSpace(printed(output)); text != "" {
		lines := strings.Split(text, "\n")
		why = strings.Join(lines[max(0, len(lines)-5):], "\n")
	}
	return started{}, fmt.Errorf("%s ended: %s", name, why)
}

// createOutput creates the file for a program's output next to the endpoint. Each start creates a new one.
func createOutput(name string) (*os.File, error) {
	dir, err := endpoint.Dir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name+".out")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}
