//go:build unix && !darwin

package asking

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

// locker is a desktop's screen saver, and its session at logind, on a test's bus.
type locker struct {
	bus    *testBus
	active atomic.Bool
	hint   *prop.Properties
}

// GetActive is the method of that name.
func (l *locker) GetActive() (bool, *dbus.Error) { return l.active.Load(), nil }

func (b *testBus) startLocker() *locker {
	b.t.Helper()
	l := &locker{bus: b}
	if err := b.conn.Export(l, "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver"); err != nil {
		b.t.Fatal(err)
	}
	var err error
	l.hint, err = prop.Export(b.conn, ownSession, prop.Map{logindSession: {
		"LockedHint": {Value: false, Emit: prop.EmitTrue},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.own("org.gnome.ScreenSaver")
	b.own(logind)
	return l
}

// saver has the screen saver lock the screen, or unlock it.
func (l *locker) saver(active bool) {
	l.active.Store(active)
	l.bus.emit("/org/gnome/ScreenSaver", "org.gnome.ScreenSaver.ActiveChanged", active)
}

// emit sends a signal to all who listen.
func (b *testBus) emit(path dbus.ObjectPath, name string, values ...any) {
	b.t.Helper()
	if err := b.conn.Emit(path, name, values...); err != nil {
		b.t.Fatal(err)
	}
}

// TestScreenLock locks the screen in each of the ways in which desktops say so.
func TestScreenLock(t *testing.T) {
	bus := startBus(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+bus.socket)
	l := bus.startLocker()
	l.active.Store(true) // before nod starts
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := make(chan bool, 10)
	watchLock(ctx, func(locked bool) { said <- locked }, slog.New(slog.DiscardHandler))
	wants := func(when string, want bool) {
		t.Helper()
		select {
		case locked := <-said:
			if locked != want {
				t.Fatalf("%s: locked: %v", when, locked)
			}
		case <-time.After(patience):
			t.Fatalf("%s: nothing is said", when)
		}
	}
	wants("locked at the start", true)
	l.saver(false)
	wants("unlocked", false)
	l.hint.SetMust(logindSession, "LockedHint", true)
	wants("logind says locked", true)
	l.saver(true)
	l.hint.SetMust(logindSession, "LockedHint", false)
	l.saver(false)
	wants("the last of both says unlocked", false)
	l.saver(true)
	wants("locked again", true)
	if _, err := bus.conn.ReleaseName("org.gnome.ScreenSaver"); err != nil {
		t.Fatal(err)
	}
	wants("the screen saver has ended", false)
	bus.own("org.gnome.ScreenSaver")
	wants("it is back", true)
	bus.stop()
	wants("the bus has ended", false)
	bus.start()
	l = bus.startLocker()
	l.saver(true)
	wants("and is back", true)
}
