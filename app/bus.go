//go:build unix && !darwin

package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
	"github.com/godbus/dbus/v5/prop"
)

// busTimeout is how long the session bus, or a service on it, may take for what nod asks.
const busTimeout = 3 * time.Second

const (
	trayWatcher   = "org.kde.StatusNotifierWatcher"
	notifications = "org.freedesktop.Notifications"
)

// reconnect calls serve, which ends with a connection, again and again until ctx ends. It calls lost when there is no
// connection any more, or none at first.
func reconnect(ctx context.Context, serve func(context.Context) (connected bool, err error), lost func(error)) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		connected, err := serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if connected {
			wait = firstRetry
		}
		if wait == firstRetry {
			lost(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// connectBus makes a connection to the session bus, which ends with ctx. It starts no bus.
func connectBus(ctx context.Context) (*dbus.Conn, error) {
	return greet(dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx)))
}

// connectSystemBus makes a connection to the system bus, which ends with ctx.
func connectSystemBus(ctx context.Context) (*dbus.Conn, error) {
	return greet(dbus.SystemBusPrivate(dbus.WithContext(ctx)))
}

// greet makes a new connection ready.
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

// onBus calls f with a connection to the session bus that ends with ctx, or after [busTimeout]. Without one it returns
// false.
func onBus(ctx context.Context, f func(*dbus.Conn) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	conn, err := connectBus(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
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
	return onBus(context.Background(), func(conn *dbus.Conn) bool { return hasOwner(conn, trayWatcher) })
}

// notificationService reports whether something shows notifications, and whether it reads markup.
func notificationService() (ok, markup bool) { return askNotifications(context.Background()) }

// askNotifications asks the notification service what it can do. One that does not say is taken to read markup, one
// that does not answer while ctx lives is none.
func askNotifications(ctx context.Context) (ok, markup bool) {
	ok = onBus(ctx, func(conn *dbus.Conn) bool {
		if !hasOwner(conn, notifications) && !activatable(conn, notifications) {
			return false
		}
		var capabilities []string
		service := conn.Object(notifications, "/org/freedesktop/Notifications")
		err := service.Call(notifications+".GetCapabilities", 0).Store(&capabilities)
		markup = err != nil || slices.Contains(capabilities, "body-markup")
		_, answered := errors.AsType[dbus.Error](err)
		return err == nil || answered
	})
	return ok, markup
}

// exportObject puts an object with one interface on the bus: with these properties, and with v's methods unless v
// is nil.
func exportObject(conn *dbus.Conn, path dbus.ObjectPath, name string, v any, values map[string]any) error {
	props, err := exportProperties(conn, path, name, values)
	if err != nil {
		return err
	}
	own := introspect.Interface{Name: name, Properties: props.Introspection(name)}
	if v != nil {
		own.Methods = introspect.Methods(v)
		if err := conn.Export(v, path, name); err != nil {
			return err
		}
	}
	node := introspect.NewIntrospectable(&introspect.Node{Name: string(path),
		Interfaces: []introspect.Interface{introspect.IntrospectData, prop.IntrospectData, own}})
	return conn.Export(node, path, introspect.IntrospectData.Name)
}

// exportProperties puts an object's properties on the bus, for others to read. What changes is put there anew: package
// prop would overwrite the elements of a slice while an answer that holds them is still being written.
func exportProperties(conn *dbus.Conn, path dbus.ObjectPath, name string, values map[string]any) (*prop.Properties,
	error) {
	props := map[string]*prop.Prop{}
	for property, value := range values {
		props[property] = &prop.Prop{Value: value}
	}
	return prop.Export(conn, path, prop.Map{name: props})
}
