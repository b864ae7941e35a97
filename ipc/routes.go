package ipc

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"nod/api"
	"nod/interact"
)

// route is an entry of the table of routes. The tests add its description and its effect: none decides.
type route struct {
	method, path string
	query        []string // names of the parameters that it knows
	handle       func(s *Server, r *http.Request, body []byte) (reply, error)
}

var hookQuery = []string{"headless", "version", "gate", "limit", "settings", "shell"}

type reply struct {
	status   int // 0: 200
	location string
	body     any
}

func (r reply) code() int { return cmp.Or(r.status, http.StatusOK) }

// routes is the table of routes. Only POST requests have a body.
func routes() []route {
	return []route{
		{"POST", "/v1/ask", nil, ask(partsOfAsk)},
		{"POST", "/v1/confirm", nil, ask(partsOfConfirm)},
		{"POST", "/v1/form", nil, ask(partsOfForm)},
		{"POST", "/v1/approve", nil, ask(partsOfApprove)},
		{"POST", "/v1/notify", nil, ask(partsOfNotify)},
		{"POST", "/v1/evaluate", nil, evaluate},
		{"POST", "/v1/hooks/{agent}/{event}", hookQuery, hook},
		{"GET", "/v1/requests", nil, list},
		{"GET", "/v1/requests/{id}", []string{"wait"}, fetch},
		{"DELETE", "/v1/requests/{id}", nil, withdraw},
		{"GET", "/v1/health", nil, health},
		{"GET", "/v1/openapi.json", nil, describe},
	}
}

// handler returns the handler of the whole server: guard, then route.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range routes() {
		mux.Handle(route.method+" "+route.path, s.serve(route))
	}
	mux.HandleFunc(mcpPath, s.serveMCP)
	mux.HandleFunc(nowhere, func(w http.ResponseWriter, r *http.Request) { s.refuse(w, unrouted(mux, r)) })
	if s.raise != nil {
		mux.HandleFunc("POST "+raisePath, s.serveRaise)
	}
	if s.runs != nil {
		mux.HandleFunc("POST "+runsPath, s.serveRun)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), protection)
		// The previous reply on this connection has set a deadline.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		from := peerOf(r.Context())
		if p := s.guard(r, from.Socket, from.User); p != nil {
			s.log.Warn("request refused", "code", p.Code, "why", p.Detail, "method", r.Method, "path", r.URL.Path)
			s.refuse(w, p)
			return
		}
		if path.Clean(r.URL.Path) != r.URL.Path { // a path has one spelling: the mux would redirect
			s.refuse(w, newProblem(api.CodeNotFound, "no such path"))
			return
		}
		if r.Method == http.MethodPost && s.called != nil {
			s.called()
		}
		mux.ServeHTTP(w, r)
	})
}

// raisePath makes the running nod-desktop show itself, or its settings, for a second start of it. It is not described
// to agents.
const raisePath = "/v1/raise"

func (s *Server) serveRaise(w http.ResponseWriter, r *http.Request) {
	if err := s.raise(r.Context(), r.URL.Query().Has("settings")); err != nil {
		s.refuse(w, newProblem(api.CodeNotSupported, err.Error()))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

var protection = http.Header{
	"X-Content-Type-Options":  {"nosniff"},
	"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
	"Cache-Control":           {"no-store"},
}

// nowhere is the pattern of requests without a route.
const nowhere = "/"

// unrouted is the problem of a request without a route.
func unrouted(mux *http.ServeMux, r *http.Request) *problem {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost} {
		if _, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); pattern != nowhere {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		return newProblem(api.CodeNotFound, "no such path")
	}
	p := newProblem(api.CodeMethodNotAllowed, "this path has other methods: see the Allow header")
	p.header = http.Header{"Allow": {strings.Join(allowed, ", ")}}
	return p
}

func (s *Server) serve(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		defer s.recovered(w, r)
		rep, err := s.run(route, w, r)
		status := rep.code()
		if err != nil {
			p := problemOf(err)
			status = p.Status
			if p.Code == api.CodeInternal {
				s.log.Error("request failed", "path", route.path, "err", err)
			}
			s.refuse(w, p)
		} else {
			s.reply(w, rep)
		}
		s.log.LogAttrs(r.Context(), slog.LevelDebug, "request", slog.String("method", r.Method),
			slog.String("path", route.path), slog.Int("status", status), slog.Duration("took", time.Since(started)))
	})
}

func (s *Server) run(route route, w http.ResponseWriter, r *http.Request) (reply, error) {
	if err := checkQuery(r.URL, route.query); err != nil {
		return reply{}, err
	}
	if route.method != http.MethodPost {
		return route.handle(s, r, nil)
	}
	body, err := s.readBody(w, r)
	if err != nil {
		return reply{}, err
	}
	return route.handle(s, r, body)
}

// recovered converts a panic into a problem, unless the panic is meant to end the connection.
func (s *Server) recovered(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	s.log.Error("request: panic", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
	s.refuse(w, problemOf(errors.New("panic")))
}

// checkQuery refuses unknown and repeated parameters.
func checkQuery(u *url.URL, known []string) error {
	if u.RawQuery == "" {
		return nil
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return &interact.ParamError{Param: "query", Problem: "not a query"}
	}
	for _, name := range known {
		if len(values[name]) > 1 {
			return &interact.ParamError{Param: name, Problem: "appears twice"}
		}
		delete(values, name)
	}
	for name := range values {
		return &interact.ParamError{Param: name[:min(len(name), 60)], Problem: "unknown parameter"}
	}
	return nil
}

func requester(r *http.Request, claims api.Common) interact.Requester {
	return interact.Requester{
		Agent: claims.Agent, Session: claims.Session, CWD: claims.CWD, Process: peerOf(r.Context()).Process(),
	}
}

// ask returns a handler of requests that ask. The handler waits for the answer until the caller hangs up or its hold is
// over.
func ask[T any](parts func(T) (interact.Body, api.Common)) func(*Server, *http.Request, []byte) (reply, error) {
	return func(s *Server, r *http.Request, text []byte) (reply, error) {
		var in T
		if err := api.DecodeStrict(text, &in); err != nil {
			return reply{}, err
		}
		body, o := parts(in)
		if err := checkTimes(o); err != nil {
			return reply{}, err
		}
		key, err := keyOf(r, o.IdempotencyKey)
		if err != nil {
			return reply{}, err
		}
		ticket, err := s.broker.Begin(interact.Request{
			Requester: requester(r, o), Timeout: duration(o.Timeout), IdempotencyKey: key, Silence: o.Silence, Body: body,
		})
		if err != nil {
			return reply{}, err
		}
		defer ticket.Release()
		if o.Detach {
			return s.later(ticket), nil
		}
		return s.await(r, ticket, duration(o.Hold))
	}
}

// await waits for the answer, at most for hold unless that is 0.
func (s *Server) await(r *http.Request, ticket *interact.Ticket, hold time.Duration) (reply, error) {
	var held <-chan time.Time
	if hold > 0 {
		held = time.After(hold)
	}
	select {
	case <-ticket.Done():
		a, _ := ticket.Answer()
		body, err := ticket.Request().Reply(a)
		return reply{body: body}, err
	case <-held:
		return s.later(ticket), nil
	case <-r.Context().Done():
		panic(http.ErrAbortHandler) // the caller has gone: there is nobody to reply to
	}
}

// later detaches the request, and replies with the URL of its answer. A rule or, of a known key, the first request may
// have decided it already.
func (s *Server) later(ticket *interact.Ticket) reply {
	ticket.Detach()
	a, _ := ticket.Answer()
	at := "/v1/requests/" + string(ticket.ID())
	return reply{
		status: http.StatusAccepted, location: at,
		body: api.PendingReply{ID: string(ticket.ID()), Status: outcomeOf(a), URL: s.endpoint.URL + at},
	}
}

func evaluate(s *Server, r *http.Request, text []byte) (reply, error) {
	var in api.ApproveRequest
	if err := api.DecodeStrict(text, &in); err != nil {
		return reply{}, err
	}
	if err := checkTimes(in.Common); err != nil {
		return reply{}, err
	}
	d, err := s.broker.Evaluate(requester(r, in.Common), approvalOf(in.Approve))
	if err != nil {
		return reply{}, err
	}
	return reply{body: api.EvaluateReply{
		Decision: api.Decision(d.Effect), Reason: d.Reason, Rule: d.Rule, Class: string(d.Class),
	}}, nil
}

// list lists the caller's requests, without their content.
func list(s *Server, r *http.Request, _ []byte) (reply, error) {
	out := api.ListReply{Requests: []api.Listed{}}
	for _, rec := range s.broker.Own(requester(r, api.Common{})) {
		req := rec.Request
		out.Requests = append(out.Requests, api.Listed{
			ID: string(req.ID), Kind: req.Body.Kind(), Status: outcomeOf(rec.Answer),
			Created: req.Created, Deadline: req.Deadline, Agent: req.Requester.Agent, Session: req.Requester.Session,
			IsAgent: req.Requester.IsAgent,
		})
	}
	return reply{body: out}, nil
}

func (s *Server) find(r *http.Request) (*interact.Ticket, error) {
	ticket, err := s.broker.Find(r.Context(), requester(r, api.Common{}), interact.ID(r.PathValue("id")))
	if err == interact.ErrClosing || r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // nobody has said that there is none: the caller asks the next nod
	}
	return ticket, err
}

func fetch(s *Server, r *http.Request, _ []byte) (reply, error) {
	wait := 0.0
	if text := r.URL.Query().Get("wait"); text != "" {
		var err error
		if wait, err = strconv.ParseFloat(text, 64); err != nil || !(wait >= 0 && wait <= api.MaxWait) {
			return reply{}, &interact.ParamError{Param: "wait", Problem: fmt.Sprintf("want 0 to %d seconds", api.MaxWait)}
		}
	}
	ticket, err := s.find(r)
	if err != nil {
		return reply{}, err
	}
	select {
	case <-ticket.Done():
	case <-time.After(duration(wait)):
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	return settled(ticket)
}

// withdraw ends one of the caller's requests, and returns its state, because it may have been answered.
func withdraw(s *Server, r *http.Request, _ []byte) (reply, error) {
	ticket, err := s.find(r)
	if err != nil {
		return reply{}, err
	}
	if err := s.broker.Withdraw(requester(r, api.Common{}), ticket.ID()); err != nil {
		return reply{}, err
	}
	<-ticket.Done() // whoever settles it is at it
	return settled(ticket)
}

func settled(ticket *interact.Ticket) (reply, error) {
	r := ticket.Request()
	a, _ := ticket.Answer()
	out := api.RequestReply{ID: string(r.ID), Kind: r.Body.Kind(), Status: outcomeOf(a)}
	if a.Outcome == "" {
		return reply{body: out}, nil
	}
	body, err := r.Reply(a)
	if err != nil {
		body = problemOf(err).Problem
	}
	out.Answer, err = api.Encode(body)
	return reply{body: out}, err
}

func health(s *Server, _ *http.Request, _ []byte) (reply, error) {
	h := api.HealthReply{Status: "ok", Version: s.endpoint.Version, Pending: len(s.broker.Pending())}
	if s.health != nil {
		s.health(&h)
	}
	return reply{body: h}, nil
}

// description is the OpenAPI 3.1 document of this interface. The tests make it from the table of routes and the types
// of package api, and fail when it is another: go test ./ipc -run Description -update.
//
//go:embed openapi.json
var description string

// versionMark is replaced by nod's version in the description.
const versionMark = "VERSION"

func describe(s *Server, _ *http.Request, _ []byte) (reply, error) {
	version, err := json.Marshal(s.endpoint.Version)
	return reply{body: json.RawMessage(strings.Replace(description, `"`+versionMark+`"`, string(version), 1))}, err
}
