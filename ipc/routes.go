package ipc

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strconv"
	"time"

	"nod/interact"
)

// effect is all that a route can do.
type effect string

// The effects. There is none that decides: a request is answered in the windows and nowhere else.
const (
	effectAsk      effect = "ask"          // put something before the policy and the human
	effectWithdraw effect = "withdraw own" // end a request of one's own, unanswered
	effectRead     effect = "read own"     // read what became of one's own requests
	effectHealth   effect = "health"       // tell that nod runs
	effectDescribe effect = "describe"     // tell what nod would say, or how to ask it
)

// route is one entry of the table of routes. It holds all there is to know of a route: the handler and the
// description that is published are both made from it.
type route struct {
	method, path string
	effect       effect
	summary      string
	query        []string // names of the parameters that it knows
	request      any      // example of the body; nil: none
	reply        any      // example of the reply
	later        bool     // it may also reply 202
	problems     []int    // statuses of the problems that it has besides everyone's
	handle       func(s *Server, r *http.Request, body []byte) (reply, error)
}

// reply is what a handler has to say.
type reply struct {
	status   int // 0: 200
	location string
	body     any
}

func (r reply) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// The statuses of problems that asking can end in.
var (
	asking    = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, http.StatusNotImplemented}
	approving = []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusNotImplemented}
	notifying = []int{http.StatusTooManyRequests}
	looking   = []int{http.StatusNotFound}
)

// routes is the whole of what the door offers.
func routes() []route {
	return []route{
		{"POST", "/v1/ask", effectAsk, "Ask the human a question", nil, askRequest{}, askReply{}, true, asking, ask[askRequest]},
		{"POST", "/v1/confirm", effectAsk, "Ask the human yes or no", nil, confirmRequest{}, confirmReply{}, true, approving, ask[confirmRequest]},
		{"POST", "/v1/form", effectAsk, "Ask the human several questions on one page", nil, formRequest{}, formReply{}, true, asking, ask[formRequest]},
		{"POST", "/v1/approve", effectAsk, "Ask leave for one tool call", nil, approveRequest{}, approveReply{}, true, approving, ask[approveRequest]},
		{"POST", "/v1/notify", effectAsk, "Tell the human something", nil, notifyRequest{}, notifyReply{}, true, notifying, ask[notifyRequest]},
		{"POST", "/v1/evaluate", effectDescribe, "Say what the policy would decide, and ask nobody", nil, approveRequest{}, evaluateReply{}, false, nil, evaluate},
		{"POST", "/v1/hooks/{agent}/{event}", effectAsk, "Answer a coding agent's hook in the agent's own words; 204 is no decision", []string{"headless", "gate"}, hookPayload{}, hookReply{}, false, looking, hook},
		{"GET", "/v1/requests", effectRead, "List the caller's own requests", nil, nil, listReply{}, false, nil, list},
		{"GET", "/v1/requests/{id}", effectRead, "Fetch what became of a request, waiting for its end", []string{"wait"}, nil, requestReply{}, false, looking, fetch},
		{"DELETE", "/v1/requests/{id}", effectWithdraw, "Withdraw a request", nil, nil, requestReply{}, false, looking, withdraw},
		{"GET", "/v1/health", effectHealth, "Tell that nod runs", nil, nil, healthReply{}, false, nil, health},
		{"GET", "/v1/openapi.json", effectDescribe, "Describe this interface", nil, nil, map[string]any{}, false, nil, describe},
	}
}

// handler returns the handler of the whole door: guard, then route.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range routes() {
		mux.Handle(route.method+" "+route.path, s.serve(route))
	}
	mux.HandleFunc(mcpPath, s.serveMCP)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		// The previous reply on this connection has set one.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		if p := s.guard(r, peerOf(r.Context())); p != nil {
			s.log.Warn("request refused", "code", p.Code, "why", p.Detail, "method", r.Method, "path", r.URL.Path)
			s.refuse(w, p)
			return
		}
		if p := unrouted(mux, w, r); p != nil {
			s.refuse(w, p)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// protect keeps replies out of caches and of whatever a browser might make of them.
func protect(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
}

// unrouted is the problem of a request that no route takes; nil when one does. What the mux would redirect
// is not found: a path has one spelling.
func unrouted(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) *problem {
	nowhere, pattern := mux.Handler(r)
	if path.Clean(r.URL.Path) != r.URL.Path {
		return notFound("no such path")
	}
	if pattern != "" {
		return nil
	}
	// The mux knows which methods the path has, and tells in a header.
	probe := statusProbe{header: http.Header{}}
	nowhere.ServeHTTP(&probe, r)
	if probe.status != http.StatusMethodNotAllowed {
		return notFound("no such path")
	}
	p := newProblem(http.StatusMethodNotAllowed, codeMethodNotAllowed, "this path has other methods: see the Allow header")
	p.header = http.Header{"Allow": probe.header["Allow"]}
	return p
}

// statusProbe takes a reply and keeps its status and headers.
type statusProbe struct {
	header http.Header
	status int
}

func (p *statusProbe) Header() http.Header         { return p.header }
func (p *statusProbe) WriteHeader(status int)      { p.status = status }
func (p *statusProbe) Write(b []byte) (int, error) { return len(b), nil }

// serve makes the handler of one route.
func (s *Server) serve(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		defer s.recovered(w, r)
		rep, err := s.run(route, w, r)
		status := rep.code()
		if err != nil {
			p := problemOf(err)
			status = p.Status
			if p.Code == codeInternal {
				s.log.Error("request failed", "path", route.path, "err", err)
			}
			s.refuse(w, p)
		} else {
			s.reply(w, rep)
		}
		s.log.Debug("request", "method", r.Method, "path", route.path, "status", status, "took", time.Since(started))
	})
}

func (s *Server) run(route route, w http.ResponseWriter, r *http.Request) (reply, error) {
	if err := checkQuery(r.URL, route.query); err != nil {
		return reply{}, err
	}
	if route.request == nil {
		return route.handle(s, r, nil)
	}
	body, err := s.readBody(w, r)
	if err != nil {
		return reply{}, err
	}
	return route.handle(s, r, body)
}

// recovered turns a panic into a problem, unless it only ends the connection.
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

// checkQuery refuses parameters that the route does not know, and those that stand twice.
func checkQuery(u *url.URL, known []string) error {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return &interact.ParamError{Param: "query", Problem: "not a query"}
	}
	for _, name := range known {
		if len(values[name]) > 1 {
			return &interact.ParamError{Param: name, Problem: "stands there twice"}
		}
		delete(values, name)
	}
	for name := range values {
		return &interact.ParamError{Param: shorten(name), Problem: "unknown parameter"}
	}
	return nil
}

// requester is who makes the request r with these claims.
func requester(r *http.Request, claims common) interact.Requester {
	return claims.requester(peerOf(r.Context()).processFacts())
}

// ask handles every request that is for the human: it waits for the answer until the caller hangs up or has
// held long enough.
func ask[T wireRequest](s *Server, r *http.Request, text []byte) (reply, error) {
	var in T
	if err := decode(text, &in); err != nil {
		return reply{}, err
	}
	o := in.options()
	if err := o.check(); err != nil {
		return reply{}, err
	}
	ticket, err := s.broker.Begin(r.Context(), interact.Request{
		Requester: requester(r, o), Timeout: duration(o.Timeout), IdempotencyKey: o.IdempotencyKey, Body: in.body(),
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

// await waits for the answer: for ever, or as long as the caller wants to hold.
func (s *Server) await(r *http.Request, ticket *interact.Ticket, hold time.Duration) (reply, error) {
	var held <-chan time.Time
	if hold > 0 {
		timer := time.NewTimer(hold)
		defer timer.Stop()
		held = timer.C
	}
	select {
	case <-ticket.Done():
		a, _ := ticket.Answer()
		body, problem := replyTo(ticket.Request(), a)
		if problem != nil {
			return reply{}, problem
		}
		return reply{body: body}, nil
	case <-held:
		return s.later(ticket), nil
	case <-r.Context().Done():
		panic(http.ErrAbortHandler) // the caller has gone: there is nobody to reply to
	}
}

// later lets the request go on without its caller, and says where the answer will be.
func (s *Server) later(ticket *interact.Ticket) reply {
	ticket.Detach()
	at := "/v1/requests/" + string(ticket.ID())
	return reply{
		status: http.StatusAccepted, location: at,
		body: pendingReply{ID: ticket.ID(), Status: statusPending, URL: s.endpoint.URL + at},
	}
}

// evaluate says what the policy would decide. The fields about waiting mean nothing here.
func evaluate(s *Server, r *http.Request, text []byte) (reply, error) {
	var in approveRequest
	if err := decode(text, &in); err != nil {
		return reply{}, err
	}
	if err := in.check(); err != nil {
		return reply{}, err
	}
	d, err := s.broker.Evaluate(requester(r, in.common), in.Approve)
	if err != nil {
		return reply{}, err
	}
	return reply{body: evaluateReply{Decision: d.Effect, Reason: d.Reason, Rule: d.Rule, Class: d.Class}}, nil
}

// list lists the caller's own requests, without what they ask.
func list(s *Server, r *http.Request, _ []byte) (reply, error) {
	out := listReply{Requests: []listed{}}
	for _, rec := range s.broker.Own(requester(r, common{})) {
		req := rec.Request
		out.Requests = append(out.Requests, listed{
			ID: req.ID, Kind: req.Body.Kind(), Status: statusOf(rec.Answer), Created: req.Created, Deadline: req.Deadline,
			Agent: req.Requester.Agent, Session: req.Requester.Session,
		})
	}
	return reply{body: out}, nil
}

// maxWait is the longest that one GET of a request waits for its end, in seconds.
const maxWait = 60

// fetch returns what became of a request of the caller's own.
func fetch(s *Server, r *http.Request, _ []byte) (reply, error) {
	wait := 0.0
	if text := r.URL.Query().Get("wait"); text != "" {
		var err error
		if wait, err = strconv.ParseFloat(text, 64); err != nil || !(wait >= 0 && wait <= maxWait) {
			return reply{}, &interact.ParamError{Param: "wait", Problem: "want 0 to 60 seconds"}
		}
	}
	ticket, err := s.broker.Lookup(requester(r, common{}), interact.ID(r.PathValue("id")))
	if err != nil {
		return reply{}, err
	}
	timer := time.NewTimer(duration(wait))
	defer timer.Stop()
	select {
	case <-ticket.Done():
	case <-timer.C:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	return became(ticket), nil
}

// withdraw ends a request of the caller's own, and says what became of it: it may have had its answer.
func withdraw(s *Server, r *http.Request, _ []byte) (reply, error) {
	who, id := requester(r, common{}), interact.ID(r.PathValue("id"))
	ticket, err := s.broker.Lookup(who, id)
	if err != nil {
		return reply{}, err
	}
	if err := s.broker.Withdraw(who, id); err != nil {
		return reply{}, err
	}
	<-ticket.Done() // whoever settles it is at it
	return became(ticket), nil
}

// became says what became of a request.
func became(ticket *interact.Ticket) reply {
	req := ticket.Request()
	a, _ := ticket.Answer()
	out := requestReply{ID: req.ID, Kind: req.Body.Kind(), Status: statusOf(a)}
	if a.Outcome != "" {
		body, problem := replyTo(req, a)
		if problem != nil {
			body = problem
		}
		out.Answer = body
	}
	return reply{body: out}
}

func health(s *Server, _ *http.Request, _ []byte) (reply, error) {
	return reply{body: healthReply{Status: "ok", Version: s.endpoint.Version, Pending: len(s.broker.Pending())}}, nil
}
