// Package endpoint tells programs of the same user where the running nod listens.
//
// The tray program binds first and then publishes: it writes endpoint.json, with the address, the socket and the token
// that every call needs, to a folder that only its user can enter. Only a program that can read that file may ask. So
// the file is written whole or not at all, and readers and writers refuse a file or folder that is not clearly ours (a
// symbolic link, another owner, open to the group or to others) instead of repairing it, because another user may have
// tampered with it.
package endpoint

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofrs/flock"

	"nod/ownfile"
)

// maxSize limits endpoint.json, in bytes; a real one has about 250.
const maxSize = 64 << 10

const tokenBytes = 32

// Endpoint is where a running nod listens, and the token that it requires.
type Endpoint struct {
	URL     string `json:"url"`              // http://127.0.0.1:7463, without a slash at the end
	Socket  string `json:"socket,omitempty"` // path of the Unix socket; empty where there is none
	Token   string `json:"token"`            // bearer token, new at each start
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

// String omits the token, so that an endpoint can be printed.
func (e Endpoint) String() string {
	return fmt.Sprintf("nod %s, process %d, at %s %s", e.Version, e.PID, e.URL, e.Socket)
}

// GoString also omits the token.
func (e Endpoint) GoString() string { return e.String() }

// LogValue omits the token from logs.
func (e Endpoint) LogValue() slog.Value {
	return slog.GroupValue(slog.String("url", e.URL), slog.String("socket", e.Socket),
		slog.Int("pid", e.PID), slog.String("version", e.Version))
}

// NewToken returns a fresh token: 32 bytes from the system's generator in URL-safe base64.
func NewToken() string {
	b := make([]byte, tokenBytes)
	rand.Read(b) // never fails: the runtime ends the process when there is no randomness
	return base64.RawURLEncoding.EncodeToString(b)
}

// Dir returns the folder in which nod publishes its endpoint and its socket, and creates it if it is missing:
// $XDG_RUNTIME_DIR/nod, without that variable nod in systemd's runtime folder for the user, and without such a folder
// of ours nod in the user's cache folder. It fails if the folder exists and is not ours alone.
func Dir() (string, error) {
	dir, err := Locate()
	if err != nil {
		return "", err
	}
	if err := Ensure(dir); err != nil {
		return "", err
	}
	return dir, nil
}

// Locate returns the path of the folder that [Dir] returns, which may be missing or not ours alone.
func Locate() (string, error) {
	parent, err := parentDir()
	return filepath.Join(parent, "nod"), err
}

// runtimeDirs is where systemd keeps the runtime folders of users, by their number.
var runtimeDirs = "/run/user"

// parentDir returns the parent of our folder. Another user's runtime folder (as su and sudo leave it in the
// environment) does not count. MCP clients start their servers with hardly any environment, so parentDir also looks
// where the folder usually is.
func parentDir() (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join(runtimeDirs, strconv.Itoa(os.Getuid()))
	}
	if filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && ownfile.IsMine(info) {
			return dir, nil
		}
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the endpoint: %w: set XDG_RUNTIME_DIR", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the cache folder: %w: set XDG_RUNTIME_DIR to a folder of yours", err)
	}
	return dir, nil
}

// Path returns the path of endpoint.json in dir.
func Path(dir string) string { return filepath.Join(dir, "endpoint.json") }

// SocketPath returns the path of the Unix socket in dir.
func SocketPath(dir string) string { return filepath.Join(dir, "nod.sock") }

// ControlPath returns the path of the socket in dir through which desks reach a relay.
func ControlPath(dir string) string { return filepath.Join(dir, "relay.sock") }

// Ensure creates dir if it is missing. It fails if dir exists and is not ours alone.
func Ensure(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the endpoint folder: %w", err)
	}
	return checkDir(dir)
}

// checkDir returns an error that says what to do, unless dir is our folder and no other user can enter it.
func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("look at the endpoint folder: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("endpoint folder %s: is a symbolic link: remove it", dir)
	case !info.IsDir():
		return fmt.Errorf("endpoint folder %s: is not a folder: remove it", dir)
	case !ownfile.IsMine(info):
		return fmt.Errorf("endpoint folder %s: belongs to another user: remove it, "+
			"or set XDG_RUNTIME_DIR to a folder of yours", dir)
	case !private(info):
		return fmt.Errorf("endpoint folder %s: others can enter it (mode %04o): run: chmod 700 %s",
			dir, info.Mode().Perm(), dir)
	}
	return nil
}

// private reports whether the group and others can do nothing with the file. On Windows the access list of the user's
// own profile folder keeps other users out, because Windows has no mode that package fs could show.
func private(info fs.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0
}

// Write publishes e in dir, in one step: a reader sees the old file or the new one. It refuses to replace anything but
// a plain file of ours.
func Write(dir string, e Endpoint) error {
	if err := Ensure(dir); err != nil {
		return err
	}
	if err := write(Path(dir), e); err != nil {
		return fmt.Errorf("publish the endpoint: %w", err)
	}
	return nil
}

func write(path string, e Endpoint) error {
	if err := e.check(); err != nil {
		return err
	}
	_, err := ownfile.ReadSecret(path, maxSize)
	if errors.Is(err, fs.ErrPermission) {
		if info, look := os.Lstat(path); look == nil && info.Mode().IsRegular() && ownfile.IsMine(info) {
			err = nil // its mode keeps us out, too
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.Marshal(e, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return ownfile.Write(path, append(text, '\n'), 0o600)
}

// Read returns what the running nod published in dir. The error wraps [fs.ErrNotExist] if nothing is published there.
func Read(dir string) (Endpoint, error) {
	if err := checkDir(dir); err != nil {
		return Endpoint{}, err
	}
	text, err := ownfile.ReadSecret(Path(dir), maxSize)
	if err != nil {
		return Endpoint{}, fmt.Errorf("read the endpoint: %w", err)
	}
	e, err := parse(text)
	if err != nil {
		return Endpoint{}, fmt.Errorf("read the endpoint: %s: %w: remove it and start nod-desktop again", Path(dir), err)
	}
	return e, nil
}

// Restore restores what another program removed or changed: the folder dir, its mode, and e, which this process
// published in it. It reports whether there was anything to do. It leaves alone what is not clearly ours, and names it
// in the error.
func Restore(dir string, e Endpoint) (changed bool, err error) {
	if now, err := Read(dir); err == nil && now == e {
		return false, nil
	}
	for path, mode := range map[string]fs.FileMode{dir: 0o700, Path(dir): 0o600} {
		info, err := os.Lstat(path)
		isOurs := err == nil && ownfile.IsMine(info) && (info.IsDir() || info.Mode().IsRegular())
		if isOurs && !private(info) {
			if err := os.Chmod(path, mode); err != nil {
				return true, fmt.Errorf("protect the endpoint: %w", err)
			}
		}
	}
	return true, Write(dir, e)
}

// Remove removes what process pid published in dir, but not what another process published since.
func Remove(dir string, pid int) error {
	e, err := Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case e.PID != pid:
		return nil
	}
	if err := ownfile.Remove(Path(dir)); err != nil {
		return fmt.Errorf("remove the endpoint: %w", err)
	}
	return nil
}

// parse reads the text of endpoint.json. Its errors never quote the text: it may hold a token.
func parse(text []byte) (Endpoint, error) {
	var e Endpoint
	if err := json.Unmarshal(text, &e, json.RejectUnknownMembers(true)); err != nil {
		return Endpoint{}, errors.New("is not an endpoint this version of nod understands")
	}
	return e, e.check()
}

// check returns an error unless nod could have published every part of e.
func (e Endpoint) check() error {
	if err := checkURL(e.URL); err != nil {
		return err
	}
	if e.Socket != "" && !filepath.IsAbs(e.Socket) {
		return errors.New("socket: want an absolute path")
	}
	if raw, err := base64.RawURLEncoding.Strict().DecodeString(e.Token); err != nil || len(raw) != tokenBytes {
		return fmt.Errorf("token: want %d bytes in URL-safe base64", tokenBytes)
	}
	if e.PID <= 0 {
		return errors.New("pid: want a process id")
	}
	if e.Version == "" || len(e.Version) > 100 {
		return errors.New("version is missing")
	}
	return nil
}

// checkURL makes sure that the token is never sent off this machine.
func checkURL(s string) error {
	address, isHTTP := strings.CutPrefix(s, "http://")
	ap, err := netip.ParseAddrPort(address)
	isPlain := isHTTP && err == nil && ap.String() == address && ap.Addr().Zone() == ""
	if !isPlain || !ap.Addr().IsLoopback() || ap.Port() == 0 {
		return errors.New("url: want http:// with a loopback address and a port, and nothing more")
	}
	return nil
}

// InstanceLock returns the lock of the nod-desktop that publishes its endpoint in dir. It locks no file of nod's,
// because deleting nod's folder must not allow a second nod. On Windows it locks a file, because Windows cannot lock a
// folder, and deletes no open file.
func InstanceLock(dir string) *flock.Flock {
	if runtime.GOOS == "windows" {
		return flock.New(filepath.Join(dir, "instance.lock"))
	}
	return flock.New(filepath.Dir(dir), flock.SetFlag(os.O_RDONLY))
}
