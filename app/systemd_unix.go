//go:build unix

package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

const (
	unitName      = "nod-desktop.service"
	sessionTarget = "graphical-session.target" // that of a session which the user's systemd runs

	systemctlTimeout = 3 * time.Second
)

func systemctl(args ...string) error {
	if _, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "systemd", "private")); err != nil {
		return fmt.Errorf("the user's systemd is not running: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), systemctlTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", append([]string{"--user"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl --user %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// runsSession reports whether the user's systemd runs this desktop session.
func runsSession(systemctl func(...string) error) bool {
	return systemctl("is-active", sessionTarget) == nil
}

// unitEntry is a unit in the user's folder dir. It counts once the session's target wants it. Without a unit there, the
// one counts that a package brought: somebody ran systemctl --user enable.
func unitEntry(dir, quoted string, systemctl func(...string) error) entry {
	path, wanted := filepath.Join(dir, unitName), filepath.Join(dir, sessionTarget+".wants", unitName)
	e := fileEntry(path, unit(quoted), unitExec(quoted))
	read, write := e.read, e.write
	e.read = func() ([]byte, error) {
		b, err := read()
		if errors.Is(err, fs.ErrNotExist) {
			return os.ReadFile(wanted)
		}
		if _, notWanted := os.Lstat(wanted); err == nil && notWanted != nil && e.ours(b) {
			return nil, notWanted
		}
		return b, err
	}
	e.write = func(b []byte) error {
		if err := write(b); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(wanted), 0o755); err != nil {
			return err
		}
		if err := gone(os.Remove(wanted)); err != nil { // it may lead to a unit of a package that is gone
			return err
		}
		if err := os.Symlink(path, wanted); err != nil {
			return err
		}
		return systemctl("daemon-reload")
	}
	e.remove = func() error {
		if err := errors.Join(gone(os.Remove(wanted)), gone(os.Remove(path))); err != nil {
			return err
		}
		_ = systemctl("daemon-reload") // where it does not run, it has nothing to forget
		return nil
	}
	return e
}

// gone returns err, unless it says that there is no such file.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// unit starts nod with the graphical session and ends it with that, in order: its windows end by themselves. systemd
// starts it again when it dies, but not when it quits, and gives up when it dies at once again and again. Once nod is
// removed the unit does nothing and does not fail.
func unit(quoted string) string {
	return `[Unit]
Description=nod: agents ask, you nod
PartOf=` + sessionTarget + `
After=` + sessionTarget + `
ConditionFileIsExecutable=` + strings.Trim(quoted, `"`) + `
StartLimitIntervalSec=60
StartLimitBurst=5
` + desktopMark + `

[Service]
` + unitExec(quoted) + `
Restart=on-failure
RestartSec=1
KillMode=mixed
TimeoutStopSec=10

[Install]
WantedBy=` + sessionTarget + `
`
}

func unitExec(quoted string) string { return "ExecStart=" + quoted + " --background" }

// unitQuote quotes the program of a unit. systemd takes none with quotes, backslashes or control characters in its
// path.
func unitQuote(program string) (quoted string, ok bool) {
	special := strings.ContainsAny(program, `"'\`) || strings.ContainsFunc(program, unicode.IsControl)
	return `"` + strings.ReplaceAll(program, "%", "%%") + `"`, !special
}
