// Package ownlog writes log files that only their owner can read.
package ownlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"gopkg.in/natefinch/lumberjack.v2"

	"nod/ownfile"
)

// Desktop returns the path of nod-desktop's log.
func Desktop() string { return path("nod.log") }

// Hooks returns the path of the log of the hooks that agents run.
func Hooks() string { return path("hooks.log") }

func path(log string) string { return filepath.Join(xdg.StateHome, "nod", log) }

const (
	maxSize = 5 // MiB, then a log is rotated
	backups = 3
)

// logFile is a rotated log file that only its owner can read.
type logFile struct {
	file   *lumberjack.Logger
	shared bool
}

// openLog opens a log file and makes it private, because rotation keeps its mode.
func openLog(path string) (*logFile, error) {
	f, err := Open(path)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, err
	}
	return &logFile{file: &lumberjack.Logger{Filename: path, MaxSize: maxSize, MaxBackups: backups}}, nil
}

// OpenShared is [openLog] for a log that several processes write to.
func OpenShared(path string) (io.WriteCloser, error) {
	f, err := openLog(path)
	if err != nil {
		return nil, err
	}
	f.shared = true
	return f, nil
}

// Write implements [io.Writer]. Rotation opens the path again, so it checks that no other file is there.
func (f *logFile) Write(line []byte) (int, error) {
	if err := checkPlain(f.file.Filename); err != nil {
		return 0, err
	}
	n, err := f.file.Write(line)
	if err == nil && f.shared {
		err = f.file.Close() // the next line must follow those of other processes, in the current file
	}
	return n, err
}

// Close closes the file.
func (f *logFile) Close() error { return f.file.Close() }

// Open opens a file for writing and creates it and its folder if necessary. It must be a regular file of this user, and
// becomes private. Open neither follows a link nor blocks on a pipe.
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

// Last returns the last n lines of a log. It omits a last line that is not completely written.
func Last(path string, n int) ([]string, error) {
	text, err := ownfile.ReadTail(path, maxSize<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no log yet", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := strings.Split(string(text), "\n")
	whole := lines[:len(lines)-1]
	return whole[max(0, len(whole)-n):], nil
}

func checkPlain(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file: remove it", path)
	}
	return nil
}

const variable = "NOD_LOG"

// Level returns the lowest level to log: from the flag --log-level, else from the environment, else [slog.LevelInfo].
func Level(flag string) (least slog.Level, err error) {
	source, text := "--log-level", flag
	if flag == "" {
		source, text = variable, cmp.Or(os.Getenv(variable), "info")
	}
	if err := least.UnmarshalText([]byte(text)); err != nil {
		return least, fmt.Errorf("%s: %q is not a level: use debug, info, warn or error", source, text)
	}
	return least, nil
}
