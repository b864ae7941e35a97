package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nod/ipc/endpoint"
	"nod/ownfile"
)

// maxPublished limits the file of [Published], in bytes.
const maxPublished = 4 << 20

// Published is the state of peers and session for nod machines and nod doctor. It is in a private file in the runtime
// folder, because neither port nor socket may reveal it and other processes cannot inspect nod-desktop.
type Published struct {
	PID     int // of the nod-desktop that says so
	Peers   Peers
	Environ []string // environment variables that matter to windows
}

// ofSession are prefixes of the variables that matter to windows. Others may hold secrets.
var ofSession = []string{
	"DISPLAY=", "WAYLAND_DISPLAY=", "XAUTHORITY=", "DBUS_SESSION_BUS_ADDRESS=", "XDG_", "DESKTOP_SESSION=",
	"HOME=", "USER=", "PATH=", "LANG", "LC_", "NOD_", "FYNE_", "LD_LIBRARY_PATH=", "LIBGL_", "MESA_", "GALLIUM_",
	"__GL", "__EGL", "FONTCONFIG_",
}

func sessionEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return !slices.ContainsFunc(ofSession, func(name string) bool { return strings.HasPrefix(entry, name) })
	})
}

// publishedPath returns the path of the file in the runtime folder.
func publishedPath(dir string) string { return filepath.Join(dir, "machines.json") }

// Publish writes the peers and the session's variables to the file.
func Publish(peers Peers) error {
	dir, err := endpoint.Dir()
	if err != nil {
		return fmt.Errorf("publish the machines: %w", err)
	}
	text, err := json.Marshal(Published{os.Getpid(), peers, sessionEnviron()})
	if err == nil {
		err = ownfile.Write(publishedPath(dir), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("publish the machines: %w", err)
	}
	return nil
}

// Unpublish removes the file.
func Unpublish() error {
	dir, err := endpoint.Locate()
	if err == nil {
		err = os.Remove(publishedPath(dir))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReadPublished reads the file in the runtime folder. It ignores a file that a process other than pid wrote.
func ReadPublished(dir string, pid int) (Published, error) {
	path := publishedPath(dir)
	text, err := ownfile.ReadSecret(path, maxPublished)
	if err != nil {
		return Published{}, err
	}
	var p Published
	if err := json.Unmarshal(text, &p); err != nil {
		return Published{}, fmt.Errorf("read %s: %w", path, err)
	}
	if p.PID != pid {
		return Published{}, fmt.Errorf("%s: process %d wrote it, not %d: %w", path, p.PID, pid, fs.ErrNotExist)
	}
	return p, nil
}
