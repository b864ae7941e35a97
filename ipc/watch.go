package ipc

import (
	"context"
	"fmt"

	"github.com/fsnotify/fsnotify"

	"nod/ipc/endpoint"
)

// Watch has what the server published put back whenever another program takes it away or changes it, until ctx ends:
// without it no agent finds nod, and whoever reads something else there would ask, and believe, a program that only
// looks like nod. Each time it tells that it did, or why it could not.
func (s *Server) Watch(ctx context.Context, tell func(problem error)) error {
	w := publishedWatch{server: s, dir: s.published.dir, tell: tell}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.dir, err)
	}
	defer watcher.Close()
	w.look(watcher) // what changed before the watch began
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
		case err := <-watcher.Errors: // events may be lost: look
			s.log.Warn("watch the endpoint", "dir", w.dir, "err", err)
			w.look(watcher)
		}
	}
}

// publishedWatch watches what a server published.
type publishedWatch struct {
	server *Server
	dir    string
	tell   func(problem error)
}

// maxLooks bounds how often look begins anew while another program works against it. What that one does last is an
// event, and so another look.
const maxLooks = 10

// look has everything put back, and watches the folder that is there then: it may be a new one.
func (w *publishedWatch) look(watcher *fsnotify.Watcher) {
	touched := false
	for range maxLooks {
		watchErr := watcher.Add(w.dir) // before the look, so that nothing happens in between
		changed, err := w.server.Restore()
		if err != nil {
			w.server.log.Error("what agents find nod by could not be put back", "dir", w.dir, "err", err)
			w.tell(err)
			return
		}
		touched = touched || changed
		if !changed && watchErr == nil {
			break
		}
	}
	if touched {
		w.server.log.Warn("another program changed what agents find nod by: it was put back", "dir", w.dir)
		w.tell(nil)
	}
}
