//go:build linux

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nod/changes"
)

// installed is a folder with nod's two programs, and what comes of replacing them.
type installed struct {
	t    *testing.T
	dir  string
	u    *upgrade
	came chan string // "handed over", "tried", or what the user was told
}

// install puts two programs of version 1 into a folder and watches them.
func install(t *testing.T) *installed {
	t.Helper()
	i := &installed{t: t, dir: filepath.Join(t.TempDir(), "bin"), came: make(chan string, 100)}
	running := filepath.Join(t.TempDir(), "running")
	i.u = &upgrade{
		self: filepath.Join(i.dir, "nod-desktop"), dialogs: filepath.Join(i.dir, "nod-dialogs"), running: running,
		try:      func(context.Context, string) error { i.came <- "tried"; return nil },
		calm:     func(context.Context) {},
		handOver: func(context.Context) error { i.came <- "handed over"; return nil },
		warn:     func(sentence string) { i.came <- sentence },
		log:      slog.New(slog.DiscardHandler), versions: &versions{hint: changes.NewSignal()},
		settle: time.Second / 10, retries: []time.Duration{0, 0},
	}
	i.put("nod-desktop", 1)
	i.put("nod-dialogs", 1)
	if err := os.Link(i.u.self, running); err != nil {
		t.Fatal(err)
	}
	return i
}

// put renames a program over the one of that name, as a package manager does.
func (i *installed) put(name string, version int) {
	i.t.Helper()
	i.write(name, fmt.Sprintf("#!/bin/sh\necho %s %d\n", name, version))
}

func (i *installed) write(name, text string) {
	i.t.Helper()
	path := filepath.Join(i.dir, name)
	for _, err := range []error{
		os.MkdirAll(i.dir, 0o755), os.WriteFile(path+".dpkg-new", []byte(text), 0o755), os.Rename(path+".dpkg-new", path),
	} {
		if err != nil {
			i.t.Fatal(err)
		}
	}
}

// watch runs the watch until the test ends.
func (i *installed) watch() {
	ctx, stop := context.WithCancel(i.t.Context())
	ended := make(chan error)
	go func() { ended <- i.u.run(ctx) }()
	i.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			i.t.Error(err)
		}
	})
	i.u.hint.Send() // is looked at once the folders are watched
}

func (i *installed) wants(want string) {
	i.t.Helper()
	select {
	case got := <-i.came:
		if !strings.Contains(got, want) {
			i.t.Errorf("got %q, want %q", got, want)
		}
	case <-time.After(time.Minute):
		i.t.Fatalf("nothing came, want %q", want)
	}
}

func (i *installed) wantsNothingElse() {
	i.t.Helper()
	select {
	case got := <-i.came:
		i.t.Errorf("got %q, want nothing", got)
	default:
	}
}

func TestUpgradeTakesOver(t *testing.T) {
	i := install(t)
	i.u.retries = slices.Repeat([]time.Duration{time.Second / 10}, 100)
	i.watch()
	i.put("nod-desktop", 2)
	i.put("nod-dialogs", 2)
	i.wants("tried")
	i.wants("handed over")
	i.wantsNothingElse()
}

// A folder that is removed and made anew, as by make clean and make, is watched again. What was gone is told.
func TestUpgradeAfterARemoval(t *testing.T) {
	i := install(t)
	i.watch()
	if err := os.RemoveAll(i.dir); err != nil {
		t.Fatal(err)
	}
	i.wants("uninstalled")
	there := i.dir
	i.dir += ".new"
	i.put("nod-desktop", 2)
	i.put("nod-dialogs", 2)
	if err := os.Rename(i.dir, there); err != nil {
		t.Fatal(err)
	}
	i.wants("tried")
	i.wants("handed over")
	i.wantsNothingElse()
}

// What does not belong together, or does not start, never takes over, and the user is told once.
func TestUpgradeThatDoesNotWork(t *testing.T) {
	for name, spoil := range map[string]func(i *installed){
		"only the windows are new":   func(i *installed) { i.put("nod-dialogs", 2) },
		"only nod-desktop is new":    func(i *installed) { i.put("nod-desktop", 2) },
		"it is no program":           func(i *installed) { i.write("nod-desktop", "\x7fELF") },
		"it fails":                   func(i *installed) { i.write("nod-desktop", "#!/bin/sh\necho nod 1\nexit 1\n") },
		"it says nothing":            func(i *installed) { i.write("nod-desktop", "#!/bin/sh\n") },
		"the windows lack a library": func(i *installed) { i.write("nod-dialogs", "#!/bin/sh\necho libGL >&2\nexit 127\n") },
		"it does not start": func(i *installed) {
			i.u.try = func(context.Context, string) error { return errors.New("exit status 1") }
			i.put("nod-desktop", 2)
			i.put("nod-dialogs", 2)
		},
		"it cannot be run in this process": func(i *installed) {
			i.u.try = func(context.Context, string) error { return nil }
			i.u.handOver = func(context.Context) error { return errors.New("out of memory") }
			i.put("nod-desktop", 2)
			i.put("nod-dialogs", 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := install(t)
			spoil(i)
			i.watch()
			i.wants("does not start")
			if i.u.outdated() {
				t.Error("it still counts as about to come")
			}
			i.wantsNothingElse()
		})
	}
}

// Windows of the same version may be put there at any time.
func TestNoUpgrade(t *testing.T) {
	i := install(t)
	i.put("nod-dialogs", 1)
	if err := i.u.look(t.Context()); err != nil {
		t.Error(err)
	}
	i.wantsNothingElse()
}

// What was tried out is what takes over: not what came in its place while the user was busy.
func TestReplacedWhileThePersonIsBusy(t *testing.T) {
	i := install(t)
	i.put("nod-desktop", 2)
	i.put("nod-dialogs", 2)
	i.u.calm = func(context.Context) { i.write("nod-desktop", "\x7fELF") }
	if err := i.u.look(t.Context()); err == nil || !strings.Contains(err.Error(), "replaced again") {
		t.Errorf("got %v, want that it was replaced again", err)
	}
	i.wants("tried")
	i.wantsNothingElse()
}

func TestTryOut(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"ready", "echo nod ready http://127.0.0.1:1\nexec sleep 60", ""},
		{"in an empty home", "test -z \"$(ls -A $HOME)$DISPLAY\" && echo nod ready http://127.0.0.1:1\nexec sleep 60", ""},
		{"something else", "echo 'a strange program'\nexec sleep 60", "a strange program"},
		{"it ends", "echo no library >&2\nexit 3", "no library"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("DISPLAY", ":7")
			path := filepath.Join(t.TempDir(), "nod-desktop")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			err := tryOut(t.Context(), path)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := tryOut(t.Context(), filepath.Join(t.TempDir(), "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// What a strange program starts ends with it.
func TestNothingIsLeftOfATry(t *testing.T) {
	for name, try := range map[string]func(ctx context.Context, path string) error{
		"started": tryOut,
		"asked":   func(ctx context.Context, path string) error { _, err := versionOf(ctx, path); return err },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "nod-desktop")
			open := path + ".open" // for as long as a process of the script's runs
			if err := syscall.Mkfifo(open, 0o600); err != nil {
				t.Fatal(err)
			}
			processes, err := os.OpenFile(open, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer processes.Close()
			script := "#!/bin/sh\nexec 3>" + open + "\nsleep 100000 >/dev/null 2>&1 &\necho nod ready 1\n"
			if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := try(t.Context(), path); err != nil {
				t.Error(err)
			}
			if err := processes.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(processes); err != nil {
				t.Errorf("something is left: %v", err)
			}
		})
	}
}
