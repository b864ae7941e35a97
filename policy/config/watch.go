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

// settle is how long the file must be left alone before it is read: editors write, rename and change modes
// in several steps.
const settle = 50 * time.Millisecond

// Watch reloads the configuration whenever its file changes, until ctx ends. It watches the folder, because
// editors replace the file, and the folder above, because people replace folders. It makes the folder when
// it is not there yet.
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
	f.Reload() // what changed before the watch began
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
			case folder: // replaced: the old watch looks at what is no longer there
				f.rewatch(watcher, folder)
				quiet.Reset(settle)
			case f.path:
				quiet.Reset(settle)
			}
		case err := <-watcher.Errors: // events may be lost: look
			f.log.Warn("watch the configuration", "err", err)
			quiet.Reset(settle)
		case <-quiet.C:
			f.Reload()
		}
	}
}

// rewatch watches whatever folder is there now. That there is none is no error: its parent will tell.
func (f *File) rewatch(watcher *fsnotify.Watcher, folder string) {
	if err := watcher.Remove(folder); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
		f.log.Warn("watch the configuration", "err", err)
	}
	if err := watcher.Add(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.log.Warn("watch the configuration", "err", err)
	}
}
