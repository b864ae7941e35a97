package ipc

import (
	"context"
	"fmt"

	"github.com/fsnotify/fsnotify"

	"nod/ipc/endpoint"
)

// Watch restores what the server published whenever another program removes or changes it, until ctx ends: otherwise
// agents would not find nod, or would trust a program that imitates it. It calls tell with nil after each restoration,
// or with the error.
func (s *Server) Watch(ctx context.Context, tell func(problem error)) error {
	w := publishedWatch{server: s, dir: s.published.dir, tell: tell}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.dir, err)
	}
	defer watcher.Close()
	w.look(watcher) // changes before the watch began
	published := map[string]bool{
		w.dir: true, endpoint.Path(w.dir): true, endpoint.SocketPath(w.dir): true,
		endpoint.ControlPath(w.dir): s.control != nil,
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if published[event.Name] {
				w.look(watcher)
			}
		case err := <-watcher.Errors: // events may be lost
			s.log.Warn("watch the endpoint", "dir", w.dir, "err", err)
			w.look(watcher)
		}
	}
}

type publishedWatch struct {
	server *Server
	dir    string
	tell   func(problem error)
}

// maxLooks limits repeated attempts of look against a competing program, whose next change is another event.
const maxLooks = 10

// look restores the files and watches the current folder, which may be a new one.
func (w *publishedWatch) look(watcher *fsnotify.Watcher) {
	touched := false
	for range maxLooks {
		watchErr := watcher.Add(w.dir) // before the check, to miss no change
		changed, err := w.server.published.restore()
		if err != nil {
			w.server.log.Error("the endpoint files could not be restored", "dir", w.dir, "err", err)
			w.tell(err)
			return
		}
		touched = touched || changed
		if !changed && watchErr == nil {
			break
		}
	}
	if touched {
		w.server.log.Warn("another program changed the endpoint files: they were restored", "dir", w.dir)
		w.tell(nil)
	}
}
