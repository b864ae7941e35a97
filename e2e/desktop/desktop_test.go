//go:build linux

package desktop_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"nod/e2e/desktop"
)

// patience is how long anything on a desktop may take before a test gives up.
const patience = 2 * time.Minute

func TestIconInThePanelIsSeenAndClicked(t *testing.T) {
	d, ctx := start(t)
	red := color.RGBA{0xd0, 0x20, 0x20, 0xff}
	clicked := showIcon(t, d, red)

	var icon image.Rectangle
	await(t, d.Screen.Await(ctx, "the icon", func() (bool, error) {
		panel, found, err := d.Screen.Panel()
		if err != nil || !found {
			return false, err
		}
		var count int
		icon, count, err = d.Screen.Matching(panel.Area, func(c color.RGBA) bool { return c == red })
		return count > 100, err
	}))
	await(t, d.Click(middle(icon), desktop.LeftButton))
	select {
	case <-clicked:
	case <-ctx.Done():
		t.Fatalf("a click on %v did not reach the icon", icon)
	}
}

func TestNotificationIsShown(t *testing.T) {
	d, ctx := start(t)
	service := d.Bus.Object(desktop.Notifications, "/org/freedesktop/Notifications")
	before, err := d.Screen.Image()
	await(t, err)
	await(t, service.Call(desktop.Notifications+".Notify", 0, "test", uint32(0), "", "A title", "A body",
		[]string{}, map[string]dbus.Variant{}, int32(0)).Err)
	await(t, d.Screen.Await(ctx, "the notification", func() (bool, error) {
		now, err := d.Screen.Image()
		if err != nil {
			return false, err
		}
		at := image.Pt(1100, 70) // where config/dunstrc puts it
		return now.RGBAAt(at.X, at.Y) != before.RGBAAt(at.X, at.Y), nil
	}))
	await(t, d.AwaitNotices(ctx, 1))
	shown, err := d.Notices()
	await(t, err)
	if len(shown) != 1 || shown[0].Summary != "A title" || shown[0].Body != "A body" {
		t.Errorf("notifications: %+v, want the one that was sent", shown)
	}
}

func TestAwaitEndsWithTheServer(t *testing.T) {
	d, ctx := start(t)
	await(t, d.Kill(desktop.XServer))
	err := d.Screen.Await(ctx, "nothing", func() (bool, error) { return false, nil })
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the death of the X server, Await: %v", err)
	}
}

func TestProgramsEndWithTheDesktop(t *testing.T) {
	d, _ := start(t)
	cmd := d.Command("sleep", "1h")
	ended, err := d.Launch(cmd)
	await(t, err)
	await(t, d.Close())
	<-ended
	if cmd.ProcessState.Success() {
		t.Error("the program was not killed")
	}
}

func TestEnvironmentIsTheDesktopsOwn(t *testing.T) {
	t.Setenv("DISPLAY", ":elsewhere")
	t.Setenv("NOD_SECRET", "of the user who tests")
	d, _ := start(t)
	for _, v := range d.Env() {
		name, value, _ := strings.Cut(v, "=")
		if name == "NOD_SECRET" || value == ":elsewhere" {
			t.Errorf("%s leaked into the desktop", v)
		}
	}
}

// start starts a desktop, or skips the test where that is not possible and nobody insists.
func start(t *testing.T) (*desktop.Desktop, context.Context) {
	t.Helper()
	return startManaged(t, desktop.Openbox)
}

func startManaged(t *testing.T, m desktop.WindowManager) (*desktop.Desktop, context.Context) {
	t.Helper()
	if missing := desktop.Missing(); missing != nil && os.Getenv("NOD_E2E") == "" {
		t.Skip("missing: ", strings.Join(missing, ", "))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	dir, err := os.MkdirTemp("", "nod-") // t.TempDir is too long for the path of a socket
	await(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	d, err := desktop.Start(ctx, dir, m)
	await(t, err)
	t.Cleanup(func() { d.Close() })
	return d, ctx
}

func await(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }

// item is a StatusNotifierItem, the least that a panel shows.
type item struct{ clicked chan struct{} }

func (i item) Activate(_, _ int32) *dbus.Error {
	close(i.clicked)
	return nil
}

// showIcon puts a square icon of one colour into the panel.
func showIcon(t *testing.T, d *desktop.Desktop, c color.RGBA) (clicked <-chan struct{}) {
	t.Helper()
	const (
		path = dbus.ObjectPath("/StatusNotifierItem")
		name = "org.kde.StatusNotifierItem"
		side = 22
	)
	type pixmap struct {
		Width, Height int32
		Pixels        []byte // alpha, red, green, blue
	}
	pixels := []byte(strings.Repeat(string([]byte{0xff, c.R, c.G, c.B}), side*side))
	i := item{make(chan struct{})}
	await(t, d.Bus.Export(i, path, name))
	_, err := prop.Export(d.Bus, path, prop.Map{name: {
		"Id":         {Value: "test"},
		"Title":      {Value: "test"},
		"Status":     {Value: "Active"},
		"Category":   {Value: "ApplicationStatus"},
		"IconName":   {Value: ""},
		"IconPixmap": {Value: []pixmap{{side, side, pixels}}},
		"ItemIsMenu": {Value: false},
		"Menu":       {Value: dbus.ObjectPath("/NO_DBUSMENU")},
	}})
	await(t, err)
	watcher := d.Bus.Object(desktop.TrayWatcher, "/StatusNotifierWatcher")
	await(t, watcher.Call(desktop.TrayWatcher+".RegisterStatusNotifierItem", 0, string(path)).Err)
	return i.clicked
}

func TestWindowManagers(t *testing.T) {
	for _, m := range []desktop.WindowManager{desktop.Openbox, desktop.Xfwm4, desktop.I3} {
		t.Run(string(m), func(t *testing.T) {
			if m.Missing() {
				t.Skipf("%s is not installed", m)
			}
			d, ctx := startManaged(t, m)
			await(t, d.SwitchWorkspace(ctx, 1))
			await(t, d.SwitchWorkspace(ctx, 0))
		})
	}
}
