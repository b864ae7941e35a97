package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ID is nod's name among the programs of the system: of its autostart entry and its window state.
const ID = "io.nod.Desktop"

// Autostart is the entry that starts nod with the session. What somebody else put in its place is left
// alone: Enable and Disable touch only what carries nod's mark.
type Autostart struct {
	program string // absolute path of nod-desktop
	entry   autostartEntry
}

// autostartEntry is where the system keeps the entry.
type autostartEntry interface {
	// read returns the entry; os.ErrNotExist when there is none.
	read() ([]byte, error)
	write([]byte) error
	remove() error
	// text is the entry that starts program.
	text(program string) []byte
	// ours reports whether nod wrote the entry.
	ours([]byte) bool
	// place names the entry for a person.
	place() string
}

// NewAutostart returns the entry for the running program.
func NewAutostart() (*Autostart, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("autostart: %w", err)
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	entry, err := systemEntry()
	if err != nil {
		return nil, fmt.Errorf("autostart: %w", err)
	}
	return &Autostart{program, entry}, nil
}

// Enabled reports whether nod, this very program, starts with the session.
func (a *Autostart) Enabled() (bool, error) {
	b, err := a.entry.read()
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("autostart: %w", err)
	}
	return bytes.Equal(b, a.entry.text(a.program)), nil
}

// Enable makes nod start with the session.
func (a *Autostart) Enable() error {
	if err := a.own(); err != nil {
		return err
	}
	if err := a.entry.write(a.entry.text(a.program)); err != nil {
		return fmt.Errorf("autostart: %w", err)
	}
	return nil
}

// Disable takes the entry away. That there is none is no error.
func (a *Autostart) Disable() error {
	if err := a.own(); err != nil {
		return err
	}
	if err := a.entry.remove(); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("autostart: %w", err)
	}
	return nil
}

// own returns an error when the entry exists and nod did not write it.
func (a *Autostart) own() error {
	b, err := a.entry.read()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("autostart: %w", err)
	}
	if !a.entry.ours(b) {
		return fmt.Errorf("autostart: %s was not made by nod; remove it yourself to let nod manage it", a.entry.place())
	}
	return nil
}

// entryFile is an entry that is a file.
type entryFile string

func (f entryFile) read() ([]byte, error) { return os.ReadFile(string(f)) }
func (f entryFile) remove() error         { return os.Remove(string(f)) }
func (f entryFile) place() string         { return string(f) }

// write replaces the file whole: a session that starts meanwhile reads the old or the new one.
func (f entryFile) write(b []byte) error {
	dir := filepath.Dir(string(f))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".nod-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(b)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), string(f))
}

// desktopEntry is an XDG autostart entry, which every Linux desktop honours.
type desktopEntry struct{ entryFile }

const desktopMark = "X-Nod-Managed=true"

func (desktopEntry) ours(b []byte) bool {
	for line := range strings.Lines(string(b)) {
		if strings.TrimSpace(line) == desktopMark {
			return true
		}
	}
	return false
}

func (desktopEntry) text(program string) []byte {
	return []byte(strings.Join([]string{
		"[Desktop Entry]",
		"Type=Application",
		"Version=1.5",
		"Name=nod",
		"Comment=Agents ask. You nod.",
		"Exec=" + desktopQuote(program) + " --background",
		"TryExec=" + desktopString(program),
		"Icon=" + ID,
		"Terminal=false",
		"NoDisplay=true",
		"StartupNotify=false",
		"X-GNOME-Autostart-enabled=true",
		desktopMark,
		"",
	}, "\n"))
}

// desktopQuote quotes one argument of an Exec key as the Desktop Entry Specification has it: within double
// quotes, with ", `, $ and \ escaped; then % doubled, which begins a field code; then as any string value.
func desktopQuote(arg string) string {
	quoted := strings.NewReplacer(`"`, `\"`, "`", "\\`", "$", `\$`, `\`, `\\`).Replace(arg)
	return desktopString(`"` + strings.ReplaceAll(quoted, "%", "%%") + `"`)
}

// desktopString escapes a value of type string.
func desktopString(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s)
}

// launchAgent is a macOS property list for launchd, which also starts nod again when it dies.
type launchAgent struct{ entryFile }

const launchMark = "<!-- X-Nod-Managed=true -->"

func (launchAgent) ours(b []byte) bool { return bytes.Contains(b, []byte(launchMark)) }

func (launchAgent) text(program string) []byte {
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
` + launchMark + `
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + ID + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + xmlText(program) + `</string>
		<string>--background</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>LimitLoadToSessionType</key>
	<string>Aqua</string>
	<key>ProcessType</key>
	<string>Interactive</string>
</dict>
</plist>
`)
}

func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
