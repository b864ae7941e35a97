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
	dir := s.published.dir
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	defer watcher.Close()
	s.look(watcher, tell) // changes before the watch began
	published := map[string]bool{
		dir: true, endpoint.Path(dir): true, endpoint.SocketPath(dir): true, endpoint.ControlPath(dir): s.control != nil,
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if published[event.Name] {
				s.look(watcher, tell)
			}
		case err := <-watcher.Errors: // events may be lost
			s.log.Warn("watch the endpoint", "dir", dir, "err", err)
			s.look(watcher, tell)
		}
	}
}

// maxLooks limits repeated attempts of look against a competing program, whose next change is another event.
const maxLooks = 10

// look restores the files and watches the current folder, which may be a new one.
func (s *Server) look(watcher *fsnotify.Watcher, tell func(problem error)) {
	touched := false
	for range maxLooks {
		watchErr := watcher.Add(s.published.dir) // before the check, to miss no change
		changed, err := s.published.restore()
		if err != nil {
			s.log.Error("the endpoint files could not be restored", "dir", s.published.dir, "err", err)
			tell(err)
			return
		}
		touched = touched || changed
		if !changed && watchErr == nil {
			break
		}
	}
	if touched {
		s.log.Warn("another program changed the endpoint files: they were restored", "dir", s.published.dir)
		tell(nil)
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
