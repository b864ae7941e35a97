package ownlog

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"golang.org/x/term"
)

// Logger is the log of a program without a terminal: a file, and also standard error if that is a terminal.
type Logger struct {
	*slog.Logger
	Path    string // empty if the log goes to standard error
	Problem error  // why the log goes to standard error; may be nil

	file *logFile
}

// NewLogger opens the log of [Desktop]. If it cannot, it logs to standard error, beginning with the reason. It also
// makes the Go runtime write crash traces to a file next to the log, because a background program has no terminal. It
// fails for an unknown level.
func NewLogger(level string) (*Logger, error) {
	least, err := Level(level)
	if err != nil {
		return nil, err
	}
	l := &Logger{Path: Desktop()}
	var out io.Writer = os.Stderr
	if l.file, err = openLog(l.Path); err != nil {
		l.Path, l.Problem = "", fmt.Errorf("nod's log goes to standard error: %w", err)
	} else {
		out = &logWriter{file: l.file, echo: term.IsTerminal(int(os.Stderr.Fd()))}
	}
	l.Logger = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: least}))
	if l.Problem != nil {
		l.Warn("no log file", "err", l.Problem)
	}
	if err := l.catchCrash(path("crash.log")); err != nil {
		l.Warn("crash traces go to standard error only", "err", err)
	}
	return l, nil
}

// Close closes the file.
func (l *Logger) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// logWriter writes to the log file, and to standard error if that fails.
type logWriter struct {
	file *logFile
	echo bool // write everything to standard error, too
}

func (w *logWriter) Write(line []byte) (int, error) {
	_, err := w.file.Write(line)
	if err == nil && !w.echo {
		return len(line), nil
	}
	return os.Stderr.Write(line)
}

// catchCrash makes the runtime write crash traces to path, and keeps the previous one.
func (l *Logger) catchCrash(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		previous := path + ".1"
		if err := errors.Join(f.Close(), os.Rename(path, previous)); err != nil {
			return err
		}
		l.Warn("nod crashed the last time it ran", "trace", previous)
		if f, err = Open(path); err != nil {
			return err
		}
	}
	defer f.Close() // the runtime keeps a copy
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}
