//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nod/e2e/desktop"
	"nod/ipc/endpoint"
)

// patience is how long one thing may take before the run gives up.
const patience = time.Minute

// settings is the configuration of the nod that is measured: it keeps all that the big journals hold.
const settings = `
look:
  theme: light
  language: en
history:
  keep: 36500d
  max_size: 100000
`

// unready has nod's windows end with the last prompt.
const unready = "prompt:\n  keep_ready: 0s\n"

// desk is a virtual desktop of its own with nod's programs on it.
type desk struct {
	*desktop.Desktop
	b     *bench
	dir   string
	nod   *exec.Cmd
	ended <-chan struct{}

	endsWindows bool // nod's windows end with the last prompt
}

// newDesk starts a desktop without nod, which is to have that configuration.
func (b *bench) newDesk(config string) (*desk, error) {
	dir, err := os.MkdirTemp("", "nod-") // short, for the path of a socket
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	on, err := desktop.Start(ctx, dir, desktop.Openbox)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	d := &desk{Desktop: on, b: b, dir: dir, endsWindows: strings.Contains(config, unready)}
	if err := d.furnish(config); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// furnish makes the folder that agents work in, and nod's configuration.
func (d *desk) furnish(config string) error {
	path := filepath.Join(d.Config(), "nod", "config.yaml")
	return errors.Join(os.MkdirAll(d.project(), 0o700), os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, []byte(config), 0o600))
}

// withNod starts a desktop with nod-desktop on it.
func (b *bench) withNod(config string) (*desk, error) {
	d, err := b.newDesk(config)
	if err != nil {
		return nil, err
	}
	if err := d.startNod(); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// close ends all that runs on the desktop. What goes wrong now changes no figure.
func (d *desk) close() {
	_ = d.Close()
	_ = os.RemoveAll(d.dir)
}

// project is the folder that agents work in.
func (d *desk) project() string { return filepath.Join(d.Home(), "src", "shop") }

// endpoint is where nod listens.
func (d *desk) endpoint() (endpoint.Endpoint, error) {
	return endpoint.Read(filepath.Join(d.Runtime(), "nod"))
}

// command prepares a program in the folder that agents work in. nod-desktop takes a port that is free.
func (d *desk) command(path string, args ...string) *exec.Cmd {
	cmd := d.Command(path, args...)
	cmd.Env, cmd.Dir = append(cmd.Env, "NOD_IPC_ADDRESS=127.0.0.1:0", "NOD_PROMPT_UNDO=0s"), d.project()
	return cmd
}

// startNod starts nod-desktop and waits until it says that it is ready.
func (d *desk) startNod() (err error) {
	d.nod = d.command(d.b.program("nod-desktop"), "--background")
	d.ended, err = d.startReady(d.nod, "nod ready ")
	return err
}

// startReady starts a program and waits until it prints a line that begins so.
func (d *desk) startReady(cmd *exec.Cmd, ready string) (ended <-chan struct{}, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var words bytes.Buffer
	cmd.Stderr = &words
	if ended, err = d.Launch(cmd); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(d.b.ctx, patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })() // which ends the line
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, ready) {
		late := ctx.Err()
		_ = kill(cmd, ended) // so that all its words are there
		return nil, fmt.Errorf("%s says %q, want %q: %w, %v\n%s", filepath.Base(cmd.Path), line, ready,
			errors.Join(err, late), cmd.ProcessState, words.Bytes())
	}
	return ended, nil
}

// kill ends a program at once and waits until it has ended.
func kill(cmd *exec.Cmd, ended <-chan struct{}) error {
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-ended
	return nil
}

// dialogs is the process with nod's windows; 0 when there is none.
func (d *desk) dialogs() int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // fails for bad patterns only
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil { // it has ended
			continue
		}
		var pid, parent int
		var name, state string
		_, err = fmt.Sscanf(string(text), "%d %s %s %d", &pid, &name, &state, &parent)
		if err == nil && name == "(nod-dialogs)" && state != "Z" && parent == d.nod.Process.Pid {
			return pid
		}
	}
	return 0
}

// question has nod ask about a command, of which it knows nothing.
func (d *desk) question(command string) *exec.Cmd {
	return d.command(d.b.program("nod"), "approve", "--tool", "Bash", "--input", `{"command":"`+command+`"}`,
		"--agent", "claude-code", "--session", "s1")
}

// painted waits until a window is on the screen with something drawn in it: until then it has one colour, or shows what
// was there before. It gives up when whoever asked has ended.
func (d *desk) painted(ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(d.b.ctx, patience)
	defer cancel()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return d.Screen.Await(ctx, "a window with something drawn in it", func() (bool, error) {
		all, err := d.Screen.Windows()
		i := slices.IndexFunc(all, func(w desktop.Window) bool { return w.Visible })
		if err != nil || i < 0 {
			return false, err
		}
		colours := map[color.RGBA]int{}
		area := all[i].Area
		_, _, err = d.Screen.Matching(area, func(c color.RGBA) bool { colours[c]++; return false })
		return len(colours) > 2 && colours[desktop.Background] < area.Dx()*area.Dy()/10, err
	})
}

// cleared waits until no window is on the screen.
func (d *desk) cleared() error {
	ctx, cancel := context.WithTimeout(d.b.ctx, patience)
	defer cancel()
	return d.Screen.Await(ctx, "all windows to close", func() (bool, error) {
		all, err := d.Screen.Windows()
		return len(all) == 0, err
	})
}

// dialogsEnded waits until nod's windows process has ended.
func (d *desk) dialogsEnded() error {
	for begin := time.Now(); d.dialogs() != 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > patience {
			return fmt.Errorf("nod-dialogs runs on for %v after the last prompt", patience)
		}
	}
	return nil
}
