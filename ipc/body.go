package ipc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"nod/interact"
)

// A body longer than shortBody bytes waits for one of maxBigBodies places, so that a flood of long ones
// cannot fill the memory.
const (
	shortBody    = 64 << 10
	maxBigBodies = 16
)

// readBody reads the body of r, within limits of size and time. It is not kept with r, which lives as long
// as the caller waits.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, bodyProblem(w, tooLarge())
	}
	if r.ContentLength < 0 || r.ContentLength > shortBody {
		free, err := s.bigBody(r.Context())
		if err != nil {
			return nil, err
		}
		defer free()
	}
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, err
	}
	text, err := readAll(http.MaxBytesReader(w, r.Body, maxBody), r.ContentLength)
	if err != nil {
		return nil, bodyProblem(w, err)
	}
	return text, control.SetReadDeadline(time.Time{})
}

// readAll reads r, whose length is known unless it is negative.
func readAll(r io.Reader, length int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(max(length, 0)) + bytes.MinRead)
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// bigBody takes a place for a long body and returns how to give it back.
func (s *Server) bigBody(ctx context.Context) (free func(), err error) {
	timer := time.NewTimer(bodyTimeout)
	defer timer.Stop()
	select {
	case s.bigBodies <- struct{}{}:
		return func() { <-s.bigBodies }, nil
	case <-timer.C:
		return nil, rateLimited("too many long requests are being read", 5)
	case <-ctx.Done():
		panic(http.ErrAbortHandler)
	}
}

// bodyProblem is what an error in reading a body amounts to. What is left of the body is not waited for.
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

// reply writes what a handler has to say.
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

// refuse writes a problem.
func (s *Server) refuse(w http.ResponseWriter, p *problem) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	s.write(w, "application/problem+json", p.Status, p)
}

// write writes a reply in one piece, with its length: a caller can tell one that was cut short.
func (s *Server) write(w http.ResponseWriter, contentType string, status int, body any) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // no browser reads this, and what the human answered comes back as it is
	if err := e.Encode(body); err != nil {
		s.log.Error("encode a reply", "err", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	// A caller that does not take its reply loses it.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	if _, err := w.Write(text.Bytes()); err != nil {
		s.log.Debug("write a reply", "err", err)
	}
}
