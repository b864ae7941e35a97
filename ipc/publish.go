package ipc

import (
	"errors"
	"sync"

	"nod/ipc/endpoint"
)

// publication is what other programs find a server by: the folder, the sockets in it and endpoint.json.
type publication struct {
	dir     string
	own     endpoint.Endpoint
	sockets []*socket // none: the port only

	mu        sync.Mutex // guards what lies in the folder, and withdrawn
	withdrawn bool
}

// restore puts back what is missing or changed, and reports whether anything was.
func (p *publication) restore() (changed bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.withdrawn {
		return false, nil
	}
	changed, err = endpoint.Restore(p.dir, p.own)
	if endpoint.Ensure(p.dir) != nil { // nothing is bound in a folder that is not plainly ours
		return changed, err
	}
	for _, s := range p.sockets {
		rebound, bindErr := s.restore()
		changed, err = changed || rebound, errors.Join(err, bindErr)
	}
	return changed, err
}

// withdraw removes endpoint.json; the socket goes when its listener is closed. What a successor published stays.
func (p *publication) withdraw() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.withdrawn = true
	return endpoint.Remove(p.dir, p.own.PID)
}

// Restore puts back what other programs took away or changed of what the server published: the folder, the
// socket and endpoint.json. It reports whether there was anything to do. What is not plainly nod's it leaves
// alone and names in the error. After the server has stopped it does nothing.
func (s *Server) Restore() (changed bool, err error) { return s.published.restore() }

// Close takes back what Listen did, for a server that is not going to Serve.
func (s *Server) Close() error {
	return errors.Join(s.published.withdraw(), s.http.Close(), s.closeListeners())
}
