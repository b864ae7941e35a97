//go:build unix && !darwin

package app

import (
	"slices"

	"github.com/godbus/dbus/v5"
)

// onBus calls f with a connection to the session bus. It starts no bus: without one it returns false.
func onBus(f func(*dbus.Conn) bool) bool {
	conn, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return false
	}
	defer conn.Close()
	if conn.Auth(nil) != nil || conn.Hello() != nil {
		return false
	}
	return f(conn)
}

func hasOwner(conn *dbus.Conn, name string) bool {
	var owned bool
	err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned)
	return err == nil && owned
}

func activatable(conn *dbus.Conn, name string) bool {
	var names []string
	err := conn.BusObject().Call("org.freedesktop.DBus.ListActivatableNames", 0).Store(&names)
	return err == nil && slices.Contains(names, name)
}

// trayService reports whether something shows tray icons.
func trayService() bool {
	return onBus(func(conn *dbus.Conn) bool { return hasOwner(conn, "org.kde.StatusNotifierWatcher") })
}

// notificationService reports whether something shows notifications, and whether it reads markup. One that
// does not say is taken to read it.
func notificationService() (ok, markup bool) {
	const name = "org.freedesktop.Notifications"
	ok = onBus(func(conn *dbus.Conn) bool {
		if !hasOwner(conn, name) && !activatable(conn, name) {
			return false
		}
		var capabilities []string
		err := conn.Object(name, "/org/freedesktop/Notifications").Call(name+".GetCapabilities", 0).Store(&capabilities)
		markup = err != nil || slices.Contains(capabilities, "body-markup")
		return true
	})
	return ok, markup
}
