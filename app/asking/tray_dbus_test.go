//go:build unix && !darwin

package asking

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"nod/app/desktop"
	"nod/assets"
	"nod/interact"
	"nod/ipc/operator"
)

// patience is how long a test waits for what must come, on the slowest machine.
const patience = time.Minute

// testBus is a session bus of a test's own, with the services that a test puts on it.
type testBus struct {
	t      *testing.T
	socket string
	daemon *exec.Cmd
	conn   *dbus.Conn
}

const busConfig = `<busconfig><type>session</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy>
</busconfig>`

// startBus starts a session bus and makes it this process's.
func startBus(t *testing.T) *testBus {
	t.Helper()
	if _, err := exec.LookPath("dbus-daemon"); err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("", "nod-") // t.TempDir is too long for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b := &testBus{t: t, socket: filepath.Join(dir, "bus")}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+b.socket)
	b.start()
	t.Cleanup(b.stop)
	return b
}

func (b *testBus) start() {
	b.t.Helper()
	config := b.socket + ".conf"
	if err := os.WriteFile(config, fmt.Appendf(nil, busConfig, b.socket), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.daemon = exec.Command("dbus-daemon", "--nofork", "--nosyslog", "--print-address=1", "--config-file="+config)
	out, err := b.daemon.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.daemon.Start(); err != nil {
		b.t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // written when it takes connections
		b.t.Fatal(err)
	}
	if b.conn, err = dbus.Connect("unix:path=" + b.socket); err != nil {
		b.t.Fatal(err)
	}
}

// stop kills the bus.
func (b *testBus) stop() {
	b.conn.Close()
	b.daemon.Process.Kill()
	b.daemon.Wait()
	os.Remove(b.socket)
}

// own takes a name on the bus.
func (b *testBus) own(name string) {
	b.t.Helper()
	if _, err := b.conn.RequestName(name, 0); err != nil {
		b.t.Fatal(err)
	}
}

// host is a tray's host: it takes the registrations of icons.
type host struct {
	bus     *testBus
	icons   chan dbus.BusObject // what was registered
	changes chan *dbus.Signal   // what icons and menus tell
}

// startHost starts a tray's host.
func (b *testBus) startHost() *host {
	b.t.Helper()
	h := &host{bus: b, icons: make(chan dbus.BusObject, 10), changes: make(chan *dbus.Signal, 1000)}
	b.conn.Signal(h.changes)
	for _, name := range []string{itemInterface, menuInterface} {
		if err := b.conn.AddMatchSignal(dbus.WithMatchInterface(name)); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := b.conn.Export(h, "/StatusNotifierWatcher", desktop.TrayWatcher); err != nil {
		b.t.Fatal(err)
	}
	b.own(desktop.TrayWatcher)
	return h
}

// RegisterStatusNotifierItem is the method by which a program announces its icon.
func (h *host) RegisterStatusNotifierItem(sender dbus.Sender, path string) *dbus.Error {
	h.icons <- h.bus.conn.Object(string(sender), dbus.ObjectPath(path))
	return nil
}

// icon waits for the next registration.
func (h *host) icon() dbus.BusObject {
	h.bus.t.Helper()
	select {
	case icon := <-h.icons:
		return icon
	case <-time.After(patience):
		h.bus.t.Fatal("no icon was registered")
		return nil
	}
}

// await waits until what an icon or its menu tells satisfies is.
func (h *host) await(what string, is func() bool) {
	h.bus.t.Helper()
	late := time.After(patience)
	for !is() {
		select {
		case <-h.changes:
		case <-late:
			h.bus.t.Fatal("waited in vain for " + what)
		}
	}
}

// shows waits until the icon is that of state.
func (h *host) shows(icon dbus.BusObject, state assets.TrayState, dark bool) {
	h.bus.t.Helper()
	want := pixmaps(assets.Tray(state, dark))
	h.await(fmt.Sprintf("the icon %s, dark %v", state, dark), func() bool {
		var got []pixmap
		err := icon.StoreProperty(itemInterface+".IconPixmap", &got)
		return err == nil && reflect.DeepEqual(got, want)
	})
}

// layout reads the menu.
func (h *host) layout(icon dbus.BusObject, depth int32) menuNode {
	h.bus.t.Helper()
	var path dbus.ObjectPath
	if err := icon.StoreProperty(itemInterface+".Menu", &path); err != nil {
		h.bus.t.Fatal(err)
	}
	var revision uint32
	var root menuNode
	menu := h.bus.conn.Object(icon.Destination(), path)
	err := menu.Call(menuInterface+".GetLayout", 0, int32(0), depth, []string{}).Store(&revision, &root)
	if err != nil {
		h.bus.t.Fatal(err)
	}
	return root
}

// find is the id of the item below n with that label, 0 when there is none.
func (n menuNode) find(t *testing.T, label string) int32 {
	t.Helper()
	for _, child := range n.Children {
		var c menuNode
		if err := dbus.Store([]any{child.Value()}, &c); err != nil {
			t.Fatal(err)
		}
		if got, _ := c.Properties["label"].Value().(string); got == label {
			return c.ID
		}
		if id := c.find(t, label); id != 0 {
			return id
		}
	}
	return 0
}

func (h *host) click(icon dbus.BusObject, id int32) {
	h.bus.t.Helper()
	menu := h.bus.conn.Object(icon.Destination(), menuPath)
	err := menu.Call(menuInterface+".Event", 0, id, "clicked", dbus.MakeVariant(0), uint32(0)).Err
	if err != nil {
		h.bus.t.Fatal(err)
	}
}

// runTray runs a tray until the test ends.
func runTray(t *testing.T, do trayActions) *tray {
	tray := newTray(do, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { tray.run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return tray
}

func TestTrayShowsTheLatestSnapshot(t *testing.T) {
	h := startBus(t).startHost()
	tray := runTray(t, trayActions{})
	icon := h.icon()
	h.shows(icon, assets.Idle, true)
	tray.update(snapshot{Pause: operator.Pause{On: true}})
	h.shows(icon, assets.Paused, true)
	tray.update(snapshot{Broken: true})
	tray.update(snapshot{Pending: []interact.Request{pendingApproval("1", "claude")}})
	h.shows(icon, assets.Waiting, true)
	h.await("the request in the menu", func() bool {
		return h.layout(icon, -1).find(t, "claude · my__shop: npm test‹newline›&& x") != 0
	})
	var tip tooltip
	err := icon.StoreProperty(itemInterface+".ToolTip", &tip)
	if err != nil || tip.Title != "nod: 1 request waiting" {
		t.Errorf("tool tip %+v, %v", tip, err)
	}
}

func TestTrayMenuOnTheBus(t *testing.T) {
	h := startBus(t).startHost()
	shown, paused, quit := make(chan interact.ID, 1), make(chan operator.Pause, 1), make(chan bool, 1)
	tray := runTray(t, trayActions{
		Show:  func(v operator.View) { shown <- v.Request },
		Pause: func(p operator.Pause) { paused <- p },
		Quit:  func() { quit <- true },
	})
	icon := h.icon()
	tray.update(snapshot{Pending: []interact.Request{pendingApproval("1", "a"), pendingApproval("2", "b")}})
	var old int32
	h.await("the menu", func() bool {
		old = h.layout(icon, -1).find(t, "b · my__shop: npm test‹newline›&& x")
		return old != 0
	})
	h.click(icon, old)
	if id := receive(t, shown); id != "2" {
		t.Errorf("showed %q, want 2", id)
	}
	root := h.layout(icon, -1)
	h.click(icon, root.find(t, "Pause until I'm back"))
	if p := receive(t, paused); !p.On {
		t.Error("did not pause")
	}
	if n := h.layout(icon, 0); len(n.Children) != 0 {
		t.Errorf("the root alone is %+v", n)
	}
	tray.update(snapshot{Pending: []interact.Request{pendingApproval("3", "c")}})
	h.await("the new menu", func() bool { return h.layout(icon, -1).find(t, "c · my__shop: npm test‹newline›&& x") != 0 })
	h.click(icon, old)
	h.click(icon, h.layout(icon, -1).find(t, "Quit"))
	receive(t, quit)
	if len(shown) > 0 {
		t.Error("a click on a menu that is gone did something")
	}
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func TestTrayMenuIsToldOnlyWhenItChanges(t *testing.T) {
	h := startBus(t).startHost()
	tray := runTray(t, trayActions{})
	icon := h.icon()
	tray.update(snapshot{AskEverything: true})
	revision := func() (r uint32) {
		menu := h.bus.conn.Object(icon.Destination(), menuPath)
		var root menuNode
		if err := menu.Call(menuInterface+".GetLayout", 0, int32(0), int32(0), []string{}).Store(&r, &root); err != nil {
			t.Fatal(err)
		}
		return r
	}
	h.await("the menu", func() bool { return revision() == 3 }) // empty, first, changed
	tray.update(snapshot{AskEverything: true})
	tray.update(snapshot{AskEverything: true, Away: 1})
	h.await("the menu", func() bool { return h.layout(icon, -1).find(t, "I'm back") != 0 })
	if r := revision(); r != 4 {
		t.Errorf("revision %d, want 4", r)
	}
}

// notificationDaemon takes notifications and, as dunst does, tells their sender alone when they are gone.
type notificationDaemon struct {
	bus  *testBus
	hang chan struct{} // nil: it answers
}

func (b *testBus) startNotifications() { b.serveNotifications(notificationDaemon{bus: b}) }

func (b *testBus) serveNotifications(d notificationDaemon) {
	b.t.Helper()
	if err := b.conn.Export(d, "/org/freedesktop/Notifications", desktop.Notifications); err != nil {
		b.t.Fatal(err)
	}
	b.own(desktop.Notifications)
}

// Notify is the method of that name.
func (d notificationDaemon) Notify(from dbus.Sender, _ string, _ uint32, _, _, _ string, _ []string,
	_ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	d.bus.sendSignal(string(from), desktop.Notifications, "NotificationClosed", uint32(1), uint32(1))
	return 1, nil
}

// GetCapabilities is the method of that name.
func (d notificationDaemon) GetCapabilities() ([]string, *dbus.Error) {
	if d.hang != nil {
		<-d.hang
	}
	return []string{"body"}, nil
}

func TestNotificationServiceThatHangsIsNone(t *testing.T) {
	b := startBus(t)
	hang := make(chan struct{})
	defer close(hang)
	b.serveNotifications(notificationDaemon{b, hang})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if ok, _ := notificationService(ctx); ok {
		t.Error("a service that does not answer counts as one")
	}
}

func TestNotificationService(t *testing.T) {
	b := startBus(t)
	if ok, _ := notificationService(t.Context()); ok {
		t.Error("there is a service on an empty bus")
	}
	if newNotifier(showByBeeep(nil), always, slog.New(slog.DiscardHandler)).notify(t.Context(), aNotice("done")) {
		t.Error("a notice is sent without a service")
	}
	b.startNotifications()
	if ok, markup := notificationService(t.Context()); !ok || markup {
		t.Errorf("service %v, markup %v; want one that reads no markup", ok, markup)
	}
}

// sendSignal sends a signal to one connection.
func (b *testBus) sendSignal(to, iface, member string, body ...any) {
	m := &dbus.Message{Type: dbus.TypeSignal, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldDestination: dbus.MakeVariant(to),
		dbus.FieldInterface:   dbus.MakeVariant(iface),
		dbus.FieldMember:      dbus.MakeVariant(member),
		dbus.FieldPath:        dbus.MakeVariant(dbus.ObjectPath("/any")),
	}}
	if len(body) > 0 {
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	}
	b.conn.Send(m, nil)
}

// TestTrayComesBackWithItsHost restarts the host after notifications. fyne.io/systray no longer registered then.
func TestTrayComesBackWithItsHost(t *testing.T) {
	b := startBus(t)
	h := b.startHost()
	b.startNotifications()
	runTray(t, trayActions{})
	icon := h.icon()
	n := newNotifier(showByBeeep(nil), always, slog.New(slog.DiscardHandler))
	if !n.notify(t.Context(), aNotice("done")) {
		t.Error("notice not sent")
	}
	for _, body := range [][]any{nil, {"x"}, {appearance, "color-scheme", dbus.MakeVariant("?")}, {1, 2, 3}} {
		for _, name := range []string{"org.freedesktop.DBus", portalSettings, desktop.Notifications} {
			for _, member := range []string{"NameOwnerChanged", "SettingChanged", "NotificationClosed"} {
				b.sendSignal(icon.Destination(), name, member, body...)
			}
		}
	}
	if _, err := b.conn.ReleaseName(desktop.TrayWatcher); err != nil {
		t.Fatal(err)
	}
	for len(h.icons) > 0 {
		<-h.icons
	}
	b.own(desktop.TrayWatcher)
	h.shows(h.icon(), assets.Idle, true)
}

func TestNoticesLeaveNoGoroutines(t *testing.T) {
	b := startBus(t)
	h := b.startHost()
	b.startNotifications()
	runTray(t, trayActions{})
	h.icon()
	n := newNotifier(showByBeeep(nil), always, slog.New(slog.DiscardHandler))
	n.notify(t.Context(), aNotice("the first opens a connection, which stays"))
	before := runtime.NumGoroutine()
	const notices = 20
	for range notices {
		if !n.notify(t.Context(), aNotice("done")) {
			t.Fatal("notice not sent")
		}
	}
	if after := runtime.NumGoroutine(); after > before+notices/2 { // some are just ending
		t.Errorf("%d goroutines before %d notices, %d after", before, notices, after)
	}
}

func TestTrayOutlivesTheBus(t *testing.T) {
	b := startBus(t)
	h := b.startHost()
	tray := runTray(t, trayActions{})
	h.shows(h.icon(), assets.Idle, true)
	b.stop()
	tray.update(snapshot{Broken: true})
	b.start()
	h = b.startHost()
	h.shows(h.icon(), assets.Broken, true)
}

func TestTrayOutlivesABusThatHangs(t *testing.T) {
	b := startBus(t)
	h := b.startHost()
	tray := newTray(trayActions{}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { tray.run(ctx); close(ended) }()
	icon := h.icon()
	b.daemon.Process.Signal(syscall.SIGSTOP)
	for i := range 10000 {
		tray.update(snapshot{Pause: operator.Pause{On: i%2 == 0}})
	}
	tray.update(snapshot{Missed: 1})
	b.daemon.Process.Signal(syscall.SIGCONT)
	h.shows(icon, assets.Waiting, true)
	b.daemon.Process.Signal(syscall.SIGSTOP)
	cancel()
	receive(t, ended)
	b.daemon.Process.Signal(syscall.SIGCONT)
}

// colorScheme is the desktop's portal, which knows one setting.
type colorScheme uint32

// Read is the method of that name.
func (c colorScheme) Read(group, key string) (dbus.Variant, *dbus.Error) {
	if group != appearance || key != "color-scheme" {
		return dbus.Variant{}, dbus.MakeFailedError(errors.New("no such setting"))
	}
	return dbus.MakeVariant(dbus.MakeVariant(uint32(c))), nil
}

func TestTrayFollowsTheColourScheme(t *testing.T) {
	b := startBus(t)
	h := b.startHost()
	if err := b.conn.Export(colorScheme(preferLight), portalPath, portalSettings); err != nil {
		t.Fatal(err)
	}
	b.own(desktop.Portal)
	runTray(t, trayActions{})
	icon := h.icon()
	h.shows(icon, assets.Idle, false)
	preferDark := dbus.MakeVariant(uint32(1))
	err := b.conn.Emit(portalPath, portalSettings+".SettingChanged", appearance, "color-scheme", preferDark)
	if err != nil {
		t.Fatal(err)
	}
	h.shows(icon, assets.Idle, true)
}

func TestBusThatNeverAnswersIsGivenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := connectBus(ctx); err == nil {
		t.Error("connected")
	}
}
