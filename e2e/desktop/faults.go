//go:build linux

package desktop

import (
	"context"
	"syscall"
)

// Programs of a desktop that can be made to fail.
const (
	XServer    = "Xvfb"
	SessionBus = "dbus-daemon"
	Panel      = "xfce4-panel"
	Notifier   = "dunst"
)

// Kill kills a program of the desktop, as a crash would, and waits for its end.
func (d *Desktop) Kill(name string) error {
	p, err := d.launcher.find(name)
	if err != nil {
		return err
	}
	p.kill()
	return nil
}

// Freeze stops a program of the desktop without ending it, as a hang would.
func (d *Desktop) Freeze(name string) error { return d.signal(name, syscall.SIGSTOP) }

// Thaw lets a program go on that was frozen.
func (d *Desktop) Thaw(name string) error { return d.signal(name, syscall.SIGCONT) }

func (d *Desktop) signal(name string, s syscall.Signal) error {
	p, err := d.launcher.find(name)
	if err != nil {
		return err
	}
	return syscall.Kill(-p.cmd.Process.Pid, s)
}

// StopPanel ends the panel and waits until nothing shows tray icons.
func (d *Desktop) StopPanel(ctx context.Context) error {
	if err := d.Kill(Panel); err != nil {
		return err
	}
	return d.awaitOwner(ctx, TrayWatcher, false)
}

// RestartPanel kills the panel and starts it again.
func (d *Desktop) RestartPanel(ctx context.Context) error {
	if err := d.StopPanel(ctx); err != nil {
		return err
	}
	return d.launchPanel(ctx)
}

// ReviveX starts the X server again after it was killed, on the same display, and with it what had gone with it: the
// window manager and the panel.
func (d *Desktop) ReviveX(ctx context.Context) error {
	d.Screen.Close()
	for _, step := range []func(context.Context) error{d.launchX, d.startWindowManager, d.launchPanel} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}
