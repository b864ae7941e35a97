//go:build unix

package app

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"
)

func TestDesktopQuote(t *testing.T) {
	// The doubled backslashes are the two layers of the specification: the argument's, then the string's.
	tests := []struct{ arg, want string }{
		{`/usr/bin/nod-desktop`, `"/usr/bin/nod-desktop"`},
		{`/home/a b/nod`, `"/home/a b/nod"`},
		{`/x/100%/nod`, `"/x/100%%/nod"`},
		{`/x/"q"/nod`, `"/x/\\"q\\"/nod"`},
		{"/x/`id`/$HOME", "\"/x/\\\\`id\\\\`/\\\\$HOME\""},
		{`/x/a\b`, `"/x/a\\\\b"`},
		{"/x/a\nb", `"/x/a\nb"`},
	}
	for _, tt := range tests {
		if got := desktopQuote(tt.arg); got != tt.want {
			t.Errorf("desktopQuote(%q)\n got %s\nwant %s", tt.arg, got, tt.want)
		}
	}
}

// configHome has the test use a configuration folder of its own.
func configHome(t *testing.T) string {
	t.Helper()
	old := xdg.ConfigHome
	t.Cleanup(func() { xdg.ConfigHome = old })
	xdg.ConfigHome = t.TempDir()
	return xdg.ConfigHome
}

func TestAutostart(t *testing.T) {
	path := filepath.Join(configHome(t), "autostart", appID+".desktop")
	a := fileEntry(path, desktopEntry("/opt/nod desktop"), desktopExec("/opt/nod desktop"))
	is := func(want bool) {
		t.Helper()
		if got, err := a.enabled(); err != nil || got != want {
			t.Fatalf("enabled() = %v, %v, want %v", got, err, want)
		}
	}

	is(false)
	if err := a.turn(false); err != nil {
		t.Fatalf("disable what is not there: %v", err)
	}
	if err := a.turn(true); err != nil {
		t.Fatal(err)
	}
	is(true)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`Exec="/opt/nod desktop" --background`, "TryExec=/opt/nod desktop", desktopMark} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("entry lacks %q:\n%s", line, text)
		}
	}

	// Another version wrote the entry, then a desktop switched it off.
	older := strings.Replace(string(text), "StartupNotify=false\n", "", 1)
	for entry, want := range map[string]bool{
		older: true, strings.Replace(older, "Type=", "Hidden=true\nType=", 1): false,
		strings.Replace(older, "enabled=true", "enabled=false", 1): false,
	} {
		if err := os.WriteFile(path, []byte(entry), 0o644); err != nil {
			t.Fatal(err)
		}
		is(want)
	}
	if err := a.turn(true); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(text) {
		t.Errorf("the entry is not renewed: %v\n%s", err, again)
	}

	const other = "/usr/bin/nod-desktop"
	moved := fileEntry(path, desktopEntry(other), desktopExec(other))
	if on, _ := moved.enabled(); on {
		t.Error("an entry that starts another program counts as enabled")
	}
	if err := moved.turn(true); err != nil {
		t.Fatalf("take over nod's own entry of another place: %v", err)
	}
	is(false)
	if err := a.turn(false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("entry is still there: %v", err)
	}
}

// The user, and nod uninstall, can say it at the command line.
func TestSetAutostart(t *testing.T) {
	dir := configHome(t)
	path, unit := filepath.Join(dir, "autostart", appID+".desktop"), filepath.Join(dir, oldUnit)
	if err := errors.Join(os.MkdirAll(filepath.Dir(unit), 0o755), os.WriteFile(unit, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"off", "on", "on"} {
		if err := SetAutostart(to); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(unit); err == nil {
		t.Error("systemd starts nod, too")
	}
	for _, to := range []string{"", "yes"} {
		if SetAutostart(to) == nil {
			t.Errorf("%q is taken", to)
		}
	}
	if err := SetAutostart("off"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the entry is still there: %v", err)
	}
}

func TestAutostartLeavesForeignEntriesAlone(t *testing.T) {
	path := filepath.Join(configHome(t), "nod.desktop")
	const foreign = "[Desktop Entry]\nExec=nod-desktop\n# X-Nod-Managed=true\n"
	if err := os.WriteFile(path, []byte(foreign), 0o644); err != nil {
		t.Fatal(err)
	}
	a := fileEntry(path, desktopEntry("/usr/bin/nod-desktop"), desktopExec("/usr/bin/nod-desktop"))
	if err := a.turn(true); err == nil {
		t.Error("enabled over a foreign entry")
	}
	if err := a.turn(false); err == nil {
		t.Error("disabled a foreign entry")
	}
	if b, _ := os.ReadFile(path); string(b) != foreign {
		t.Errorf("foreign entry was changed:\n%s", b)
	}
}

func TestLaunchAgentIsWellFormed(t *testing.T) {
	text := launchAgent("/Applications/a & b <c>/nod-desktop")
	if !hasMark([]byte(text)) {
		t.Error("nod doesn't know its own entry")
	}
	d := xml.NewDecoder(strings.NewReader(text))
	var found bool
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := token.(xml.CharData); ok && string(c) == "/Applications/a & b <c>/nod-desktop" {
			found = true
		}
	}
	if !found {
		t.Errorf("program is not in the entry:\n%s", text)
	}
}
