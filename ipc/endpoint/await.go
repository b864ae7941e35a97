package endpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// lookEvery is the polling interval if the system has no file watches left.
const lookEvery = time.Second

// Await waits until an endpoint other than old is published in dir, and returns it. It ignores endpoints that [Read]
// refuses. The error is the cause of ctx's end.
func Await(ctx context.Context, dir string, old Endpoint) (Endpoint, error) {
	w := watch(dir)
	defer w.close()
	for {
		w.renew() // before the look, so that nothing happens in between
		if e, err := Read(dir); err == nil && e != old {
			return e, nil
		}
		if err := w.wait(ctx); err != nil {
			return Endpoint{}, fmt.Errorf("wait for an endpoint in %s: %w", dir, err)
		}
	}
}

type folderWatch struct {
	dir     string
	watcher *fsnotify.Watcher
	tick    *time.Ticker // polls if no watch is available
}

func watch(dir string) *folderWatch {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		if err = w.Add(filepath.Dir(dir)); err == nil {
			return &folderWatch{dir: dir, watcher: w}
		}
		w.Close()
	}
	return &folderWatch{dir: dir, tick: time.NewTicker(lookEvery)}
}

func (w *folderWatch) close() {
	if w.watcher == nil {
		w.tick.Stop()
		return
	}
	w.watcher.Close()
}

// renew watches the current folder. If there is none, its parent's watch reports the next.
func (w *folderWatch) renew() {
	if w.watcher != nil {
		_ = w.watcher.Add(w.dir)
	}
}

// wait returns when something may have happened. The error is the cause of ctx's end.
func (w *folderWatch) wait(ctx context.Context) error {
	if w.watcher == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.tick.C:
			return nil
		}
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-w.watcher.Events:
			if e.Name == w.dir { // recreated or moved: the old watch may be on a deleted folder
				_ = w.watcher.Remove(w.dir)
			}
			if e.Name == w.dir || filepath.Dir(e.Name) == w.dir {
				return nil
			}
		case <-w.watcher.Errors: // events may be lost
			return nil
		}
	}
}
