//go:build unix && !darwin

package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"

	"nod/app/desktop"
)

const isFreedesktop = true

var findDisplay = desktop.Display

// lookAtBus starts no service.
func lookAtBus(ctx context.Context, getenv func(string) string) (b bus, err error) {
	conn, err := desktop.Bus(ctx, getenv)
	if err != nil {
		return b, err
	}
	defer conn.Close()
	b.hasTray = desktop.HasOwner(conn, desktop.TrayWatcher)
	switch {
	case desktop.HasOwner(conn, desktop.Notifications):
		b.notifier, b.err = askNotifier(ctx, conn)
	case desktop.IsActivatable(conn, desktop.Notifications):
		b.notifier.name = onDemand
	}
	return b, nil
}

func askNotifier(ctx context.Context, conn *dbus.Conn) (n notifier, err error) {
	service := conn.Object(desktop.Notifications, "/org/freedesktop/Notifications")
	ask := func(method string, into ...any) error {
		return service.CallWithContext(ctx, desktop.Notifications+"."+method, dbus.FlagNoAutoStart).Store(into...)
	}
	var vendor, spec string
	err = errors.Join(ask("GetServerInformation", &n.name, &vendor, &n.version, &spec),
		ask("GetCapabilities", &n.capabilities))
	return n, err
}

var sessionChecks = []check{
	{"display", "display", checkDisplay},
	{"bus", "session bus", checkBus},
}

func checkDisplay(_ context.Context, e *exam) []Finding {
	env := getenv(e.environ)
	isWayland := env("WAYLAND_DISPLAY")+env("WAYLAND_SOCKET") != ""
	platform, err := e.display()
	switch {
	case err != nil && env("DISPLAY") == "" && !isWayland:
		return []Finding{failure(open("a terminal on the desktop itself, and there: "+e.startAnew()),
			"%s has no display: neither DISPLAY nor WAYLAND_DISPLAY is set", e.who)}
	case err != nil:
		return []Finding{failure(open("a terminal on the desktop itself, and there: "+e.startAnew()), "%v", err)}
	case platform == "x11" && isWayland:
		return []Finding{ok("X11 at %s, by XWayland: prompts come to the front", env("DISPLAY"))}
	case platform == "x11":
		return []Finding{ok("X11 at %s", env("DISPLAY"))}
	}
	return []Finding{warning(e.useX11(env), "Wayland lets no program raise its windows or keep them on top: "+
		"prompts may open behind others")}
}

func (e *exam) startAnew() string {
	if e.isRunning() {
		return restart().Command
	}
	return start().Command
}

func (e *exam) useX11(env func(string) string) *cure {
	if env("FYNE_PLATFORM") == "wayland" {
		return run("unset FYNE_PLATFORM; %s", restart().Command)
	}
	fix := e.install(xwayland)
	if fix.Command != "" {
		fix.Command += " # then log in again"
	}
	return fix
}

// checkBus checks the session bus for tray icons and notifications. checkDisplay reports a missing display.
func checkBus(ctx context.Context, e *exam) []Finding {
	env := getenv(e.environ)
	if _, err := e.display(); err != nil {
		return nil
	}
	b, err := e.Bus(ctx, env)
	if err != nil {
		return []Finding{warning(e.install(sessionBus), "no session bus, so no tray icon and no notifications: %v", err)}
	}
	return []Finding{ok("it answers"), e.checkTray(b, env), e.checkNotifier(b, env)}
}

func (e *exam) checkTray(b bus, env func(string) string) Finding {
	f := ok("the desktop shows tray icons")
	if !b.hasTray {
		f = warning(open("the settings of the panel: add its notification area, or tray"),
			"the desktop shows no tray icons: start nod again to open its settings")
		if strings.Contains(env("XDG_CURRENT_DESKTOP"), "GNOME") {
			f.Fix = e.install(trayOfGNOME)
		}
	}
	f.ID, f.Title = "tray", "tray"
	return f
}

func (e *exam) checkNotifier(b bus, env func(string) string) Finding {
	n := b.notifier
	var f Finding
	switch {
	case b.err != nil:
		f = warning(run("systemctl --user --type=service | grep -i notif"),
			"the notification service doesn't respond: %v", b.err)
	case n.name == "":
		service := dunst
		if env("WAYLAND_DISPLAY") != "" {
			service = mako
		}
		f = warning(e.install(service), "the desktop shows no notifications: only the tray icon tells you of prompts")
	case n.name == onDemand:
		f = ok("the first notification starts their service")
	default:
		f = ok("%s", strings.TrimSpace(n.name+" "+n.version))
		if !slices.Contains(n.capabilities, "actions") {
			f.Detail += ", which reports no clicks: open prompts from the tray icon"
		}
	}
	f.ID, f.Title = "notifications", "notifications"
	return f
}
