package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"
	"github.com/fsnotify/fsnotify"

	"nod/ownfile"
	"nod/policy"
)

// DefaultPath is config.yaml in the user's configuration folder.
func DefaultPath() (string, error) { return ownfile.In(xdg.ConfigHome, "config.yaml") }

// A file is a configuration file on disk, and its last good content. It is safe for concurrent use.
type file struct {
	path    string
	places  policy.Places
	log     *slog.Logger
	changed func()
	getenv  func(string) string

	state atomic.Pointer[state]
	mu    sync.Mutex // held while reading, changing and writing the file; guards seal
	seal  *seal      // nil: all content of the file is in force
}

// A state is the content of a file. It is immutable: a change of the file makes a new one.
type state struct {
	Config Config           // the last good or accepted one; its policy is empty while the file is broken
	Policy *policy.Compiled // Config.Policy, compiled
	Err    error            // why the file is broken

	Held     *HeldChange      // not accepted yet, and not in Config except for its policy; may be nil
	Accepted *policy.Compiled // the accepted policy, if a change is held back or was when the file broke
}

var errNotRead = errors.New("not read yet")

// openConfig reads the configuration at path, which is absolute. The file need not exist; problems with it are in
// [state.Err]. It calls changed after every change of the state; changed must not call the file.
func openConfig(path string, places policy.Places, log *slog.Logger, changed func()) (*file, error) {
	f := &file{path: path, places: places, log: log, changed: changed, getenv: os.Getenv}
	none, err := policy.Compile(policy.Policy{}, places)
	if err != nil {
		return nil, err
	}
	start, err := parse(nil, path, f.getenv) // the environment's overrides apply even while the file is broken
	if err != nil {
		start = Default()
	}
	start.Policy = policy.Policy{}
	f.state.Store(&state{Config: start, Policy: none, Err: errNotRead})
	f.refresh()
	return f, nil
}

// State returns the current content. It is shared: do not change it.
func (f *file) State() *state { return f.state.Load() }

// Config returns the configuration of [file.State], also shared. [file.Update] hands out a copy.
func (f *file) Config() Config { return f.State().Config }

// Timeout returns the configured time-out of requests without their own.
func (f *file) Timeout() time.Duration { return f.Config().Prompt.Timeout }

// refresh reads the file now. [file.Watch] does it on every change.
func (f *file) refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reload()
}

func (f *file) reload() {
	last, next := f.State(), f.look()
	if next.Err != nil {
		next.Config, next.Policy, next.Held, next.Accepted = last.Config, last.Policy, nil, last.Accepted
		next.Config.Policy = policy.Policy{}
	}
	f.state.Store(next)
	f.changed()
	f.logChange(last, next)
}

// look reads the file. It needs f.mu.
func (f *file) look() *state {
	text, err := ownfile.Read(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = nil, nil
	}
	next := &state{Err: err}
	if next.Err == nil {
		next.Config, next.Err = parse(text, f.path, f.getenv)
	}
	if next.Err == nil {
		next.Policy, next.Err = policy.Compile(next.Config.Policy, f.places)
	}
	if next.Err == nil {
		next.Err = f.hold(string(text), next)
	}
	return next
}

func (f *file) logChange(last, next *state) {
	switch {
	case next.Held != nil && next.Held.IsUnknown && (last.Held == nil || *last.Held != *next.Held):
		f.log.Warn("nod can't tell which policy was accepted: what the file allows does not apply", "file", f.path)
	case next.Held != nil && (last.Held == nil || *last.Held != *next.Held):
		f.log.Warn("another program changed the policy file: what it newly allows does not apply yet", "file", f.path)
	case next.Err != nil && (last.Err == nil || last.Err.Error() != next.Err.Error()):
		f.log.Error("the policy file has an error: nod asks about everything", "err", next.Err)
	case next.Err == nil:
		f.log.Info("configuration read", "file", f.path, "rules", len(next.Config.Policy.Rules))
	}
}

// Create writes the commented default file if there has never been one. It reports whether it did.
func (f *file) Create() (created bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := ownfile.Read(f.path); !errors.Is(err, fs.ErrNotExist) {
		return false, nil // whatever is wrong with it is in the state
	}
	if s := f.State(); s.Held != nil || s.Err != nil {
		return false, nil // the user may have deleted it
	}
	if err := f.write(template); err != nil {
		return false, err
	}
	f.reload()
	return true, nil
}

// Update changes the configuration and writes the file, keeping the rest of its text. The change starts from the file,
// without the environment's overrides. Update never overwrites a broken file; it returns the file's error.
func (f *file) Update(change func(*Config) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, err := f.unheld()
	var before Config
	if err == nil {
		before, err = parse(data, f.path, nil)
	}
	if err != nil {
		return fmt.Errorf("change the configuration: %w", err)
	}
	after := before.Clone()
	if err := change(&after); err != nil {
		return err
	}
	after.Policy.Normalize()
	if err := after.Validate(); err != nil {
		return fmt.Errorf("change the configuration: %w", err)
	}
	if before.equal(after) {
		return nil
	}
	changed, err := edit(data, before, after)
	if err != nil {
		return fmt.Errorf("change %s: %w", f.path, err)
	}
	now, err := f.text()
	if err == nil && !bytes.Equal(now, data) {
		err = errors.New("another program saved it at the same time: try again")
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", f.path, err)
	}
	if err := f.write(changed); err != nil {
		return err
	}
	f.reload()
	return nil
}

// ErrChanged is the error if the configuration is no longer the one that a change started from.
var ErrChanged = errors.New("the configuration has changed: look again")

// Replace changes the configuration from base, as [file.Config] returned it, to next. It writes only the differences.
// It fails with [ErrChanged] if the configuration is no longer base. undo restores the file byte for byte; it fails if
// the file changed since.
func (f *file) Replace(base, next Config) (undo func() error, err error) {
	before, err := f.text()
	if err != nil {
		return nil, err
	}
	err = f.Update(func(c *Config) error {
		if !f.Config().equal(base) {
			return ErrChanged
		}
		c.take(base, next.Clone())
		return nil
	})
	if err != nil {
		return nil, err
	}
	after, err := f.text()
	if err != nil {
		return nil, err
	}
	return func() error { return f.rewrite(after, before) }, nil
}

func (f *file) rewrite(from, to []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := f.unheld()
	if err == nil && !bytes.Equal(now, from) {
		err = ErrChanged
	}
	if err == nil {
		err = f.write(to)
	}
	if err != nil {
		return fmt.Errorf("undo the change of the configuration: %w", err)
	}
	f.reload()
	return nil
}

// unheld reads the text that nod is about to replace. It fails if a change is held back: writing would seal that
// change, too, which the user has not seen yet. It needs f.mu.
func (f *file) unheld() ([]byte, error) {
	f.reload()
	if _, isHeld := f.Held(); isHeld {
		return nil, errHeld
	}
	return f.text()
}

func (c *Config) take(base, next Config) {
	to := reflect.ValueOf(c).Elem()
	for _, section := range diff(base, next) {
		for _, value := range diff(section.from, section.to) {
			to.Field(section.field).Field(value.field).Set(reflect.ValueOf(value.to))
		}
	}
}

func (f *file) text() ([]byte, error) {
	text, err := ownfile.Read(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return template, nil
	}
	return text, err
}

// write replaces the file with a text by nod, which needs no consent. It needs f.mu.
func (f *file) write(text []byte) error {
	if err := ownfile.Write(f.path, text, 0o600); err != nil {
		return err
	}
	if f.seal == nil {
		return nil
	}
	return f.seal.accept(f.path, string(text))
}

// settle is the quiet time before a changed file is read: editors write, rename and change modes in several steps.
const settle = 50 * time.Millisecond

// watchAgain is how often nod reads the file while it cannot watch it, as when the system has no watch left, and while
// the file is broken: perhaps it could not be read for a moment.
var watchAgain = time.Minute

// Watch reloads the configuration whenever its file changes, until ctx ends.
func (f *file) Watch(ctx context.Context) {
	for isFirst := true; ctx.Err() == nil; isFirst = false {
		watcher, err := f.watcher()
		f.refresh() // for changes before the watch began
		if err == nil {
			f.follow(ctx, watcher)
			return
		}
		if isFirst {
			f.log.Error("the policy file is not watched: nod reads it once a minute", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchAgain):
		}
	}
}

// watcher returns a watch on the folder of the file, which it creates if necessary, because editors replace the file,
// and on the folder's parent, because the folder may be replaced, too.
func (f *file) watcher() (*fsnotify.Watcher, error) {
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(watcher.Add(filepath.Dir(folder)), watcher.Add(folder)); err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	return watcher, nil
}

// follow reloads the configuration after each change that watcher reports, until ctx ends.
func (f *file) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	defer watcher.Close()
	folder := filepath.Dir(f.path)
	quiet := time.NewTimer(settle)
	quiet.Stop()
	for {
		var again <-chan time.Time
		if f.State().Err != nil {
			again = time.After(watchAgain)
		}
		select {
		case <-ctx.Done():
			return
		case event := <-watcher.Events:
			switch event.Name {
			case folder: // replaced: the old watch is on the deleted folder
				f.rewatch(watcher, folder)
				quiet.Reset(settle)
			case f.path:
				quiet.Reset(settle)
			}
		case err := <-watcher.Errors: // events may be lost
			f.log.Warn("watch the configuration", "err", err)
			quiet.Reset(settle)
		case <-quiet.C:
			f.refresh()
		case <-again:
			f.refresh()
		}
	}
}

// rewatch watches the current folder. It ignores a missing one: the parent's watch reports its return.
func (f *file) rewatch(watcher *fsnotify.Watcher, folder string) {
	if err := watcher.Remove(folder); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
		f.log.Warn("watch the configuration", "err", err)
	}
	if err := watcher.Add(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.log.Warn("watch the configuration", "err", err)
	}
}
