//go:build unix && !darwin

package asking

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"nod/app/desktop"
	"nod/policy/config"
)

// startX starts an X server and makes it this process's.
func startX(t *testing.T) *xgb.Conn {
	t.Helper()
	if _, err := exec.LookPath("Xvfb"); err != nil {
		t.Skip(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-displayfd", "3", "-nolisten", "tcp", "-ac")
	x.ExtraFiles = []*os.File{w}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.Process.Kill()
		x.Wait()
	})
	w.Close()
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(number))
	t.Setenv("WAYLAND_DISPLAY", "")
	xgb.Logger.SetOutput(io.Discard)
	conn, err := xgb.NewConn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// press presses keys, by their keysyms, and lets them go.
func press(t *testing.T, conn *xgb.Conn, keys ...xproto.Keysym) {
	t.Helper()
	board, err := readKeyboard(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []byte{xproto.KeyPress, xproto.KeyRelease} {
		for _, key := range keys {
			codes := board.codes(key)
			if len(codes) == 0 {
				t.Fatalf("no key bears %#x", key)
			}
			if err := xtest.FakeInputChecked(conn, kind, byte(codes[0]), 0, 0, 0, 0, 0).Check(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// shortcutTest is a shortcut that runs.
type shortcutTest struct {
	*shortcut
	keys    atomic.Pointer[string]
	pressed chan bool
	changed chan bool
}

func (s *shortcutTest) want(keys string) {
	s.keys.Store(&keys)
	s.check()
}

func runShortcut(t *testing.T, keys string) *shortcutTest {
	s := &shortcutTest{pressed: make(chan bool, 10), changed: make(chan bool, 10)}
	s.keys.Store(&keys)
	s.shortcut = newShortcut(func() string { return *s.keys.Load() }, func() { s.pressed <- true },
		func() { s.changed <- true }, slog.New(slog.DiscardHandler))
	go s.run(t.Context())
	return s
}

const (
	keysymControl  = 0xffe3
	keysymAlt      = 0xffe9
	keysymCapsLock = 0xffe5
)

func TestShortcutOnX(t *testing.T) {
	conn := startX(t)
	if err := xtest.Init(conn); err != nil {
		t.Fatal(err)
	}
	root := xproto.Setup(conn).DefaultScreen(conn).Root
	board, err := readKeyboard(conn)
	if err != nil {
		t.Fatal(err)
	}
	// Another program has the keys: that is said, and they work once others are wanted.
	held := uint16(xproto.ModMaskControl | xproto.ModMask1)
	if err := xproto.GrabKeyChecked(conn, true, root, held, board.codes('n')[0], 1, 1).Check(); err != nil {
		t.Fatal(err)
	}
	s := runShortcut(t, "Ctrl+Alt+N")
	receive(t, s.changed)
	if p := s.why(); !strings.Contains(p, "another program uses Ctrl+Alt+N") {
		t.Errorf("the problem is %q", p)
	}
	s.want("Ctrl+Alt+M")
	receive(t, s.changed)
	if p := s.why(); p != "" {
		t.Fatalf("the problem is %q", p)
	}
	press(t, conn, keysymControl, keysymAlt, 'm')
	receive(t, s.pressed)
	press(t, conn, keysymCapsLock)
	press(t, conn, keysymControl, keysymAlt, 'm')
	receive(t, s.pressed)
	press(t, conn, keysymControl, 'm')
	press(t, conn, keysymAlt, 'm')
	s.want("")
	s.want("Ctrl+Alt+M")
	if len(s.pressed) > 0 {
		t.Error("other keys count, too")
	}
}

func TestShortcutWithoutX(t *testing.T) {
	t.Setenv("DISPLAY", "/nowhere:1")
	t.Setenv("WAYLAND_DISPLAY", "")
	s := runShortcut(t, "Super+F1")
	receive(t, s.changed)
	if p := s.why(); !strings.Contains(p, "/nowhere") {
		t.Errorf("the problem is %q", p)
	}
	s.want("")
	receive(t, s.changed)
	if p := s.why(); p != "" {
		t.Errorf("none is wanted, and the problem is %q", p)
	}
}

// fakePortal is the desktop's portal, as far as shortcuts go. Its exported methods are those of the interface.
type fakePortal struct {
	bus     *testBus
	from    chan dbus.Sender
	trigger string
	refuse  atomic.Uint32 // what BindShortcuts responds
}

const fakeHandle = dbus.ObjectPath("/session/1")

func (p *fakePortal) respond(to dbus.Sender, code uint32, results map[string]dbus.Variant) dbus.ObjectPath {
	const handle = dbus.ObjectPath("/request/1")
	p.signal(to, handle, portalRequest, "Response", code, results)
	return handle
}

func (p *fakePortal) signal(to dbus.Sender, path dbus.ObjectPath, iface, member string, body ...any) {
	p.bus.conn.Send(&dbus.Message{Type: dbus.TypeSignal, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldDestination: dbus.MakeVariant(string(to)), dbus.FieldInterface: dbus.MakeVariant(iface),
		dbus.FieldMember: dbus.MakeVariant(member), dbus.FieldPath: dbus.MakeVariant(path),
		dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(body...)),
	}}, nil)
}

// CreateSession is the method of that name.
func (p *fakePortal) CreateSession(from dbus.Sender, _ map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	return p.respond(from, 0, map[string]dbus.Variant{"session_handle": dbus.MakeVariant(string(fakeHandle))}), nil
}

// BindShortcuts is the method of that name.
func (p *fakePortal) BindShortcuts(from dbus.Sender, session dbus.ObjectPath, all []portalShortcut, _ string,
	_ map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	if session != fakeHandle || len(all) != 1 {
		return "", dbus.MakeFailedError(errors.New("no such session"))
	}
	p.trigger, _ = all[0].Properties["preferred_trigger"].Value().(string)
	p.from <- from
	return p.respond(from, p.refuse.Load(), map[string]dbus.Variant{}), nil
}

func TestShortcutThroughThePortal(t *testing.T) {
	b := startBus(t)
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	s := runShortcut(t, "Super+Alt+N")
	receive(t, s.changed)
	if p := s.why(); !strings.Contains(p, "portal") {
		t.Errorf("without a portal the problem is %q", p)
	}
	p := &fakePortal{bus: b, from: make(chan dbus.Sender, 1)}
	if err := b.conn.Export(p, portalPath, portalShortcuts); err != nil {
		t.Fatal(err)
	}
	b.own(desktop.Portal)
	s.want("Ctrl+Super+N")
	nod := receive(t, p.from)
	receive(t, s.changed)
	if p.trigger != "CTRL+LOGO+n" || s.why() != "" {
		t.Errorf("asked for %q, the problem is %q", p.trigger, s.why())
	}
	for _, hostile := range [][]any{{}, {7}, {fakeHandle, "other"}, {dbus.ObjectPath("/session/2"), shortcutID}} {
		p.signal(nod, portalPath, portalShortcuts, "Activated", hostile...)
	}
	p.signal(nod, portalPath, portalShortcuts, "Activated", fakeHandle, shortcutID, uint64(1), map[string]dbus.Variant{})
	receive(t, s.pressed)
	p.refuse.Store(1)
	s.want("Ctrl+Super+M")
	receive(t, p.from)
	receive(t, s.changed)
	if !strings.Contains(s.why(), "did not allow") || len(s.pressed) > 0 {
		t.Errorf("the problem is %q; pressed %d times more", s.why(), len(s.pressed))
	}
}

func TestPortalTrigger(t *testing.T) {
	for keys, want := range map[string]string{"Ctrl+Alt+Shift+9": "CTRL+ALT+SHIFT+9", "Super+F12": "LOGO+F12",
		"Ctrl+Space": "CTRL+space"} {
		parsed, err := config.ParseShortcut(keys)
		if got := portalTrigger(parsed); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", keys, got, err, want)
		}
	}
}
