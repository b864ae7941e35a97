//go:build unix && !darwin

package desktop

import (
	"context"
	"slices"

	"github.com/godbus/dbus/v5"
)

// The services of a desktop.
const (
	TrayWatcher   = "org.kde.StatusNotifierWatcher" // keeps the list of tray icons
	Notifications = "org.freedesktop.Notifications"
)

// Bus connects to the session bus of this environment until ctx ends. It starts no bus.
func Bus(ctx context.Context, getenv func(string) string) (*dbus.Conn, error) {
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" && address != "autolaunch:" {
		return greet(dbus.Dial(address, dbus.WithContext(ctx)))
	}
	return greet(dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx)))
}

// greet authenticates a new connection, so that it is ready for use.
func greet(conn *dbus.Conn, err error) (*dbus.Conn, error) {
	if err != nil {
		return nil, err
	}
	if err = conn.Auth(nil); err == nil {
		err = conn.Hello()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// HasOwner reports whether a program serves a name on the bus.
func HasOwner(conn *dbus.Conn, name string) bool {
	var owned bool
	err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned)
	return err == nil && owned
}

// IsActivatable reports whether the bus would start a program to serve a name.
func IsActivatable(conn *dbus.Conn, name string) bool {
	var names []string
	err := conn.BusObject().Call("org.freedesktop.DBus.ListActivatableNames", 0).Store(&names)
	return err == nil && slices.Contains(names, name)
}
