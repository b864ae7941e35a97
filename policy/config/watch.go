package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is the quiet time before a changed file is read: editors write, rename and change modes in several steps.
const settle = 50 * time.Millisecond

// Watch reloads the configuration whenever its file changes, until ctx ends. It creates the folder if necessary. It
// watches the folder, because editors replace the file, and its parent, because the folder may be replaced, too.
func (f *File) Watch(ctx context.Context) error {
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("watch the configuration: %w", err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the configuration: %w", err)
	}
	defer watcher.Close()
	for _, watched := range []string{filepath.Dir(folder), folder} {
		if err := watcher.Add(watched); err != nil {
			return fmt.Errorf("watch the configuration: %w", err)
		}
	}
	f.Reload() // for changes before the watch began
	return f.watch(ctx, watcher)
}

func (f *File) watch(ctx context.Context, watcher *fsnotify.Watcher) error {
	folder := filepath.Dir(f.path)
	quiet := time.NewTimer(settle)
	quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
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
			f.Reload()
		}
	}
}

// rewatch watches the current folder. It ignores a missing one: the parent's watch reports its return.
func (f *File) rewatch(watcher *fsnotify.Watcher, folder string) {
	if err := watcher.Remove(folder); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
		f.log.Warn("watch the configuration", "err", err)
	}
	if err := watcher.Add(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.log.Warn("watch the configuration", "err", err)
	}
}
