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

func TestAutostart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "autostart", appID+".desktop")
	a := &autostart{entry: fileEntry(path, desktopEntry("/opt/nod desktop"))}
	is := func(want bool) {
		t.Helper()
		if got, err := a.Enabled(); err != nil || got != want {
			t.Fatalf("Enabled() = %v, %v, want %v", got, err, want)
		}
	}

	is(false)
	if err := a.Set(false); err != nil {
		t.Fatalf("disable what is not there: %v", err)
	}
	if err := a.Set(true); err != nil {
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

	moved := &autostart{entry: fileEntry(path, desktopEntry("/usr/bin/nod-desktop"))}
	if on, _ := moved.Enabled(); on {
		t.Error("an entry that starts another program counts as enabled")
	}
	if err := moved.Set(true); err != nil {
		t.Fatalf("take over nod's own entry of another place: %v", err)
	}
	is(false)
	if err := a.Set(false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("entry is still there: %v", err)
	}
}

func TestAutostartLeavesForeignEntriesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nod.desktop")
	const foreign = "[Desktop Entry]\nExec=nod-desktop\n# X-Nod-Managed=true\n"
	if err := os.WriteFile(path, []byte(foreign), 0o644); err != nil {
		t.Fatal(err)
	}
	a := &autostart{entry: fileEntry(path, desktopEntry("/usr/bin/nod-desktop"))}
	if err := a.Set(true); err == nil {
		t.Error("enabled over a foreign entry")
	}
	if err := a.Set(false); err == nil {
		t.Error("disabled a foreign entry")
	}
	if b, _ := os.ReadFile(path); string(b) != foreign {
		t.Errorf("foreign entry was changed:\n%s", b)
	}
}

func TestLaunchAgentIsWellFormed(t *testing.T) {
	text := launchAgent("/Applications/a & b <c>/nod-desktop")
	if !hasMark([]byte(text)) {
		t.Error("nod does not know its own entry")
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
