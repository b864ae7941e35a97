package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"fyne.io/fyne/v2/lang"
	"github.com/fsnotify/fsnotify"

	"nod/changes"
	"nod/dialogs/safetext"
	"nod/ipc/programs"
	"nod/ownfile/ownprocess"
)

const (
	upgradeSettles = time.Second      // without a change, until an upgrade counts as done
	tryPatience    = 15 * time.Second // how long a new program may take to start
	quitPatience   = 3 * time.Second  // how long a program that was tried out may take to end
	saidLimit      = 200              // characters of what it says that go into the log
	maxLine        = 4096             // bytes of its first line
)

// upgradeRetries is how long nod waits before it looks again at new programs that do not work yet: a package manager
// may still be installing what they need.
var upgradeRetries = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second,
}

// upgrade watches the files of nod's two programs. When both were replaced by the same version, and it starts, the
// running nod-desktop becomes the new one.
type upgrade struct {
	self     string                                       // path of nod-desktop
	dialogs  string                                       // path of nod-dialogs
	running  string                                       // path of the file that runs, wherever it is now
	try      func(ctx context.Context, path string) error // starts a new nod-desktop, apart from this one
	calm     func(ctx context.Context)                    // waits until the user would notice little
	handOver func(ctx context.Context) error              // returns only when it has failed
	warn     func(sentence string)                        // warns the user
	log      *slog.Logger

	settle  time.Duration   // [upgradeSettles]
	retries []time.Duration // [upgradeRetries]

	*versions
}

// versions is what the windows and [upgrade] share.
type versions struct {
	hint   changes.Signal // the windows are of another version
	failed atomic.Bool    // the new programs do not work; until the files change again
}

// outdated notes that the windows are of another version. It reports whether nod-desktop may become that version.
func (v *versions) outdated() bool {
	v.hint.Send()
	return !v.failed.Load()
}

func (u *upgrade) run(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch nod's own programs: %w", err)
	}
	defer watcher.Close()
	u.watch(watcher)
	var next <-chan time.Time // when to look
	tries := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-watcher.Events:
			if !u.concerns(e.Name) {
				continue
			}
			u.watch(watcher) // the folder may be a new one
			u.failed.Store(false)
			next, tries = time.After(u.settle), 0
		case err := <-watcher.Errors: // events may be lost
			u.log.Warn("watch nod's own programs", "err", err)
			next, tries = time.After(u.settle), 0
		case <-u.hint:
			if next == nil && !u.failed.Load() {
				next, tries = time.After(u.settle), 0
			}
		case <-next:
			next = nil
			err := u.look(ctx)
			switch {
			case err == nil || ctx.Err() != nil:
			case tries < len(u.retries):
				u.log.Info("nod was replaced: waiting", "err", err)
				next = time.After(u.retries[tries])
				tries++
			default:
				u.giveUp(err)
			}
		}
	}
}

// watch watches the folders of the programs and their parents, which tell when a removed folder is back.
func (u *upgrade) watch(watcher *fsnotify.Watcher) {
	for _, path := range []string{u.self, u.dialogs} {
		dir := filepath.Dir(path)
		for _, watched := range []string{filepath.Dir(dir), dir} {
			if err := watcher.Add(watched); err != nil && !errors.Is(err, fs.ErrNotExist) {
				u.log.Warn("nod may not notice an upgrade", "err", err)
			}
		}
	}
}

// concerns reports whether a change of a path may be an upgrade.
func (u *upgrade) concerns(path string) bool {
	return path == u.self || path == u.dialogs || path == filepath.Dir(u.self) || path == filepath.Dir(u.dialogs)
}

// look hands over if nod-desktop was replaced by a program that works. It returns an error if that program does not.
func (u *upgrade) look(ctx context.Context) error {
	found, err := os.Stat(u.self)
	if err != nil {
		return err
	}
	version, err := versionOf(ctx, u.self)
	if err != nil {
		return err
	}
	other, err := versionOf(ctx, u.dialogs)
	if err != nil {
		return err
	}
	if version != other {
		return fmt.Errorf("%s is version %s, but %s is version %s", u.self, version, u.dialogs, other)
	}
	if programs.IsSame(u.running, u.self) {
		return nil
	}
	if err := u.try(ctx, u.self); err != nil {
		return err
	}
	u.calm(ctx)
	if now, err := os.Stat(u.self); err != nil || !isUnchanged(found, now) {
		return fmt.Errorf("%s was replaced again", u.self)
	}
	u.log.Info("nod was replaced: continuing as the new program", "version", version)
	return u.handOver(ctx)
}

// isUnchanged reports whether a file is the same, judging by its size and time.
func isUnchanged(was, now fs.FileInfo) bool {
	return os.SameFile(was, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
}

// giveUp tells the user that the running program keeps running.
func (u *upgrade) giveUp(err error) {
	u.failed.Store(true)
	if errors.Is(err, fs.ErrNotExist) {
		u.log.Warn("nod's programs were removed: this one runs until you quit it", "err", err)
		u.warn(lang.L("nod was uninstalled. It runs until you quit it from its tray menu, but may be unable to ask you."))
		return
	}
	u.log.Error("nod was replaced by programs that don't work: this one keeps running", "err", err)
	u.warn(lang.L("nod was updated, but the new version does not start, so the old one keeps running. The log says why."))
}

// versionOf asks a program for its version, which follows its name.
func versionOf(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tryPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.SysProcAttr, cmd.WaitDelay = ownprocess.OwnGroup(), quitPatience
	defer ownprocess.EndGroup(cmd)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w: %s", path, err, safetext.Line(said.String(), saidLimit))
	}
	_, version, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !ok {
		return "", fmt.Errorf("%s --version printed %q, not its name and version", path, out)
	}
	return version, nil
}

// tryOut starts a nod-desktop in an empty home and without a desktop, and ends it once it is ready.
func tryOut(ctx context.Context, path string) error {
	home, err := os.MkdirTemp("", "nod-")
	if err != nil {
		return fmt.Errorf("try %s out: %w", path, err)
	}
	defer os.RemoveAll(home)
	ctx, end := context.WithTimeout(ctx, tryPatience)
	defer end()
	nobody := "unix:path=" + filepath.Join(home, "bus")
	cmd := exec.CommandContext(ctx, path, "--background")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "XDG_RUNTIME_DIR=" + home,
		"DBUS_SESSION_BUS_ADDRESS=" + nobody, "DBUS_SYSTEM_BUS_ADDRESS=" + nobody, "NOD_IPC_ADDRESS=127.0.0.1:0",
	}
	cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = home, ownprocess.OwnGroup(), quitPatience
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	defer ownprocess.EndGroup(cmd)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("try %s out: %w", path, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("try %s out: %w", path, err)
	}
	context.AfterFunc(ctx, func() { out.Close() }) // other processes may still have it open
	line, _ := bufio.NewReader(io.LimitReader(out, maxLine)).ReadString('\n')
	end()
	_ = cmd.Wait()
	if !strings.HasPrefix(line, programs.ReadyLine) {
		return fmt.Errorf("try %s out: it was not ready within %v, and said %q (%v): %s", path, tryPatience,
			safetext.Line(line, saidLimit), cmd.ProcessState, safetext.Line(said.String(), saidLimit))
	}
	return nil
}
