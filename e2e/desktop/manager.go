//go:build linux

package desktop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// WindowManager is a program that manages the windows of a desktop, by its name. Its Debian package has that name, too,
// but for i3's.
type WindowManager string

// The window managers: one that stacks windows and does what it is told, one that draws them with a toolkit, one
// that tiles them.
const (
	Openbox WindowManager = "openbox"
	Xfwm4   WindowManager = "xfwm4"
	I3      WindowManager = "i3"
)

// Missing reports whether this machine lacks the window manager.
func (m WindowManager) Missing() bool {
	_, err := exec.LookPath(string(m))
	return err != nil
}

// startWindowManager starts the desktop's window manager and waits until it has taken charge.
func (d *Desktop) startWindowManager(ctx context.Context) error {
	args, err := d.configureWindowManager()
	if err != nil {
		return err
	}
	if err := d.launchService(string(d.Manager), args...); err != nil {
		return err
	}
	return d.Screen.Await(ctx, "a window manager", d.Screen.managed)
}

// configureWindowManager writes the configuration of the desktop's window manager and returns its arguments.
func (d *Desktop) configureWindowManager() ([]string, error) {
	switch d.Manager {
	case Xfwm4:
		_, err := d.install("xfwm4.xml", filepath.Join(d.settings(), "xfwm4.xml"))
		return []string{"--compositor=off"}, err
	case I3:
		config, err := d.install("i3.conf", filepath.Join(d.dir, "i3.conf"))
		return []string{"-c", config}, err
	}
	theme := filepath.Join(d.Home(), ".themes", "plain", "openbox-3")
	if err := os.MkdirAll(theme, 0o700); err != nil {
		return nil, err
	}
	if _, err := d.install("themerc", filepath.Join(theme, "themerc")); err != nil {
		return nil, err
	}
	config, err := d.install("openbox.xml", filepath.Join(d.dir, "openbox.xml"))
	return []string{"--config-file", config}, err
}

// SwitchWorkspace goes to a workspace, 0 for the first or 1 for the second.
func (d *Desktop) SwitchWorkspace(ctx context.Context, number uint32) error {
	if d.Manager == I3 { // which takes EWMH's request for a workspace that has windows only
		out, err := d.Command("i3-msg", "workspace", "number", strconv.Itoa(int(number)+1)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("i3-msg: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	if err := d.Screen.ask(d.Screen.root, "_NET_CURRENT_DESKTOP", number); err != nil {
		return err
	}
	return d.Screen.Await(ctx, "the workspace", func() (bool, error) {
		current, err := d.Screen.numbers(d.Screen.root, "_NET_CURRENT_DESKTOP")
		return len(current) > 0 && current[0] == number, err
	})
}
