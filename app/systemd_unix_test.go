//go:build unix

package app

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeSystemd takes what is asked of the user's systemd.
type fakeSystemd struct {
	asked []string
	fails error
}

func (s *fakeSystemd) systemctl(args ...string) error {
	s.asked = append(s.asked, strings.Join(args, " "))
	return s.fails
}

// However the person starts their session and switches, nod has one entry at most.
func TestAutostartHasOneEntry(t *testing.T) {
	dir, systemd := t.TempDir(), &fakeSystemd{}
	units := filepath.Join(dir, "systemd", "user")
	unit := unitEntry(units, `"/opt/nod"`, systemd.systemctl)
	desktopPath := filepath.Join(dir, "autostart", appID+".desktop")
	desktop := fileEntry(desktopPath, desktopEntry("/opt/nod"), desktopExec("/opt/nod"))
	bySystemd := &autostart{entry: unit, others: []entry{desktop}}
	byDesktop := &autostart{entry: desktop, others: []entry{unit}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	files := func(want ...string) {
		t.Helper()
		var got []string
		must(filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				path, err = filepath.Rel(dir, path)
				got = append(got, path)
			}
			return err
		}))
		if !slices.Equal(got, want) {
			t.Fatalf("there are %q, want %q", got, want)
		}
		for _, a := range []*autostart{bySystemd, byDesktop} {
			if on, err := a.enabled(); err != nil || on != (len(want) > 0) {
				t.Fatalf("enabled: %v, %v", on, err)
			}
		}
	}
	asDesktop := []string{"autostart/" + appID + ".desktop"}
	asUnit := []string{
		"systemd/user/graphical-session.target.wants/nod-desktop.service", "systemd/user/nod-desktop.service",
	}
	must(bySystemd.turn(false))
	must(bySystemd.adopt())
	files()
	must(byDesktop.turn(true))
	files(asDesktop...)
	must(bySystemd.adopt())
	files(asUnit...)
	must(bySystemd.turn(true))
	files(asUnit...)
	must(byDesktop.turn(true))
	files(asDesktop...)
	must(bySystemd.turn(true))
	must(byDesktop.turn(false))
	files()
	if !slices.Contains(systemd.asked, "daemon-reload") || slices.ContainsFunc(systemd.asked, func(s string) bool {
		return s != "daemon-reload"
	}) {
		t.Errorf("systemd was asked %q", systemd.asked)
	}

	must(bySystemd.turn(true))
	must(os.Remove(filepath.Join(units, "graphical-session.target.wants", unitName)))
	if on, err := bySystemd.enabled(); on || err != nil {
		t.Errorf("disabled with systemctl: %v, %v", on, err)
	}
	systemd.fails = errors.New("no bus")
	if err := bySystemd.turn(true); !errors.Is(err, systemd.fails) {
		t.Errorf("systemd does not know of it: %v", err)
	}
	must(bySystemd.turn(false))
	files()
	must(os.WriteFile(filepath.Join(units, unitName), []byte("[Unit]\n"), 0o644))
	if err := bySystemd.turn(true); err == nil {
		t.Error("somebody else's unit was taken over")
	}
	if runsSession(systemd.systemctl) || systemd.asked[len(systemd.asked)-1] != "is-active graphical-session.target" {
		t.Errorf("the session of a systemd that does not answer: %q", systemd.asked)
	}
}

// A package brings the unit and enables it for nobody. What systemctl --user enable does counts as switched on, is
// switched off like nod's own, and is of no account once the package is gone.
func TestAutostartByThePackagesUnit(t *testing.T) {
	dir, systemd := t.TempDir(), &fakeSystemd{}
	packaged, err := os.ReadFile("../packaging/files/nod-desktop.service")
	if err != nil {
		t.Fatal(err)
	}
	const quoted = `"/usr/bin/nod-desktop"`
	if string(packaged) != unit(quoted) {
		t.Errorf("packaging/files/nod-desktop.service is\n%s, nod's own unit\n%s", packaged, unit(quoted))
	}
	installed := filepath.Join(dir, "usr", unitName)
	own, wanted := filepath.Join(dir, unitName), filepath.Join(dir, sessionTarget+".wants", unitName)
	desktopPath := filepath.Join(dir, "autostart.desktop")
	desktop := fileEntry(desktopPath, desktopEntry("/usr/bin/nod-desktop"), desktopExec("/usr/bin/nod-desktop"))
	unit := unitEntry(dir, quoted, systemd.systemctl)
	bySystemd := &autostart{entry: unit, others: []entry{desktop}}
	byDesktop := &autostart{entry: desktop, others: []entry{unit}}
	for _, folder := range []string{installed, wanted} {
		if err := os.Mkdir(filepath.Dir(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// is says what is switched on, and which of nod's entries there are.
	is := func(on bool, entries ...string) {
		t.Helper()
		for _, a := range []*autostart{bySystemd, byDesktop} {
			if got, err := a.enabled(); err != nil || got != on {
				t.Fatalf("enabled: %v, %v, want %v", got, err, on)
			}
		}
		var there []string
		for _, path := range []string{own, wanted, desktopPath} {
			if _, err := os.Lstat(path); err == nil {
				there = append(there, path)
			}
		}
		if !slices.Equal(there, entries) {
			t.Fatalf("there are %q, want %q", there, entries)
		}
	}
	enable := func() { must(os.Symlink(installed, wanted)) } // what systemctl --user enable does

	must(os.WriteFile(installed, packaged, 0o644))
	must(bySystemd.adopt())
	is(false)
	enable()
	is(true, wanted)
	must(bySystemd.adopt())
	must(bySystemd.turn(true))
	is(true, wanted)
	must(bySystemd.turn(false))
	is(false)

	enable()
	must(byDesktop.turn(true)) // in a session that systemd does not run
	is(true, desktopPath)
	must(byDesktop.turn(false))

	enable()
	must(os.Remove(installed))
	is(false, wanted)
	must(bySystemd.turn(true))
	is(true, own, wanted)
	if _, err := os.Stat(wanted); err != nil {
		t.Error(err)
	}
	must(bySystemd.turn(false))
	is(false)
}

// TestUnit has systemd itself read the unit, with a program whose name it may not take for anything else.
func TestUnit(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "a %n $HOME")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	quoted, ok := unitQuote(program)
	text := unit(quoted)
	if !ok {
		t.Errorf("no unit for %s", program)
	}
	for _, special := range []string{"/a'b", `/a"b`, `/a\b`, "/a\nb"} {
		if _, ok := unitQuote(special); ok {
			t.Errorf("a unit for %q", special)
		}
	}
	for _, line := range []string{"Restart=on-failure", "WantedBy=graphical-session.target", desktopMark} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the unit lacks %s:\n%s", line, text)
		}
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(dir, unitName)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command("systemd-analyze", "--user", "--man=no", "--recursive-errors=no", "verify", path)
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s\n%s", err, out, text)
	}
}
