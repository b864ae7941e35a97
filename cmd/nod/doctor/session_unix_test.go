//go:build unix && !darwin

package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"nod/app/desktop"
	"nod/ipc/operator"
)

func TestSession(t *testing.T) {
	display := func(platform string, err error) func(*fake) {
		return func(f *fake) {
			f.Display = func(context.Context, func(string) string) (string, error) { return platform, err }
		}
	}
	for name, tt := range map[string]struct {
		environ []string // of nod-desktop
		break_  func(*fake)
		want    map[string]want
	}{
		"XWayland": {environ: []string{"DISPLAY=:1", "WAYLAND_DISPLAY=wayland-0"}, break_: func(*fake) {}},
		"Wayland alone": {
			[]string{"WAYLAND_DISPLAY=wayland-0"}, display("wayland", nil),
			map[string]want{"display": {warned, "may open behind others", "apt-get install xwayland"}},
		},
		"Wayland by choice": {
			[]string{"WAYLAND_DISPLAY=wayland-0", "DISPLAY=:1", "FYNE_PLATFORM=wayland"}, display("wayland", nil),
			map[string]want{"display": {warned, "may open behind others", "unset FYNE_PLATFORM"}},
		},
		"no display": {
			[]string{"HOME=/x"}, display("", desktop.ErrNoDisplay),
			map[string]want{"display": {failed, "nod-desktop has no display", "nod stop && nod start"}},
		},
		"a display that is gone": {
			[]string{"DISPLAY=:1"}, display("", fmt.Errorf("%w: no X server answers", desktop.ErrNoDisplay)),
			map[string]want{"display": {failed, "no X server answers", "nod stop && nod start"}},
		},
		"no bus": {
			nil, func(f *fake) {
				f.Bus = func(context.Context, func(string) string) (bus, error) { return bus{}, errors.New("refused") }
			},
			map[string]want{"bus": {warned, "refused", "dbus-user-session"}},
		},
		"no tray": {
			nil, func(f *fake) { f.bus.hasTray = false },
			map[string]want{"tray": {warned, "the desktop shows no tray icons", "panel"}},
		},
		"no tray on GNOME": {
			[]string{"DISPLAY=:1", "XDG_CURRENT_DESKTOP=ubuntu:GNOME"}, func(f *fake) { f.bus.hasTray = false },
			map[string]want{"tray": {warned, "the desktop shows no tray icons", "gnome-shell-extension-appindicator"}},
		},
		"no notifications": {
			nil, func(f *fake) { f.bus.notifier = notifier{} },
			map[string]want{"notifications": {warned, "the desktop shows no notifications", "install dunst"}},
		},
		"no notifications on Wayland": {
			[]string{"DISPLAY=:1", "WAYLAND_DISPLAY=wayland-0"}, func(f *fake) { f.bus.notifier = notifier{} },
			map[string]want{"notifications": {warned, "the desktop shows no notifications", "install mako-notifier"}},
		},
		"notifications that hang": {
			nil, func(f *fake) { f.bus.err = context.DeadlineExceeded },
			map[string]want{"notifications": {warned, "doesn't respond", "systemctl"}},
		},
		"notifications on demand": {
			environ: nil, break_: func(f *fake) { f.bus.notifier = notifier{name: onDemand} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.publish(operator.Published{PID: f.at.PID, Environ: tt.environ})
			tt.break_(f)
			f.finds(tt.want)
		})
	}
}

// What one user, one link and one mode too many do to nod's files is found, and mended where that is safe.
func TestFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		break_ func(*fake)
		want   map[string]want
		after  map[string]want // once what is safe is mended
	}{
		"a folder that others can enter": {
			func(f *fake) { f.must(os.Chmod(f.dataDir(), 0o755)) },
			map[string]want{"files": {warned, "other users can read", "chmod go-rwx"}}, nil,
		},
		"a configuration that others can read": {
			func(f *fake) {
				f.write(f.configPath(), "look:\n  theme: dark\n")
				f.must(os.Chmod(f.configPath(), 0o644))
				f.must(os.Chmod(f.configDir(), 0o755))
			}, nil, nil,
		},
		"a configuration that others can change": {
			func(f *fake) {
				f.write(f.configPath(), "look:\n  theme: dark\n")
				f.must(os.Chmod(f.configPath(), 0o666))
			},
			map[string]want{
				"files":  {failed, "other users can change", "chmod go-rwx"},
				"policy": {failed, "others can change it", "config.yaml"},
			}, nil,
		},
		"a program for everybody": {
			func(f *fake) {
				f.write(f.dataDir()+"/bin/nod", "")
				f.must(os.Chmod(f.dataDir()+"/bin/nod", 0o755))
			}, nil, nil,
		},
		"a link": {
			func(f *fake) { f.must(os.Symlink("/dev/null", f.dataDir()+"/seal.key")) },
			map[string]want{"files": {warned, "symbolic links", "ls -l"}, "policy": {warned, "accepted", "nod settings"}},
			map[string]want{"files": {warned, "symbolic links", "ls -l"}, "policy": {warned, "accepted", "nod settings"}},
		},
		"a name that a shell would obey": {
			func(f *fake) {
				f.write(f.stateDir()+"/nod.db$(touch x); '", "")
				f.must(os.Chmod(f.stateDir()+"/nod.db$(touch x); '", 0o644))
			},
			map[string]want{"files": {warned, "nod.db$(touch x); '", `$(touch x); '`}}, nil,
		},
		"an entry that starts what is gone": {
			func(f *fake) {
				f.Look = nowhere
				f.write(f.ConfigHome+"/"+entryPath, "[Desktop Entry]\nTryExec=/gone/nod\\sdesktop\n")
			},
			map[string]want{"autostart": {warned, "starts /gone/nod desktop", "rm -f"}}, nil,
		},
		"a unit of a package that was removed": {
			func(f *fake) { f.wants("/gone/nod-desktop.service") },
			map[string]want{"autostart": {warned, "is a broken link", "rm -f"}}, nil,
		},
		"an entry that is switched off": {
			func(f *fake) {
				f.Look = nowhere
				f.write(f.ConfigHome+"/"+entryPath, "[Desktop Entry]\nTryExec=/gone/nod\nHidden=true\n")
			}, nil, nil,
		},
		"what a dead nod-desktop published": {
			(*fake).gone,
			map[string]want{"nod-desktop": {failed, "isn't running", ""}, "endpoint": {warned, "left a file", "rm -f"}},
			map[string]want{"nod-desktop": {failed, "isn't running", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			tt.break_(f)
			f.finds(tt.want)
			for _, found := range examine(t.Context(), f.host) {
				if found.Fix != nil && isSafe.MatchString(found.Fix.Command) {
					f.must(exec.Command("/bin/sh", "-c", found.Fix.Command).Run())
				}
			}
			f.finds(tt.after)
		})
	}
}

// isSafe matches the commands of fixes that the tests may run.
var isSafe = regexp.MustCompile(`^(rm -f|chmod) `)

// wants has the session want a unit.
func (f *fake) wants(unit string) {
	f.t.Helper()
	path := f.ConfigHome + "/" + wantsPath
	f.write(path, "")
	f.must(os.Remove(path))
	f.must(os.Symlink(unit, path))
}

func TestProgramOf(t *testing.T) {
	for text, want := range map[string]string{
		"TryExec=/x/a\\\\b\\sc\nExec=y": `/x/a\b c`, "[Desktop Entry]\nExec=nod-desktop\n": "", "": "",
	} {
		if got := programOf(text); got != want {
			t.Errorf("programOf(%q) = %q, want %q", text, got, want)
		}
	}
}
