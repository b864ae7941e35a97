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
	"golang.org/x/term"
	"gopkg.in/natefinch/lumberjack.v2"
)

// logFile is nod's log file, rotated, readable by its owner only, and on the terminal too when there is one.
type logFile struct {
	*slog.Logger
	path    string // empty when the log goes to standard error
	problem error  // why it does

	file *lumberjack.Logger
}

const (
	logSize    = 5 // MiB, then it is rotated
	logBackups = 3
)

// openLog opens the log in nod's state folder. Where there can be none the log goes to standard error, and begins
// with the reason. It also makes the Go runtime write the trace of a crash to a file beside it: a tray program has
// no terminal to die on. The error says that there is no such level.
func openLog(level string) (*logFile, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", level)
	}
	dir := filepath.Join(xdg.StateHome, "nod")
	l := &logFile{path: filepath.Join(dir, "nod.log")}
	l.file = &lumberjack.Logger{Filename: l.path, MaxSize: logSize, MaxBackups: logBackups}
	var out io.Writer = &logWriter{file: l.file, echo: term.IsTerminal(int(os.Stderr.Fd()))}
	f, err := openOwn(l.path) // made, and private in any case: lumberjack keeps the mode it finds
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		l.path, l.problem = "", fmt.Errorf("nod's log goes to standard error: %w", err)
		out = os.Stderr
	}
	l.Logger = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: least}))
	if l.problem != nil {
		l.Warn("no log file", "err", l.problem)
	}
	if err := l.catchCrash(filepath.Join(dir, "crash.log")); err != nil {
		l.Warn("the trace of a crash would go to standard error only", "err", err)
	}
	return l, nil
}

// Close closes the file.
func (l *logFile) Close() error { return l.file.Close() }

// logWriter writes to the log file, and to standard error what cannot go there.
type logWriter struct {
	file *lumberjack.Logger
	echo bool // everything goes to standard error, too
}

// Write implements [io.Writer]. The file is opened by its path, anew at each rotation: what another program may have
// put in its place is not written to.
func (w *logWriter) Write(line []byte) (int, error) {
	err := checkPlain(w.file.Filename)
	if err == nil {
		_, err = w.file.Write(line)
	}
	if err == nil && !w.echo {
		return len(line), nil
	}
	return os.Stderr.Write(line)
}

// catchCrash sends the trace of a crash to path, and keeps the one of the last crash.
func (l *logFile) catchCrash(path string) error {
	f, err := openOwn(path)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		previous := path + ".1"
		if err := errors.Join(f.Close(), os.Rename(path, previous)); err != nil {
			return err
		}
		l.Warn("nod crashed the last time it ran", "trace", previous)
		if f, err = openOwn(path); err != nil {
			return err
		}
	}
	defer f.Close() // the runtime keeps a copy
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

// openOwn opens a file to write, and makes it and its folder if need be. It must be a plain file of this user's, and
// is made one that nobody else can read. It neither follows a link nor waits for the other end of a pipe.
func openOwn(path string) (*os.File, error) {
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
	case !info.Mode().IsRegular() || !mine(info):
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
