//go:build unix && !darwin

package asking

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
	"github.com/godbus/dbus/v5/prop"

	"nod/app/desktop"
	"nod/ipc/programs"
)

// busTimeout is how long the session bus, or a service on it, may take to answer nod.
const busTimeout = 3 * time.Second

// connectBus makes a connection to the session bus, which ends with ctx. It starts no bus.
func connectBus(ctx context.Context) (*dbus.Conn, error) { return desktop.Bus(ctx, os.Getenv) }

// connectPortal makes a connection on which the desktop's portal answers, although no other program may look into this
// process.
func connectPortal(ctx context.Context) (conn *dbus.Conn, err error) {
	program, err := programs.Find("nod-desktop")
	if err == nil {
		err = desktop.Carried(ctx, program, os.Getenv, func(address string) error {
			conn, err = desktop.Bus(ctx, func(string) string { return address })
			return err
		})
	}
	if err != nil { // no portal answers then, but all else does
		return connectBus(ctx)
	}
	return conn, nil
}

// displayEnv chooses the display server for the windows. It fails if there is none.
func displayEnv(ctx context.Context) ([]string, error) {
	platform, err := desktop.Display(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	return []string{"FYNE_PLATFORM=" + platform}, nil
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

func trayService() bool {
	return onBus(context.Background(), func(conn *dbus.Conn) bool { return desktop.HasOwner(conn, desktop.TrayWatcher) })
}

// notificationService asks the notification service whether it reads the body as markup. A service that does not say is
// assumed to; one that does not answer before ctx ends counts as none.
func notificationService(ctx context.Context) (ok, markup bool) {
	ok = onBus(ctx, func(conn *dbus.Conn) bool {
		if !desktop.HasOwner(conn, desktop.Notifications) && !desktop.IsActivatable(conn, desktop.Notifications) {
			return false
		}
		var capabilities []string
		service := conn.Object(desktop.Notifications, notificationsPath)
		err := service.Call(desktop.Notifications+".GetCapabilities", 0).Store(&capabilities)
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

// exportProperties puts an object's properties on the bus, for other programs to read. Call it again after a change:
// package prop would overwrite the elements of a slice while a reply that holds them is still being written.
func exportProperties(conn *dbus.Conn, path dbus.ObjectPath, name string, values map[string]any) (*prop.Properties,
	error) {
	props := map[string]*prop.Prop{}
	for property, value := range values {
		props[property] = &prop.Prop{Value: value}
	}
	return prop.Export(conn, path, prop.Map{name: props})
}
