package doctor

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// autostartEntry is what has the session start nod.
type autostartEntry struct {
	path    string   // that a person knows it by
	program string   // that it starts; empty: nobody can tell
	files   []string // all that there is of it in the user's folders
	isOurs  bool     // nod wrote it
	isGone  bool     // it is a link to nothing
}

// checkAutostart looks whether what starts nod with the session leads somewhere.
func checkAutostart(_ context.Context, e *exam) []Finding {
	if !isFreedesktop {
		return nil
	}
	entries := slices.Concat(e.unit(), e.desktopEntry())
	var found []Finding
	for _, entry := range entries {
		if entry.isGone {
			found = append(found, warning(entry.remove(), "%s leads nowhere: nod does not start with the session", entry.path))
		} else if _, err := e.Look(entry.program); err != nil && entry.program != "" {
			found = append(found, warning(entry.remove(), "%s starts %s, which is not there", entry.path, entry.program))
		}
	}
	switch {
	case found != nil:
		return found
	case len(entries) == 0:
		return []Finding{ok("off: start nod yourself, or switch it on in nod's settings")}
	case len(entries) > 1:
		return []Finding{warning(entries[1].remove(), "nod is started twice: by %s and %s", entries[0].path, entries[1].path)}
	}
	return []Finding{ok("on: %s", entries[0].path)}
}

// remove is a fix that takes the entry away; what somebody else wrote is theirs to remove.
func (a autostartEntry) remove() *Fix {
	fix := remove(a.files...)
	if !a.isOurs {
		fix.Apply = nil
	}
	return fix
}

// The files that start nod with the session, below the folder of configurations, and the line that marks nod's own.
const (
	unitPath  = "systemd/user/nod-desktop.service"
	wantsPath = "systemd/user/graphical-session.target.wants/nod-desktop.service"
	entryPath = "autostart/io.nod.Desktop.desktop"
	ownMark   = "X-Nod-Managed=true"
)

// unit is the systemd unit that the session wants: one of the user's own, or that of a package.
func (e *exam) unit() []autostartEntry {
	wants, own := filepath.Join(e.ConfigHome, wantsPath), filepath.Join(e.ConfigHome, unitPath)
	if _, err := os.Lstat(wants); err != nil {
		return nil
	}
	entry := autostartEntry{path: wants, files: []string{wants}, isOurs: true}
	path, err := filepath.EvalSymlinks(wants)
	if err != nil {
		entry.isGone = true
		return []autostartEntry{entry}
	}
	text, err := tail(path)
	if err != nil {
		return nil // systemd cannot read it either
	}
	entry.program, entry.isOurs = programOf(string(text), "ExecStart"), hasLine(string(text), ownMark)
	if _, err := os.Lstat(own); err == nil {
		entry.path, entry.files = own, append(entry.files, own)
	}
	return []autostartEntry{entry}
}

// desktopEntry is the entry that every desktop honours.
func (e *exam) desktopEntry() []autostartEntry {
	path := filepath.Join(e.ConfigHome, entryPath)
	text, err := tail(path)
	if err != nil {
		return nil
	}
	if hasLine(string(text), "Hidden=true", "X-GNOME-Autostart-enabled=false") {
		return nil // the desktop has switched it off
	}
	return []autostartEntry{{
		path: path, files: []string{path}, isOurs: hasLine(string(text), ownMark),
		program: cmp.Or(programOf(string(text), "TryExec"), programOf(string(text), "Exec")),
	}}
}

// hasLine reports whether one of the lines is in a text.
func hasLine(text string, lines ...string) bool {
	for line := range strings.Lines(text) {
		if slices.Contains(lines, strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// programOf reads the program from a line of an entry, which is its first word, in quotes or not, but the whole line
// for TryExec; empty where it is not there, or not to be known without systemd.
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
