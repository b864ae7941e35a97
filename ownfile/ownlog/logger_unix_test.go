//go:build unix

package ownlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/adrg/xdg"
)

// logState makes dir the folder for states, and collects what goes to standard error.
func logState(t *testing.T, dir string) (stderr func() string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", dir)
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = w
	t.Cleanup(func() { os.Stderr = before; r.Close() })
	return func() string {
		w.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func mustOpenLog(t *testing.T) *Logger {
	t.Helper()
	l, err := NewLogger("info")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestLogIsPrivate(t *testing.T) {
	home := t.TempDir()
	stderr := logState(t, home)
	path := filepath.Join(home, "nod", "nod.log")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("before\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	l := mustOpenLog(t)
	l.Info("hello")
	text, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(text, []byte("before\n")) || !bytes.Contains(text, []byte("hello")) {
		t.Errorf("the log says %q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if l.Path != path || l.Problem != nil || stderr() != "" {
		t.Errorf("path %q, problem %v", l.Path, l.Problem)
	}
}

// Where there can be no log file nod runs all the same, logs to standard error, and says why.
func TestLogWithoutAFile(t *testing.T) {
	for name, plant := range map[string]func(path, victim string) error{
		"no state folder": func(path, _ string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		},
		"link":          func(path, victim string) error { return os.Symlink(victim, path) },
		"dangling link": func(path, victim string) error { return os.Symlink(victim+".gone", path) },
		"named pipe":    func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":        func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			home, victim := t.TempDir(), victimFile(t)
			path := filepath.Join(home, "nod", "nod.log")
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), plant(path, victim)); err != nil {
				t.Fatal(err)
			}
			stderr := logState(t, home)
			l := mustOpenLog(t)
			l.Info("hello")
			if l.Problem == nil || l.Path != "" {
				t.Errorf("path %q, problem %v; want no path and a problem", l.Path, l.Problem)
			}
			text := stderr()
			if !strings.Contains(text, "hello") || strings.Count(text, "goes to standard error") != 1 {
				t.Errorf("standard error got %q", text)
			}
		})
	}
}

// victimFile is a file that must stay as it is.
func victimFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if text, _ := os.ReadFile(path); string(text) != "precious" {
			t.Errorf("the victim holds %q", text)
		}
		if _, err := os.Lstat(path + ".gone"); err == nil {
			t.Error("made a file behind the link")
		}
	})
	return path
}

// What takes the log file's place while nod runs is not written to, also not at a rotation.
func TestLogIsReplacedWhileNodRuns(t *testing.T) {
	for name, plant := range map[string]func(path, victim string) error{
		"link":          func(path, victim string) error { return os.Symlink(victim, path) },
		"dangling link": func(path, victim string) error { return os.Symlink(victim+".gone", path) },
		"named pipe":    func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			home, victim := t.TempDir(), victimFile(t)
			stderr := logState(t, home)
			l := mustOpenLog(t)
			l.Info(strings.Repeat("x", 5<<20-200)) // the next line but one rotates
			if err := errors.Join(os.Remove(l.Path), plant(l.Path, victim)); err != nil {
				t.Fatal(err)
			}
			l.Info("first " + strings.Repeat("y", 200))
			l.Info("second")
			if text := stderr(); !strings.Contains(text, "first") || !strings.Contains(text, "second") {
				t.Errorf("standard error got %q", text)
			}
		})
	}
}

// The trace of a crash is not written through what another program put in the file's place.
func TestCrashLogIsAPlainFile(t *testing.T) {
	for name, plant := range map[string]func(path, victim string) error{
		"link":       func(path, victim string) error { return os.Symlink(victim+".gone", path) },
		"named pipe": func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			home, victim := t.TempDir(), victimFile(t)
			path := filepath.Join(home, "nod", "crash.log")
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), plant(path, victim)); err != nil {
				t.Fatal(err)
			}
			logState(t, home)
			if l := mustOpenLog(t); l.Problem != nil {
				t.Error(l.Problem)
			}
			text, err := os.ReadFile(filepath.Join(home, "nod", "nod.log"))
			if err != nil || !bytes.Contains(text, []byte("crash.log")) {
				t.Errorf("the log says %q, %v", text, err)
			}
		})
	}
}
