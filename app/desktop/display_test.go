//go:build unix && !darwin

package desktop

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
)

func TestX11Addresses(t *testing.T) {
	tests := []struct {
		display string
		want    []address
	}{
		{":0", []address{{"unix", "/tmp/.X11-unix/X0"}, {"unix", "@/tmp/.X11-unix/X0"}}},
		{":73.1", []address{{"unix", "/tmp/.X11-unix/X73"}, {"unix", "@/tmp/.X11-unix/X73"}}},
		{"unix:2", []address{{"unix", "/tmp/.X11-unix/X2"}, {"unix", "@/tmp/.X11-unix/X2"}}},
		{"unix/box:2", []address{{"unix", "/tmp/.X11-unix/X2"}, {"unix", "@/tmp/.X11-unix/X2"}}},
		{"localhost:10.0", []address{{"tcp", "localhost:6010"}}},
		{"tcp/far:1", []address{{"tcp", "far:6001"}}},
		{"[::1]:3", []address{{"tcp", "[::1]:6003"}}},
		{"/private/tmp/launch/org.x:0",
			[]address{{"unix", "/private/tmp/launch/org.x:0"}, {"unix", "/private/tmp/launch/org.x"}}},
		{"", nil},
		{"0", nil},
		{":", nil},
		{":x", nil},
		{":-1", nil},
		{":99999999", nil},
	}
	for _, tt := range tests {
		got, err := x11Addresses(tt.display)
		if !slices.Equal(got, tt.want) {
			t.Errorf("x11Addresses(%q) = %v, want %v", tt.display, got, tt.want)
		}
		if (err != nil) != (tt.want == nil) {
			t.Errorf("x11Addresses(%q) error = %v", tt.display, err)
		}
	}
}

func TestPlatform(t *testing.T) {
	const x0, w0 = "/tmp/.X11-unix/X0", "/run/user/1000/wayland-0"
	type vars map[string]string
	both := vars{"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}
	tests := []struct {
		name      string
		env       vars
		listening []string
		want      string
		wantErr   string // part of the message; empty: no error
	}{
		{"nothing set", nil, nil, "", "neither DISPLAY nor WAYLAND_DISPLAY is set"},
		{"x11", vars{"DISPLAY": ":0"}, []string{x0}, "x11", ""},
		{"abstract x11", vars{"DISPLAY": ":0"}, []string{"@" + x0}, "x11", ""},
		{"x11 before wayland", both, []string{x0, w0}, "x11", ""},
		{"dead x11, wayland", both, []string{w0}, "wayland", ""},
		{"wayland only", vars{"WAYLAND_DISPLAY": "wayland-0"}, []string{w0}, "wayland", ""},
		{"wayland by path", vars{"WAYLAND_DISPLAY": "/elsewhere/w"}, []string{"/elsewhere/w"}, "wayland", ""},
		{"inherited wayland", vars{"WAYLAND_SOCKET": "7"}, nil, "wayland", ""},
		{"person chose wayland", vars{"DISPLAY": ":0", "FYNE_PLATFORM": "wayland"}, []string{x0, w0}, "wayland", ""},
		{"chosen wayland is dead", vars{"DISPLAY": ":0", "FYNE_PLATFORM": "wayland"}, []string{x0}, "",
			"no Wayland compositor answers"},
		{"person chose x11 without one", vars{"FYNE_PLATFORM": "x11"}, nil, "", "DISPLAY is not set"},
		{"unknown platform", vars{"FYNE_PLATFORM": "mir", "DISPLAY": ":0"}, []string{x0}, "", "set it to x11 or wayland"},
		{"dead x11", vars{"DISPLAY": ":0"}, nil, "", "no X server answers"},
		{"both dead: the first is named", both, nil, "", "no X server answers"},
		{"unreadable DISPLAY", vars{"DISPLAY": "zero"}, nil, "", "it has no colon"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := display{
				getenv: func(k string) string {
					if k == "XDG_RUNTIME_DIR" {
						return "/run/user/1000"
					}
					return tt.env[k]
				},
				dial: func(_ context.Context, _, address string) (net.Conn, error) {
					if !slices.Contains(tt.listening, address) {
						return nil, errors.New("connection refused")
					}
					conn, _ := net.Pipe()
					return conn, nil
				},
			}
			got, err := d.platform(t.Context())
			switch {
			case tt.wantErr == "" && err != nil:
				t.Fatal(err)
			case tt.wantErr == "":
				if got != tt.want {
					t.Errorf("platform = %q, want %q", got, tt.want)
				}
			case err == nil:
				t.Fatalf("platform = %q, want an error with %q", got, tt.wantErr)
			case !strings.Contains(err.Error(), tt.wantErr) || strings.Contains(err.Error(), "\n"):
				t.Errorf("error = %q, want one line with %q", err, tt.wantErr)
			}
		})
	}
}
