package app

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/adrg/xdg"
	"gopkg.in/natefinch/lumberjack.v2"
)

// logFile is nod's log file, rotated, readable by its owner only, and on the terminal too when there is one.
type logFile struct {
	*slog.Logger
	path string

	file *lumberjack.Logger
}

const (
	logSize    = 5 // MiB, then it is rotated
	logBackups = 3
)

// openLog opens the log in nod's state folder. It also makes the Go runtime write the trace of a crash to a
// file beside it: a tray program has no terminal to die on.
func openLog(level string) (*logFile, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", level)
	}
	dir := filepath.Join(xdg.StateHome, "nod")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	l := &logFile{path: filepath.Join(dir, "nod.log")}
	if err := ownerOnly(l.path); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	l.file = &lumberjack.Logger{Filename: l.path, MaxSize: logSize, MaxBackups: logBackups}
	var out io.Writer = l.file
	if isTerminal(os.Stderr) {
		out = io.MultiWriter(l.file, os.Stderr)
	}
	l.Logger = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: least}))
	if err := l.catchCrash(filepath.Join(dir, "crash.log")); err != nil {
		return nil, errors.Join(fmt.Errorf("log: %w", err), l.Close())
	}
	return l, nil
}

// Close closes the file.
func (l *logFile) Close() error { return l.file.Close() }

// catchCrash sends the trace of a crash to path, and keeps the one of the last crash.
func (l *logFile) catchCrash(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		previous := path + ".1"
		if err := os.Rename(path, previous); err != nil {
			return err
		}
		l.Warn("nod crashed the last time it ran", "trace", previous)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // the runtime keeps a copy
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// ownerOnly makes the file if need be, and private in any case: lumberjack keeps the mode it finds.
func ownerOnly(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// isTerminal reports whether f is a terminal or another character device that is not the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
