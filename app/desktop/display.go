//go:build unix && !darwin

package desktop

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// displayPatience is how long a display server may take to accept a connection.
const displayPatience = 3 * time.Second

// display looks for the display server before Fyne does: Fyne panics without one.
type display struct {
	getenv func(string) string
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// Display returns the Fyne platform of the windows in a session with this environment, x11 or wayland. The error wraps
// [ErrNoDisplay] and says why there is none.
func Display(ctx context.Context, getenv func(string) string) (platform string, err error) {
	return display{getenv, new(net.Dialer).DialContext}.platform(ctx)
}

// platform returns the Fyne platform to use, x11 or wayland. It prefers X11, where a prompt can place itself above
// other windows, unless FYNE_PLATFORM says otherwise.
func (d display) platform(ctx context.Context) (string, error) {
	chosen := d.getenv("FYNE_PLATFORM")
	wants := func(name, variables string) bool { return chosen == name || chosen == "" && variables != "" }
	var tried error
	if wants("x11", d.getenv("DISPLAY")) {
		if tried = d.checkX11(ctx); tried == nil {
			return "x11", nil
		}
	}
	if wants("wayland", d.getenv("WAYLAND_DISPLAY")+d.getenv("WAYLAND_SOCKET")) {
		err := d.checkWayland(ctx)
		if err == nil {
			return "wayland", nil
		}
		tried = cmp.Or(tried, err)
	}
	switch {
	case tried != nil:
		return "", tried
	case chosen != "":
		return "", fmt.Errorf("FYNE_PLATFORM=%q: set it to x11 or wayland, or unset it", chosen)
	}
	return "", fmt.Errorf("%w: neither DISPLAY nor WAYLAND_DISPLAY is set; start nod-desktop inside a desktop session, "+
		"or start a virtual one first: Xvfb :99 & DISPLAY=:99 nod-desktop", ErrNoDisplay)
}

func (d display) checkX11(ctx context.Context) error {
	name := d.getenv("DISPLAY")
	if name == "" {
		return fmt.Errorf("%w: FYNE_PLATFORM is x11 but DISPLAY is not set; set it, or unset FYNE_PLATFORM", ErrNoDisplay)
	}
	addresses, err := x11Addresses(name)
	if err != nil {
		return fmt.Errorf("%w: %v; set DISPLAY to one like :0", ErrNoDisplay, err)
	}
	if err := d.dialAny(ctx, addresses); err != nil {
		return fmt.Errorf("%w: DISPLAY is %q but no X server answers there (%v); start one, or set DISPLAY to the one "+
			"that runs", ErrNoDisplay, name, err)
	}
	return nil
}

func (d display) checkWayland(ctx context.Context) error {
	if d.getenv("WAYLAND_SOCKET") != "" { // an open connection that the parent process handed down
		return nil
	}
	name := cmp.Or(d.getenv("WAYLAND_DISPLAY"), "wayland-0") // libwayland's own default
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.getenv("XDG_RUNTIME_DIR"), name)
	}
	if err := d.dialAny(ctx, []address{{"unix", name}}); err != nil {
		return fmt.Errorf("%w: no Wayland compositor answers at %s (%v); start nod-desktop inside a desktop session",
			ErrNoDisplay, name, err)
	}
	return nil
}

// dialAny returns nil if one of the addresses accepts a connection, else the error of the first.
func (d display) dialAny(ctx context.Context, addresses []address) error {
	ctx, cancel := context.WithTimeout(ctx, displayPatience)
	defer cancel()
	var first error
	for _, a := range addresses {
		conn, err := d.dial(ctx, a.network, a.name)
		if err == nil {
			return conn.Close()
		}
		first = cmp.Or(first, err)
	}
	return first
}

// address is where a display server may listen.
type address struct{ network, name string }

// x11Addresses lists the addresses that libxcb would try for a DISPLAY value: [host]:display[.screen],
// unix/host:display, or the path of a socket.
func x11Addresses(name string) ([]address, error) {
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 {
		return nil, fmt.Errorf("DISPLAY is %q: it has no colon", name)
	}
	host, number := name[:colon], name[colon+1:]
	number, _, _ = strings.Cut(number, ".")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("DISPLAY is %q: %q is not a display number", name, number)
	}
	if strings.HasPrefix(host, "/") { // launchd on macOS names the socket itself
		return []address{{"unix", host + ":" + number}, {"unix", host}}, nil
	}
	if host == "" || host == "unix" || strings.HasPrefix(host, "unix/") {
		path := "/tmp/.X11-unix/X" + number
		return []address{{"unix", path}, {"unix", "@" + path}}, nil
	}
	host = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(host, "tcp/"), "["), "]")
	return []address{{"tcp", net.JoinHostPort(host, strconv.FormatUint(6000+n, 10))}}, nil
}
