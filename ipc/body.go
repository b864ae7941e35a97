package ipc

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"nod/api"
	"nod/interact"
)

// Bodies of more than shortBody bytes are only read for maxLongBodies callers at a time, to limit memory.
const (
	shortBody     = 64 << 10
	maxLongBodies = 64
)

// readBody reads the body of r, within limits of size and time.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, bodyProblem(w, tooLarge())
	}
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, err
	}
	text, err := s.long.read(http.MaxBytesReader(w, r.Body, maxBody), int(r.ContentLength), func() {
		_ = control.SetReadDeadline(time.Unix(1, 0)) // a connection that is gone needs no end
	})
	if err != nil {
		return nil, bodyProblem(w, err)
	}
	return text, control.SetReadDeadline(time.Time{})
}

// longBodies are the long bodies that are being read. Beyond the limit, a new one cancels the one whose sender has been
// silent the longest, so that slow senders do not block others.
type longBodies struct {
	mu      sync.Mutex
	readers []*longBody
}

type longBody struct {
	io.Reader
	of     *longBodies
	heard  time.Time // when something last came; guarded by of.mu
	cancel func()    // ends the read under way
}

var errTooSlow = rateLimited("too many long requests are being read, and this one came the slowest", 5)

// read reads a body; a negative length is unknown. It calls cancel if another body takes its place.
func (l *longBodies) read(r io.Reader, length int, cancel func()) ([]byte, error) {
	var b bytes.Buffer
	if length < 0 || length > shortBody {
		length = shortBody
	}
	b.Grow(length + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(r, shortBody))
	if err != nil || n < shortBody {
		return b.Bytes(), err
	}
	long := &longBody{Reader: r, of: l, cancel: cancel}
	l.enter(long)
	_, err = b.ReadFrom(long)
	if !l.leave(long) {
		return nil, errTooSlow
	}
	return b.Bytes(), err
}

func (l *longBodies) enter(b *longBody) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.heard = time.Now()
	if len(l.readers) >= maxLongBodies {
		i := slices.Index(l.readers, slices.MinFunc(l.readers, func(a, b *longBody) int { return a.heard.Compare(b.heard) }))
		l.readers[i].cancel()
		l.readers = slices.Delete(l.readers, i, i+1)
	}
	l.readers = append(l.readers, b)
}

func (l *longBodies) leave(b *longBody) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.readers, b)
	if i >= 0 {
		l.readers = slices.Delete(l.readers, i, i+1)
	}
	return i >= 0
}

func (b *longBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	b.heard = time.Now()
	return n, err
}

// bodyProblem converts an error of reading a body. The rest of the body is not read.
func bodyProblem(w http.ResponseWriter, err error) error {
	w.Header().Set("Connection", "close")
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge()
	}
	return &interact.ParamError{Param: "body", Problem: "was cut short or came too slowly"}
}

func (s *Server) reply(w http.ResponseWriter, rep reply) {
	if rep.location != "" {
		w.Header().Set("Location", rep.location)
	}
	if rep.code() == http.StatusNoContent {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.write(w, "application/json", rep.code(), rep.body)
}

func (s *Server) refuse(w http.ResponseWriter, p *problem) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	s.write(w, "application/problem+json", p.Status, p.Problem)
}

// write writes a reply with its length, so that callers notice one that was cut short.
func (s *Server) write(w http.ResponseWriter, contentType string, status int, body any) {
	text, err := api.Encode(body)
	if err != nil {
		s.log.Error("encode a reply", "err", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	text = append(text, '\n')
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		s.log.Debug("write a reply", "err", err)
	}
}
