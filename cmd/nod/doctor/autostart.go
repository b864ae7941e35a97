package doctor

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nod/ownfile"
)

type autostartEntry struct {
	path    string   // to show to the user
	program string   // empty if unknown
	files   []string // all of its files in the user's folders
	isGone  bool     // a dangling link
}

// checkAutostart checks whether the autostart entries lead to an existing program.
func checkAutostart(_ context.Context, e *exam) []Finding {
	if !isFreedesktop {
		return nil
	}
	entries := slices.Concat(e.unit(), e.desktopEntry())
	var found []Finding
	for _, entry := range entries {
		if entry.isGone {
			found = append(found, warning(entry.remove(), "%s is a broken link: nod does not start at login", entry.path))
		} else if _, err := e.Look(entry.program); err != nil && entry.program != "" {
			found = append(found, warning(entry.remove(), "%s starts %s, which does not exist", entry.path, entry.program))
		}
	}
	switch {
	case found != nil:
		return found
	case len(entries) == 0:
		return []Finding{ok("off: start nod yourself, or turn it on in nod's settings")}
	case len(entries) > 1:
		return []Finding{warning(entries[1].remove(), "%s and %s both start nod", entries[0].path, entries[1].path)}
	}
	return []Finding{ok("on: %s", entries[0].path)}
}

func (a autostartEntry) remove() *Fix { return run("rm -f %s", quoted(a.files)) }

// The autostart files, below the configuration folder.
const (
	unitPath  = "systemd/user/nod-desktop.service"
	wantsPath = "systemd/user/graphical-session.target.wants/nod-desktop.service"
	entryPath = "autostart/io.nod.Desktop.desktop"
)

// unit is the systemd unit in use: the user's, or a package's.
func (e *exam) unit() []autostartEntry {
	wants, own := filepath.Join(e.ConfigHome, wantsPath), filepath.Join(e.ConfigHome, unitPath)
	if _, err := os.Lstat(wants); err != nil {
		return nil
	}
	entry := autostartEntry{path: wants, files: []string{wants}}
	path, err := filepath.EvalSymlinks(wants)
	if err != nil {
		entry.isGone = true
		return []autostartEntry{entry}
	}
	read, err := ownfile.ReadPlain(path, maxEntry)
	if err != nil {
		return nil // systemd cannot read it either
	}
	text := string(read)
	entry.program = programOf(text, "ExecStart")
	if _, err := os.Lstat(own); err == nil {
		entry.path, entry.files = own, append(entry.files, own)
	}
	return []autostartEntry{entry}
}

func (e *exam) desktopEntry() []autostartEntry {
	path := filepath.Join(e.ConfigHome, entryPath)
	read, err := ownfile.ReadPlain(path, maxEntry)
	if err != nil {
		return nil
	}
	text := string(read)
	if hasLine(text, "Hidden=true", "X-GNOME-Autostart-enabled=false") {
		return nil // switched off in the desktop
	}
	return []autostartEntry{{
		path: path, files: []string{path}, program: cmp.Or(programOf(text, "TryExec"), programOf(text, "Exec")),
	}}
}

// maxEntry is the most that is read of an autostart entry, in bytes.
const maxEntry = 64 << 10

func hasLine(text string, lines ...string) bool {
	for line := range strings.Lines(text) {
		if slices.Contains(lines, strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// programOf reads the program from a line of an entry: the first word, quoted or not, or the whole line for TryExec. It
// is empty if missing, or if only systemd can tell.
func programOf(text, key string) string {
	for line := range strings.Lines(text) {
		value, is := strings.CutPrefix(strings.TrimSpace(line), key+"=")
		if !is {
			continue
		}
		if key == "TryExec" {
			return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(value)
		}
		quoted, isQuoted := strings.CutPrefix(strings.TrimLeft(value, "-@:+!|"), `"`)
		end := " "
		if isQuoted {
			end = `"`
		}
		program, _, _ := strings.Cut(quoted, end)
		program = strings.ReplaceAll(program, "%%", "\x00")
		if strings.ContainsAny(program, `%$\`) {
			return ""
		}
		return strings.ReplaceAll(program, "\x00", "%")
	}
	return ""
}
