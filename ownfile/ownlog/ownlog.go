// Package ownlog writes log files that only their owner reads, and follows them.
package ownlog

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"gopkg.in/natefinch/lumberjack.v2"

	"nod/ownfile"
)

// The logs.
const (
	Desktop = "nod.log"   // of nod-desktop
	Hooks   = "hooks.log" // of the hooks that agents run, while somebody wants it
)

// Path is where a log is: in nod's state folder.
func Path(log string) string { return filepath.Join(xdg.StateHome, "nod", log) }

const (
	maxSize = 5 // MiB, then a log is rotated
	backups = 3
)

// File is a log file, rotated, readable by its owner only.
type File struct {
	file   *lumberjack.Logger
	shared bool
}

// OpenLog opens a log file to write, and makes it when there is none: private in any case, for what is there keeps its
// mode at a rotation.
func OpenLog(path string) (*File, error) {
	f, err := Open(path)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, err
	}
	return &File{file: &lumberjack.Logger{Filename: path, MaxSize: maxSize, MaxBackups: backups}}, nil
}

// OpenShared is [OpenLog] for a log that other processes write to at the same time.
func OpenShared(path string) (*File, error) {
	f, err := OpenLog(path)
	if err == nil {
		f.shared = true
	}
	return f, err
}

// Write implements [io.Writer]. The file is opened by its path, anew at each rotation: what another program may have
// put in its place is not written to.
func (f *File) Write(line []byte) (int, error) {
	if err := checkPlain(f.file.Filename); err != nil {
		return 0, err
	}
	n, err := f.file.Write(line)
	if err == nil && f.shared {
		err = f.file.Close() // the next line goes behind those of others, and not into a file that they have rotated
	}
	return n, err
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Open opens a file to write, and makes it and its folder if need be. It must be a plain file of this user's, and
// is made one that nobody else can read. It neither follows a link nor waits for the other end of a pipe.
func Open(path string) (*os.File, error) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), checkPlain(path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular() || !ownfile.IsMine(info):
		err = fmt.Errorf("%s is not a plain file of yours: remove it", path)
	default:
		err = f.Chmod(0o600)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// checkPlain returns an error when something else than a plain file is at path.
func checkPlain(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file: remove it", path)
	}
	return nil
}

// Variable is the environment variable that says how much is logged.
const Variable = "NOD_LOG"

// Level is the least urgent level that is logged: what the flag --log-level says or, when that is empty, the
// environment; by itself [slog.LevelInfo].
func Level(flag string) (least slog.Level, err error) {
	source, text := "--log-level", flag
	if flag == "" {
		source, text = Variable, cmp.Or(os.Getenv(Variable), "info")
	}
	if err := least.UnmarshalText([]byte(text)); err != nil {
		return least, fmt.Errorf("%s: %q is no level: want debug, info, warn or error", source, text)
	}
	return least, nil
}
