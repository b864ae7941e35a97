//go:build unix && !darwin

package asking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"

	"nod/app/desktop"
)

// A desktop says in up to two places that its screen is locked: its session has a hint at logind, on the system bus,
// and its screen saver is active, on the session bus. What is signalled there is only a reason to ask: anybody may
// signal, but only the owner of a name answers.

const (
	logind        = "org.freedesktop.login1"
	logindSession = "org.freedesktop.login1.Session"
	ownSession    = dbus.ObjectPath("/org/freedesktop/login1/session/auto")
)

// screenSavers are the names of those that desktops have. The path of each is its name.
var screenSavers = []string{
	"org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver", "org.cinnamon.ScreenSaver", "org.xfce.ScreenSaver",
}

// lockBus is a bus on which somebody may know whether the screen is locked.
type lockBus struct {
	name    string
	connect func(context.Context) (*dbus.Conn, error)
	match   func(*dbus.Conn) error
	ask     func(context.Context, *dbus.Conn) bool
}

type lockWatch struct {
	changed func(locked bool)

	mu     sync.Mutex // guards locked, and is held while changed is called
	locked map[string]bool
}

// watchLock calls changed whenever the screen is locked or unlocked, until ctx ends. It begins unlocked.
func watchLock(ctx context.Context, changed func(locked bool), log *slog.Logger) {
	w := &lockWatch{changed: changed, locked: map[string]bool{}}
	for _, bus := range []lockBus{
		{"session bus", connectBus, matchScreenSavers, askScreenSavers},
		{"system bus", desktop.SystemBus, matchLogind, askLogind},
	} {
		// Not waited for: a write to a bus that hangs cannot be cancelled.
		go reconnect(ctx, func(ctx context.Context) (bool, error) { return w.follow(ctx, bus) }, func(err error) {
			log.Info("unknown whether the screen is locked, from the "+bus.name, "err", err)
		})
	}
}

// follow asks whenever something is signalled, until the connection or ctx ends.
func (w *lockWatch) follow(ctx context.Context, bus lockBus) (connected bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the connection
	conn, err := bus.connect(ctx)
	if err != nil {
		return false, fmt.Errorf("connect to the %s: %w", bus.name, err)
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	if err := bus.match(conn); err != nil {
		return false, fmt.Errorf("listen on the %s: %w", bus.name, err)
	}
	defer w.set(bus.name, false)
	for {
		asking, done := context.WithTimeout(ctx, busTimeout)
		locked := bus.ask(asking, conn)
		done()
		w.set(bus.name, locked)
		if _, open := <-signals; !open {
			return true, errors.New("it ended the connection")
		}
	}
}

func (w *lockWatch) set(bus string, locked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.locked) > 0
	if locked {
		w.locked[bus] = true
	} else {
		delete(w.locked, bus)
	}
	if after := len(w.locked) > 0; after != before {
		w.changed(after)
	}
}

func matchScreenSavers(conn *dbus.Conn) error {
	for _, name := range screenSavers {
		err := errors.Join(
			conn.AddMatchSignal(dbus.WithMatchSender(name), dbus.WithMatchInterface(name),
				dbus.WithMatchMember("ActiveChanged")),
			conn.AddMatchSignal(dbus.WithMatchInterface("org.freedesktop.DBus"),
				dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name)))
		if err != nil {
			return err
		}
	}
	return nil
}

func askScreenSavers(ctx context.Context, conn *dbus.Conn) bool {
	for _, name := range screenSavers {
		var active bool
		saver := conn.Object(name, dbus.ObjectPath("/"+strings.ReplaceAll(name, ".", "/")))
		if saver.CallWithContext(ctx, name+".GetActive", dbus.FlagNoAutoStart).Store(&active) == nil && active {
			return true
		}
	}
	return false
}

func matchLogind(conn *dbus.Conn) error {
	return conn.AddMatchSignal(dbus.WithMatchSender(logind), dbus.WithMatchInterface("org.freedesktop.DBus.Properties"),
		dbus.WithMatchMember("PropertiesChanged"), dbus.WithMatchArg(0, logindSession))
}

func askLogind(ctx context.Context, conn *dbus.Conn) bool {
	var locked dbus.Variant
	err := conn.Object(logind, ownSession).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get",
		dbus.FlagNoAutoStart, logindSession, "LockedHint").Store(&locked)
	return err == nil && locked.Value() == true
}
