package ipc

import (
	"errors"
	"sync"

	"nod/ipc/endpoint"
)

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

// withdraw removes endpoint.json, unless a successor has published its own. The socket goes when its listener closes.
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
