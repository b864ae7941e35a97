package ipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"nod/api"
	"nod/ipc/hooks"
	"nod/ipc/mcp"
	"nod/ipc/peer"
)

// hook answers a coding agent's hook. The payload may have unknown fields.
func hook(s *Server, r *http.Request, payload []byte) (reply, error) {
	if s.hooks == nil {
		return reply{}, newProblem(api.CodeNotFound, "hooks are not served here")
	}
	key, err := keyOf(r, "")
	if err != nil {
		return reply{}, err
	}
	query := r.URL.Query()
	limit, _ := time.ParseDuration(query.Get("limit")) // an unreadable one counts as none
	c := hooks.Call{
		Agent: r.PathValue("agent"), Event: r.PathValue("event"), Payload: payload,
		Who: requester(r, api.Common{}), Headless: query.Get("headless") == "1", Limit: limit,
		Version: query.Get("version"), Gate: query.Get("gate") == "1", IdempotencyKey: key,
		Shell: query.Get("shell") == "1",
	}
	if query.Has("settings") {
		env, err := url.ParseQuery(query.Get("settings"))
		if err != nil || !peer.SharesFiles(c.Who.Process.PID) {
			return reply{}, invalidParam("settings", "nod does not see the same files: send gate and limit", false)
		}
		c.Env = env.Get
	}
	out, err := s.hooks.Handle(r.Context(), c)
	switch {
	case errors.Is(err, hooks.ErrUnknownAgent):
		return reply{}, newProblem(api.CodeNotFound, err.Error())
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // the caller has gone: no one is left to reply to
	case err != nil:
		return reply{}, err
	case len(out) == 0:
		return reply{status: http.StatusNoContent}, nil
	}
	return reply{body: json.RawMessage(out)}, nil
}

// mcpPath is the endpoint of the Model Context Protocol, which also can only ask.
const mcpPath = "/mcp"

// serveMCP applies the common limits to MCP requests.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	defer s.recovered(w, r)
	if r.Method == http.MethodPost {
		body, err := s.readBody(w, r)
		if err == nil {
			_, err = keyOf(r, "")
		}
		if err != nil {
			s.refuse(w, problemOf(err))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // an answer takes as long as a user does
	s.mcp.ServeHTTP(w, r)
}

// mcpCaller returns who sends an MCP request. nod's proxy claims its folder, and how many seconds its client has
// waited.
func mcpCaller(r *http.Request) mcp.Caller {
	var claims api.Common
	if cwd := r.Header.Get("Nod-Cwd"); filepath.IsAbs(cwd) {
		claims.CWD = cwd
	}
	key, _ := keyOf(r, "") // a broken one has been refused
	waited, err := strconv.ParseFloat(r.Header.Get("Nod-Waited"), 64)
	if err != nil || !(waited >= 0 && waited <= api.MaxSeconds) {
		waited = 0
	}
	return mcp.Caller{Requester: requester(r, claims), IdempotencyKey: key, Waited: duration(waited)}
}
