package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"

	"nod/ipc/client"
)

// startTimeout is how long nod-desktop may take: a cold start with a software renderer needs a second or
// two, a loaded machine at login a lot more.
const startTimeout = 30 * time.Second

// readyLine begins the line that nod-desktop prints when it listens and its tray is up; the address follows.
const readyLine = "nod ready "

// start returns the command that starts nod-desktop.
func (c *console) start() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start nod-desktop, and wait until it can be asked",
		Long: `Start nod-desktop from the folder that holds nod or, when it is not there, from PATH. It goes on when this
terminal closes. To start it while it is running is fine.`,
		Args: noArgs,
		RunE: runs(func(ctx context.Context, _ []string) error {
			return c.ensureRunning(ctx, timeout)
		}),
	}
	cmd.Flags().DurationVar(&timeout, "timeout", startTimeout, "how long to wait until it is ready")
	return cmd
}

// ensureRunning starts nod-desktop unless it is running, and says where it listens.
func (c *console) ensureRunning(ctx context.Context, timeout time.Duration) error {
	if url, ok := running(ctx); ok {
		return c.print(fmt.Sprintf("nod-desktop is already running: %s\n", url))
	}
	program, err := findDesktop()
	if err != nil {
		return unreachable(err)
	}
	late := fmt.Errorf("nod-desktop is not ready after %s: see %s", timeout, outputPath())
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, late)
	defer cancel()
	url, err := launch(ctx, program)
	if err != nil {
		return unreachable(err)
	}
	return c.print(fmt.Sprintf("nod-desktop is running: %s\n", url))
}

// running returns the address of the nod-desktop that answers, if one does.
func running(ctx context.Context) (url string, ok bool) {
	cl, err := client.Discover()
	if err != nil {
		return "", false
	}
	ctx, cancel := bounded(ctx, time.Second)
	defer cancel()
	_, err = cl.Health(ctx)
	return cl.Endpoint.URL, err == nil
}

// findDesktop returns the path of nod-desktop: beside this program (through links), else in PATH.
func findDesktop() (string, error) {
	name := "nod-desktop"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
				return beside, nil
			}
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is neither beside nod nor in PATH: install it there, or run: make build", name)
	}
	return filepath.Abs(found)
}

// launch starts program, apart from this terminal, and returns the address when it is ready.
//
// What it prints goes to a file and not to a pipe: nod ends long before nod-desktop, and whoever writes to
// a pipe that nobody reads is killed. The file tells when it is ready, or why it gave up.
func launch(ctx context.Context, program string) (url string, err error) {
	output, err := createOutput()
	if err != nil {
		return "", err
	}
	defer output.Close()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return "", fmt.Errorf("watch %s: %w", output.Name(), err)
	}
	defer watcher.Close()
	if err := watcher.Add(output.Name()); err != nil {
		return "", fmt.Errorf("watch %s: %w", output.Name(), err)
	}
	cmd := exec.Command(program)
	cmd.Dir = xdg.Home // not here: a folder that a program works in cannot be unmounted
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return "", err
	}
	return awaitReady(ctx, cmd, watcher, output.Name())
}

// awaitReady returns when cmd says that it is ready, when it ends, and when ctx does.
func awaitReady(ctx context.Context, cmd *exec.Cmd, watcher *fsnotify.Watcher, output string) (url string, err error) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with nod-desktop, or with this program
	for {
		if url, ok := ready(output); ok {
			return url, nil
		}
		select {
		case <-watcher.Events:
		case err := <-watcher.Errors:
			return "", fmt.Errorf("watch %s: %w", output, err)
		case err := <-ended:
			return endedEarly(ctx, err, output)
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// ready looks in what nod-desktop printed for the line that says so.
func ready(output string) (url string, ok bool) {
	text, err := os.ReadFile(output)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if url, ok := strings.CutPrefix(line, readyLine); ok && strings.HasSuffix(url, "\n") {
			return strings.TrimSpace(url), true
		}
	}
	return "", false
}

// endedEarly tells a nod-desktop that gave up from one that found another running and left it the field.
func endedEarly(ctx context.Context, err error, output string) (url string, _ error) {
	if url, ok := running(ctx); ok {
		return url, nil
	}
	why := "without a word"
	if err != nil {
		why = err.Error()
	}
	if text, err := os.ReadFile(output); err == nil && len(bytes.TrimSpace(text)) > 0 {
		why = lastLines(string(text), 5)
	}
	return "", fmt.Errorf("nod-desktop ended: %s", why)
}

// lastLines returns at most n lines from the end of text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// createOutput makes the file that takes what nod-desktop prints, anew at each start.
func createOutput() (*os.File, error) {
	path := outputPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

// outputPath is the file that takes what nod-desktop prints when nod starts it.
func outputPath() string { return filepath.Join(xdg.StateHome, "nod", "nod-desktop.out") }

// logPath is nod-desktop's own log.
func logPath() string { return filepath.Join(xdg.StateHome, "nod", "nod.log") }
