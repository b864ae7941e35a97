package ipc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fsnotify/fsnotify"

	"nod/ipc/endpoint"
)

// Watch restores what the server published whenever another program removes or changes it, until ctx ends, because
// agents would otherwise not find nod, or would trust a program that imitates it. It calls tell with nil after each
// restoration, or with the error.
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

// publication is how programs find a server: the folder, its sockets and endpoint.json.
type publication struct {
	dir     string
	own     endpoint.Endpoint
	sockets []*socket // none: the port only

	mu        sync.Mutex // guards the folder's files, and withdrawn
	withdrawn bool
}

// restore restores missing or changed files, and reports whether there were any.
func (p *publication) restore() (changed bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.withdrawn {
		return false, nil
	}
	changed, err = endpoint.Restore(p.dir, p.own)
	if endpoint.Ensure(p.dir) != nil { // do not bind a socket in a folder of doubtful ownership
		return changed, err
	}
	for _, s := range p.sockets {
		rebound, bindErr := s.restore()
		changed, err = changed || rebound, errors.Join(err, bindErr)
	}
	return changed, err
}

// withdraw removes endpoint.json, unless a successor has published its own. The socket is removed when its listener
// closes.
func (p *publication) withdraw() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.withdrawn = true
	return endpoint.Remove(p.dir, p.own.PID)
}

// Close undoes Listen for a server that will not Serve.
func (s *Server) Close() error {
	return errors.Join(s.published.withdraw(), s.http.Close(), s.closeListeners())
}
