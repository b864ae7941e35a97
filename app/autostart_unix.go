//go:build unix

package app

import (
	"html"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"nod/ownfile"
)

// autostartOf returns the entry that starts program: a property list for launchd on macOS, elsewhere an XDG autostart
// entry, which every desktop honours.
func autostartOf(program string) (*autostart, error) {
	if runtime.GOOS == "darwin" {
		home, err := os.UserHomeDir()
		return fileEntry(filepath.Join(home, "Library", "LaunchAgents", appID+".plist"), launchAgent(program),
			launchProgram(program)), err
	}
	a := fileEntry(filepath.Join(xdg.ConfigHome, "autostart", appID+".desktop"), desktopEntry(program),
		desktopExec(program))
	return a, nil
}

// fileEntry returns an entry that is a file with this text, in which line starts the program.
func fileEntry(path, text, line string) *autostart {
	return &autostart{
		place: path, text: []byte(text), ours: hasMark,
		starts: func(b []byte) bool { return hasLine(b, line) && !hasLine(b, switchedOff...) },
		read:   func() ([]byte, error) { return os.ReadFile(path) },
		// The file is replaced whole: a session that starts meanwhile reads the old or the new one.
		write:  func(b []byte) error { return ownfile.Write(path, b, 0o644) },
		remove: func() error { return os.Remove(path) },
	}
}

// The lines that mark nod's own entries.
const (
	desktopMark = "X-Nod-Managed=true"
	launchMark  = "<!-- " + desktopMark + " -->"
)

// switchedOff are the lines by which desktops switch an entry off without removing it.
var switchedOff = []string{"Hidden=true", "X-GNOME-Autostart-enabled=false"}

func hasMark(entry []byte) bool { return hasLine(entry, desktopMark, launchMark) }

func hasLine(entry []byte, lines ...string) bool {
	for line := range strings.Lines(string(entry)) {
		if slices.Contains(lines, strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

func desktopEntry(program string) string {
	return `[Desktop Entry]
Type=Application
Version=1.4
Name=nod
Comment=Agents ask. You nod.
` + desktopExec(program) + `
TryExec=` + desktopString(program) + `
Icon=` + appID + `
Terminal=false
NoDisplay=true
StartupNotify=false
X-GNOME-Autostart-enabled=true
` + desktopMark + `
`
}

func desktopExec(program string) string { return "Exec=" + desktopQuote(program) + " --background" }

// desktopQuote quotes one argument of an Exec key as the Desktop Entry Specification requires: in double quotes with ",
// `, $ and \ escaped; then with %, which begins a field code, doubled; then like any string value.
func desktopQuote(arg string) string {
	quoted := strings.NewReplacer(`"`, `\"`, "`", "\\`", "$", `\$`, `\`, `\\`).Replace(arg)
	return desktopString(`"` + strings.ReplaceAll(quoted, "%", "%%") + `"`)
}

// desktopString escapes a value of type string.
func desktopString(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s)
}

// launchAgent also makes launchd restart nod when it dies.
func launchAgent(program string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
` + launchMark + `
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + appID + `</string>
	<key>ProgramArguments</key>
	<array>
		` + launchProgram(program) + `
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
`
}

func launchProgram(program string) string {
	return "<string>" + html.EscapeString(program) + "</string>"
}
