package ipc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"nod/api"
)

// ErrNotExpected says that nod-desktop did not expect a command to run in the sandbox.
var ErrNotExpected = errors.New("nod did not allow this command in the sandbox")

// runs provides the sandboxes of commands.
type runs interface {
	// Begin calls show with the sandbox of a command that a process asks for. It returns when the command may start: how
	// its changes are noted, and end, to be called when the command has ended unless the server stops first. end shows the
	// result as soon as it can, which fails if the process is gone. Begin fails with [ErrNotExpected].
	Begin(ctx context.Context, caller api.Process, r api.RunRequest, show func(api.RunReply)) (
		noted json.RawMessage, end func(show func(api.RunEnded) error), err error)
}

// runsPath is the route by which nod's own command gets the sandbox of a command. It is not described to agents.
const runsPath = "/v1/runs"

// serveRun replies with a sandbox, and then holds the connection for as long as the command runs.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request) {
	defer s.recovered(w, r)
	body, err := s.readBody(w, r)
	if err != nil {
		s.refuse(w, problemOf(err))
		return
	}
	var request api.RunRequest
	if err := json.Unmarshal(body, &request); err != nil {
		s.refuse(w, invalidParam("body", err.Error(), false))
		return
	}
	control, isShown := http.NewResponseController(w), false
	tell := func(reply any) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
		w.Header().Set("Content-Type", "application/json")
		return errors.Join(json.NewEncoder(w).Encode(reply), control.Flush())
	}
	show := func(reply api.RunReply) { isShown = true; _ = tell(reply) } // else the next fails, too
	noted, end, err := s.runs.Begin(r.Context(), peerOf(r.Context()).Process(), request, show)
	switch {
	case errors.Is(err, ErrNotExpected):
		s.refuse(w, newProblem(api.CodeNotFound, err.Error()))
		return
	case err != nil:
		s.log.Warn("a command is not run in the sandbox", "err", err)
		if !isShown {
			s.refuse(w, newProblem(api.CodeNotSupported, err.Error()))
			return
		}
		_ = tell(api.RunBegun{Problem: err.Error()})
		return
	}
	if tell(api.RunBegun{Noted: noted}) == nil {
		select {
		case <-r.Context().Done():
		case <-s.stopping.Done(): // the command runs on
			return
		}
	}
	end(func(ended api.RunEnded) error { return tell(ended) })
}
