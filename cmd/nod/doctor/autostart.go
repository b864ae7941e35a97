package doctor

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nod/ownfile"
)

// The autostart files, below the configuration folder: nod's own, and the link to a package's unit.
const (
	entryPath = "autostart/io.nod.Desktop.desktop"
	wantsPath = "systemd/user/graphical-session.target.wants/nod-desktop.service"
)

func checkAutostart(_ context.Context, e *exam) []Finding {
	if !isFreedesktop {
		return nil
	}
	found := []Finding{ok("off: start nod yourself, or turn it on in nod's settings")}
	wants := filepath.Join(e.ConfigHome, wantsPath)
	if _, err := os.Lstat(wants); err == nil {
		found = []Finding{ok("on: %s", wants)}
		if _, err := os.Stat(wants); err != nil {
			found = []Finding{warning(run("rm -f %s", quote(wants)), "%s is a broken link: nod does not start at login", wants)}
		}
	}
	entry := filepath.Join(e.ConfigHome, entryPath)
	text, err := ownfile.ReadPlain(entry, maxEntry)
	if err != nil || hasLine(string(text), "Hidden=true", "X-GNOME-Autostart-enabled=false") { // off in the desktop
		return found
	}
	program := programOf(string(text))
	if _, err := e.Look(program); err != nil && program != "" {
		return []Finding{warning(run("rm -f %s", quote(entry)), "%s starts %s, which does not exist", entry, program)}
	}
	return []Finding{ok("on: %s", entry)}
}

const maxEntry = 64 << 10

func hasLine(text string, lines ...string) bool {
	for line := range strings.Lines(text) {
		if slices.Contains(lines, strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

func programOf(text string) string {
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), "TryExec="); is {
			return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(value)
		}
	}
	return ""
}
